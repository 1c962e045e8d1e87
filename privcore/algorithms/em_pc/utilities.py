"""Utilities of neighbours and separating sets for EM-PC's selections.

Proven: the margin of the most independent test of each neighbour, divided by the test's
sensitivity, so that one replaced record changes every utility by at most 1. Published: the greedy
distance score (Xu, Yuan & Wu 2017, Equations 5–8), which one record can change by more. See
docs/proofs/em_pc.md.

Parameters of EM-PC.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from privcore.algorithms.search import parameters
from privcore.arrays import Columns, Vector
from privcore.counts import MAX_CELLS, CountSource, cells_of_test
from privcore.independence import Measure, margin
from privcore.independence.table_scores import greedy_distance, p_value
from privcore.parameter import Parameter
from privcore.privacy.mechanisms.selection import Selection, count_utilities

SOURCE = "Xu, Yuan & Wu 2017, Algorithms 2 and 3"

SELECTION = Parameter(
    name="selection",
    advanced=True,
    title="Selection mechanism",
    symbol="selection",
    kind="choice",
    default="exponential",
    choices=("exponential", "permute-and-flip"),
    labels=(("exponential", "Exponential mechanism"), ("permute-and-flip", "Permute and flip")),
    help="How a candidate is chosen. Permute-and-flip has a smaller error at the same ε, but "
    "if many selections are composed with δ above 0, the exponential mechanism costs only a "
    "quarter as much.",
    source="McSherry & Talwar 2007; McKenna & Sheldon 2020",
    calibrations=("proven",),
)
NUMBER_SHARE = Parameter(
    name="number_share",
    advanced=True,
    title="Budget share for the number of edges",
    symbol="ε₂/(ε₁+ε₂)",
    kind="float",
    default=0.5,
    range="(0, 1)",
    slider=(0.1, 0.9),
    help="Share of a round's budget for choosing how many neighbours to remove; the rest is for "
    "choosing which ones. The paper uses a half.",
    source=SOURCE,
    calibrations=("proven",),
)
DIRECTION_SHARE = Parameter(
    name="direction_share",
    advanced=True,
    title="Budget share for directions",
    symbol="ε₃/ε",
    kind="float",
    default=0.2,
    range="[0, 1)",
    slider=(0.0, 0.9),
    help="Share of the budget reserved for choosing the separating sets, which determine "
    "directions. The paper uses the exact sets without paying for them. At 0, directions "
    "come only from marginally independent pairs and from separating sets chosen with budget "
    "left over from the rounds.",
    source="docs/proofs/em_pc.md",
    calibrations=("proven",),
)
SCORE = replace(
    parameters.STREAM_SCORE.offering(dict(parameters.STREAM_SCORE.limited)["proven"]),
    default=None,
    auto_help="z-star",
    help="The measure of dependence; every choice has a proven sensitivity. The published form "
    "always uses the paper's own distance for G².",
    calibrations=("proven",),
)
MAX_ORDER = replace(
    parameters.MAX_ORDER,
    default=2,
    help="Tests condition on at most this many columns. Every order takes one round per column, "
    "so a higher maximum leaves less budget per round.",
)


@dataclass(frozen=True, kw_only=True)
class EMPCParameters(parameters.ScoreParameters):
    """Parameters of EM-PC."""

    score: str | None = SCORE.field()
    selection: Selection = SELECTION.field()
    number_share: float = NUMBER_SHARE.field()
    direction_share: float = DIRECTION_SHARE.field()
    max_order: int | None = MAX_ORDER.field()


class Candidate(NamedTuple):
    """A neighbour that may be removed, with its utility and the conditioning sets of its tests.

    best: the conditioning set of the most independent test. This set depends on the exact data, so
    it may be released only through a private selection.
    """

    node: int
    utility: float
    sets: tuple[Columns, ...]
    best: Columns


class ProvenUtilities:
    """Utilities of the proven form: margins of tests divided by the sensitivity of the score."""

    def __init__(self, measure: Measure, source: CountSource) -> None:
        self._measure = measure
        self._source = source
        self._sensitivity = measure.sensitivity(source.n)

    @property
    def limit(self) -> float:
        """The utility of an exactly independent pair, which `count_utilities` takes as its public
        limit.
        """
        return self._measure.threshold(0, 1) / self._sensitivity

    def of_set(self, x: int, y: int, conditioning_set: Columns) -> float:
        """Margin by which x and y test as independent given a set, scaled to sensitivity 1."""
        value = self._measure.value(self._source, x, y, conditioning_set)
        return margin(self._measure, value, x, y) / self._sensitivity

    def of_sets(self, x: int, y: int, sets: Sequence[Columns]) -> Vector:
        """The value of `of_set` for each set, shape (sets,)."""
        return np.array([self.of_set(x, y, conditioning_set) for conditioning_set in sets])

    def fits(self, node: int, other: int, conditioning_set: Columns) -> bool:
        """Whether a test is possible, judged by the levels and the number of rows alone."""
        return self._measure.fits(self._source, node, other, conditioning_set)

    def candidate(self, node: int, other: int, sets: tuple[Columns, ...]) -> Candidate:
        """The candidate `other` for removal from the neighbours of `node`.

        Its utility is the maximum over the sets, which has sensitivity 1 like each set's utility.
        """
        utilities = self.of_sets(node, other, sets)
        position = int(np.argmax(utilities))
        return Candidate(other, float(utilities[position]), sets, sets[position])

    def counts(self, candidates: Sequence[Candidate]) -> Vector:
        """Utilities of removing 0, 1, … candidates, shape (candidates + 1,); sensitivity 1."""
        return count_utilities(np.array([c.utility for c in candidates]), self.limit)


class PublishedUtilities:
    """Utilities of the published form: greedy distances of G² tests."""

    def __init__(self, source: CountSource, level: float) -> None:
        self._source = source
        self._level = level

    def fits(self, node: int, other: int, conditioning_set: Columns) -> bool:
        """Whether the table of a test is small enough, judged by the levels alone."""
        return cells_of_test(self._source, node, other, conditioning_set) <= MAX_CELLS

    def candidate(self, node: int, other: int, sets: tuple[Columns, ...]) -> Candidate:
        """The candidate `other` for removal from the neighbours of `node`.

        Its utility is the distance of the test with the largest p-value (Algorithm 3, lines 4–6).
        """
        values = [self._p_value(node, other, conditioning_set) for conditioning_set in sets]
        best = sets[int(np.argmax(values))]
        return Candidate(other, self._distance(node, other, best), sets, best)

    def counts(self, candidates: Sequence[Candidate]) -> Vector:
        """Utilities of removing 0, 1, … candidates by Equations 6 to 8, shape (candidates + 1,)."""
        return published_counts(np.sort([c.utility for c in candidates])[::-1])

    def _p_value(self, x: int, y: int, conditioning_set: Columns) -> float:
        x, y = (x, y) if x < y else (y, x)
        return self._source.remember(
            ("g2 p", x, y, conditioning_set),
            lambda: p_value(self._source.conditional_tables(x, y, conditioning_set)),
        )

    def _distance(self, x: int, y: int, conditioning_set: Columns) -> float:
        x, y = (x, y) if x < y else (y, x)
        return self._source.remember(
            ("greedy distance", self._level, x, y, conditioning_set),
            lambda: float(
                greedy_distance(
                    self._source.conditional_tables(x, y, conditioning_set), self._level
                )
            ),
        )


def published_counts(distances: Vector) -> Vector:
    """q₂ of Xu, Yuan & Wu 2017: utilities of removing 0 to a of the candidates, shape (a + 1,).

    distances: the candidates' distance scores in decreasing order, shape (a,); positive for
    independent pairs.
    """
    a = distances.size
    quality = np.empty(a + 1)
    for t in range(a + 1):
        here = distances[t - 1] if t > 0 else np.inf
        below = distances[t] if t < a else -np.inf
        if here > 0 and not below > 0:
            quality[t] = min(here, -below) - 1
        else:
            quality[t] = -below if here > 0 else here
    return quality
