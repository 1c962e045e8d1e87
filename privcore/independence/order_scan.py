"""Make many tests of a search at once, with a compiled kernel.

The kernel tests each pair given one set of neighbours after another, as the search does. It
compares G² or χ² with the critical value and computes no p-values. The slower path by p-values is
used if a value is so close to the critical value that rounding matters, or if a test has too many
cells or degrees of freedom. Both paths make the same decisions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, chdtri

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


class Scanned(NamedTuple):
    """The tests of one pair.

    separated_by: position of the separating set in the order of the tests, None if no set separated
    the pair or if all sets were to be tested.  p_values: of the tests, or their logarithms if all
    sets were to be tested.
    """

    separated_by: int | None
    p_values: Vector


def scan(
    source: CountSource,
    score: str,
    level: float | None,
    first: int,
    last: int,
    pairs: Sequence[tuple[int, int]],
    adjacent: Sequence[set[int]],
) -> Iterator[Scanned | None] | None:
    """Test each pair given sets of `first` to `last` neighbours, in order of their size.

    level: the significance level at which a set separates a pair, which ends its tests; None to
    test all sets.  adjacent: neighbours of each column, as for `conditioning_sets`.
    Yields the tests of each pair, or None if the slower path must test the pair. Returns None if
    there is no kernel for the score or the source.
    """
    if not _scans(source, score):
        return None
    assert isinstance(source, InMemoryCounts)
    return _scanned(source, score, level, first, last, pairs, adjacent)


def _scans(source: CountSource, score: str) -> bool:
    return score in ("g2", "chi2") and isinstance(source, InMemoryCounts) and source.packs


def _scanned(
    source: InMemoryCounts,
    score: str,
    level: float | None,
    first: int,
    last: int,
    pairs: Sequence[tuple[int, int]],
    adjacent: Sequence[set[int]],
) -> Iterator[Scanned | None]:
    # Number of cells of the largest table in a test.
    cells = min(
        prod(source.levels if level is None else sorted(source.levels)[-last - 2 :]), _CELLS
    )
    critical = critical_values(1.0 if level is None else level, min(cells, _DEGREES))
    around = np.zeros((len(adjacent), len(adjacent)), dtype=np.bool_)
    for node, neighbours in enumerate(adjacent):
        around[node, list(neighbours)] = True
    pair_array = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    described = ("scan", score, level, first, last, around.tobytes(), pair_array.tobytes())
    # Once, and not at all if all results are cached.
    packed: Packed | None = None

    done = 0
    while done < len(pairs):
        part = pair_array[done : done + _PAIRS]

        def tested(part: NDArray[np.int64] = part) -> Arrays:
            nonlocal packed
            packed = packed or source.packed(last, adjacent)
            verdicts, tests = np.empty((2, len(part)), dtype=np.int64)
            values, degrees = np.empty(_TESTS), np.empty(_TESTS, dtype=np.int64)
            finished = kernels.scan.test_pairs(
                packed,
                part,
                around,
                first,
                last,
                level is None,
                score == "g2",
                critical,
                cells,
                verdicts,
                tests,
                values,
                degrees,
            )
            made = tests[:finished].sum()
            values, degrees = values[:made], degrees[:made]
            if level is None:
                return verdicts[:finished], tests[:finished], log_chi2_tail(degrees, values)
            p_values = chdtrc(degrees, values)
            p_values[degrees == 0] = 1.0
            return verdicts[:finished], tests[:finished], p_values

        verdicts, tests, p_values = source.keep((*described, done, len(part)), tested)
        start = 0
        for verdict, number in zip(verdicts.tolist(), tests.tolist(), strict=True):
            done += 1
            if verdict == kernels.scan.UNDECIDED:
                yield None
                continue
            separated_by = None if verdict == kernels.scan.DEPENDENT else verdict
            yield Scanned(separated_by, p_values[start : start + number])
            start += number


@lru_cache(maxsize=64)
def critical_values(level: float, size: int) -> Vector:
    """χ² critical values at `level` for 0 to `size` − 1 degrees of freedom; NaN for 0."""
    degrees = np.arange(size)
    values: Vector = np.concatenate(([np.nan], chdtri(degrees[1:], level)))
    return values
