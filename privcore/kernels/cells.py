"""Compiled likelihoods of noisy cell counts; see `kernels` and `moment_search.full_table`.

Terms below the rounding error are left out if this saves most of the work.
"""

from __future__ import annotations

from math import erfc, exp, log, log1p, pi, sqrt

from numba import float64, types

from privcore.arrays import Vector
from privcore.kernels.arguments import Noisy
from privcore.kernels.jit import compiled

_ROOT_2 = sqrt(2.0)
_LOG_ROOT_2_PI = 0.5 * log(2.0 * pi)
# At this many standard deviations from the noisy count, a true count is practically at its
# expectation: the tail of the normal distribution is below exp(−12²/2).
_FAR = 12.0
# Relative remainder at which a sum of decreasing terms is truncated.
_LOST = 1e-18

NOISY = types.NamedTuple(
    (float64[::1], float64[:, ::1], float64[::1], float64, float64, float64), Noisy
)


@compiled("float64(float64)")
def log_ndtr(x: float) -> float:
    """The logarithm of the standard normal distribution function, log Φ(x)."""
    if x > 9.0:
        return 0.0  # within 2e-19
    if x > 0.0:
        return log1p(-0.5 * erfc(x / _ROOT_2))
    if x > -20.0:
        return log(0.5 * erfc(-x / _ROOT_2))
    # Of Mills' ratio, 1 − 1/x² + 3/x⁴ − 15/x⁶ + …
    y = 1.0 / (x * x)
    series = y * (y * (y * (y * (y * -945.0 + 105.0) - 15.0) + 3.0) - 1.0)
    return -0.5 * x * x - _LOG_ROOT_2_PI - log(-x) + log1p(series)


@compiled("UniTuple(float64, 2)(float64, float64, float64)")
def normal_cell(count: float, m: float, scale: float) -> tuple[float, float]:
    """Log-likelihood of a normal count with Laplace noise, without −log 2b, and the slope in m.

    The count has mean and variance m, and the noise has scale b.  With d the noisy count minus m,
    the density is (A + B)/2b with A = exp(m/2b² − d/b) Φ(d/√m − √m/b), and B the same for −d.  The
    derivative of A + B in d is (B − A)/b.  The second derivative is (A + B − 2b N)/b², with N the
    normal density at d, and half of it is the derivative in the variance.
    """
    spread = sqrt(m)
    apart = (count - m) / scale
    steep = spread / scale
    ahead = apart / steep
    middle = 0.5 * steep * steep
    if abs(ahead) - steep > _FAR:
        side = 1.0 if ahead > 0.0 else -1.0
        return middle - abs(apart), side / scale + 0.5 / (scale * scale)
    above = middle - apart + log_ndtr(ahead - steep)
    below = middle + apart + log_ndtr(-ahead - steep)
    less = exp(-abs(above - below))
    both = max(above, below) + log1p(less)
    normal = exp(-0.5 * ahead * ahead - _LOG_ROOT_2_PI - both) * 2.0 / steep
    shift = (1.0 - less) / (1.0 + less)
    if above < below:
        shift = -shift
    return both, shift / scale + 0.5 * (1.0 - normal) / (scale * scale)


@compiled("UniTuple(float64, 2)(float64[::1], float64)")
def summed_cell(noise: Vector, m: float) -> tuple[float, float]:
    """Likelihoods of a noisy Poisson count of mean m as it is, and with 1 added to the true count.

    The derivative of the likelihood in m is the second result minus the first, since the derivative
    of the Poisson probability of x is the probability of x − 1 minus the probability of x.
    """
    chance = exp(-m)
    likely = before = 0.0
    for true in range(noise.size - 1):
        likely += chance * noise[true]
        before += chance * noise[true + 1]
        chance *= m / (true + 1)
        # The first term, exp(−m), is above this, so terms decrease by now; no noise is above 1.
        if chance < _LOST * min(likely, before):
            return likely, before
    return likely + chance * noise[-1], before


@compiled(float64(NOISY, float64[::1], float64[::1]))
def cells_likelihood(noisy: Noisy, expected: Vector, slopes: Vector) -> float:
    """Log-likelihood of all cells; writes the derivative in each expectation into `slopes`."""
    level = log(2.0 * noisy.scale)
    total = 0.0
    for cell in range(expected.size):
        m = expected[cell]
        if m < noisy.summed:
            likely, before = summed_cell(noisy.noise[cell], m)
            if likely > noisy.least:
                total += log(likely) + noisy.factor[cell]
                slopes[cell] = before / likely - 1.0
                continue
        both, slopes[cell] = normal_cell(noisy.counts[cell], m, noisy.scale)
        total += both - level
    return total
