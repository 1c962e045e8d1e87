"""The glossary: every term can be reached, and every parameter and cross-reference is in it."""

import re
from pathlib import Path

import pytest

from pages.ui.glossary import address, body, glossary_note, term_help, term_link, terms_of_panel
from privcore.algorithms import ALGORITHMS
from privcore.errors import ParameterError
from privcore.extras.teaching import PANELS
from privcore.extras.teaching.glossary import get_term, glossary, is_written
from privcore.extras.teaching.lessons import LESSONS

ROOT = Path(__file__).parents[3]
TERMS = glossary()


@pytest.mark.parametrize("term", TERMS.values(), ids=lambda term: term.name)
def test_a_term_is_plain_and_leads_only_to_what_exists(term):
    assert re.fullmatch(r"[a-z][a-z0-9_-]*", term.name)
    assert term.title
    assert term.text.endswith(".")
    assert set(term.see) <= TERMS.keys() - {term.name}
    assert not term.panel or term.panel in PANELS
    assert not term.lesson or term.lesson in LESSONS
    assert not term.docs or (ROOT / term.docs).is_file()
    if is_written(term.name):
        # One to three sentences.
        assert 1 <= len(re.findall(r"\.(?= [A-Z]|$)", term.text)) <= 3


def test_every_parameter_of_an_algorithm_is_there_with_its_symbol():
    for algorithm in ALGORITHMS.values():
        for parameter in algorithm.parameters:
            term = get_term(parameter.name)
            assert algorithm.title in term.used_by
            worded = parameter.symbol.replace("-", "_") == parameter.name
            assert worded or term.symbol == parameter.symbol, parameter.name


def test_symbols_and_words_of_the_field_lead_to_their_terms():
    for words, name in {
        "ε": "epsilon",
        "δ": "delta",
        "zCDP": "zcdp",
        "CPDAG": "cpdag",
        "v structure": "v-structure",
        "collider": "v-structure",
        "FDR": "fdr",
        "SHD": "shd",
        "Z*": "z-star",
        "z-star": "z-star",
        "DAG": "causal-graph",
        "RENYI": "accountant",
        "e epsilon": "epsilon",
    }.items():
        assert TERMS[name].matches(words), words
    assert not TERMS["f1"].matches("skeleton")
    assert not TERMS["f1"].matches("precision skeleton")


def test_links_name_a_term_or_are_refused():
    assert term_link("epsilon") == "[privacy budget](glossary?term=epsilon)"
    assert term_link("epsilon", "ε") == "[ε](glossary?term=epsilon)"
    assert term_link("f1").startswith("[F1]")
    assert term_help("skeleton").endswith("[Glossary](glossary?term=skeleton)")
    assert glossary_note("tweak") == "[Glossary](glossary?term=tweak)"
    assert glossary_note("no-such-term") == ""
    for name in ("", "no-such-term"):
        with pytest.raises(ParameterError, match="The glossary has no term"):
            address(name)


def test_every_link_that_a_page_writes_names_a_term():
    texts = [body(term) for term in TERMS.values()]
    for path in [*(ROOT / "pages").rglob("*.py"), *(ROOT / "docs").rglob("*.md")]:
        text = path.read_text(encoding="utf-8")
        texts.append(text)
        for name in re.findall(r'(?:term_link|term_help|glossary_note)\(\s*"([^"]*)"', text):
            assert name in TERMS, (path, name)
    names = [name for text in texts for name in re.findall(r"glossary\?term=([\w-]+)", text)]
    assert len(names) > len(TERMS) / 2
    assert set(names) <= TERMS.keys()


def test_words_of_lessons_and_panels_are_terms():
    for lesson in LESSONS.values():
        assert lesson.terms
        assert set(lesson.terms) <= TERMS.keys()
    assert "epsilon" in terms_of_panel("noise")
