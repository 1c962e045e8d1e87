"""Measures that combine tests on blocks of rows: a majority vote, or the median p-value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from scipy.special import chdtrc

from privcore.arrays import Vector
from privcore.counts import MAX_CELLS, CountSource
from privcore.errors import ParameterError
from privcore.independence.frequencies import tested
from privcore.independence.measure import Calibration
from privcore.privacy.mechanisms import NoiseSource, SmoothMedian
from privcore.rounding import up

# G² and χ² on random blocks of the rows, aggregated so that one record has little influence.
# One record is in one block, so it changes one block's p-value. Two measures lead to the same
# decision from the p-values of an odd number of blocks: the *votes*, the number of blocks in which
# the pair counts as independent, which changes by at most 1; and the *median* p-value, with noise
# scaled to its smooth sensitivity (Wang, Pang & Song 2020, Appendix F and Algorithm 6).


def fits(source: CountSource, x: int, y: int, conditioning_set: Sequence[int]) -> bool:
    """Whether the table of x, y and the conditioning set in all blocks is within the size limit."""
    columns = (len(source.levels) - 1, *conditioning_set, x, y)
    return prod(source.levels[c] for c in columns) <= MAX_CELLS


def block_p_values(
    source: CountSource, base: str, x: int, y: int, conditioning_set: Sequence[int]
) -> Vector:
    """The p-value of each block for the test of x and y given the conditioning set.

    source: rows with their block as the last column (`CountSource.blocked`).
    base: "g2" or "chi2".  In a block with 0 degrees of freedom the p-value is 1.  The result has
    shape (blocks,).
    """
    x, y = (x, y) if x < y else (y, x)
    blocks = source.levels[-1]
    columns = (len(source.levels) - 1, *sorted(conditioning_set), x, y)
    tables = source.table(columns)
    tables = tables.reshape(blocks, -1, *tables.shape[-2:])
    statistic, degrees = np.array([tested(of_block, base) for of_block in tables]).T
    tails = chdtrc(np.maximum(degrees, 1), statistic)
    return np.asarray(np.where(degrees > 0, tails, 1.0))


def votes(p_values: Vector, level: float) -> float:
    """Number of blocks in which the pair counts as independent, that is, p is at least `level`."""
    return float((p_values >= level).sum())


@dataclass(frozen=True)
class VoteMeasure:
    """The number of blocks in which the pair counts as independent; the majority decides."""

    base: str
    count: int
    level: float
    independent_above: bool = True
    unit: str = "blocks"
    proofs: tuple[str, ...] = ("docs/proofs/block_votes.md",)
    flaws: tuple[str, ...] = ()
    needs_delta: bool = False

    def prepare(self, source: CountSource, noise: NoiseSource) -> CountSource:
        return source.blocked(_checked_blocks(self.count, source.n), noise)

    def fits(self, source: CountSource, x: int, y: int, conditioning_set: Sequence[int]) -> bool:
        return fits(source, x, y, conditioning_set)

    def value(self, source: CountSource, x: int, y: int, conditioning_set: Sequence[int]) -> float:
        key = ("votes", self.base, self.level, *sorted((x, y)), *sorted(conditioning_set))
        return source.remember(
            key,
            lambda: votes(block_p_values(source, self.base, x, y, conditioning_set), self.level),
        )

    def threshold(self, x: int, y: int) -> float:
        return self.count / 2

    def tweak(self, deviations: float) -> float:
        return deviations

    def sensitivity(self, rows: int, strata: int = 1) -> float:
        return 1.0

    def laplace_scale(
        self,
        source: CountSource,
        x: int,
        y: int,
        conditioning_set: Sequence[int],
        epsilon: float,
        delta: float,
    ) -> float:
        return up(1.0 / epsilon)


@dataclass(frozen=True)
class MedianMeasure:
    """The median p-value of an odd number of blocks; noise is scaled to smooth sensitivity."""

    base: str
    count: int
    level: float
    calibration: Calibration
    independent_above: bool = True
    unit: str = "median p-value"
    proofs: tuple[str, ...] = ("docs/proofs/smooth_median.md",)
    needs_delta: bool = True

    @property
    def flaws(self) -> tuple[str, ...]:
        if self.calibration == "proven":
            return ()
        return (
            "the printed β of the median is multiplied by ln(1/δ) instead of divided by it, so the "
            "noise scale can differ too much between neighbouring data sets",
        )

    def prepare(self, source: CountSource, noise: NoiseSource) -> CountSource:
        return source.blocked(_checked_blocks(self.count, source.n), noise)

    def fits(self, source: CountSource, x: int, y: int, conditioning_set: Sequence[int]) -> bool:
        return fits(source, x, y, conditioning_set)

    def value(self, source: CountSource, x: int, y: int, conditioning_set: Sequence[int]) -> float:
        key = ("median", self.base, *sorted((x, y)), *sorted(conditioning_set))
        return source.remember(
            key,
            lambda: float(np.median(block_p_values(source, self.base, x, y, conditioning_set))),
        )

    def threshold(self, x: int, y: int) -> float:
        return self.level

    def tweak(self, deviations: float) -> float:
        raise TypeError("a median cannot be used in a sieve")

    def sensitivity(self, rows: int, strata: int = 1) -> float:
        raise ParameterError(
            "This algorithm needs a score with a fixed sensitivity, which the median p-value of "
            f"blocks does not have; choose {self.base}-votes, which leads to the same decision."
        )

    def laplace_scale(
        self,
        source: CountSource,
        x: int,
        y: int,
        conditioning_set: Sequence[int],
        epsilon: float,
        delta: float,
    ) -> float:
        make = SmoothMedian.proven if self.calibration == "proven" else SmoothMedian.published
        values = block_p_values(source, self.base, x, y, conditioning_set)
        return make(epsilon, delta).scale(values, 0.0, 1.0)


def _checked_blocks(count: int, n: int) -> int:
    if count % 2 == 0:
        raise ParameterError(f"blocks is {count}; it must be odd, so that a majority exists.")
    if n < 2 * count:
        raise ParameterError(
            f"{n:,} rows in {count} blocks leave fewer than 2 rows in each block; choose fewer "
            "blocks."
        )
    return count
