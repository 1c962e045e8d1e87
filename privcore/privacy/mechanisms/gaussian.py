"""The Gaussian mechanism, calibrated exactly (Balle & Wang 2018, Theorem 8).

A mechanism whose noise is Gaussian with μ = sensitivity/σ is (ε, δ(ε))-DP with δ(ε) = Φ(μ/2 − ε/μ)
− e^ε Φ(−μ/2 − ε/μ). T such mechanisms with μ each, chosen adaptively, are together one mechanism
with √T μ (Dong, Roth & Su 2022, Corollary 2).

δ(ε) is computed with enough digits and rounded up, so that the guarantee holds in exact arithmetic.
For arguments 0, 1 and ∞ the results agree with dp-accounting.
"""

from __future__ import annotations

import math
from functools import lru_cache

from scipy.special import log_ndtr

from privcore.errors import ParameterError
from privcore.rounding import down, largest, up

# |μ/2 − ε/μ| beyond which Φ of it is 0 or 1 as a double.
_FAR = 40


# Runs that differ only in their noise need the same values, here and below.
@lru_cache(maxsize=4096)
def gaussian_delta(epsilon: float, mu: float) -> float:
    """δ(ε) of Gaussian noise with μ = sensitivity/σ, rounded up to the next floating-point number.

    Raises ParameterError if an argument is negative or NaN.
    """
    check_at_least_0("epsilon", epsilon)
    check_at_least_0("mu", mu)
    if mu == 0 or epsilon == math.inf:
        return 0.0
    if mu == math.inf:
        return 1.0
    # Imported here: only few pages and commands need it.
    from mpmath import mp

    # The two terms agree in about μ² of their digits where μ is small.
    bits = 2 * abs(math.frexp(mu)[1]) + 2 * abs(math.frexp(epsilon)[1])
    with mp.workprec(160 + bits):
        m, e = mp.mpf(mu), mp.mpf(epsilon)
        reach = m / 2 - e / m
        if reach < -_FAR:
            return math.ulp(0.0)
        if reach > _FAR:
            return 1.0
        root = mp.sqrt(2)
        if e == 0:
            exact = mp.erf(m / (2 * root))
        else:
            exact = (mp.erfc(-reach / root) - mp.exp(e) * mp.erfc((m / 2 + e / m) / root)) / 2
        nearest = float(exact)
        # The remaining digits have a precision of 2⁻¹⁰⁰; a value closer than that to a double may
        # be the double.
        above = exact * (1 + mp.mpf(2) ** -100) > nearest
        return min(math.nextafter(nearest, math.inf) if above else nearest, 1.0)


@lru_cache(maxsize=4096)
def gaussian_mu(epsilon: float, delta: float) -> float:
    """The largest μ for which δ(ε) of Gaussian noise is at most `delta`.

    Returns ∞ if `delta` is 1 or ε is ∞, and otherwise 0 if `delta` is 0. Raises ParameterError for
    a negative ε, a `delta` outside [0, 1], and NaN.
    """
    check_at_least_0("epsilon", epsilon)
    check_delta(delta)
    if delta == 1 or epsilon == math.inf:
        return math.inf
    if delta == 0:
        return 0.0
    guess = largest(lambda mu: _nearly_delta(epsilon, mu) <= delta, 1.0)
    return largest(lambda mu: gaussian_delta(epsilon, mu) <= delta, guess)


@lru_cache(maxsize=4096)
def gaussian_epsilon(mu: float, delta: float) -> float:
    """The smallest ε for which δ(ε) of Gaussian noise with μ = sensitivity/σ is at most `delta`.

    Returns 0 if `delta` is 1 or μ is 0, and otherwise ∞ if μ is ∞ or `delta` is 0. Raises
    ParameterError for a negative μ, a `delta` outside [0, 1], and NaN.
    """
    check_at_least_0("mu", mu)
    check_delta(delta)
    if delta == 1 or mu == 0:
        return 0.0
    if mu == math.inf or delta == 0:
        return math.inf
    if gaussian_delta(0.0, mu) <= delta:
        return 0.0
    guess = largest(lambda epsilon: _nearly_delta(epsilon, mu) > delta, 1.0)
    return math.nextafter(
        largest(lambda epsilon: gaussian_delta(epsilon, mu) > delta, guess), math.inf
    )


def analytic_sigma(sensitivity: float, epsilon: float, delta: float) -> float:
    """The smallest σ, rounded up slightly, for which a release of this L2 sensitivity is (ε, δ)-DP.

    Returns 0 if the sensitivity is 0, δ is 1 or ε is ∞, and otherwise ∞ if δ is 0. Raises
    ParameterError for a negative or infinite sensitivity, a negative ε, a δ outside [0, 1], and
    NaN.
    """
    if not 0 <= sensitivity < math.inf:
        raise ParameterError("sensitivity-out-of-range", sensitivity=sensitivity)
    mu = gaussian_mu(epsilon, delta)
    if sensitivity == 0:
        return 0.0
    return up(sensitivity / mu) if mu > 0 else math.inf


def planned_mu(epsilon: float, delta: float) -> float:
    """The μ that a plan may divide among its releases, slightly below `gaussian_mu`.

    Raises ParameterError if δ = 0, since Gaussian noise never gives pure DP.
    """
    if delta == 0:
        raise ParameterError("gaussian-noise-needs-delta")
    return down(gaussian_mu(epsilon, delta))


def planned_sigma(sensitivity: float, mu: float) -> float:
    """The σ, rounded up slightly, of a release with this L2 sensitivity at a planned μ."""
    return up(sensitivity / mu)


def check_at_least_0(name: str, value: float) -> None:
    """Raises ParameterError if the value is negative or NaN; ∞ is allowed."""
    if not value >= 0:
        raise ParameterError("argument-below-0", name=name, value=value)


def check_delta(delta: float) -> None:
    """Raises ParameterError for a δ that is outside [0, 1] or NaN."""
    if not 0 <= delta <= 1:
        raise ParameterError("delta-above-1", delta=delta)


def _nearly_delta(epsilon: float, mu: float) -> float:
    """A fast approximation of δ(ε), used as the starting point of a search."""
    first = float(log_ndtr(mu / 2 - epsilon / mu))
    second = epsilon + float(log_ndtr(-mu / 2 - epsilon / mu))
    if not math.isfinite(second) or not math.isfinite(first):
        return 1.0 if mu * mu > 2 * epsilon else 0.0
    return math.exp(first) * -math.expm1(min(second - first, 0.0))
