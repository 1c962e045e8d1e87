"""The Gaussian kernel on an interval as an inner product of a few explicit features.

With these features, a kernel regression or HSIC takes time m·D² instead of m² or more (m values, D
features) and agrees with the dense computation up to rounding. The choice of the features does not
depend on the data.

exp(−d²/(2h²)), repeated with a period P > 2·reach, has a Fourier series with positive coefficients
c_k = (h√(2π)/P) exp(−h²ω²k²/2), ω = 2π/P.  cos ω(a − b)k = cos ωka cos ωkb + sin ωka sin ωkb turns
each term into two features.  For |d| ≤ 2·reach the error has two parts, and each is at most half
the tolerance:
- the repetitions: with g = P − 2·reach they add at most 2Σ_{j≥1} q^j = 2q/(1 − q), where
  q = exp(−g²/(2h²)), since the j-th repetition on either side is at least j·g away;
- the frequencies k > K left out: 2Σ_{k>K} c_k ≤ 2Φ(−hωK), by comparison with the integral.
The Taylor features e^{−a²/(2h²)} (a/h)^j/√j! would need P(Poisson(reach²/h²) ≥ D) ≤ tolerance, so
that D grows with (reach/h)². Here D grows with reach/h, and no feature exceeds √(1 + tolerance).
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import ndtri

from privcore.arrays import Matrix, Vector
from privcore.errors import ParameterError

# The least width of a kernel, as a share of the reach: 249 features at the default tolerance.
LEAST_WIDTH = 0.02


def feature_count(width: float, reach: float, tolerance: float = 1e-12) -> int:
    """Return D = 2K + 1, the number of features that `gaussian_features` computes.

    The error of the kernel is proven to be at most `tolerance`; rounding adds less than 1e-13.
    Raises ParameterError unless LEAST_WIDTH·reach ≤ width < ∞, reach > 0 and 0 < tolerance < 1.
    """
    return 2 * _series(width, reach, tolerance)[1] + 1


def gaussian_features(
    values: Vector, width: float, reach: float, tolerance: float = 1e-12
) -> Matrix:
    """Features φ, shape (m, D), with |φ(a)·φ(b) − exp(−(a − b)²/(2·width²))| ≤ `tolerance`.

    values: shape (m,); values outside [−reach, reach] are moved to the nearer bound.
    width, reach: public numbers, in the unit of the values.
    Raises ParameterError as `feature_count` does.
    """
    period, last = _series(width, reach, tolerance)
    frequency = 2 * math.pi / period
    steps = np.arange(last + 1)
    weights = np.exp(-0.5 * (width * frequency * steps) ** 2)
    weights *= width * math.sqrt(2 * math.pi) / period
    weights[1:] *= 2
    # Powers of e^{iωa} by doubling: as exact as separate cosines, at a fraction of the time.
    powers = np.ones((last + 1, values.size), dtype=np.complex128)
    powers[1] = np.exp(1j * frequency * np.clip(values, -reach, reach))
    known = 1
    while known < last:
        more = min(known, last - known)
        np.multiply(powers[1 : more + 1], powers[known], out=powers[known + 1 : known + more + 1])
        known += more
    roots = np.sqrt(weights)[:, None]
    return np.concatenate((powers.real * roots, powers.imag[1:] * roots[1:])).T


def _series(width: float, reach: float, tolerance: float) -> tuple[float, int]:
    """The period P and the last frequency K ≥ 1 of the series."""
    if not (0 < reach < math.inf and LEAST_WIDTH * reach <= width < math.inf):
        raise ParameterError(
            "kernel-width", width=width, reach=reach, least_width=LEAST_WIDTH * reach
        )
    if not 0 < tolerance < 1:
        raise ParameterError("tolerance-out-of-range", tolerance=tolerance)
    # 2q/(1 − q) = tolerance/2 at q = tolerance/(4 + tolerance).
    period = 2 * reach + width * math.sqrt(2 * math.log1p(4 / tolerance))
    last = math.ceil(-float(ndtri(tolerance / 4)) * period / (2 * math.pi * width))
    return period, last
