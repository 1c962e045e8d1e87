"""Texts that several pages share, in one place for review."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from privcore.algorithms import Algorithm, Discovery
from privcore.algorithms.protecting import Protection
from privcore.algorithms.search.parameters import HIDDEN_CAUSES
from privcore.data.model import Described
from privcore.display import sentences
from privcore.display.sentences import ONE_ROW
from privcore.errors import ParameterError
from privcore.privacy.accounting import Guarantee
from privcore.text import counted
from privcore.unit import REPLACED

NOT_PRIVATE = (
    "The non-private graph, the metrics, the decision log and the times are computed from the "
    "exact data. These results are for study only; no guarantee covers them."
)
SIMULATED = (
    "The noise on this page is simulated from a seed for exploration; this is not a release."
)
PUBLISHED_EPSILON = {
    "round": "ε is the cost of one round or test; the total is computed after the run.",
    "split": "ε is split over the orders; the total spent is computed after the run.",
    "total": "ε is the total that the paper claims, without a valid proof.",
}
UNDIRECTED = "An undirected edge is also a result: the data alone cannot determine the direction."
OF_PAG = (
    "A circle is also a result: the data alone cannot determine the mark at this end. An arrow is "
    "a causal effect even if there are unobserved confounders."
)
TRUE_PAG = "A link of the true PAG stands for a causal effect or an unobserved confounder."
ALL_DIRECTED = (
    "This algorithm directs every edge, even where the direction follows from its assumptions and "
    "not from the data."
)


def assumed(result: Discovery) -> str:
    """A note that a graph assumes no unobserved confounders; empty for a PAG."""
    if result.hidden_stage is not None:
        return ""
    sentence = "This graph assumes no unobserved confounders"
    if HIDDEN_CAUSES.name in result.parameters:
        return f"{sentence}; the switch “{HIDDEN_CAUSES.title}” removes this assumption."
    return f"{sentence}."


def plain(text: str) -> str:
    """A user's text, such as a column name, escaped so that it is not read as markup or a link."""
    text = re.sub(r"([\\`*_\[\]|<>$~@]|:(?!\s)|(?<=www)\.)", r"\\\1", text, flags=re.IGNORECASE)
    # The first character of a line may make it a heading or a list item.
    return re.sub(r"^(\s*\d*)([#+\-=.)])", r"\1\\\2", text, flags=re.MULTILINE)


_USUAL = {"calibration": "proven", "rows_per_unit": None, "neighbours": REPLACED}


def protection_of(dataset: Described, parameters: Mapping[str, Any]) -> Protection:
    """What a run with these parameters protects: the unit, and how neighbouring tables differ."""
    try:
        return Protection.of({**_USUAL, **parameters}, dataset.unit)
    except ParameterError:
        # The page says what is wrong.
        return Protection(dataset.unit)


def odds_sentence(
    epsilon: float, delta: float, seen: str = "the private graph", whom: Protection = ONE_ROW
) -> str:
    """Explain ε as odds, for a prior probability of one half; seen: names what is released."""
    return plain(sentences.odds_sentence(epsilon, delta, seen, whom))


def guarantee_sentence(guarantee: Guarantee, algorithm: Algorithm) -> str:
    """The guarantee of this run, in one line."""
    return plain(sentences.guarantee_sentence(guarantee, algorithm))


def marked(answer: str) -> str:
    """An answer as Markdown, with its count in bold."""
    return re.sub(r"\d+ of \d+", r"**\g<0>**", plain(answer), count=1)


def stopped_sentence(result: Discovery) -> str:
    """A note that a search ended early: why, what is missing, and the ε that would be enough."""
    spent, left = result.spent, result.unreached
    if left is None:
        return ""
    if result.stopped == "work":
        paid = f"The limit of {counted(result.tests_run, 'test')} is reached"
    elif result.stopped == "size":
        paid = "Tests that could need more than 67 million cells were left out"
    elif result.stopped == "noise":
        paid = "With the remaining budget, answers would be mostly noise"
    elif spent.planned_rounds:
        paid = f"The {spent.planned_rounds:,} {spent.noun} that were paid for are used up"
    else:
        paid = "The budget is used up"
    orders = (
        f"order {left.first} was not finished"
        if left.first == left.last
        else f"order {left.first} was not finished, and orders up to {left.last} were not started"
    )
    if result.stopped == "size":
        orders = f"tests of orders {left.first} to {left.last} are missing"
    elif left.first + 1 == left.last:
        orders = f"order {left.first} was not finished, and order {left.last} was not started"
    need = ""
    if left.epsilon is not None:
        over = f", for {left.rounds:,} {spent.noun}," if left.rounds else ""
        noise = "the noise limit" if result.stopped == "noise" else "the same noise"
        need = (
            f" A total ε of {left.epsilon:.3g}{over} would have been enough to finish at {noise}, "
            f"whatever the answers (at most {counted(left.tests, 'more test')})."
        )
    return (
        f"{paid}: {orders}. Undecided pairs stay adjacent.{need} A search over fewer columns, or "
        "with a lower limit on the size of the conditioning set, needs fewer tests."
    )
