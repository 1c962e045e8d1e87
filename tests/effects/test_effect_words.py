"""What is said of an effect, sentence by sentence."""

from __future__ import annotations

import math

import pytest

from privcore.effects import (
    Effect,
    Estimate,
    Question,
    effect_line,
    estimate_text,
    width_sentence,
)
from privcore.effects.words import effects_sentence

YES = Question("smoke", "lung", "no", "yes", "yes")
STAGE = Question("stage", "treatment", "one", "three", "surgery")
NUMBERS = Question("dose", "pressure")


def said(
    question: Question,
    values: list[float | None],
    interval: tuple[float | None, float | None] | None,
    reason: str = "",
) -> str:
    """The sentence of what `Effects.as_dict` gives: effects of the graph, then one of another."""
    every = [{"estimate": value, "in_graph": True} for value in values]
    every.append({"estimate": 0.77, "in_graph": False})
    words = {
        name: getattr(question, name) for name in ("cause", "outcome", "compared", "to", "level")
    }
    return effects_sentence({**words, "effects": every, "interval": interval, "reason": reason})


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        (
            said(YES, [0.09], (0.087, 0.093)),
            "Setting smoke from no to yes raises the probability of lung = yes by 9.0 points "
            "(95 %: +8.7 to +9.3 points).",
        ),
        (
            said(STAGE, [-0.25], (-0.5, 0.01)),
            "Setting stage from one to three changes the probability of treatment = surgery by "
            "-25.0 points, which may be nothing (95 %: -50.0 to +1.0 points).",
        ),
        (
            said(NUMBERS, [-1.2345], (-2.0, 0.5)),
            "One more unit of dose changes pressure by -1.23, which may be nothing (95 %: -2 to "
            "+0.5).",
        ),
        (
            said(NUMBERS, [1.0], (None, None)),
            "One more unit of dose changes pressure by +1, which may be nothing (95 %: anything).",
        ),
        (
            said(YES, [0.0, 0.5, 0.2], (-0.1, 0.6)),
            "Setting smoke from no to yes changes the probability of lung = yes by +0.0 to +50.0 "
            "points: the graph leaves open which (95 %: -10.0 to +60.0 points).",
        ),
        (
            said(YES, [0.0], (0.0, 0.0)),
            "Setting smoke from no to yes changes nothing of lung in this graph.",
        ),
        (
            said(YES, [None], None, "Counts were not released."),
            "What setting smoke from no to yes does is left open. Counts were not released.",
        ),
        (
            said(NUMBERS, [0.3], None, "The graph is not settled."),
            "What one more unit of dose does is left open. The graph is not settled.",
        ),
    ],
)
def test_headlines(sentence: str, expected: str) -> None:
    assert sentence == expected


def test_long_names_are_cut_and_hold_no_line_breaks() -> None:
    odd = Question("x" * 300, "a\nb", "l" * 300, "m" * 300, "n" * 300)
    sentence = said(odd, [0.5], (0.0, 1.0))
    assert "\n" not in sentence
    assert len(sentence) < 300


def line(parents: tuple[str, ...], estimate: Estimate | None, affected: bool = True) -> str:
    one = Effect(parents, affected, (), (), 0.5, True, estimate, None, "Why so.")
    return effect_line(YES, one)


def test_lines_name_the_parents() -> None:
    estimate = Estimate(0.09, 0.087, 0.093)
    words = "+9.0 points (95 %: +8.7 to +9.3 points). Why so."
    assert line((), estimate) == f"If nothing points at smoke: {words}"
    assert line(("age",), estimate) == f"If age points at smoke: {words}"
    assert line(("age", "sex"), estimate) == f"If age and sex point at smoke: {words}"
    assert line(("lung",), Estimate(0, 0, 0), False) == "If lung points at smoke: no effect."
    assert line(("age",), None) == "If age points at smoke: Why so."


def test_estimates_are_in_points_or_units() -> None:
    assert (
        estimate_text(YES, Estimate(-0.123, -1, 0)) == "-12.3 points (95 %: -100.0 to +0.0 points)"
    )
    assert (
        estimate_text(NUMBERS, Estimate(12.345, -math.inf, 20)) == "+12.3 (95 %: no bound to +20)"
    )
    told = width_sentence(YES, 0.04, 0.5)
    assert told.startswith("A share of 0.5 measures the effect to ± 2.0 points, or worse")
