"""Words that several pages say, in one place so that they can be read and reviewed together."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from privcore.algorithms import Algorithm, Discovery
from privcore.algorithms.protecting import Protection
from privcore.data.model import Described
from privcore.errors import ParameterError
from privcore.privacy.accounting import Guarantee
from privcore.privacy.accounting.guarantee import guessing_bound
from privcore.unit import ADDED, RECORD, REPLACED, understood

ONE_ROW = Protection(RECORD)

NOT_PRIVATE = (
    "The non-private graph, the metrics, the decision log and the times are computed from the "
    "exact data. They are here to study; publishing them would void the guarantee."
)
SIMULATED = "Noise on this page is simulated from a seed, for exploring; it is not a release."
PUBLISHED_EPSILON = {
    "round": "ε is the cost of one round or test; the total is computed after the run.",
    "split": "ε is split over the orders; what was spent is computed after the run.",
    "total": "ε is the total that the paper claims, without a valid proof.",
}
UNDIRECTED = "A line without an arrow is a result too: these data alone cannot tell the direction."
ALL_DIRECTED = (
    "This algorithm gives every edge a direction, also where only its assumptions, and not the "
    "data, tell which one."
)


def plain(text: str) -> str:
    """A name that users chose, with nothing in it that would be read as markup or as a link."""
    text = re.sub(r"([\\`*_\[\]|<>$:~@]|(?<=www)\.)", r"\\\1", text, flags=re.IGNORECASE)
    # What begins a line may make it a heading or an item of a list.
    return re.sub(r"^(\s*\d*)([#+\-=.)])", r"\1\\\2", text, flags=re.MULTILINE)


def percent(share: float) -> str:
    """A probability as per cent, with more digits near 1."""
    if 0.99999 < share < 1:
        return "over 99.999 %"
    text = f"{100 * share:.1f}" if share < 0.999 else f"{100 * share:.3f}"
    return f"{text.rstrip('0').rstrip('.')} %"


def protected(guarantee: Guarantee) -> Protection:
    """Whom a guarantee protects."""
    try:
        return Protection(*understood(guarantee.neighbours))
    except ParameterError:
        # Those of a direction protect a record of one half of the rows.
        return ONE_ROW


_USUAL = {"calibration": "proven", "rows_per_unit": None, "neighbours": REPLACED}


def protection_of(dataset: Described, parameters: Mapping[str, Any]) -> Protection:
    """Whom a run with the settings of the sidebar would protect."""
    try:
        return Protection.of({**_USUAL, **parameters}, dataset.unit)
    except ParameterError:
        # The page says what is wrong.
        return Protection(dataset.unit)


def for_whom(protection: Protection) -> str:
    """Such as "each person" or "one patient with at most 5 rows"."""
    unit = protection.unit
    return plain(unit.words) if unit.rows > 1 else "each person"


def odds_sentence(
    epsilon: float,
    delta: float,
    seen: str = "the private graph",
    whom: Protection = ONE_ROW,
) -> str:
    """The meaning of ε as odds, for a suspicion of one half; seen: what is released."""
    top = guessing_bound(epsilon, delta)
    unit, there = whom.unit, whom.relation == ADDED
    person = "person" if unit.rows == 1 else plain(unit.name)
    whose = f"one {person}'s record" if unit.rows == 1 else f"the rows of {plain(unit.words)}"
    if top > 0.99999:
        return (
            f"With ε = {epsilon:g} a suspicion of 50 % about {whose} may become "
            "practical certainty: this is hardly any protection."
        )
    says = f"what {whose} {'says' if unit.rows == 1 else 'say'}"
    if there:
        says = f"that {plain(unit.words) if unit.rows > 1 else f'one {person}'} is in the table"
    if delta > 0:
        which = f"which of two equally likely values {whose} has"
        if unit.rows > 1:
            which = f"which of two equally likely things {whose} say"
        if there:
            which = f"whether {says.removeprefix('that ')}, which is as likely as not,"
        return (
            f"With ε = {epsilon:g} and δ = {delta:g}, someone who must guess {which} is right with "
            f"probability at most {percent(top)} after seeing {seen}."
        )
    return (
        f"With ε = {epsilon:g}, someone who suspects with 50 % {says} can "
        f"rise to at most {percent(top)} after seeing {seen}."
    )


def guarantee_sentence(guarantee: Guarantee, algorithm: Algorithm) -> str:
    """What this run promises, in one line."""
    if guarantee.calibration == "none":
        return f"{algorithm.title}: no privacy is promised."
    amount = f"(ε = {guarantee.epsilon:.3g}, δ = {guarantee.delta:g})"
    if guarantee.calibration == "published":
        when = "" if algorithm.published_epsilon == "total" else ", computed after the run"
        return (
            f"Published constants report {amount}{when}. This is not a guarantee; the reasons are "
            "under Guarantee."
        )
    if guarantee.caveats:
        return f"Proven {amount}, but with a gap: {plain(guarantee.caveats[0])}."
    return f"Proven: {amount}, fixed before the run; neighbours: {plain(guarantee.neighbours)}."


def stopped_sentence(result: Discovery) -> str:
    """That a search ended early: why, what was not reached, and what would have reached it."""
    spent, left = result.spent, result.unreached
    if left is None:
        return ""
    if result.stopped == "work":
        paid = f"The limit of {result.tests_run:,} tests is reached"
    elif result.stopped == "size":
        paid = "Tests that could need more than 67 million cells were left out"
    elif result.stopped == "noise":
        paid = "What is left of the budget would buy answers that are mostly noise"
    elif spent.planned_rounds:
        paid = f"The {spent.planned_rounds:,} {spent.noun} that were paid for are used up"
    else:
        paid = "The budget is used up"
    orders = (
        f"order {left.first} was not finished"
        if left.first == left.last
        else f"order {left.first} was not finished, and orders up to {left.last} not begun"
    )
    if result.stopped == "size":
        orders = f"tests of orders {left.first} to {left.last} are missing"
    elif left.first + 1 == left.last:
        orders = f"order {left.first} was not finished, and order {left.last} not begun"
    need = ""
    if left.epsilon is not None:
        over = f" with {left.rounds:,} {spent.noun} paid for" if left.rounds else ""
        noise = "the noise limit" if result.stopped == "noise" else "the same noise"
        need = (
            f" A total ε of {left.epsilon:.3g}{over} would have reached them at {noise}, whatever "
            f"the answers ({left.tests:,} more tests at most)."
        )
    return (
        f"{paid}: {orders}. Pairs not yet decided stay adjacent.{need} Fewer columns or a lower "
        "largest conditioning set need less."
    )
