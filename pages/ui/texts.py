"""Words that several pages say, in one place so that they can be read and reviewed together."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from privcore.algorithms import Algorithm, Discovery
from privcore.algorithms.protecting import Protection
from privcore.algorithms.search.parameters import HIDDEN_CAUSES
from privcore.data.model import Described
from privcore.errors import ParameterError
from privcore.privacy.accounting import Guarantee
from privcore.releases import promise
from privcore.releases.promise import ONE_ROW
from privcore.unit import REPLACED

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
OF_PAG = (
    "A circle is a result too: these data alone cannot tell the end. An arrow is a cause even "
    "where confounders are unobserved."
)
TRUE_PAG = "A link of the true PAG is a cause or an unobserved confounder."
ALL_DIRECTED = (
    "This algorithm gives every edge a direction, also where only its assumptions, and not the "
    "data, tell which one."
)


def assumed(result: Discovery) -> str:
    """That a graph assumes no unobserved confounders; empty for a PAG."""
    if result.hidden_stage is not None:
        return ""
    said = "This graph assumes no unobserved confounders"
    if HIDDEN_CAUSES.name in result.parameters:
        return f"{said}; the switch “{HIDDEN_CAUSES.title}” drops that."
    return f"{said}."


def plain(text: str) -> str:
    """A name that users chose, with nothing in it that would be read as markup or as a link."""
    text = re.sub(r"([\\`*_\[\]|<>$~@]|:(?!\s)|(?<=www)\.)", r"\\\1", text, flags=re.IGNORECASE)
    # What begins a line may make it a heading or an item of a list.
    return re.sub(r"^(\s*\d*)([#+\-=.)])", r"\1\\\2", text, flags=re.MULTILINE)


_USUAL = {"calibration": "proven", "rows_per_unit": None, "neighbours": REPLACED}


def protection_of(dataset: Described, parameters: Mapping[str, Any]) -> Protection:
    """Whom a run with the settings of the sidebar would protect."""
    try:
        return Protection.of({**_USUAL, **parameters}, dataset.unit)
    except ParameterError:
        # The page says what is wrong.
        return Protection(dataset.unit)


def odds_sentence(
    epsilon: float,
    delta: float,
    seen: str = "the private graph",
    whom: Protection = ONE_ROW,
) -> str:
    """The meaning of ε as odds, for a suspicion of one half; seen: what is released."""
    return plain(promise.odds_sentence(epsilon, delta, seen, whom))


def guarantee_sentence(guarantee: Guarantee, algorithm: Algorithm) -> str:
    """What this run promises, in one line."""
    return plain(promise.guarantee_sentence(guarantee, algorithm))


def marked(answer: str) -> str:
    """An answer as Markdown, with its count in bold."""
    return re.sub(r"\d+ of \d+", r"**\g<0>**", plain(answer), count=1)


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
