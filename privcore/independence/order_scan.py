"""Make all tests of one order of a search at once, with compiled kernels.

The kernels test each pair given one set of neighbours after another until a set separates the pair,
as the search does. They compare G² or χ² with the critical value and compute no p-values. The
slower path by p-values is used if a value is so close to the critical value that rounding matters,
or if a test has too many cells or degrees of freedom for a scan. Both paths make the same
decisions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import prod
from typing import NamedTuple, TypeGuard

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, chdtri, xlogy

from privcore import kernels
from privcore.arrays import Vector
from privcore.counts import CountSource, InMemoryCounts
from privcore.counts.memory import Arrays
from privcore.independence.log_tail import log_chi2_tail
from privcore.kernels.arguments import Packed

_CELLS = 1 << 18
_DEGREES = 4096
# Tests that one call may make, and pairs between two chances to cancel.
_TESTS = 1 << 14
_PAIRS = 64
# Maximum cells of a table from which margins are summed.
_SUMMED = 1 << 17
# Counts up to this have n log n in a table.
_KNOWN = 1 << 16


class Scanned(NamedTuple):
    """The tests of one pair.

    separated_by: position of the separating set in the order of the tests, None if no set separated
    the pair. tests: number of tests. p_values: the p-values of these tests, in the same order.
    """

    separated_by: int | None
    tests: int
    p_values: Vector


def scan_order(
    source: CountSource,
    score: str,
    level: float,
    order: int,
    pairs: Sequence[tuple[int, int]],
    adjacent: Sequence[set[int]],
) -> Iterator[Scanned | None] | None:
    """Test each pair given sets of `order` neighbours until a set separates the pair.

    Yields the result for each pair, or None if the slower path must test the pair again. Returns
    None if there are no kernels for the score or the source. adjacent: neighbours of each column
    before this order, as for `conditioning_sets`.
    """
    if not _scans(source, score):
        return None
    return _scanned(source, score, level, order, pairs, adjacent)


def scan_every(
    source: CountSource,
    score: str,
    first: int,
    last: int,
    pairs: Sequence[tuple[int, int]],
    adjacent: Sequence[set[int]],
) -> Iterator[Vector | None] | None:
    """Yield the log p-values of all tests of each pair given sets of `first` to `last` neighbours.

    The tests are ordered by the number of neighbours, then as in `conditioning_sets`. As in
    `scan_order`, yields None if the slower path must test the pair, and returns None if there are
    no kernels for the score or the source.
    """
    if not _scans(source, score):
        return None
    return _every(source, score, first, last, pairs, adjacent)


def _scans(source: CountSource, score: str) -> TypeGuard[InMemoryCounts]:
    return score in ("g2", "chi2") and isinstance(source, InMemoryCounts) and source.packs


def _scanned(
    source: InMemoryCounts,
    score: str,
    level: float,
    order: int,
    pairs: Sequence[tuple[int, int]],
    adjacent: Sequence[set[int]],
) -> Iterator[Scanned | None]:
    cells = _cells(source, order)
    critical = critical_values(level, min(cells, _DEGREES))
    around = _matrix(adjacent)
    pair_array = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    described = ("scan", score, level, order, around.tobytes(), pair_array.tobytes())
    # Once, and not at all if all results are cached.
    packed: Packed | None = None

    done = 0
    while done < len(pairs):
        part = pair_array[done : done + _PAIRS]

        def scan(part: NDArray[np.int64] = part) -> Arrays:
            nonlocal packed
            packed = packed or source.packed(order, adjacent)
            verdicts = np.empty(len(part), dtype=np.int64)
            tests = np.empty(len(part), dtype=np.int64)
            values = np.empty(_TESTS)
            degrees = np.empty(_TESTS, dtype=np.int64)
            finished = kernels.scan.scan_pairs(
                packed,
                part,
                around,
                order,
                score == "g2",
                critical,
                cells,
                verdicts,
                tests,
                values,
                degrees,
            )
            made = tests[:finished].sum()
            p_values = chdtrc(degrees[:made], values[:made])
            p_values[degrees[:made] == 0] = 1.0
            return verdicts[:finished], tests[:finished], p_values

        verdicts, tests, p_values = source.keep((*described, done, len(part)), scan)
        start = 0
        for verdict, number in zip(verdicts.tolist(), tests.tolist(), strict=True):
            done += 1
            if verdict == kernels.scan.UNDECIDED:
                yield None
                continue
            separated_by = None if verdict == kernels.scan.DEPENDENT else verdict
            yield Scanned(separated_by, number, p_values[start : start + number])
            start += number


def _every(
    source: InMemoryCounts,
    score: str,
    first: int,
    last: int,
    pairs: Sequence[tuple[int, int]],
    adjacent: Sequence[set[int]],
) -> Iterator[Vector | None]:
    cells = _cells(source, last)
    around = _matrix(adjacent)
    pair_array = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    described = ("every", score, first, last, around.tobytes(), pair_array.tobytes())

    done = 0
    while done < len(pairs):
        part = pair_array[done : done + _PAIRS]

        def scan(part: NDArray[np.int64] = part) -> Arrays:
            tests = np.empty(len(part), dtype=np.int64)
            values = np.empty(_TESTS)
            degrees = np.empty(_TESTS, dtype=np.int64)
            finished = kernels.every.test_every(
                source.packed_before(),
                part,
                around,
                first,
                last,
                score == "g2",
                cells,
                _SUMMED,
                _n_log_n(min(source.n + 1, _KNOWN)),
                tests,
                values,
                degrees,
            )
            made = np.maximum(tests[:finished], 0).sum()
            return tests[:finished], log_chi2_tail(degrees[:made], values[:made])

        tests, logs = source.keep((*described, done, len(part)), scan)
        start = 0
        for number in tests.tolist():
            done += 1
            if number < 0:
                yield None
                continue
            yield logs[start : start + number]
            start += number


def _cells(source: InMemoryCounts, order: int) -> int:
    """Number of cells of the largest table in a test of this order, at most `_CELLS`."""
    return min(prod(sorted(source.levels)[-order - 2 :]), _CELLS)


def _matrix(adjacent: Sequence[set[int]]) -> NDArray[np.bool_]:
    around = np.zeros((len(adjacent), len(adjacent)), dtype=np.bool_)
    for node, neighbours in enumerate(adjacent):
        around[node, list(neighbours)] = True
    return around


@lru_cache(maxsize=4)
def _n_log_n(size: int) -> Vector:
    numbers = np.arange(size)
    return np.asarray(xlogy(numbers, numbers))


@lru_cache(maxsize=64)
def critical_values(level: float, size: int) -> Vector:
    """χ² critical values at `level` for 0 to `size` − 1 degrees of freedom; NaN for 0."""
    degrees = np.arange(size)
    values: Vector = np.concatenate(([np.nan], chdtri(degrees[1:], level)))
    return values
