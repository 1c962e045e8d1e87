"""Dependence measures for private decisions: a value, a threshold and a sensitivity for each pair.

There are three kinds: a score on the scale of Z or of its p-value (`score_measure`), the votes of
blocks, and the median p-value of blocks (`block_measures`). All decisions are made on the *margin*,
which is at least 0 if the pair counts as independent, and has the same sensitivity as the value.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

from privcore.counts import CountSource
from privcore.privacy.mechanisms import NoiseSource

Calibration = Literal["proven", "published"]
Space = Literal["z", "p"]


class Measure(Protocol):
    """The interface of a dependence measure for private algorithms.

    independent_above: True if values at or above the threshold mean independence, as for p-values
    and votes; False if values at or below the threshold do, as for |Z|.
    unit: name of the value, for tables of decisions. base: the underlying score.
    needs_delta: whether each noisy value has its own δ.
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
        """The rows in the form that this measure needs, for example split into blocks."""
        ...

    def fits(self, source: CountSource, x: int, y: int, conditioning_set: Sequence[int]) -> bool:
        """Whether the value can be computed; decided by the numbers of levels and rows alone."""
        ...

    def value(self, source: CountSource, x: int, y: int, conditioning_set: Sequence[int]) -> float:
        """The exact value on prepared rows."""
        ...

    def threshold(self, x: int, y: int) -> float:
        """The threshold of the decision, in units of the value."""
        ...

    def tweak(self, deviations: float) -> float:
        """Convert a distance to the threshold, in standard deviations of Z, to units of the value.

        For votes, `deviations` is a number of blocks and is returned unchanged.
        """
        ...

    def sensitivity(self, rows: int, strata: int = 1) -> float:
        """The proven or published bound on the change in the value when a record is replaced.

        rows: number of records. strata: number of strata of the conditioning set. Raises
        ParameterError if there is no such bound.
        """
        ...

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
        ...


def margin(measure: Measure, value: float, x: int, y: int) -> float:
    """Signed distance of a value from the threshold, at least 0 if x and y count as independent."""
    away = value - measure.threshold(x, y)
    return away if measure.independent_above else -away


def value_at(measure: Measure, distance: float, x: int, y: int) -> float:
    """The value whose margin is `distance`."""
    return measure.threshold(x, y) + (distance if measure.independent_above else -distance)
