"""A question by position: its defaults, and one sentence for each that the columns cannot have."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privcore.data import Column
from privcore.effects import IndexedQuestion, Question
from privcore.errors import ParameterError
from tests.messages import says

COLUMNS = (
    Column("smoke", "nominal", ("yes", "no"), declared=True),
    Column("lung", "nominal", ("absent", "present"), declared=True),
    Column("stage", "ordinal", ("one", "two", "three"), declared=True),
    Column("age", "continuous", bounds=(0.0, 100.0), declared=True),
    Column("dose", "continuous", bounds=(0.0, 5.0), declared=True),
    Column("cost", "ordinal", ("< 5", "≥ 5"), declared=True, cut_points=(5.0,)),
)


def levels_of(name: str, *levels: str) -> Column:
    return Column(name, "nominal", levels, declared=True)


def test_what_says_yes_is_set_and_looked_at_and_the_first_other_value_is_compared_with() -> None:
    assert Question("smoke", "lung").on(COLUMNS) == IndexedQuestion(0, 1, compared=1, to=0, level=1)
    assert Question("lung", "smoke").on(COLUMNS) == IndexedQuestion(1, 0, compared=0, to=1, level=0)


def test_without_a_level_that_says_yes_the_last_one_is_taken() -> None:
    assert Question("stage", "lung").on(COLUMNS) == IndexedQuestion(2, 1, compared=0, to=2, level=1)
    assert Question("smoke", "stage").on(COLUMNS).level == 2


@pytest.mark.parametrize(
    ("levels", "place"),
    [
        (("No", "YES"), 1),
        (("True", "False"), 0),
        (("1", "0"), 0),
        (("Present", "Absent"), 0),
        (("POSITIVE", "negative"), 0),
        (("high", "low"), 0),
        (("Abnormal", "normal"), 0),
        # Of two that say so, the one that says it more plainly.
        (("high", "1", "other"), 1),
        (("a", "b"), 1),
    ],
)
def test_which_level_says_yes(levels: Sequence[str], place: int) -> None:
    asked = Question("a", "b").on([levels_of("a", *levels), levels_of("b", "x", *levels)])
    assert (asked.to, asked.level) == (place, place + 1)
    assert asked.compared == (1 if place == 0 else 0)


def test_levels_that_are_stated_are_taken() -> None:
    asked = Question("stage", "lung", compared="three", to="two", level="absent").on(COLUMNS)
    assert asked == IndexedQuestion(2, 1, compared=2, to=1, level=0)


def test_numbers_have_no_levels() -> None:
    """A cause that is a number is raised by one unit, an outcome that is a number has a mean."""
    for cause, outcome in (("age", "dose"), ("age", "lung"), ("lung", "age")):
        asked = Question(cause, outcome).on(COLUMNS)
        both = -1 if cause == "age" else 0
        assert (asked.compared, asked.to, asked.level) == (
            both, both if both < 0 else 1, 1 if outcome == "lung" else -1,
        )  # fmt: skip
        assert asked.change == 1
        assert COLUMNS[asked.cause].name == cause
        assert COLUMNS[asked.outcome].name == outcome


def test_two_values_of_a_number_are_compared() -> None:
    low, high = COLUMNS[Question("age", "dose").on(COLUMNS).cause].bounds
    asked = Question("age", "dose", str(low + 1), f"{high - 1:g}").on(COLUMNS)
    assert (asked.compared, asked.to) == (-1, -1)
    assert asked.change == pytest.approx(high - low - 2)


REFUSED = [
    (Question("smoking", "lung"), says("no-such-column", name="smoking")),
    (Question("smoke", "cancer"), says("no-such-column", name="cancer")),
    (Question("smoke", "smoke"), says("cause-and-outcome-the-same")),
    (Question("smoke", "lung", to="maybe"), says("no-such-level", name="smoke", level="maybe")),
    (
        Question("smoke", "lung", compared="maybe"),
        says("no-such-level", name="smoke", level="maybe"),
    ),
    (Question("smoke", "lung", level="maybe"), says("no-such-level", name="lung", level="maybe")),
    (
        Question("cost", "lung", to="9"),
        says("no-such-level-of-intervals", name="cost", level="9"),
    ),
    (Question("stage", "lung", compared="two", to="two"), says("compared-with-itself")),
    (Question("age", "dose", "1", "1"), says("compared-with-itself")),
    (Question("age", "dose", to="1"), says("two-values-of-cause", name="age")),
    (Question("age", "dose", "1", "old"), says("two-values-of-cause", name="age")),
    (Question("age", "dose", "1", "nan"), says("value-outside-bounds", name="age")),
    (Question("age", "dose", "1", "1e9"), says("value-outside-bounds", name="age")),
    (Question("lung", "age", level="1"), says("no-levels-of-numbers", name="age")),
]


@pytest.mark.parametrize(("question", "words"), REFUSED)
def test_what_the_columns_cannot_have_is_refused_in_one_sentence(
    question: Question, words: str
) -> None:
    with pytest.raises(ParameterError, match=words) as refused:
        question.on(COLUMNS)
    sentence = str(refused.value)
    assert sentence.endswith(".")
    assert "\n" not in sentence
    assert not re.search(r"\. [A-Z]", sentence), "more than one sentence"


@given(st.integers(2, 6), st.integers(2, 6), st.data())
def test_positions_are_those_of_the_levels(values: int, results: int, drawn: st.DataObject) -> None:
    """Whatever is left out, the two values of the cause differ and all are within range."""
    cause, outcome = (
        levels_of(name, *(f"{name}{k}" for k in range(many)))
        for name, many in (("a", values), ("b", results))
    )
    to = drawn.draw(st.none() | st.sampled_from(cause.levels))
    rest = [level for level in cause.levels if level != (to or cause.levels[-1])]
    compared = drawn.draw(st.none() | st.sampled_from(rest))
    level = drawn.draw(st.none() | st.sampled_from(outcome.levels))
    asked = Question("a", "b", compared, to, level).on([outcome, cause])
    assert (asked.cause, asked.outcome) == (1, 0)
    assert asked.compared != asked.to
    assert to is None or cause.levels[asked.to] == to
    assert compared is None or cause.levels[asked.compared] == compared
    assert outcome.levels[asked.level] == (level or outcome.levels[-1])
    assert 0 <= asked.compared < values
