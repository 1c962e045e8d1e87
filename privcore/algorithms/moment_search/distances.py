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
    shares, raised = [], max(math.sqrt(counts[0].variance), 1.0) / n
    for own in counts:
        least = min(raised, 0.5 / len(own.values))
        left = 1 - least * len(own.values)
        shares.append(nearest_table(own.values / n - least, left) + least)
    return shares


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
        p, sigma = len(shares), statistics.noise
        self.n, self.columns = statistics.n, p
        self._every = self.batch = np.arange(p)
        self._in_batch = set(range(p))
        self._tests: dict[tuple[int, int, Columns], Statistic] = {}
        self._rows: dict[tuple[int, Columns], Statistics] = {}
        margins = float(statistics.measurements[0].variance)
        pairs = list(combinations(range(p), 2))
        made = np.array(
            [distance_reference(shares[a], shares[b], self.n, margins, sigma) for a, b in pairs]
        )
        distances = statistics.measurements[p].values
        held = np.ones((4, p, p))
        rows, columns = np.array(pairs).T
        held[:, rows, columns] = held[:, columns, rows] = np.vstack([distances, made.T])
        self.distances, self.mean, self.deviation, self.slope = held
        # φ of each pair; then the bound from all links, and the one that a pair had to exceed.
        self.size = np.sqrt(np.maximum(self.distances**2 - self.mean**2, 0.0)) / self.slope
        np.fill_diagonal(self.size, 0.0)
        self.reached, self.explained = np.eye(p), np.zeros((p, p))

    def excess(self, x: Integers | int, y: int, size: Vector | float) -> Vector:
        """The distance beyond that of a dependence of this size, in standard deviations."""
        usual = np.hypot(self.mean[x, y], self.slope[x, y] * size)
        return np.asarray((self.distances[x, y] - usual) / self.deviation[x, y])

    def links(self, level: float, known: Constraints) -> Pairs:
        """The pairs that get a link at an FDR level; fills `reached` and `explained`."""
        pairs = [two for two in combinations(range(self.columns), 2) if known.possible[two]]
        ranked = sorted(
            (two not in known.required, -float(self.excess(*two, 0.0)), two) for two in pairs
        )
        free = [minus for required, minus, _ in ranked if required]
        passing = [
            k for k, minus in enumerate(free, 1) if ndtr(minus) <= level * k / known.open_pairs
        ]
        most = level * max(passing, default=0) / max(known.open_pairs, 1)
        taken = []
        for tested, _, (a, b) in ranked[: len(ranked) - len(free) + max(passing, default=0)]:
            path = float(self.reached[a, b])
            if tested and ndtr(-float(self.excess(a, b, path))) > most:
                continue
            taken.append((a, b))
            self.explained[a, b] = self.explained[b, a] = path
            through = min(float(self.size[a, b]), 1.0) * np.multiply.outer(
                self.reached[:, a], self.reached[b]
            )
            np.fill_diagonal(through, 0.0)
            self.reached = np.minimum(self.reached + through + through.T, 1.0)
        linked = np.zeros((self.columns,) * 2, dtype=bool)
        for two in taken:
            linked[two] = linked[two[::-1]] = True
        self.explained = np.where(linked, self.explained, self.reached)
        np.fill_diagonal(self.explained, 0.0)
        return tuple(sorted(taken))

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
        self._colliders: dict[tuple[int, int, int], float] = {}

    def score(self, column: int, parents: frozenset[int]) -> float:
        own = sorted(parents)
        links = sum(self.linear.test(c, column).value - self.penalty for c in own)
        colliders = sum(self._collider(x, z, column) for x, z in combinations(own, 2))
        return round(links + colliders, DIGITS)

    def _collider(self, x: int, z: int, y: int) -> float:
        """Twice the log likelihood ratio that x and z are independent, not dependent through y."""
        if (x, z) in self._linked or not {(x, y), (y, z)} <= self._tables.keys():
            return 0.0
        if (x, z, y) not in self._colliders:
            chained = float(np.linalg.norm(self._tables[x, y] @ self._tables[y, z]))
            through, alone = (float(self.linear.excess(x, z, size)) for size in (chained, 0.0))
            self._colliders[x, z, y] = through**2 - alone**2
        return self._colliders[x, z, y]

    def row(self, column: int, parents: Columns) -> Statistics:
        """Tests with weights as `bayes_factors` reads them: parts of φ in units of sampling."""
        tests = self.linear.tests_of(column, parents).copy()
        for c in parents:
            rest = tuple(d for d in parents if d != c)
            tests.put(c, self.linear.test(c, column, rest))
        # A smaller distance than expected speaks against an edge.
        every = np.arange(len(self._levels))
        excess = self.linear.excess(every, column, self.linear.implied(every, column, parents))
        tests.value[...] -= np.minimum(excess, 0.0) ** 2 * (tests.second > 0)
        parts = [(r - 1) * (self._levels[column] - 1) for r in self._levels]
        slope, deviation = self.linear.slope[column], self.linear.deviation[column]
        weight = slope**2 * np.maximum(parts, 1) / (self.linear.n * deviation**2)
        return tests._replace(first=tests.first * weight, second=tests.second * weight**2)

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
        reference = Reference(
            float(tests.mean[x, y]), float(tests.deviation[x, y]), float(tests.slope[x, y])
        )
        (size,) = tests.implied(np.array([x]), y, conditioning_set).tolist()
        return reference.smallest(level, self._parts(x, y), size)


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
