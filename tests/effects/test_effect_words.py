"""What is said of an effect, sentence by sentence."""

from __future__ import annotations

import math
import re

import pytest

from privcore.display.effects import effects_sentence, estimate_text, width_sentence
from privcore.effects import Estimate, Question
from tests.messages import begins, reads

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
    ("sentence", "words"),
    [
        (said(YES, [0.09], (0.087, 0.093)), "raises .* by 9.0 points .*8.7 to .9.3 points"),
        (
            said(STAGE, [-0.05], (-0.11, 0.01)),
            "by -5.0 points, which is compatible with no effect .*-11.0",
        ),
        (said(STAGE, [-0.19], (-1.0, 0.92)), "^Whether setting .* too noisy to tell .*-100.0"),
        (said(NUMBERS, [-1.2345], (-2.0, 0.5)), "One more unit .* by -1.23, which is compatible"),
        (said(NUMBERS, [1.0], (None, None)), "too noisy to tell .*anything"),
        (said(YES, [0.0, 0.5, 0.2], (-0.1, 0.6)), "0.0 to .50.0 points, depending on directions"),
        (said(YES, [0.0], (0.0, 0.0)), "does not change lung"),
        (said(YES, [None], None, "Not released."), "left open. Not released.$"),
        (said(NUMBERS, [0.3], None, "Not settled."), "left open. Not settled.$"),
    ],
)
def test_headlines(sentence: str, words: str) -> None:
    assert re.search(words, sentence)


def test_long_names_are_cut_and_hold_no_line_breaks() -> None:
    odd = Question("x" * 300, "a\nb", "l" * 300, "m" * 300, "n" * 300)
    sentence = said(odd, [0.5], (0.0, 1.0))
    assert "\n" not in sentence
    assert len(sentence) < 300


def test_estimates_are_in_points_or_units() -> None:
    assert reads(
        estimate_text(YES, Estimate(-0.123, -1, 0)),
        "estimate-with-interval",
        points="-12.3",
        low="-100.0",
        high="+0.0",
    )
    assert reads(
        estimate_text(NUMBERS, Estimate(12.345, -math.inf, 20)),
        "estimate-without-bound",
        points="+12.3",
        high="+20",
    )
    told = width_sentence(YES, 0.04, 0.5)
    assert begins(told, "share-measures", share="0.5", points="2.0")
