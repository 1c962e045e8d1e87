"""Texts of the Effects page."""

from __future__ import annotations

from collections.abc import Sequence

from pages.ui.texts import plain
from privcore.display.answer import promise_sentence
from privcore.display.sentences import for_whom, protected
from privcore.effects import Effect, Effects, Question
from privcore.privacy.accounting import Guarantee
from privcore.text import counted, short

HOW_TO_READ = (
    "A dot is the best estimate; the line through it is the 95 % interval, which allows for "
    "sampling error and privacy noise."
)


def promise(guarantee: Guarantee) -> str:
    """The guarantee in words for a reader who does not know ε, as Markdown."""
    delta = f" and δ = {guarantee.delta:g}" if guarantee.delta else ""
    sentence = promise_sentence(guarantee).replace("the private graph", "this answer")
    whom = for_whom(protected(guarantee))
    return plain(f"This answer costs ε = {guarantee.epsilon:.3g}{delta} {whom}. {sentence}")


def scaled(question: Question, value: float) -> float:
    """An effect in percentage points, or in units of a numeric outcome."""
    return 100 * value if question.level is not None else value


def amount(question: Question, value: float) -> str:
    """An effect as text: "+9.0" in percentage points, or "-0.42" for numeric columns."""
    if abs(value) == float("inf"):
        return "no bound"
    return f"{100 * value:+.1f}" if question.level is not None else f"{value:+.3g}"


def between(question: Question, low: float, high: float) -> str:
    return f"{amount(question, low)} to {amount(question, high)}"


def axis_title(question: Question) -> str:
    """Name the quantity that the chart shows, for the axis title."""
    cause, outcome = short(question.cause, 18), short(question.outcome, 18)
    what, points = outcome, ""
    if question.level is not None:
        what = f"the probability of {outcome} = {short(question.level, 18)}"
        points = ", in percentage points,"
    if question.to is None:
        return f"change in {what}{points} per unit of {cause}"
    return (
        f"change in {what}{points} when {cause} goes from {short(question.compared, 18)} to "
        f"{short(question.to, 18)}"
    )


def case(question: Question, group: Sequence[Effect]) -> str:
    """The assumed parents of the cause, such as "if smoke is caused by nothing or by bronc".

    For a PAG: a note that unobserved confounders are allowed.
    """
    sets = list(dict.fromkeys(e.parents for e in group if e.parents is not None))
    if not sets:
        return "unobserved confounders allowed"
    cause = short(question.cause, 14)
    if len(sets) == 2 and all(len(parents) < 2 for parents in sets):
        return f"if {cause} is caused by {_joined(sets[0])} or by {_joined(sets[1])}"
    verb = "causes" if len(sets[0]) < 2 else "cause"
    more = len(sets) - 1
    others = f", or {counted(more, 'other case')}" if more else ""
    return f"if {_joined(sets[0])} {verb} {cause}{others}"


def _joined(parents: Sequence[str]) -> str:
    if not parents:
        return "nothing"
    words = " and ".join(short(name, 14) for name in parents)
    # A line on a phone has room for about 60 letters.
    if len(parents) > 2 or (len(parents) == 2 and len(words) > 20):
        return f"{short(parents[0], 12)} and {len(parents) - 1} more"
    return words


def groups(effects: Sequence[Effect]) -> list[list[Effect]]:
    """Group equal effects: first the effects under the graph, then the others by probability."""
    same: dict[object, list[Effect]] = {}
    for effect in effects:
        key = (effect.adjustment, effect.estimate) if effect.affected else None
        same.setdefault(key, []).append(effect)
    return sorted(
        same.values(),
        key=lambda group: (not any(e.shown for e in group), -sum(e.probability for e in group)),
    )


def open_sentence(answer: Effects) -> str:
    """State what would narrow the answer; empty if the graph allows only one effect."""
    if answer.identified or not answer.shown:
        return ""
    return (
        f"The private graph does not identify the parents of {short(answer.question.cause, 30)}, "
        "and the effect depends on the parents. Background knowledge, such as an order in time, "
        "can identify them."
    )
