"""A step size chosen by the loss itself, of which one record can change only so much.

Between weights W and V, the loss of record x changes by ½|x − Vᵀx|² − ½|x − Wᵀx|².  Divided by
|V − W| it is a slope, of about the size of the record's gradient; so each record's slope is cut to
±C before the mean over n rows is taken.  For k trial steps from the same W, replacing one record
moves the k means by at most 2C/n each, and by 2C√k/n in L2 (docs/proofs/clipped_gradients.md).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from privcore.algorithms.gradients.augmented_lagrangian import Penalty
from privcore.algorithms.gradients.clipped_gradients import residuals_of, scaled_blocks
from privcore.arrays import Matrix, Vector
from privcore.fixed_point import of_means, on_grid, step_of, sum_of_columns

# Public step sizes; without looking at the data none of them is known to be best.
TRIAL_STEPS = (0.025, 0.1, 0.4)


def clipped_slopes(
    rows: Matrix,
    multiplicities: Vector,
    weights: Matrix,
    trials: Sequence[Matrix],
    clip: float,
    widths: Vector | float = 1.0,
    centre: Vector | float = 0.0,
) -> Vector:
    """Mean over the rows of their clipped slopes towards each of the trials, shape (k,).

    A trial that is where the weights are has slope 0.  Other arguments are as in `clipped_mean`.
    """
    total, n = np.zeros(len(trials)), float(multiplicities.sum())
    step = step_of(int(n), factors=1)
    lengths = [float(np.linalg.norm(trial - weights)) for trial in trials]
    for x, times in scaled_blocks(rows, multiplicities, widths, centre):
        before = _losses(x, weights)
        for k, (trial, length) in enumerate(zip(trials, lengths, strict=True)):
            if length > 0:
                slopes = (_losses(x, trial) - before) / length
                # On the grid, so that the sum is exact; 1 is on it.
                total[k] += float(on_grid(np.clip(slopes / clip, -1, 1), step) @ times)
    return np.asarray(clip * total / n)


def _losses(x: Matrix, weights: Matrix) -> Vector:
    """½|x − Wᵀx|² of each row, shape (rows,)."""
    residual = residuals_of(x, weights)
    return np.asarray(0.5 * sum_of_columns(residual * residual))


def slopes_sensitivity(clip: float, trials: int, n: int) -> float:
    """Largest L2 change of `clipped_slopes` when one of n rows is replaced."""
    return of_means(2 * clip * math.sqrt(trials) / n, n)


def best_trial(
    weights: Matrix, trials: Sequence[Matrix], slopes: Vector, penalty: Penalty
) -> Matrix:
    """The trial with the least loss and penalty by (noisy) slopes; `weights`, if none has less."""
    here = penalty.of(weights)
    changes = [
        float(slope * np.linalg.norm(trial - weights)) + penalty.of(trial) - here
        for trial, slope in zip(trials, slopes, strict=True)
    ]
    best = int(np.argmin(changes))
    return trials[best] if changes[best] < 0 else weights
