"""What is said of an effect, in sentences."""

from __future__ import annotations

from privcore.effects.model import Effect, Effects
from privcore.effects.question import Question
from privcore.effects.standardisation import Estimate
from privcore.text import short

# Of two estimates that round to the same number of points one is said.
_SAME = 5e-4


def headline(said: Effects) -> str:
    """The answer in one sentence.

    Such as "Setting smoke from no to yes raises the probability of lung = yes by 9.0 points (95 %:
    8.7 to 9.3)."
    """
    doing = _doing(said.question)
    if said.interval is None:
        return f"What {doing[0].lower()}{doing[1:]} does is left open. {said.reason}"
    low, high = said.interval
    values = [effect.estimate.value for effect in said.shown if effect.estimate is not None]
    least, most = min(values), max(values)
    if low == high == 0:
        return f"{doing} changes nothing of {_name(said.question.outcome)} in this graph."
    around = f"95 %: {_amounts(said.question, low, high)}"
    if most - least <= _SAME:
        return f"{doing} {_change(said.question, most)} ({around})."
    between = _amounts(said.question, least, most)
    return (
        f"{doing} changes {_what(said.question)} by {between}: the graph leaves open which "
        f"({around})."
    )


def effect_line(question: Question, effect: Effect) -> str:
    """One set of parents in a line: what they are, the effect, and what is adjusted for."""
    parents = ", ".join(_name(name) for name in effect.parents) or "nothing"
    if effect.estimate is None:
        return f"If {parents} points at {_name(question.cause)}: {effect.reason}"
    if not effect.affected:
        return f"If {parents} points at {_name(question.cause)}: no effect."
    return (
        f"If {parents} points at {_name(question.cause)}: "
        f"{estimate_text(question, effect.estimate)}. "
        f"{effect.reason}"
    )


def estimate_text(question: Question, estimate: Estimate) -> str:
    """Such as "+9.0 points (95 %: +8.7 to +9.3)"."""
    return (
        f"{_amount(question, estimate.value)} "
        f"(95 %: {_amounts(question, estimate.low, estimate.high)})"
    )


def width_sentence(question: Question, width: float) -> str:
    """What a second release would bring, before it is paid for."""
    half = _unsigned(question, width / 2)
    return (
        f"To expect from the second release: ± {half} or more (balanced columns; more where values "
        "are rare)."
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
    return f"{_amount(question, low)} to {_amount(question, high)}"


def _name(text: str) -> str:
    return short(text, 30)
