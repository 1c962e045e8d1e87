"""The Gaussian mechanism, calibrated exactly (Balle & Wang 2018, Theorem 8).

A mechanism whose noise is Gaussian with μ = sensitivity/σ is (ε, δ(ε))-DP with
δ(ε) = Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ).  T such mechanisms with μ each, chosen adaptively, are
together one with √T μ (Dong, Roth & Su 2022, Corollary 2).
"""

from __future__ import annotations

import math

from scipy.optimize import brentq
from scipy.special import log_ndtr

from privcore.errors import ParameterError
from privcore.rounding import shrunk_until


def gaussian_delta(epsilon: float, mu: float) -> float:
    """δ(ε) of Gaussian noise with μ = sensitivity/σ."""
    if mu == 0:
        return 0.0
    first = float(log_ndtr(mu / 2 - epsilon / mu))
    second = epsilon + float(log_ndtr(-mu / 2 - epsilon / mu))
    # Φ(a) − e^ε Φ(b) from logarithms, so that e^ε never overflows.
    return math.exp(first) * -math.expm1(min(second - first, 0.0))


def gaussian_mu(epsilon: float, delta: float) -> float:
    """The largest μ (up to rounding, from below) with δ(ε) at most `delta`.

    Raises ParameterError if δ = 0: Gaussian noise is never pure DP.
    """
    if not delta > 0:
        raise ParameterError(
            "Gaussian noise needs a failure probability above 0; raise delta, or choose Laplace "
            "noise."
        )
    low, high = 1e-12, 1.0
    while gaussian_delta(epsilon, high) < delta:
        high *= 2
    mu = float(brentq(lambda m: gaussian_delta(epsilon, m) - delta, low, high, xtol=1e-15))
    return shrunk_until(lambda m: gaussian_delta(epsilon, m) <= delta, mu)


def gaussian_epsilon(mu: float, delta: float) -> float:
    """The ε at `delta` of Gaussian noise with μ = sensitivity/σ."""
    if gaussian_delta(0.0, mu) <= delta:
        return 0.0
    high = 1.0
    while gaussian_delta(high, mu) > delta:
        high *= 2
    return float(brentq(lambda e: gaussian_delta(e, mu) - delta, 0.0, high, xtol=1e-12))


def analytic_sigma(sensitivity: float, epsilon: float, delta: float) -> float:
    """The smallest σ that makes one release of that L2 sensitivity (ε, δ)-DP."""
    return sensitivity / gaussian_mu(epsilon, delta)
