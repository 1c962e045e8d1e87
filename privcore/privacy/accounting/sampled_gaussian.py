"""Accounting of Gaussian tests on sub-samples, each drawn anew without replacement.

T tests with σ = c·sensitivity are together one Gaussian mechanism, whose ε at δ is computed
exactly. This ε also holds for tests on sub-samples, but the Rényi bound for sampling without
replacement (Wang, Balle & Kasiviswanathan 2019, Theorem 9, as computed by dp-accounting) is often
smaller. The smaller of the two bounds is used. Proof: docs/proofs/subsampled_gaussian.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import inf, sqrt

from privcore.privacy.mechanisms.gaussian import check_at_least_0, gaussian_epsilon, planned_mu
from privcore.rounding import up

# A few orders, not too large, since time grows with the order; any choice gives a valid bound.
_ORDERS = (*range(2, 13), 14, 16, 20, 24, 32, 48, 64, 128)
# More than the rounding of the library's sums, none of which cancel.
_ROUNDING = 1 + 1e-9
# Beyond it the library takes the logarithm of a number that rounds to 0.
_LARGEST_MULTIPLIER = 1e6


@dataclass(frozen=True)
class SampledGaussian:
    """Accounting for Gaussian tests on sub-samples of `rows` out of n rows."""

    n: int
    rows: int

    @property
    def accountant(self) -> str:
        exact = "exact Gaussian composition"
        if self.rows == self.n:
            return exact
        return (
            f"{exact} or Rényi accounting for sampling without replacement, whichever gives the "
            "smaller ε"
        )

    def epsilon(self, multiplier: float, delta: float, tests: int) -> float:
        """The ε at δ of `tests` tests whose σ is `multiplier` times the sensitivity.

        Returns 0 if there are no tests, otherwise ∞ if `multiplier` is 0. Raises ParameterError for
        a negative multiplier or a δ outside [0, 1].
        """
        check_at_least_0("multiplier", multiplier)
        if tests == 0:
            return 0.0
        exact = gaussian_epsilon(up(sqrt(tests) / multiplier) if multiplier else inf, delta)
        if self.rows == self.n or exact in (0.0, inf) or delta == 0:
            return exact
        return min(exact, _renyi_epsilon(self.n, self.rows, multiplier, delta, tests))

    def multiplier(self, epsilon: float, delta: float, tests: int) -> float:
        """The smallest multiplier, rounded up slightly, at which `tests` tests are (ε, δ)-DP."""
        exact = up(sqrt(tests) / planned_mu(epsilon, delta))
        if self.rows == self.n or exact == 0:
            return exact
        return _search_multiplier(self.n, self.rows, epsilon, delta, tests, exact)


@lru_cache(maxsize=256)
def _search_multiplier(
    n: int, rows: int, epsilon: float, delta: float, tests: int, exact: float
) -> float:
    high = low = exact
    while _renyi_epsilon(n, rows, low, delta, tests) <= epsilon:
        high, low = low, low / 1.5
    while high / low > 1.002:
        middle = sqrt(low * high)
        if _renyi_epsilon(n, rows, middle, delta, tests) <= epsilon:
            high = middle
        else:
            low = middle
    return high


@lru_cache(maxsize=1024)
def _renyi_epsilon(n: int, rows: int, multiplier: float, delta: float, tests: int) -> float:
    # Imported here: the library takes most of a second, and only sub-sampling needs it.
    from dp_accounting import dp_event, privacy_accountant, rdp

    if multiplier > _LARGEST_MULTIPLIER:
        return inf
    accountant = rdp.RdpAccountant(
        orders=_ORDERS,
        neighboring_relation=privacy_accountant.NeighboringRelation.REPLACE_ONE,
    )
    event = dp_event.SampledWithoutReplacementDpEvent(n, rows, dp_event.GaussianDpEvent(multiplier))
    accountant.compose(event, tests)
    return float(accountant.get_epsilon(delta)) * _ROUNDING
