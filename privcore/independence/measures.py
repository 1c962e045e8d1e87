"""Dependence measures for private decisions: a value, a threshold and a sensitivity for each pair.

There are three kinds: a score on the scale of Z or of its p-value, the votes of blocks of rows, and
the median p-value of blocks. All decisions are made on the *margin*, which is at least 0 if the
pair counts as independent, and has the same sensitivity as the value.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import erf, erfc, pi, prod, sqrt
from typing import Literal

import numpy as np
from scipy.special import chdtrc

from privcore.arrays import Vector
from privcore.counts import MAX_CELLS, CountSource
from privcore.errors import ParameterError
from privcore.independence.score import Score, strata_of, z_threshold
from privcore.independence.table_scores import tested
from privcore.privacy.mechanisms import NoiseSource, SmoothMedian
from privcore.rounding import up

Pair = tuple[int, int]
Calibration = Literal["proven", "published"]
Space = Literal["z", "p"]


class Measure(ABC):
    """A dependence measure for private algorithms.

    independent_above: True if values at or above the threshold mean independence, as for p-values
    and votes; False if values at or below the threshold do, as for |Z|.
    unit: name of the value, for tables of decisions.
    needs_delta: whether each noisy value has its own δ.
    """

    needs_delta = False

    @property
    def independent_above(self) -> bool:
        return True

    @property
    @abstractmethod
    def unit(self) -> str: ...
    @property
    @abstractmethod
    def proofs(self) -> tuple[str, ...]: ...
    @property
    def flaws(self) -> tuple[str, ...]:
        return ()

    def prepare(self, source: CountSource, noise: NoiseSource) -> CountSource:
        """The rows in the form that this measure needs, for example split into blocks."""
        return source

    @abstractmethod
    def fits(self, source: CountSource, x: int, y: int, conditioning_set: Sequence[int]) -> bool:
        """Whether the value can be computed; decided by the numbers of levels and rows alone."""

    @abstractmethod
    def value(self, source: CountSource, x: int, y: int, conditioning_set: Sequence[int]) -> float:
        """The exact value on prepared rows."""

    @abstractmethod
    def threshold(self, x: int, y: int) -> float:
        """The threshold of the decision, in units of the value."""

    def tweak(self, deviations: float) -> float:
        """Convert a distance to the threshold, in standard deviations of Z, to units of the value.

        For votes, `deviations` is a number of blocks and is returned unchanged.
        """
        return deviations

    @abstractmethod
    def sensitivity(self, rows: int, strata: int = 1) -> float:
        """The proven or published bound on the change in the value when a record is replaced.

        rows: number of records. strata: number of strata of the conditioning set. Raises
        ParameterError if there is no such bound.
        """

    def laplace_scale(
        self,
        source: CountSource,
        x: int,
        y: int,
        conditioning_set: Sequence[int],
        epsilon: float,
        delta: float,
    ) -> float:
        """The Laplace scale for one (ε, δ)-DP noisy value; δ is ignored unless `needs_delta`."""
        return up(self.sensitivity(source.n, strata_of(source, conditioning_set)) / epsilon)


def margin(measure: Measure, value: float, x: int, y: int) -> float:
    """Signed distance of a value from the threshold, at least 0 if x and y count as independent."""
    away = value - measure.threshold(x, y)
    return away if measure.independent_above else -away


def value_at(measure: Measure, distance: float, x: int, y: int) -> float:
    """The value whose margin is `distance`."""
    return measure.threshold(x, y) + (distance if measure.independent_above else -distance)


@dataclass(frozen=True)
class ScoreMeasure(Measure):
    """A measure based on a score: |Z|, or the two-sided p-value 2(1 − Φ(|Z|)).

    corrected: threshold on |Z| for each pair, in place of the normal quantile; used only on the
    scale of |Z|.

    A change of Δ in Z changes p by at most 2Φ(Δ) − 1 (docs/proofs/p_space.md). A published constant
    is multiplied by √(2/π), the steepest slope of p. This factor is twice the 1/√(2π) of
    Bhattacharjee & Tandon 2024, Appendix VI-B, since their p is one-sided.
    """

    score: Score
    calibration: Calibration
    space: Space
    level: float
    corrected: Mapping[Pair, float] = field(default_factory=dict)

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

    def fits(self, source: CountSource, x: int, y: int, conditioning_set: Sequence[int]) -> bool:
        return self.score.fits(source, x, y, conditioning_set)

    def value(self, source: CountSource, x: int, y: int, conditioning_set: Sequence[int]) -> float:
        z = abs(self.score.value(source, x, y, conditioning_set))
        return erfc(z / sqrt(2)) if self.space == "p" else z

    def threshold(self, x: int, y: int) -> float:
        if self.space == "p":
            return self.level
        corrected = self.corrected.get((min(x, y), max(x, y))) if self.corrected else None
        return z_threshold(self.level) if corrected is None else corrected

    def tweak(self, deviations: float) -> float:
        if self.space == "z":
            return deviations
        return self.level - erfc((z_threshold(self.level) + deviations) / sqrt(2))

    def sensitivity(self, rows: int, strata: int = 1) -> float:
        bound = self.score.sensitivity(rows, self.calibration, strata)
        if self.space == "z":
            return bound
        if self.calibration == "published":
            return bound * sqrt(2 / pi)
        # Includes the rounding error of two p-values: docs/proofs/fixed_point.md, statement 3.
        return erf(bound / sqrt(2)) + 2.0**-47


# G² and χ² on random blocks of the rows, aggregated so that one record has little influence.
# One record is in one block, so it changes one block's p-value. Two measures lead to the same
# decision from the p-values of an odd number of blocks: the *votes*, the number of blocks in which
# the pair counts as independent, which changes by at most 1; and the *median* p-value, with noise
# scaled to its smooth sensitivity (Wang, Pang & Song 2020, Appendix F and Algorithm 6).


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
class _BlockMeasure(Measure):
    """A measure over an odd number of random blocks of the rows."""

    base: str
    count: int
    level: float

    def prepare(self, source: CountSource, noise: NoiseSource) -> CountSource:
        if self.count % 2 == 0:
            raise ParameterError("even-blocks", blocks=self.count)
        if source.n < 2 * self.count:
            raise ParameterError("few-rows-in-blocks", rows=source.n, blocks=self.count)
        return source.blocked(self.count, noise)

    def fits(self, source: CountSource, x: int, y: int, conditioning_set: Sequence[int]) -> bool:
        columns = (len(source.levels) - 1, *conditioning_set, x, y)
        return prod(source.levels[c] for c in columns) <= MAX_CELLS


@dataclass(frozen=True)
class VoteMeasure(_BlockMeasure):
    """The number of blocks in which the pair counts as independent; the majority decides."""

    unit = "blocks"
    proofs = ("docs/proofs/block_votes.md",)

    def value(self, source: CountSource, x: int, y: int, conditioning_set: Sequence[int]) -> float:
        key = ("votes", self.base, self.level, *sorted((x, y)), *sorted(conditioning_set))
        return source.remember(
            key,
            lambda: votes(block_p_values(source, self.base, x, y, conditioning_set), self.level),
        )

    def threshold(self, x: int, y: int) -> float:
        return self.count / 2

    def sensitivity(self, rows: int, strata: int = 1) -> float:
        return 1.0


@dataclass(frozen=True)
class MedianMeasure(_BlockMeasure):
    """The median p-value of an odd number of blocks; noise is scaled to smooth sensitivity."""

    calibration: Calibration
    unit = "median p-value"
    proofs = ("docs/proofs/smooth_median.md",)
    needs_delta = True

    @property
    def flaws(self) -> tuple[str, ...]:
        if self.calibration == "proven":
            return ()
        return (
            "the printed β of the median is multiplied by ln(1/δ) instead of divided by it, so the "
            "noise scale can differ too much between neighbouring data sets",
        )

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
        raise ParameterError("algorithm-needs-score-fixed-sensitivity", base=self.base)

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
