"""The log interquartile range from two private quartiles: the IQR score with a proven guarantee.

This score is ε-DP for any values. It needs no δ, and no test after which a release may be refused.
Proof: docs/proofs/dp_quantile.md.
"""

from __future__ import annotations

import numpy as np

from privcore.arrays import Vector
from privcore.extras.pairs.scores import floored_log
from privcore.privacy.mechanisms.noise import NoiseSource
from privcore.privacy.mechanisms.selection import chosen_quantile, quantile_utilities


def quartile_grid(reach: float) -> Vector:
    """2001 evenly spaced public candidates for a quartile of values in [−reach, reach]."""
    return np.linspace(-reach, reach, 2001)


def quantile_log_iqr(values: Vector, grid: Vector, epsilon: float, noise: NoiseSource) -> float:
    """Return log(upper − lower) for two private quartiles, at least log LEAST_IQR.

    Each quartile uses ε/2, so the result is ε-DP. values: shape (m,); grid: public candidates,
    increasing. Raises ParameterError as `quantile_utilities` and `chosen_quantile` do.
    """
    return chosen_log_iqr(quartile_utilities(values, grid), grid, epsilon, noise)


def quartile_utilities(values: Vector, grid: Vector) -> tuple[Vector, Vector]:
    """Utilities of the grid values as lower quartile and as upper quartile (see `quantile`)."""
    return quantile_utilities(values, 0.25, grid), quantile_utilities(values, 0.75, grid)


def chosen_log_iqr(
    utilities: tuple[Vector, Vector], grid: Vector, epsilon: float, noise: NoiseSource
) -> float:
    """Return `quantile_log_iqr` from precomputed utilities, for many runs on the same data."""
    lower, upper = (chosen_quantile(each, grid, epsilon / 2, noise) for each in utilities)
    return floored_log(upper - lower)
