"""Scores of linear dependence: of numbers, and of levels coded by a few numbers each.

Fisher's z of partial correlations follows from second moments (Kalisch & Bühlmann 2007). In tests
for trends, ordered levels are coded by their midranks. Unordered levels form groups: one group for
each of the most frequent levels, and one for all other levels. The coded columns are tested as if
they were normal (a degenerate Gaussian: Andrews, Ramsey & Cooper 2019).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from privcore.arrays import Columns, Matrix, Vector
from privcore.counts import Bases, CountSource, MomentSource
from privcore.independence.score import Score, least_residual

# Residual variances below this share of the variance count as 0: the conditioning set determines
# the column, and the residual is rounding error.
_DETERMINED = 1e-10


def covariance(moments: Matrix) -> Matrix:
    """Covariances, shape (p, p), from the moments of (1, x), shape (p + 1, p + 1)."""
    means = moments[0, 1:]
    return np.asarray(moments[1:, 1:] - np.outer(means, means))


def partial_correlation(sigma: Matrix, x: int, y: int, conditioning_set: Sequence[int]) -> float:
    """Partial correlation of x and y given the conditioning set, in [−1, 1].

    The result is 0 if the conditioning set determines x or y. sigma: a symmetric positive
    semi-definite matrix.
    """
    pair = np.array([x, y])
    block = sigma[pair[:, None], pair]
    if conditioning_set:
        rest = np.array(conditioning_set)
        across = sigma[pair[:, None], rest]
        # Least squares, so that collinear columns in the conditioning set do no harm.
        solved = np.linalg.lstsq(sigma[rest[:, None], rest], across.T, rcond=_DETERMINED)[0]
        block = block - across @ solved
    if block[0, 0] <= _DETERMINED * sigma[x, x] or block[1, 1] <= _DETERMINED * sigma[y, y]:
        return 0.0
    r = float(block[0, 1]) / math.sqrt(float(block[0, 0] * block[1, 1]))
    return min(max(r, -1.0), 1.0)


def residual_shares(sigma: Matrix, columns: Sequence[int], others: Sequence[int]) -> Vector:
    """The shares of the variance of some columns that others leave, shape (columns,)."""
    at, rest = np.array(columns), np.array(others)
    across = sigma[rest[:, None], at]
    explained = np.linalg.lstsq(sigma[rest[:, None], rest], across, rcond=_DETERMINED)[0]
    return np.asarray(1 - (across * explained).sum(axis=0) / np.maximum(sigma[at, at], 1e-300))


def determines(shares: Vector | float, n: int, others: int) -> bool:
    """Whether residual shares are small after the fit of n rows on some other coordinates.

    One more row may disagree, so that few rows show nothing.
    """
    return bool((np.asarray(shares) * n + 1 < least_residual(n) * (n - 1 - others)).any())


def residual(
    sigma: Matrix, means: Vector, mean_share: float, column: int, others: Sequence[int]
) -> Vector:
    """Weights w, shape (p + 1,), for which w · (mean_share, x) is a column's regression residual.

    The regression is on the columns `others`. Raises LinAlgError if one of these columns is a
    linear combination of the rest.
    """
    weights = np.zeros(len(means) + 1)
    weights[1 + column] = 1.0
    if len(others):
        known = np.array(others)
        weights[1 + known] = -np.linalg.solve(sigma[known[:, None], known], sigma[known, column])
    weights[0] = -float(weights[1:] @ means) / mean_share
    return weights


def fisher_z(correlation: float, n: int, order: int) -> float:
    """Fisher's z: √(n − k − 3) artanh(r) for a conditioning set of k = `order` columns.

    The result is nearly standard normal if the true correlation is 0. The result is 0 if n is too
    small for a test.
    """
    dof = n - order - 3
    if dof <= 0:
        return 0.0
    # Short of ±1, so that exact dependence is a very large number, not an infinite one.
    return math.sqrt(dof) * math.atanh(min(max(correlation, -1 + 1e-15), 1 - 1e-15))


@dataclass(frozen=True)
class MomentScore(Score):
    """A score for numeric columns or coded levels, computed from second moments."""

    @property
    def needs_levels(self) -> bool:
        return False

    def fits(self, source: MomentSource, x: int, y: int, conditioning_set: Sequence[int]) -> bool:
        return True

    def computed(self, source: MomentSource, x: int, y: int, ordered: Columns) -> float:
        sigma = covariance(source.moments())
        return fisher_z(partial_correlation(sigma, x, y, ordered), source.n, len(ordered))

    def determined(
        self, source: MomentSource, x: int, y: int, conditioning_set: Sequence[int]
    ) -> bool:
        sigma = covariance(source.moments())
        shares = residual_shares(sigma, (x, y), conditioning_set)
        return determines(shares, source.n, len(conditioning_set))


# Number of groups of unordered levels.
GROUPS = 3
# Size of the conditioning set up to which plain arithmetic is faster than arrays.
_FEW = 6
# A residual variance below this share of a column's variance counts as 0.
_EXPLAINED = 1e-9


def coordinates(levels: int, ordered: int) -> int:
    """Number of coordinates by which a column is coded.

    levels: number of levels. ordered: number of ordered levels; 0 if there are none.
    """
    return 1 if ordered or levels <= 2 else min(levels, GROUPS) - 1


def basis_of(shares: Vector, ordered: int) -> Matrix:
    """Coordinates of the levels of a column, shape (levels, coordinates).

    shares: probabilities of the levels. ordered: number of ordered levels, which come first; 0 if
    there are none. Under these probabilities, each coordinate has mean 0, and the mean variance of
    the coordinates is 1.
    """
    basis = _line(shares, ordered or 2) if ordered or len(shares) <= 2 else _groups(shares)
    basis = basis - shares @ basis
    variance = float(shares @ (basis * basis).sum(axis=1))
    return np.asarray(basis * math.sqrt(basis.shape[1] / variance) if variance > 0 else basis)


def _line(shares: Vector, ordered: int) -> Matrix:
    """Midranks in [0, 1]; a level outside the order gets 0.5."""
    own = shares[:ordered] / max(shares[:ordered].sum(), 1e-300)
    ranks = np.cumsum(own) - own / 2
    return np.append(ranks, np.full(len(shares) - len(own), 0.5))[:, None]


def _groups(shares: Vector) -> Matrix:
    """Corners of a simplex: one for each of the most frequent levels, and one for all others."""
    groups = min(len(shares), GROUPS)
    group = np.full(len(shares), groups - 1)
    group[np.argsort(-shares, kind="stable")[: groups - 1]] = np.arange(groups - 1)
    return np.asarray(np.linalg.svd(np.eye(groups) - 1 / groups)[0][:, : groups - 1][group])


class _Measured(NamedTuple):
    """Covariances of the coordinates, and the positions of each column's coordinates.

    plain: the covariances as Python numbers if each column has one coordinate, otherwise None.
    """

    sigma: Matrix
    spans: list[slice]
    plain: list[list[float]] | None


_KNOWN: WeakKeyDictionary[CountSource, _Measured] = WeakKeyDictionary()


def _measured(source: CountSource) -> _Measured:
    if source not in _KNOWN:
        ordered = source.ordered or (0,) * len(source.levels)
        shares = [source.table([c]) / source.n for c in range(len(ordered))]
        bases: Bases = tuple(map(basis_of, shares, ordered))
        ends = np.cumsum([0, *(basis.shape[1] for basis in bases)]).tolist()
        spans = [slice(first, last) for first, last in pairwise(ends)]
        sigma = covariance(source.coded(bases))
        plain = sigma.tolist() if len(spans) == len(sigma) else None
        _KNOWN[source] = _Measured(sigma, spans, plain)
    return _KNOWN[source]


@dataclass(frozen=True)
class LineScore(Score):
    """Likelihood-ratio test of independence of two blocks of coordinates (Bartlett 1938).

    The two columns have a and b coordinates, and the conditioning set has s. The statistic is
    −(n − s − (a + b + 3)/2) Σ log(1 − R²) over the canonical correlations R of the two blocks given
    the conditioning set. The null distribution is χ² with a·b degrees of freedom.
    """

    @property
    def of_tables(self) -> bool:
        return False

    def fits(self, source: CountSource, x: int, y: int, conditioning_set: Sequence[int]) -> bool:
        return True

    def computed(self, source: CountSource, x: int, y: int, ordered: Columns) -> float:
        return _likelihood_ratio(source, x, y, ordered)

    def determined(
        self, source: CountSource, x: int, y: int, conditioning_set: Sequence[int]
    ) -> bool:
        sigma, spans, _ = _measured(source)
        ends, others = (
            [k for c in own for k in range(spans[c].start, spans[c].stop)]
            for own in ((x, y), conditioning_set)
        )
        variances = np.diag(sigma)[ends]
        left = residual_shares(sigma, ends, others) * variances
        own = np.array([c for c in (x, y) for _ in range(spans[c].stop - spans[c].start)])
        shares = [left[own == c].sum() / max(variances[own == c].sum(), 1e-300) for c in (x, y)]
        return determines(np.array(shares), source.n, len(others))

    def degrees_of(self, source: CountSource, x: int, y: int, ordered: Columns) -> int:
        spans = _measured(source).spans
        return math.prod(spans[c].stop - spans[c].start for c in (x, y))


def _explained(sigma: list[list[float]], x: int, y: int, others: tuple[int, ...]) -> float | None:
    """Squared partial correlation of x and y, with the other columns swept out one by one.

    Returns None if the others are nearly collinear, or if they determine x or y.
    """
    columns = (*others, x, y)
    left = [[sigma[a][b] for b in columns] for a in columns]
    for at, column in enumerate(columns):
        pivot = left[at][at]
        if pivot <= _EXPLAINED * sigma[column][column]:
            return None
        if at < len(others):
            swept = left[at]
            for row in left[at + 1 :]:
                share = row[at] / pivot
                for k in range(at + 1, len(columns)):
                    row[k] -= share * swept[k]
    squared = left[-1][-2] ** 2 / (left[-2][-2] * left[-1][-1])
    return squared if squared < 1 else None


def _likelihood_ratio(source: CountSource, x: int, y: int, others: tuple[int, ...]) -> float:
    sigma, spans, plain = _measured(source)
    if plain is not None and len(others) <= _FEW:
        # Most tests of a search; Python's own numbers take a tenth of the time of arrays.
        explained = _explained(plain, x, y, others)
        if explained is not None:
            rows = source.n - len(others) - 2.5
            return max(rows, 0.0) * min(-math.log1p(-explained), 50.0)
    of = [np.r_[tuple(spans[c] for c in part)] for part in ((x,), (y,), others) if part]
    pair = np.concatenate(of[:2])
    block = sigma[np.ix_(pair, pair)]
    if others:
        across = sigma[np.ix_(of[2], pair)]
        # Least squares, so that collinear columns among those given do no harm.
        known = np.linalg.lstsq(sigma[np.ix_(of[2], of[2])], across, rcond=_EXPLAINED)[0]
        block = block - across.T @ known
    a = len(of[0])
    least = _EXPLAINED * np.diag(sigma)[pair]
    if (np.diag(block) <= least).any():
        return 0.0
    whole, one, other = (
        np.linalg.slogdet(part)[1] for part in (block, block[:a, :a], block[a:, a:])
    )
    rows = source.n - sum(spans[c].stop - spans[c].start for c in others) - (len(pair) + 3) / 2
    shared = min(max(one + other - whole, 0.0), 50.0)
    return max(rows, 0.0) * float(shared) if math.isfinite(shared) else 0.0
