"""Votes and medians of blocks of rows as measures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from privcore.counts import CountSource
from privcore.errors import ParameterError
from privcore.independence import blocks
from privcore.independence.measure import Calibration
from privcore.privacy.mechanisms import NoiseSource, SmoothMedian
from privcore.rounding import up


@dataclass(frozen=True)
class VoteMeasure:
    """How many of an odd number of blocks find the pair independent; a majority decides."""

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
        return blocks.fits(source, x, y, conditioning_set)

    def value(self, source: CountSource, x: int, y: int, conditioning_set: Sequence[int]) -> float:
        key = ("votes", self.base, self.level, *sorted((x, y)), *sorted(conditioning_set))
        return source.remember(
            key,
            lambda: blocks.votes(
                blocks.block_p_values(source, self.base, x, y, conditioning_set), self.level
            ),
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
    """The median p-value of an odd number of blocks, noise scaled to its smooth sensitivity."""

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
            "the printed noise of the median multiplies by ln(1/δ) where it must divide, so a "
            "neighbour's noise may be of quite another size",
        )

    def prepare(self, source: CountSource, noise: NoiseSource) -> CountSource:
        return source.blocked(_checked_blocks(self.count, source.n), noise)

    def fits(self, source: CountSource, x: int, y: int, conditioning_set: Sequence[int]) -> bool:
        return blocks.fits(source, x, y, conditioning_set)

    def value(self, source: CountSource, x: int, y: int, conditioning_set: Sequence[int]) -> float:
        key = ("median", self.base, *sorted((x, y)), *sorted(conditioning_set))
        return source.remember(
            key,
            lambda: float(
                np.median(blocks.block_p_values(source, self.base, x, y, conditioning_set))
            ),
        )

    def threshold(self, x: int, y: int) -> float:
        return self.level

    def tweak(self, deviations: float) -> float:
        raise TypeError("a median is never sieved")

    def sensitivity(self, rows: int, strata: int = 1) -> float:
        raise ParameterError(
            "The median of blocks has no one sensitivity, which this algorithm needs; choose the "
            f"score {self.base}-votes, which makes the same decision."
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
        values = blocks.block_p_values(source, self.base, x, y, conditioning_set)
        return make(epsilon, delta).scale(values, 0.0, 1.0)


def _checked_blocks(count: int, n: int) -> int:
    if count % 2 == 0:
        raise ParameterError(f"blocks is {count}; it must be odd, so that a majority exists.")
    if n < 2 * count:
        raise ParameterError(
            f"{n:,} rows in {count} blocks are fewer than 2 in each; choose fewer blocks."
        )
    return count
