"""Links from the distance of each pair's counts from independence.

The noise on a pair's counts grows with its levels. The noise on one distance, the sum over cells of
|count − expected count|, does not: replacing a row moves it by at most 2, for any fixed table of
expected counts. The expected counts are products of released counts of levels.

**Model.** The size of a dependence is φ, with φ² = Σ (share − product)²/product over cells. If it
is spread over the cells as chance is, each difference is normal, and the variances of sampling,
noise on the expected count, and dependence add up. The mean distance is then at least
√(m² + (sφ)²), where m is the mean without dependence and s a factor that depends on the shares of
the levels (Minkowski's inequality). This curve turns distances into sizes and back.

**Links.** Pairs at the FDR level (Benjamini & Hochberg 1995) are taken by falling significance. A
pair becomes a link if its distance is significantly larger than the links so far explain: along a
path, φ is at most the product over its links, each at most 1, and paths add up. For dependences
that form a tree, this is the heaviest spanning forest (Chow & Liu 1968).

**Directions.** For links x – y – z without a link x – z, the released tables of both links imply a
dependence of x and z if y is no collider, and none if it is.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
from scipy.special import ndtr

from privcore.algorithms.moment_search.evidence import LinearTests, ReleaseEvidence
from privcore.algorithms.moment_search.log_linear import nearest_table
from privcore.algorithms.moment_search.moments import Measurement
from privcore.algorithms.moment_search.parameters import MomentSearchParameters
from privcore.algorithms.moment_search.released import ReleasedNumbers
from privcore.algorithms.moment_search.search import DIGITS
from privcore.algorithms.moment_search.statistic import Statistic, Statistics
from privcore.algorithms.moment_search.visible import Reference, distance_reference
from privcore.arrays import Columns, Integers, Matrix, Vector
from privcore.graphs.constraints import Constraints

Pairs = tuple[tuple[int, int], ...]
# Expected counts are multiples of this, so that sums of distances are exact in floating point.
_GRID = 2.0**-10
_TINY = 1e-9


def level_shares(counts: Sequence[Measurement], n: int) -> list[Vector]:
    """Shares of the levels of each column from noisy counts; rare ones are raised to the noise."""
    raised = max(math.sqrt(counts[0].variance), 1.0) / n
    floors = [min(raised, 0.5 / len(own.values)) for own in counts]
    return [
        nearest_table(own.values / n - least, 1 - least * own.values.size) + least
        for own, least in zip(counts, floors, strict=True)
    ]


def expected_counts(counts: Sequence[Measurement], n: int) -> Iterator[tuple[Columns, Matrix]]:
    """The counts expected of each pair of independent columns, on a grid; n: number of rows."""
    shares = level_shares(counts, n)
    for a, b in combinations(range(len(shares)), 2):
        yield (a, b), np.round(n * np.multiply.outer(shares[a], shares[b]) / _GRID) * _GRID


class DistanceTests(LinearTests):
    """Tests of whether a distance is larger than independence, or a path of links, explains.

    distances, mean, deviation, slope: see `Reference`; by pair of columns, shape (p, p).
    """

    def __init__(self, statistics: ReleasedNumbers, shares: Sequence[Vector]) -> None:
        n, p = statistics.n, len(shares)
        super().__init__(np.eye(p + 1), (1,) * p, np.zeros((p + 1, p + 1)), n)
        counts, distances = statistics.measurements[0], statistics.measurements[p].values
        pairs, held = np.array(list(combinations(range(p), 2))), np.ones((4, p, p))
        made = [
            distance_reference(shares[a], shares[b], n, counts.variance, statistics.noise)
            for a, b in pairs
        ]
        for rows, columns in (pairs.T, pairs.T[::-1]):
            held[:, rows, columns] = np.vstack([distances, np.array(made).T])
        self.distances, self.mean, self.deviation, self.slope = held
        # φ of each pair; then the bound from all links, and the one that a pair had to exceed.
        self.size = np.sqrt(np.maximum(self.distances**2 - self.mean**2, 0.0)) / self.slope
        self.reached, self.explained = np.eye(p), np.full((p, p), np.nan)

    def excess(self, x: Integers | int, y: int, size: Vector | float) -> Vector:
        """The distance beyond that of a dependence of this size, in standard deviations."""
        usual = np.hypot(self.mean[x, y], self.slope[x, y] * size)
        return np.asarray((self.distances[x, y] - usual) / self.deviation[x, y])

    def links(self, level: float, known: Constraints) -> Pairs:
        """The pairs that get a link at an FDR level; fills `reached` and `explained`."""
        open_pairs = [
            two
            for two in combinations(range(self.columns), 2)
            if known.possible[two] and two not in known.required
        ]
        ranked = sorted((-float(self.excess(*two, 0.0)), two) for two in open_pairs)
        levels = [level * k / known.open_pairs for k in range(1, 1 + len(ranked))]
        passing = [q for q, (minus, _) in zip(levels, ranked, strict=True) if ndtr(minus) <= q]
        most, taken = max(passing, default=0.0), sorted(known.required)
        for two in taken:
            self._link(two)
        for minus, two in ranked:
            if ndtr(minus) > most:
                break
            if ndtr(-float(self.excess(*two, self.reached[two]))) <= most:
                self._link(two)
                taken.append(two)
        self.explained = np.where(np.isnan(self.explained), self.reached, self.explained)
        return tuple(sorted(taken))

    def _link(self, two: tuple[int, int]) -> None:
        a, b = two
        self.explained[a, b] = self.explained[b, a] = self.reached[a, b]
        ends = np.multiply.outer(self.reached[:, a], self.reached[b])
        through = min(float(self.size[a, b]), 1.0) * ends * (1 - np.eye(self.columns))
        self.reached = np.minimum(self.reached + through + through.T, 1.0)

    def implied(self, xs: Integers, y: int, conditioning_set: Columns) -> Vector:
        """The size of each pair that links explain by paths through the conditioning set."""
        known = list(conditioning_set)
        through = self.reached[xs][:, known] @ self.reached[known, y]
        return np.asarray(np.minimum(through, self.explained[xs, y]))

    def _made(self, xs: Integers, y: int, conditioning_set: Columns) -> Matrix:
        tests = np.ones((len(xs), 4))
        excess = self.excess(xs, y, self.implied(xs, y, conditioning_set))
        tests[:, 0] = np.maximum(excess, 0.0) ** 2
        tests[np.isin(xs, [y, *conditioning_set])] = 0.0
        return tests


class DistanceEvidence(ReleaseEvidence):
    """Evidence from noisy distances of pairs, and from tables of the links.

    links: the pairs with a link at the FDR level.
    """

    linear: DistanceTests

    def __init__(
        self,
        statistics: ReleasedNumbers,
        parameters: MomentSearchParameters,
        known: Constraints,
    ) -> None:
        levels, n = statistics.levels, statistics.n
        shares = level_shares(statistics.measurements[: len(levels)], n)
        super().__init__(DistanceTests(statistics, shares), parameters.penalty)
        self._levels, self.links = levels, self.linear.links(parameters.false_edges, known)
        self._linked = set(self.links)
        self._tables: dict[tuple[int, int], Matrix] = {}
        for table in statistics.measurements[len(levels) + 1 :]:
            a, b = table.columns
            self._tables[a, b] = _standardised(table, n, shares)
            self._tables[b, a] = self._tables[a, b].T

    def score(self, column: int, parents: frozenset[int]) -> float:
        own = sorted(parents)
        links = sum(self.linear.test(c, column).value - self.penalty for c in own)
        colliders = sum(self._collider(x, z, column) for x, z in combinations(own, 2))
        return round(links + colliders, DIGITS)

    def _collider(self, x: int, z: int, y: int) -> float:
        """Twice the log likelihood ratio that x and z are independent, not dependent through y."""
        if (x, z) in self._linked or not {(x, y), (y, z)} <= self._tables.keys():
            return 0.0
        chained = float(np.linalg.norm(self._tables[x, y] @ self._tables[y, z]))
        through, alone = (float(self.linear.excess(x, z, size)) for size in (chained, 0.0))
        return through**2 - alone**2

    def row(self, column: int, parents: Columns) -> Statistics:
        """Tests with weights as `bayes_factors` reads them: parts of φ in units of sampling."""
        every, linear = np.arange(len(self._levels)), self.linear
        excess = linear.excess(every, column, linear.implied(every, column, parents))
        parts = (np.array(self._levels) - 1.0) * (self._levels[column] - 1)
        weight = linear.slope[column] ** 2 * np.maximum(parts, 1.0) / linear.deviation[column] ** 2
        weight *= (every != column) / linear.n
        # A smaller distance than expected speaks against an edge.
        value = weight * excess * np.abs(excess)
        return Statistics(value, weight, weight**2, np.ones(every.size))

    def information(self, x: int, y: int, statistic: Statistic) -> float:
        """Noncentrality for V = 1, in the straight part of the curve."""
        slope = self.linear.slope[x, y] / self.linear.deviation[x, y]
        return float(slope**2) * self._parts(x, y) if statistic.second else 0.0

    def _parts(self, x: int, y: int) -> float:
        """φ² of two columns if V = 1."""
        return max(min(self._levels[x], self._levels[y]) - 1.0, 1.0)

    def effect(self, x: int, y: int) -> float:
        return min(float(self.linear.size[x, y]) / math.sqrt(self._parts(x, y)), 1.0)

    def smallest(self, x: int, y: int, conditioning_set: Columns, level: float) -> float | None:
        """As for any evidence; a dependence adds to what the links explain of the pair."""
        tests = self.linear
        known = (float(held[x, y]) for held in (tests.mean, tests.deviation, tests.slope))
        (size,) = tests.implied(np.array([x]), y, conditioning_set).tolist()
        return Reference(*known).smallest(level, self._parts(x, y), size)


def _standardised(table: Measurement, n: int, shares: Sequence[Vector]) -> Matrix:
    """(share − product)/√product of each cell, less noise and chance (empirical Bayes).

    The product of the matrices of x, y and of y, z is that of x and z given y.
    """
    a, b = table.columns
    cells, found = np.multiply.outer(shares[a], shares[b]), table.values / n
    found = found - np.multiply.outer(shares[a], found.sum(axis=0))
    found = (found - np.multiply.outer(found.sum(axis=1), shares[b])) / np.sqrt(cells)
    variance = 1 / n + float(table.variance) / n**2 * float((1 / cells).mean())
    chance = math.prod(k - 1 for k in cells.shape) * variance
    total = float((found**2).sum())
    return np.asarray(found * max(1 - chance / max(total, _TINY), 0.0))
