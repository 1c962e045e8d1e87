"""The page Glossary, and hard words that lead to it where they are first used, once a page."""

import re
from collections import Counter

import pytest

from pages.ui.glossary import linked, term_link
from privcore.extras.teaching.glossary import glossary
from tests.messages import begins, label
from tests.pages.opening import clean, open_page, press


def start(**query):
    return open_page("glossary", **query)


def texts(app):
    return [m.value for m in app.main.markdown]


def test_terms_come_first_and_parameters_on_request():
    app = start()
    assert any(text.startswith("**Skeleton**") for text in texts(app))
    assert not any(text.startswith("**Largest gradient**") for text in texts(app))
    clean(
        app.segmented_control(key="glossary_kind")
        .set_value(label("parameters-of-algorithms"))
        .run()
    )
    assert any(text.startswith("**Largest gradient**") for text in texts(app))


def test_a_link_opens_its_term_alone_and_leads_back_to_all():
    app = start(term="epsilon")
    assert app.header[0].value == "Privacy budget · ε"
    assert "Moment search" in texts(app)[0]
    press(app, "All terms")
    assert "term" not in app.query_params
    assert any(text.startswith("**Skeleton**") for text in texts(app))


def test_a_search_shows_what_is_called_so_before_what_mentions_it():
    app = start(term="epsilon")
    app.text_input(key="glossary_search").set_value("skeleton").run()
    assert texts(app)[0].startswith("**Skeleton**")
    assert 1 < len(texts(app)) < 20
    app.text_input(key="glossary_search").set_value("no *such* word").run()
    assert begins(app.info[0].value, "no-term-has", term="no \\*such\\* word")


def test_an_unknown_term_gets_a_sentence_and_all_terms():
    app = start(term="<b>x</b>")
    assert begins(app.warning[0].value, "no-such-term-shown", term="\\<b\\>x")
    assert len(texts(app)) > 20


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
