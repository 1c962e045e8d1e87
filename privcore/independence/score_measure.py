"""Dependence measures based on a score: |Z|, or the two-sided p-value of Z."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import erf, erfc, pi, sqrt

from privcore.counts import CountSource
from privcore.independence.measure import Calibration, Space
from privcore.independence.score import Score, strata_of, z_threshold
from privcore.privacy.mechanisms import NoiseSource
from privcore.rounding import up

Pair = tuple[int, int]


@dataclass(frozen=True)
class ScoreMeasure:
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

    def laplace_scale(
        self,
        source: CountSource,
        x: int,
        y: int,
        conditioning_set: Sequence[int],
        epsilon: float,
        delta: float,
    ) -> float:
        return up(self.sensitivity(source.n, strata_of(source, conditioning_set)) / epsilon)
