"""The log interquartile range from two private quartiles: the sound IQR score.

ε-DP for any values: no test that may refuse, no δ.
Proof: docs/proofs/dp_quantile.md.
"""

from __future__ import annotations

import numpy as np

from privcore.arrays import Vector
from privcore.extras.pairs.scores import floored_log
from privcore.privacy.mechanisms.noise import NoiseSource
from privcore.privacy.mechanisms.quantile import chosen_quantile, quantile_utilities


def quartile_grid(reach: float) -> Vector:
    """The public candidates for a quartile of values in [−reach, reach]: 2001, evenly spaced."""
    return np.linspace(-reach, reach, 2001)


def quantile_log_iqr(values: Vector, grid: Vector, epsilon: float, noise: NoiseSource) -> float:
    """log of upper minus lower quartile, each at ε/2, at least log LEAST_IQR; ε-DP in total.

    values: shape (m,); grid: public, increasing. Raises ParameterError as `private_quantile`.
    """
    return chosen_log_iqr(quartile_utilities(values, grid), grid, epsilon, noise)


def quartile_utilities(values: Vector, grid: Vector) -> tuple[Vector, Vector]:
    """Utilities of the grid values as the lower and as the upper quartile; see `quantile`."""
    return quantile_utilities(values, 0.25, grid), quantile_utilities(values, 0.75, grid)


def chosen_log_iqr(
    utilities: tuple[Vector, Vector], grid: Vector, epsilon: float, noise: NoiseSource
) -> float:
    """`quantile_log_iqr` from precomputed `quartile_utilities`, for many runs on the same data."""
    lower, upper = (chosen_quantile(each, grid, epsilon / 2, noise) for each in utilities)
    return floored_log(upper - lower)
