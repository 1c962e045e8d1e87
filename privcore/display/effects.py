"""Sentences about an effect."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from privcore.effects.adjusting import Estimate
from privcore.effects.model import Effect, Effects, too_noisy
from privcore.effects.question import Question
from privcore.text import short

# Estimates that differ by less round to the same number of points and count as one.
_SAME = 5e-4
_QUESTION = ("cause", "outcome", "compared", "to", "level")


def headline(answer: Effects) -> str:
    """The answer in one sentence.

    For example: "Setting smoke from no to yes raises the probability of lung = yes by 9.0 points
    (95 %: +8.7 to +9.3 points)."
    """
    values = [effect.estimate.value for effect in answer.shown if effect.estimate is not None]
    told = answer.question, values, answer.interval, answer.reason
    return _sentence(*told, answer.reach, answer.enough)


def effects_sentence(answer: Mapping[str, Any]) -> str:
    """The sentence that `headline` gives, from the result of `Effects.as_dict`."""
    question = Question(**{name: answer[name] for name in _QUESTION})
    shown = [effect["estimate"] for effect in answer["effects"] if effect["in_graph"]]
    interval = answer["interval"]
    if interval is not None:
        low, high = interval
        interval = (-math.inf if low is None else low, math.inf if high is None else high)
    # Answers of earlier versions have neither.
    reach = answer.get("reach", math.inf if question.level is None else 1.0)
    told = question, [v for v in shown if v is not None], interval, answer["reason"]
    return _sentence(*told, reach, answer.get("enough"))


def _sentence(
    question: Question,
    values: Sequence[float],
    interval: tuple[float, float] | None,
    reason: str,
    reach: float,
    enough: Sequence[float] | None,
) -> str:
    doing = _doing(question)
    if interval is None or not values:
        return f"The effect of {doing[0].lower()}{doing[1:]} is left open. {reason}"
    low, high = interval
    least, most = min(values), max(values)
    nothing = f"{doing} does not change {_name(question.outcome)} in this graph"
    if low == high == 0:
        return f"{nothing}."
    around = f"95 %: {_amounts(question, low, high)}"
    bounded = math.isfinite(high - low)
    if least == most == 0 and bounded:
        return f"{nothing}, but other graphs are plausible, too ({around})."
    if most - least > _SAME and bounded:
        between = _amounts(question, least, most)
        return (
            f"{doing} changes {_what(question)} by {between}, depending on directions that the "
            f"graph leaves open ({around})."
        )
    if too_noisy((low, high), reach):
        more = f"; about ε = {enough[0]:.3g}, or {enough[1]:,} rows, would do" if enough else ""
        return (
            f"Whether {doing[0].lower()}{doing[1:]} changes {_what(question)} is too noisy to tell "
            f"({around}){more}."
        )
    if low <= 0 <= high:
        by = _amount(question, most)
        return (
            f"{doing} changes {_what(question)} by {by}, which is compatible with no effect "
            f"({around})."
        )
    return f"{doing} {_change(question, most)} ({around})."


def effect_line(question: Question, effect: Effect) -> str:
    """One line for a set of parents: the parents, the effect and the adjustment set.

    For a PAG, the line does not state parents.
    """
    if effect.parents is None:
        if effect.estimate is None or not effect.affected:
            return effect.reason
        estimate = estimate_text(question, effect.estimate)
        return f"With unobserved confounders allowed: {estimate}. {effect.reason}"
    names = [_name(name) for name in effect.parents]
    parents = " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]])) or "nothing"
    verb = "cause" if len(effect.parents) > 1 else "causes"
    if effect.estimate is None:
        return f"If {parents} {verb} {_name(question.cause)}: {effect.reason}"
    if not effect.affected:
        return f"If {parents} {verb} {_name(question.cause)}: no effect."
    return (
        f"If {parents} {verb} {_name(question.cause)}: "
        f"{estimate_text(question, effect.estimate)}. "
        f"{effect.reason}"
    )


def estimate_text(question: Question, estimate: Estimate) -> str:
    """An estimate, such as "+9.0 points (95 %: +8.7 to +9.3 points)" or "no effect"."""
    if estimate.low == estimate.high == 0:
        return "no effect"
    return (
        f"{_amount(question, estimate.value)} "
        f"(95 %: {_amounts(question, estimate.low, estimate.high)})"
    )


def width_sentence(question: Question, width: float, share: float) -> str:
    """A sentence on the precision to expect from a second release with this share of ε."""
    half = _unsigned(question, width / 2)
    return (
        f"With a share of {share:g}, the effect is measured to within ± {half} if the columns are "
        "balanced and numbers fill half of their bounds, and less precisely if values are rare."
    )


def _doing(question: Question) -> str:
    if question.to is None:
        return f"One more unit of {_name(question.cause)}"
    return (
        f"Setting {_name(question.cause)} from {_name(question.compared or '')} to "
        f"{_name(question.to)}"
    )


def _what(question: Question) -> str:
    if question.level is None:
        return _name(question.outcome)
    return f"the probability of {_name(question.outcome)} = {_name(question.level)}"


def _change(question: Question, value: float) -> str:
    verb = "raises" if value >= 0 else "lowers"
    return f"{verb} {_what(question)} by {_unsigned(question, abs(value))}"


def _unsigned(question: Question, value: float) -> str:
    return f"{100 * value:.1f} points" if question.level is not None else f"{value:.3g}"


def _amount(question: Question, value: float) -> str:
    if abs(value) == float("inf"):
        return "no bound"
    return f"{100 * value:+.1f} points" if question.level is not None else f"{value:+.3g}"


def _amounts(question: Question, low: float, high: float) -> str:
    if question.level is not None:
        return f"{100 * low:+.1f} to {100 * high:+.1f} points"
    if math.isinf(low) and math.isinf(high):
        return "anything"
    return f"{_amount(question, low)} to {_amount(question, high)}"


def _name(text: str) -> str:
    return short(text, 30)
