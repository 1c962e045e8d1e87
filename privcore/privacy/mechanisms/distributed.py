"""The distributed discrete Gaussian mechanism: each site adds a part of the noise to whole numbers.

Sites add discrete Gaussian noise of parameter σ to tables of counts, and only the sum over the
sites is seen.  A sum of discrete Gaussians is not a discrete Gaussian, but close to one.  With the
noise of m sites that keep theirs secret, and

    τ = 10 Σ_{k=1}^{m−1} exp(−2π²σ² k/(k+1))

the sum is ρ-zCDP for tables that change by Δ in Euclidean length, in d cells at most, with

    ρ = min{ Δ²/(2mσ²) + τd,  ½ (Δ/(√m σ) + τ√d)² }

(Kairouz, Liu & Steinke 2021, "The Distributed Discrete Gaussian Mechanism for Federated Learning
with Secure Aggregation", ICML: Theorem 1 and Proposition 14, for σ ≥ ½).  The first term is their
bound α Δ²/(2mσ²) + τd on Rényi divergences of every order α, which is at most ρα for all α > 1.
Where the theorem is quoted with ½τd under the root of ε, ρ = ½ε² has ¼τd instead: of the two, the
one that promises less is used.  docs/experiments/sites.md has a short proof of it.

d counts the cells that change and not all cells: the noise is independent between cells, and a
cell that is the same in both tables has a divergence of 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from privcore.errors import ParameterError
from privcore.privacy.mechanisms.noise import MOST_BITS
from privcore.rounding import down, largest, up

# The theorem is for noise that is at least so wide at each site.
LEAST_SIGMA = 0.5
# The chance that noise takes any cell of a sum out of the modulus, at most.
OVERFLOW = 2.0**-40
MOST_SITES = 10_000


def noise_distance(sigma: float, sites: int) -> float:
    """τ: how far the sum of the noise of so many sites is from a discrete Gaussian; rounded up.

    sigma: of each site, at least ½.  Raises ParameterError for less, and for no site.

    >>> noise_distance(1.0, 1)
    0.0
    >>> round(noise_distance(1.0, 2), 6)
    0.000517
    """
    _check_sigma(sigma)
    _check_sites(sites)
    terms = (math.exp(-2 * (math.pi * sigma) ** 2 * k / (k + 1)) for k in range(1, sites))
    return up(10 * math.fsum(terms))


def sum_rho(sigma: float, sites: int, sensitivity: float, cells: int) -> float:
    """ρ of the sum of tables with the noise of so many sites, zCDP; rounded up.

    sites: those whose noise is in the sum and secret, and not those that drop out or collude.
    sensitivity: Euclidean, of the tables together; cells: that change, at most.
    Raises ParameterError for σ below ½, no site, a sensitivity that is negative or not finite, and
    no cell.

    >>> round(sum_rho(2.0, 4, math.sqrt(2), 2), 6)
    0.0625
    """
    tau = noise_distance(sigma, sites)
    if not 0 <= sensitivity < math.inf:
        raise ParameterError(
            f"The sensitivity is {sensitivity}; it must be a finite number, at least 0."
        )
    if cells < 1:
        raise ParameterError(f"{cells} cells change; there must be at least 1.")
    length = sensitivity / (math.sqrt(sites) * sigma)
    return up(min(length * length / 2 + tau * cells, (length + tau * math.sqrt(cells)) ** 2 / 2))


def site_sigma(rho: float, sites: int, sensitivity: float, cells: int) -> float:
    """The least σ of each site, from ½ on, with which the sum has `sum_rho` of at most ρ.

    Raises ParameterError for ρ that is not positive and finite, and as `sum_rho`.

    >>> round(site_sigma(0.0625, 4, math.sqrt(2), 2), 6)
    2.0
    """
    if not 0 < rho < math.inf:
        raise ParameterError(f"rho is {rho}; it must be a positive, finite number.")
    if sum_rho(LEAST_SIGMA, sites, sensitivity, cells) <= rho:
        return LEAST_SIGMA

    # ρ falls where σ grows.
    def too_little(sigma: float) -> bool:
        return sigma < LEAST_SIGMA or sum_rho(sigma, sites, sensitivity, cells) > rho

    guess = max(sensitivity / math.sqrt(2 * rho * sites), LEAST_SIGMA)
    return math.nextafter(largest(too_little, guess), math.inf)


def counts_sensitivity(tables: int, rows: int = 1) -> tuple[float, int]:
    """Euclidean change of so many tables of counts when `rows` rows are replaced; cells it is in.

    A replaced row leaves one cell of each table and enters another: √2 for each table's part.  Rows
    that all move alike add up, so that k of them change it by k√2.  Rounded up.

    >>> counts_sensitivity(1)[1], counts_sensitivity(3, 5)[1]
    (2, 30)
    """
    if tables < 1 or rows < 1:
        raise ParameterError(
            f"{tables} tables with {rows} rows replaced; there must be at least 1 of each."
        )
    return up(rows * math.sqrt(2 * tables)), 2 * rows * tables


@dataclass(frozen=True)
class SumPlan:
    """One secure sum, from public facts alone.

    n: rows of all sites together.  sites: that take part.  adding: of these, how many are counted
    on for noise that stays secret; the others may drop out, or show theirs.
    tables, cells: how many tables are summed, and cells of all of them.
    rows: of one person, replaced together.  rho: zCDP that the sum promises.

    Raises ParameterError unless 1 ≤ adding ≤ sites, and where a sum does not fit into 62 bits.

    >>> plan = SumPlan(n=20_000, sites=2, adding=2, tables=1, cells=256, rho=0.01)
    >>> round(plan.sigma, 3), round(plan.variance(2), 2), plan.bits
    (7.071, 100.0, 15)
    """

    n: int
    sites: int
    adding: int
    tables: int
    cells: int
    rho: float
    rows: int = 1

    def __post_init__(self) -> None:
        _check_sites(self.sites)
        if not 1 <= self.adding <= self.sites:
            raise ParameterError(
                f"{self.adding} of {self.sites} sites are counted on for noise; it must be at "
                "least 1, and no more than there are."
            )
        if self.cells < 1 or self.n < 1:
            raise ParameterError(
                f"{self.n} rows in {self.cells} cells; there must be at least 1 of each."
            )
        if self.bits > MOST_BITS:
            raise ParameterError(
                f"A sum over {self.n:,} rows with this noise needs {self.bits} bits, more than "
                f"{MOST_BITS}; raise rho."
            )

    @property
    def sensitivity(self) -> tuple[float, int]:
        """Euclidean, and in how many cells; no more change than there are."""
        length, changed = counts_sensitivity(self.tables, self.rows)
        return length, min(changed, self.cells)

    @property
    def sigma(self) -> float:
        """Parameter σ of the noise that each site adds."""
        return site_sigma(self.rho, self.adding, *self.sensitivity)

    def variance(self, sites: int) -> float:
        """Variance of the noise on a cell of the sum over so many sites, at most.

        A discrete Gaussian of parameter σ has a variance of σ² at most (Canonne, Kamath & Steinke
        2020, Corollary 9).
        """
        return sites * self.sigma**2

    def rho_left(self, adding: int) -> float:
        """ρ of the sum where so many sites added noise that is secret; ∞ where none did.

        With d of s sites gone it is s/(s − d) of the planned one, but for τ.
        """
        if adding < 1:
            return math.inf
        return sum_rho(self.sigma, adding, *self.sensitivity)

    @property
    def reach(self) -> int:
        """No cell's noise is further from 0, but with a chance of 2⁻⁴⁰ for all cells together.

        Discrete Gaussians are subgaussian with σ², so that the sum is with sσ².
        """
        tail = 2 * self.sites * math.log(2 * self.cells / OVERFLOW)
        return math.ceil(up(self.sigma * math.sqrt(tail)))

    @property
    def bits(self) -> int:
        """b of the modulus 2^b: sums are −reach … n + reach.

        What leaves it is read as another count, which costs accuracy and no privacy.
        """
        return (self.n + 2 * self.reach).bit_length()


def central_sigma(rho: float, sensitivity: float) -> float:
    """σ, a hair up, of the discrete Gaussian noise that one holder of all rows adds: ρ-zCDP.

    Canonne, Kamath & Steinke 2020, Theorem 4, for each cell.

    >>> round(central_sigma(0.01, math.sqrt(2)), 6)
    10.0
    """
    if not 0 < rho < math.inf:
        raise ParameterError(f"rho is {rho}; it must be a positive, finite number.")
    return up(sensitivity / math.sqrt(2 * down(rho)))


def _check_sigma(sigma: float) -> None:
    if not LEAST_SIGMA <= sigma < math.inf:
        raise ParameterError(
            f"The noise of a site has parameter {sigma}; it must be finite and at least "
            f"{LEAST_SIGMA}."
        )


def _check_sites(sites: int) -> None:
    if not 1 <= sites <= MOST_SITES:
        raise ParameterError(f"There are {sites} sites; there must be 1 to {MOST_SITES:,}.")
