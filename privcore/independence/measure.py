"""What a private decision compares: a number for a pair, its threshold and its sensitivity.

Three kinds: a score on the scale of Z or of its p-value, the votes of blocks, and the median
p-value of blocks.  All decisions are made on the *margin*, which is at least 0 where the pair
counts as independent and has the sensitivity of the value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import erf, erfc, sqrt
from typing import Literal, Protocol

import numpy as np

from privcore.counts import CountSource
from privcore.errors import ParameterError
from privcore.independence import blocks
from privcore.independence.score import Score, strata_of, z_threshold
from privcore.mechanisms import NoiseSource, SmoothMedian

Calibration = Literal["proven", "published"]
Space = Literal["z", "p"]
Pair = tuple[int, int]


class Measure(Protocol):
    """A dependence measure as a private algorithm uses it.

    independent_above: whether values at or above the threshold mean independence, as p-values
    and votes do, or values at or below it, as |Z| does.
    unit: what the value is, for tables of decisions.  base: the score that it is made of.
    needs_delta: whether each noisy value costs a δ of its own.
    """

    @property
    def independent_above(self) -> bool: ...
    @property
    def unit(self) -> str: ...
    @property
    def base(self) -> str: ...
    @property
    def proofs(self) -> tuple[str, ...]: ...
    @property
    def flaws(self) -> tuple[str, ...]: ...
    @property
    def needs_delta(self) -> bool: ...

    def prepare(self, source: CountSource, noise: NoiseSource) -> CountSource:
        """The rows as this measure wants them, such as split into blocks."""
        ...

    def value(self, source: CountSource, x: int, y: int, given: Sequence[int]) -> float:
        """The exact value on prepared rows."""
        ...

    def threshold(self, x: int, y: int) -> float:
        """Where the decision changes, in units of the value."""
        ...

    def tweak(self, deviations: float) -> float:
        """A distance from the threshold, given in standard deviations of Z, in units of the value.

        Of votes, which have no such unit, a number of blocks.
        """
        ...

    def sensitivity(self, rows: int, strata: int = 1) -> float:
        """The most that the value can change (or is claimed to) when one of `rows` records does.

        Raises ParameterError if there is no such bound.
        """
        ...

    def laplace_scale(
        self, source: CountSource, x: int, y: int, given: Sequence[int], epsilon: float,
        delta: float,
    ) -> float:  # fmt: skip
        """The Laplace scale that makes one noisy value (ε, δ)-DP; δ is used if `needs_delta`."""
        ...


def margin(measure: Measure, value: float, x: int, y: int) -> float:
    """Distance of a value from the threshold, at least 0 where the pair counts as independent."""
    away = value - measure.threshold(x, y)
    return away if measure.independent_above else -away


def value_at(measure: Measure, distance: float, x: int, y: int) -> float:
    """The value whose margin is `distance`."""
    return measure.threshold(x, y) + (distance if measure.independent_above else -distance)


@dataclass(frozen=True)
class ScoreMeasure:
    """|Z| of a score, or its two-sided p-value 2(1 − Φ(|Z|)).

    corrected: per pair, a threshold on |Z| in place of the normal quantile; in Z-space only.
    A change of Z by Δ moves p by at most 2Φ(Δ) − 1 (docs/proofs/p_space.md); a published
    constant stretches by the slope √(2/π) of p at 0: twice the 1/√(2π) of Bhattacharjee & Tandon
    2024, Appendix VI-B, whose p is one-sided.
    """

    score: Score
    calibration: Calibration
    space: Space
    level: float
    corrected: Mapping[Pair, float] = field(default_factory=dict)
    needs_delta: bool = False

    @property
    def independent_above(self) -> bool:
        return self.space == "p"

    @property
    def unit(self) -> str:
        return "p-value" if self.space == "p" else "|Z|"

    @property
    def base(self) -> str:
        return self.score.name

    @property
    def proofs(self) -> tuple[str, ...]:
        return (self.score.proof, *(("docs/proofs/p_space.md",) if self.space == "p" else ()))

    @property
    def flaws(self) -> tuple[str, ...]:
        return (self.score.published_flaw,) if self.calibration == "published" else ()

    def prepare(self, source: CountSource, noise: NoiseSource) -> CountSource:
        return source

    def value(self, source: CountSource, x: int, y: int, given: Sequence[int]) -> float:
        z = abs(self.score.value(source, x, y, given))
        return erfc(z / sqrt(2)) if self.space == "p" else z

    def threshold(self, x: int, y: int) -> float:
        if self.space == "p":
            return self.level
        return self.corrected.get((min(x, y), max(x, y)), z_threshold(self.level))

    def tweak(self, deviations: float) -> float:
        if self.space == "z":
            return deviations
        return self.level - erfc((z_threshold(self.level) + deviations) / sqrt(2))

    def sensitivity(self, rows: int, strata: int = 1) -> float:
        bound = self.score.sensitivity(rows, self.calibration, strata)
        if self.space == "z":
            return bound
        return erf(bound / sqrt(2)) if self.calibration == "proven" else bound * sqrt(2 / np.pi)

    def laplace_scale(
        self, source: CountSource, x: int, y: int, given: Sequence[int], epsilon: float,
        delta: float,
    ) -> float:  # fmt: skip
        return self.sensitivity(source.n, strata_of(source, given)) / epsilon


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

    def value(self, source: CountSource, x: int, y: int, given: Sequence[int]) -> float:
        key = ("votes", self.base, self.level, *sorted((x, y)), *sorted(given))
        return source.remember(
            key,
            lambda: blocks.votes(blocks.block_p_values(source, self.base, x, y, given), self.level),
        )

    def threshold(self, x: int, y: int) -> float:
        return self.count / 2

    def tweak(self, deviations: float) -> float:
        return deviations

    def sensitivity(self, rows: int, strata: int = 1) -> float:
        return 1.0

    def laplace_scale(
        self, source: CountSource, x: int, y: int, given: Sequence[int], epsilon: float,
        delta: float,
    ) -> float:  # fmt: skip
        return 1.0 / epsilon


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

    def value(self, source: CountSource, x: int, y: int, given: Sequence[int]) -> float:
        key = ("median", self.base, *sorted((x, y)), *sorted(given))
        return source.remember(
            key,
            lambda: float(np.median(blocks.block_p_values(source, self.base, x, y, given))),
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
        self, source: CountSource, x: int, y: int, given: Sequence[int], epsilon: float,
        delta: float,
    ) -> float:  # fmt: skip
        make = SmoothMedian.proven if self.calibration == "proven" else SmoothMedian.published
        values = blocks.block_p_values(source, self.base, x, y, given)
        return make(epsilon, delta).scale(values, 0.0, 1.0)


def _checked_blocks(count: int, n: int) -> int:
    if count % 2 == 0:
        raise ParameterError(f"blocks is {count}; it must be odd, so that a majority exists.")
    if n < 2 * count:
        raise ParameterError(
            f"{n:,} rows in {count} blocks are fewer than 2 in each; choose fewer blocks."
        )
    return count
