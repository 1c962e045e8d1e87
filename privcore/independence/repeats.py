"""Columns that repeat each other, such as two spellings or two codes of one fact.

Each leaves so little of the other's variance that a test given the one says nothing about the other
(`least_residual`). Every third column depends on both alike, and given one of them hardly on the
other, so that tests would take the links of both away.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc

from privcore.arrays import Integers, Matrix, Vector
from privcore.counts import CountSource, MomentSource, has_levels
from privcore.independence.linear_scores import covariance
from privcore.independence.score import LEAST_RESIDUAL, least_residual
from privcore.independence.table_scores import scan

Pair = tuple[int, int]
# From this number of levels on, midranks are compared too: two columns that were cut from the same
# numbers differ by a level where their cut points differ.
_IN_ORDER = 4
# Smallest variance distinct from 0.
_TINY = 1e-300


def repeated(source: MomentSource, score: str, level: float) -> list[Pair]:
    """The pairs (i < j) of columns that repeat each other in exact rows.

    score, level: of the tests that a search makes anyway; they tell which pairs are not looked at.
    """
    p = len(source.names)
    if not has_levels(source):
        ends, noise = np.arange(p + 1), np.zeros((p, p))
        return repeated_numbers(covariance(source.moments()), ends, noise, source.n)
    assert isinstance(source, CountSource)
    source.prepare([range(p)])
    return repeated_tables(source.table, _suspects(source, score, level))


def _suspects(source: CountSource, score: str, level: float) -> Iterable[Pair]:
    """The pairs that may repeat each other, from the marginal tests of a search if these are fast.

    Two rows differ in x with probability v, the variance of x. If x leaves a share s of the
    variance w of y, they differ in y alone with probability at most s w, so that v ≥ (1 − s) w.
    By Pinsker's inequality G² is at least 2 n (1 − s) w; χ² is at least n (1 − s) w. The same holds
    for midranks, where w is their variance over their squared range.
    """
    pairs, others = list(combinations(range(len(source.names)), 2)), range(len(source.names))
    tests = scan(source, score, level, 0, 0, pairs, [set(others) - {c} for c in others])
    if tests is None:
        return pairs
    explained, of_ranks = [], []
    for column in others:
        shares = source.table([column]) / source.n
        explained.append((1 - LEAST_RESIDUAL) * (1 - (shares * shares).sum()))
        ranks, deviation = _midranks(shares)
        ranged = len(shares) >= _IN_ORDER and deviation > 0
        spread = (deviation / np.ptp(ranks)) ** 2 if ranged else 1.0
        of_ranks.append((1 - LEAST_RESIDUAL) * spread)
    times = (2 if score == "g2" else 1) * source.n
    suspects = []
    for (x, y), test in zip(pairs, tests, strict=True):
        least, most = sorted((explained[x], explained[y]))
        in_order = min(source.levels[x], source.levels[y]) >= _IN_ORDER
        if in_order:
            most = min(most, max(of_ranks[x], of_ranks[y]))
        if in_order or most * (1 - LEAST_RESIDUAL) <= least:
            degrees = (source.levels[x] - 1) * (source.levels[y] - 1)
            if test is None or test.p_values[0] <= chdtrc(degrees, times * most):
                suspects.append((x, y))
    return suspects


def _midranks(shares: Vector) -> tuple[Vector, float]:
    """Centred midranks of levels with these shares, and their standard deviation."""
    ranks = np.cumsum(shares) - shares / 2
    ranks -= shares @ ranks / max(shares.sum(), _TINY)
    return ranks, sqrt(shares @ (ranks * ranks))


def repeated_tables(
    table: Callable[[Sequence[int]], NDArray[Any]],
    pairs: Iterable[Pair],
    variance: Callable[[Pair], float] = lambda pair: 0.0,
) -> list[Pair]:
    """The pairs that repeat each other in their tables.

    table: counts of a pair of columns. variance: noise variance of each count.
    """
    found = []
    for pair in pairs:
        counts, noise = table(pair).astype(np.float64), variance(pair)
        both = _explains(counts, noise) and _explains(counts.T, noise)
        if both or (min(counts.shape) >= _IN_ORDER and _explains_ranks(counts, noise)):
            found.append(pair)
    return found


def _explains_ranks(counts: Matrix, variance: float) -> bool:
    """Whether midranks in the order of the levels nearly determine each other."""
    n, coded = max(counts.sum(), 1.0), []
    for axis in (1, 0):
        ranks, deviation = _midranks(np.maximum(counts.sum(axis=axis), 0) / n)
        coded.append(ranks / max(deviation, _TINY))
    noise = 2 * sqrt(variance * np.prod([ranks @ ranks for ranks in coded])) / n
    share = 1 - float(coded[0] @ counts @ coded[1] / n) ** 2
    return bool(share * n + 1 < _limit(n, noise) * max(n - 2, _TINY))


def _limit(n: float, deviation: Any) -> Any:
    """The share that counts as little; −∞ if the noise on it is too large to tell.

    deviation: standard deviation of the noise on shares. Noise hides what it cannot tell from
    nothing; with the largest that is allowed, a share of 20 % counts as little in one of 700
    releases.
    """
    limit = np.minimum(least_residual(int(n)) + 2 * deviation, LEAST_RESIDUAL)
    return np.where(deviation < LEAST_RESIDUAL, limit, -np.inf)


def _explains(counts: Matrix, variance: float) -> bool:
    """Whether the rows of a table nearly determine its columns."""
    n, least = counts.sum(), max(sqrt(variance * counts.shape[1]), 1.0)
    rows, shares = np.maximum(counts.sum(axis=1), least), counts.sum(axis=0) / max(counts.sum(), 1)
    each = (counts * counts).sum(axis=1) - counts.shape[1] * variance
    deviation = 2 * sqrt(variance * ((counts / rows[:, None]) ** 2).sum())
    # As in `kernels.tables.determined`: one more row may disagree.
    left, filled = n - (each / rows).sum() + 1, (counts.sum(axis=1) >= least).sum()
    whole = max((n - filled) * (1 - (shares * shares).sum()), _TINY)
    return bool(left < _limit(n, deviation / whole) * whole)


def repeated_numbers(sigma: Matrix, ends: Integers, variances: Matrix, n: int) -> list[Pair]:
    """The pairs that repeat each other in a covariance matrix of the coordinates of all columns.

    ends: first coordinate of each column, and the number of coordinates. variances: noise variance
    of the covariance of two coordinates, by their columns, shape (p, p).
    """
    p = len(ends) - 1
    sizes, total = np.diff(ends), np.maximum(np.add.reduceat(np.diag(sigma), ends[:-1]), _TINY)
    explains = np.zeros((p, p), dtype=bool)
    for x in range(p):
        own = slice(ends[x], ends[x + 1])
        values, vectors = np.linalg.eigh(sigma[own, own])
        floor = max(3 * sqrt(variances[x, x]), 1e-9 * max(values[-1], _TINY))
        inverse = (vectors / np.maximum(values, floor)) @ vectors.T
        slopes = sigma[:, own] @ inverse
        explained = np.add.reduceat((slopes * sigma[:, own]).sum(axis=1), ends[:-1])
        # Noise on the covariances looks like dependence.
        explained -= variances[x] * sizes * np.trace(inverse)
        squares = np.add.reduceat((slopes * slopes).sum(axis=1), ends[:-1])
        noise = 4 * variances[x] * squares + variances[x, x] * squares**2
        noise += np.diag(variances) * sizes
        deviation = np.sqrt(noise) / total
        share, left = 1 - explained / total, max(n - 1 - sizes[x], _TINY)
        explains[x] = share * n + 1 < _limit(n, deviation) * left
    both = np.triu(explains & explains.T, 1)
    return [(int(x), int(y)) for x, y in np.argwhere(both)]
