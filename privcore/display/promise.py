"""Plain-text sentences on what a guarantee promises, and whom it protects."""

from __future__ import annotations

from privcore.algorithms import Algorithm
from privcore.algorithms.protecting import Protection
from privcore.errors import ParameterError
from privcore.privacy.accounting import Guarantee
from privcore.privacy.accounting.guarantee import guessing_bound
from privcore.unit import ADDED, RECORD, understood

ONE_ROW = Protection(RECORD)

NOT_PRIVATE = "The non-private graph and the metrics are not private."
SIMULATED = "The noise is simulated from a seed, for exploring: this is not a release."


def percent(share: float) -> str:
    """A probability in per cent, with more digits near 1."""
    if 0.99999 < share < 1:
        return "over 99.999 %"
    text = f"{100 * share:.1f}" if share < 0.999 else f"{100 * share:.3f}"
    return f"{text.rstrip('0').rstrip('.')} %"


def protected(guarantee: Guarantee) -> Protection:
    """The unit that a guarantee protects, and its neighbour relation."""
    try:
        return Protection(*understood(guarantee.neighbours))
    except ParameterError:
        # The guarantee of a direction protects a record of one half of the rows.
        return ONE_ROW


def for_whom(protection: Protection) -> str:
    """The protected unit in words, such as "per row"."""
    unit = protection.unit
    return f"for {unit.words}" if unit.rows > 1 else "per row"


def odds_sentence(
    epsilon: float,
    delta: float,
    seen: str = "the private graph",
    whom: Protection = ONE_ROW,
) -> str:
    """A sentence on what ε means for an attacker with prior probability one half.

    seen: what is released, in words.  whom: the protected unit and the neighbouring relation.
    """
    top = guessing_bound(epsilon, delta)
    unit, there = whom.unit, whom.relation == ADDED
    whose = "one row" if unit.rows == 1 else f"the rows of {unit.words}"
    if top > 0.99999:
        return (
            f"With ε = {epsilon:g} someone who is 50 % sure of {whose} may become practically "
            "certain: this is hardly any protection."
        )
    statement = f"of what {whose} {'contains' if unit.rows == 1 else 'contain'}"
    if there:
        statement = f"that {unit.words if unit.rows > 1 else 'one row'} is in the table"
    if delta > 0:
        which = f"which of two equally likely values {whose} has"
        if unit.rows > 1:
            which = f"which of two equally likely sets of values {whose} have"
        if there:
            which = f"whether {statement.removeprefix('that ')}, which is as likely as not,"
        return (
            f"With ε = {epsilon:g} and δ = {delta:g}, someone who must guess {which} is right with "
            f"probability at most {percent(top)} after seeing {seen}."
        )
    return (
        f"With ε = {epsilon:g}, someone who is 50 % sure {statement} can become at most "
        f"{percent(top)} sure after seeing {seen}."
    )


def guarantee_sentence(guarantee: Guarantee, algorithm: Algorithm) -> str:
    """The guarantee of a run in one line."""
    if guarantee.calibration == "none":
        return f"{algorithm.title}: no privacy is promised."
    needless = "; this run needs no δ" if not guarantee.delta else ""
    amount = f"(ε = {guarantee.epsilon:.3g}, δ = {guarantee.delta:g}{needless})"
    if guarantee.calibration == "published":
        when = "" if algorithm.published_epsilon == "total" else ", computed after the run"
        return (
            f"The published constants give {amount}{when}. This is not a guarantee; the reasons "
            "are under Guarantee."
        )
    if guarantee.caveats:
        return f"Proven {amount}, but with a caveat: {guarantee.caveats[0]}."
    return f"Proven: {amount}, fixed before the run; neighbours: {guarantee.neighbours}."


def plain_guarantee(guarantee: Guarantee, algorithm: Algorithm) -> str:
    """`guarantee_sentence` for pages that have no panel with the reasons."""
    sentence = guarantee_sentence(guarantee, algorithm)
    return sentence.replace("; the reasons are under Guarantee", "")


def facts(guarantee: Guarantee) -> list[tuple[str, str]]:
    """The guarantee as pairs of name and value; empty if the run is not private."""
    if guarantee.calibration == "none":
        return []
    return [
        ("Guarantee", guarantee.calibration),
        ("ε", f"{guarantee.epsilon:.6g}"),
        ("δ", f"{guarantee.delta:g}"),
        ("Neighbours", guarantee.neighbours),
        ("Public", "; ".join(guarantee.public)),
        ("Added up by", guarantee.accountant),
        ("Proof", guarantee.proof or "none"),
    ]
