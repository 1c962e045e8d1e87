"""Sentences on whether released numbers agree with a stated graph."""

from __future__ import annotations

from privcore.display.effects import estimate_text
from privcore.effects.by_graph import Adjusted, GraphAnswer
from privcore.measures.graph_check import GraphCheck, PairCheck
from privcore.naming import quoted
from privcore.text import counted, short


def verdict_sentence(check: GraphCheck) -> str:
    """The verdict on the graph in one sentence, with what chance alone would give."""
    against, implied = check.having("contradicted"), check.implied
    arrows = [pair for pair in check.pairs if pair.arrow]
    level = f"{100 * check.level:g} %"
    if not implied:
        said = "The graph joins every pair of columns, so it implies no independence to test"
    elif against:
        said = (
            f"The data contradict {len(against)} of {counted(len(implied), 'implied independence')}"
            f" (chance adds at most {check.by_chance:.2g} on average)"
        )
    elif check.having("agrees"):
        said = (
            f"Nothing contradicts the graph: of {counted(len(implied), 'implied independence')}, "
            f"{_agree(check)} (a right graph is contradicted with probability {level} at most)"
        )
    else:
        said = (
            "Nothing contradicts the graph, but none of "
            f"{counted(len(implied), 'implied independence')} is clear: a dependence of "
            f"{check.least:g} could be hidden"
        )
    if not arrows:
        return f"{said}."
    return (
        f"{said}; of {counted(len(arrows), 'arrow')}, {len(check.having('supported'))} supported."
    )


def _agree(check: GraphCheck) -> str:
    open_pairs = len(check.implied) - len(check.having("agrees"))
    agree = f"{len(check.having('agrees'))} agree"
    return f"{agree}, {open_pairs} inconclusive" if open_pairs else agree


def asked_sentence(check: GraphCheck) -> str:
    """The links that the data ask for; empty if there are none."""
    if not check.asked_for:
        return ""
    links = ", ".join(" – ".join(map(quoted, pair)) for pair in check.asked_for)
    rest = "nothing else contradicts the graph" if check.explained else "contradictions remain"
    return (
        f"The data ask for {links}; with {'these' if len(check.asked_for) > 1 else 'this'}, {rest}."
    )


def pair_text(pair: PairCheck) -> str:
    """A pair and what it is tested given, such as "a ⊥ d given b, c" or "a → b given c"."""
    a, b = (quoted(short(name, 30)) for name in pair.pair)
    given = ", ".join(quoted(short(name, 30)) for name in pair.given or ())
    return f"{a} {'→' if pair.arrow else '⊥'} {b}{f' given {given}' if given else ''}"


def size_text(pair: PairCheck) -> str:
    """The size of the dependence, such as "0.31 ± 0.06" or "at most 0.09"; empty without one."""
    if pair.size is None or pair.low is None or pair.high is None:
        return ""
    if pair.verdict in ("supported", "contradicted"):
        return f"{pair.size:.2f} ± {max(pair.high - pair.size, pair.size - pair.low):.2f}"
    return f"at most {pair.high:.2f}"


def why_open(pair: PairCheck) -> str:
    """Why a pair inconclusive; empty for the other verdicts."""
    if pair.verdict != "inconclusive":
        return ""
    if pair.given is None:
        return "unobserved causes leave no set of columns that answers"
    return "too noisy" if pair.size is not None else "the released numbers do not show it"


def pair_line(pair: PairCheck) -> str:
    """A pair with its verdict and size in one line."""
    parts = ", ".join(filter(None, (size_text(pair), why_open(pair))))
    return f"{pair_text(pair)}: {pair.verdict}{f' ({parts})' if parts else ''}"


def effect_lines(answer: GraphAnswer) -> list[str]:
    """The effect by each adjustment set, and whether the sets agree; empty without a question."""
    question = answer.question
    if question is None:
        return []
    asked = f"Effect of {quoted(question.cause)} on {quoted(question.outcome)}"
    if answer.reason and not answer.effects:
        return [f"{asked}: {answer.reason}"]
    lines = []
    for effect in answer.effects:
        estimate = effect.estimate
        value = (
            "not in the released numbers" if estimate is None else estimate_text(question, estimate)
        )
        lines.append(f"{asked}, {set_text(effect)}: {value}")
    if answer.agree is not None:
        lines.append(
            "The adjustment sets agree: their intervals have an effect in common."
            if answer.agree
            else "The adjustment sets disagree, so the graph is wrong somewhere."
        )
    return [*lines, *([answer.reason] if answer.reason else [])]


def set_text(effect: Adjusted) -> str:
    """The adjustment set in words."""
    names = ", ".join(quoted(short(name, 30)) for name in effect.columns)
    known = f"adjusted for {names}" if names else "without adjustment"
    own = " (as in the graph file)" if effect.stated else ""
    return f"{known}{own}{'' if effect.valid else ', which this graph does not allow'}"
