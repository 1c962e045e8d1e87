"""How a total (ε, δ) is split over the two releases of numbers, from public facts alone."""

from __future__ import annotations

import math
from dataclasses import dataclass

from privcore.privacy.mechanisms.column_release import columns_sensitivity
from privcore.privacy.mechanisms.gaussian import planned_mu, planned_sigma
from privcore.privacy.mechanisms.moment_release import weighted_sensitivity
from privcore.rounding import down

# Of μ², for the middle and spread of the columns.
_SCALES_SHARE = 0.1
# Lengths of rows, in standard deviations, each with the noise on a correlation up to which it is
# worth it: shortening rows bends their moments a little.  docs/experiments/numbers.md.
_RADII = ((3.0, 0.0005), (2.0, 0.002), (1.5, 0.006), (1.25, 0.012))
_SHORTEST = 1.0


@dataclass(frozen=True)
class NumbersPlan:
    """mu_scales, mu_moments: Gaussian-DP parameters of the two releases, whose noise on every mean
    is scales_sigma and moments_sigma.

    radius: how long rows may be, in standard deviations of their columns, over √p.
    """

    n: int
    columns: int
    mu_scales: float
    mu_moments: float
    radius: float

    @property
    def scales_sigma(self) -> float:
        """A mean and a mean square of a number in [−1, 1] move together by 2/n at most."""
        return planned_sigma(columns_sensitivity(self.columns, self.n), self.mu_scales)

    @property
    def moments_sigma(self) -> float:
        """Rows in the unit ball."""
        return planned_sigma(weighted_sensitivity(1.0, self.n), self.mu_moments)

    @property
    def correlation_noise(self) -> float:
        """Standard deviation of the noise on a correlation, where the units fit."""
        return self.moments_sigma * self.radius**2 * self.columns


def plan_numbers(
    n: int, columns: int, epsilon: float, delta: float, *, radius: float | None
) -> NumbersPlan:
    """radius: None for one that fits the noise."""
    mu = planned_mu(epsilon, delta)
    first = down(mu * math.sqrt(_SCALES_SHARE))
    second = down(mu * math.sqrt(1 - _SCALES_SHARE))

    def planned(tried: float) -> NumbersPlan:
        return NumbersPlan(n, columns, first, second, tried)

    if radius is not None:
        return planned(radius)
    for tried, most in _RADII:
        if planned(tried).correlation_noise <= most:
            return planned(tried)
    return planned(_SHORTEST)
