"""A noise source that adds no noise, to measure the cost of noise. Results are not private.

A run with `NoNoise` is the limit for large ε, but keeps the plan for the requested ε: settings, the
split of the budget, rounds, the number of paid tests, the bounds on values and on row norms, and
the sizes of tables are unchanged. Steps that the budget does not cover, such as an order that
CURATE skips, are not made. The sets of columns to count are chosen by the same rule from released
numbers, so these sets may differ from the sets in a noisy run.

Released numbers get no noise, and selections take the largest score. Tests, posteriors and
thresholds make no allowance for noise (`width_of`), and all rows are used if their number would be
noisy. Other random draws (sub-samples, blocks of rows, the coin of CURATE) come from a fixed seed,
so a repeated run gives the same result.
"""

from __future__ import annotations

import numpy as np

from privcore.arrays import Vector
from privcore.privacy.mechanisms.noise import (
    Counts,
    NoiseKind,
    NoiseSource,
    Perturbation,
    SimulatedNoise,
    check_scale,
)

# Formulas divide by the noise's width, so it is not 0 but negligible relative to the sampling
# error, even if the planned noise would dominate.
_NOTHING = 1e-9


class NoNoise(SimulatedNoise):
    """A noise source that returns every number unchanged; `discover` then gives no guarantee."""

    kind: NoiseKind = "none"

    def __init__(self) -> None:
        super().__init__(0)

    def laplace(self, value: float, scale: float) -> float:
        check_scale(scale)
        return value

    def laplace_array(self, values: Vector, scale: float) -> Vector:
        check_scale(scale)
        return values.copy()

    def discrete_laplace_array(self, values: Counts, scale: float) -> Counts:
        check_scale(scale)
        return values.copy()

    def discrete_gaussian_array(self, values: Counts, sigma: float) -> Counts:
        check_scale(sigma)
        return values.copy()

    def gaussian_array(self, values: Vector, sigma: float) -> Vector:
        check_scale(sigma)
        return values.copy()

    def noisy_max(self, scores: Vector, scale: float, perturbation: Perturbation) -> int:
        check_scale(scale)
        return int(np.argmax(scores))


def width_of(noise: NoiseSource, planned: float) -> float:
    """The actual scale or standard deviation of noise whose planned value is `planned`.

    The result is almost 0 for `NoNoise`. Use this number in computations with a noisy number, never
    to draw the noise itself.
    """
    return planned * _NOTHING if isinstance(noise, NoNoise) else planned
