"""Hard words lead to the glossary where they are first used, once a page."""

import re
from collections import Counter

import pytest

from pages.ui.glossary import linked, term_link
from privcore.extras.teaching.glossary import glossary
from tests.pages.opening import open_page

SMALL = {"data": "cancer", "rows": "1000"}


@pytest.mark.long
@pytest.mark.parametrize(
    ("page", "query", "wanted"),
    [
        ("discover", {}, {"power", "cpdag", "guarantee", "neighbours", "epsilon"}),
        (
            "discover",
            {"algorithm": "priv-pc", "discover_tab": "Guarantee & budget"},
            {"threshold", "epsilon"},
        ),
        ("discover", {"discover_tab": "Edges"}, {"posterior"}),
        ("tradeoff", {"sweep_view": "Eight networks"}, {"epsilon", "f1", "skeleton", "cpdag"}),
        (
            "release",
            {},
            {"guarantee", "public-domain", "certificate", "epsilon", "delta", "neighbours"},
        ),
    ],
)
def test_each_hard_word_is_a_link_once(page, query, wanted):
    app = open_page(page, **SMALL, **query)
    said = " ".join(element.value for element in (*app.main.markdown, *app.main.caption))
    links = Counter(re.findall(r"\]\(glossary\?term=([\w-]+)\)", said))
    assert wanted <= set(links) <= set(glossary())
    assert set(links.values()) == {1}, links


def test_the_words_of_measures_lead_there_from_their_help():
    app = open_page("discover", **SMALL)
    helps = [metric.help for metric in app.metric]
    for term, text in zip(("skeleton", "precision", "recall", "f1", "shd"), helps, strict=True):
        assert f"glossary?term={term}" in text


def test_a_sentence_is_linked_at_the_first_place_of_a_word():
    assert linked("ε = 1: ε", epsilon="ε", delta="δ") == "[ε](glossary?term=epsilon) = 1: ε"
    assert term_link("laplace") == "[Laplace noise](glossary?term=laplace)"
    assert term_link("skeleton") == "[skeleton](glossary?term=skeleton)"
