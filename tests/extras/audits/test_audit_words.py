"""What an audit looked at, in sentences."""

import pytest

from privcore.extras.audits import (
    AUDITS,
    MECHANISMS,
    PAIRWISE,
    PLANTED,
    RELEASES,
    UNITS,
    audit,
)
from privcore.extras.audits.plain_words import fact, thing
from tests.examples import few

ALL = {**AUDITS, **MECHANISMS, **PAIRWISE, **PLANTED, **RELEASES, **UNITS}


@pytest.mark.parametrize(
    ("name", "so", "not_so"),
    [
        (
            "separated: a,d given {}?",
            "a and d are found independent given nothing",
            "a and d are not found independent given nothing",
        ),
        (
            "separated: a,d given {b, c}?",
            "a and d are found independent given b and c",
            "a and d are not found independent given b and c",
        ),
        ("edge a→b?", "the graph has the arrow a→b", "the graph does not have the arrow a→b"),
        (
            "edge a–b?",
            "the graph has a line without an arrow between a and b",
            "the graph has no line without an arrow between a and b",
        ),
        ("a and b adjacent?", "the graph joins a and b", "the graph does not join a and b"),
        ("answer 3 is above?", "answer 3 is “above”", "answer 3 is not “above”"),
        ("score x → y refused?", "score x → y is refused", "score x → y is not refused"),
        ("something new?", "something new", "it is not so that something new"),
    ],
)
def test_facts_are_sentences(name, so, not_so):
    assert fact(name, True) == so
    assert fact(name, False) == not_so
    assert thing(name) == f"whether {so}"


@pytest.mark.parametrize(
    ("name", "phrase"),
    [
        ("spent", "the budget spent"),
        ("tests", "the number of tests run"),
        ("rounds used", "the number of rounds used"),
        ("number 2", "released number 2"),
        ("entry 1, 4", "the released number in row 1, column 4"),
        ("score y → x", "the released score of y → x"),
        ("covariance of a and b", "the covariance of a and b"),
        ("something new", "something new"),
    ],
)
def test_numbers_are_phrases(name, phrase):
    assert thing(name) == phrase


FAST = [n for n in ALL if n not in ("moment-search-tables",)]


@pytest.mark.parametrize("name", few(FAST, 8))
def test_no_event_is_named_as_inside(name):
    case = ALL[name]
    for event in audit(case, epsilon=case.epsilon, runs=200, seed=1).events:
        assert "given {" not in event.plainly
        assert "?" not in event.plainly
        assert not event.plainly.startswith(("score ", "output:", "not:", "number "))
        assert event.as_dict()["plainly"] == event.plainly
