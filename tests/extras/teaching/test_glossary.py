"""The glossary: terms are reached by symbols and words; `make lint` looks at each of them."""

from pathlib import Path

from pages.ui.glossary import address, glossary_note, term_link, terms_of_panel
from privcore.algorithms import ALGORITHMS
from privcore.errors import ParameterError
from privcore.extras.teaching.glossary import get_term, glossary
from privcore.extras.teaching.lessons import LESSONS
from tests.messages import raises_code

ROOT = Path(__file__).parents[3]
TERMS = glossary()


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
    assert glossary_note("tweak") == "[Glossary](glossary?term=tweak)"
    assert glossary_note("no-such-term") == ""
    for name in ("", "no-such-term"):
        with raises_code(ParameterError, "no-such-term"):
            address(name)


def test_words_of_lessons_and_panels_are_terms():
    for lesson in LESSONS.values():
        assert lesson.terms
        assert set(lesson.terms) <= TERMS.keys()
    assert "epsilon" in terms_of_panel("noise")
