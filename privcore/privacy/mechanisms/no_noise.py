"""No noise at all, to see what noise costs: nothing made with it is private.

A run with `NoNoise` is the run as ε grows without bound, with the plan of the ε that was set.
The same: settings, the split of the budget, rounds, how many tests are paid for, intervals and
lengths of rows, sizes of tables.  What the budget does not pay for, such as an order that CURATE
leaves out, stays undone.  Which sets of columns are counted is chosen by the same rule from what
was released, and so may differ.
Not the same: nothing is added to any number, and the largest score is chosen; tests, posteriors and
thresholds that allow for noise allow for none (`width_of`); all rows are there, where their
number would be noisy.
What is drawn besides, which is no noise (sub-samples, blocks of rows, the coin of CURATE), is drawn
from one seed, so that no run depends on another.
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
from privcore.privacy.mechanisms.refining import check_refining

# Formulas for noise divide by its width; so it is not 0, but next to nothing beside the sampling
# error even where the planned noise drowns all.
_NOTHING = 1e-9


class NoNoise(SimulatedNoise):
    """Hands every number back as it is; `discover` promises nothing of a run with it."""

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

    def refined_laplace_array(
        self, values: Counts, known: Counts, before: float, scale: float
    ) -> Counts:
        check_refining(before, scale)
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
    """The scale or standard deviation of the noise that is there, where `planned` was to be.

    Next to 0 of `NoNoise`.  For what is made of a noisy number, never for the noise itself.
    """
    return planned * _NOTHING if isinstance(noise, NoNoise) else planned
