"""Private choices: the best candidate, a quantile, a median, the values that occur.

Private selection by the exponential mechanism or permute-and-flip.

All utilities have sensitivity 1: replacing a record changes each candidate's utility by at most 1.
Proofs: docs/proofs/em_pc.md.

Quantiles selected privately from a public grid, by the number of values that must change.

Neighbouring data sets differ in one of m values. Proofs: docs/proofs/dp_quantile.md for quantiles,
and docs/proofs/bought_domain.md for cut points.

The median with noise scaled to its smooth sensitivity (Nissim, Raskhodnikova & Smith 2007).

Values are clipped to a public range, and one record changes one value. If S is the bound of
`smooth_bound`, median + (S/α)·Lap(1) is (ε, δ)-DP for α = ε/2 and a small enough β. Proof:
docs/proofs/smooth_median.md.

A stable histogram: counts of the values that occur get noise, and large noisy counts are shown.

Neighbouring data sets differ in one of n records. The release is δ-approximately ρ-zCDP. Proof:
docs/proofs/bought_domain.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
from scipy.special import log_ndtr, ndtri

from privcore.arrays import Vector
from privcore.errors import ParameterError
from privcore.privacy.mechanisms.noise import NoiseSource, Perturbation
from privcore.rounding import down, largest, round_up, up

Selection = Literal["exponential", "permute-and-flip"]

_NOISE: dict[Selection, Perturbation] = {
    "exponential": "gumbel",
    "permute-and-flip": "exponential",
}


def select(utilities: Vector, epsilon: float, noise: NoiseSource, kind: Selection) -> int:
    """Choose one candidate with ε-DP; returns its position.

    utilities: utility u of each candidate, with sensitivity 1, shape (k,).
    kind: "exponential" chooses a candidate with probability proportional to exp(εu/2) (McSherry &
        Talwar 2007), by adding Gumbel noise of scale 2/ε and taking the largest utility.
        "permute-and-flip" adds exponential noise of scale 2/ε instead (Ding et al. 2021); its
        expected utility is at least as high (McKenna & Sheldon 2020).
    """
    return noise.noisy_max(utilities, up(2 / epsilon), _NOISE[kind])


def rho_of_selection(epsilon: float, kind: Selection) -> float:
    """The ρ, rounded up, at which an ε-DP selection satisfies ρ-zCDP.

    The exponential mechanism has bounded range, which gives ε²/8 (Cesar & Rogers 2021, Lemma
    3.2). For permute-and-flip only the bound for pure DP is known, ε²/2 (Bun & Steinke 2016).
    """
    return round_up(Fraction(epsilon) ** 2 / (8 if kind == "exponential" else 2))


def peel(
    utilities: Vector, count: int, epsilon: float, noise: NoiseSource, kind: Selection
) -> list[int]:
    """Choose `count` different positions one by one at ε/count each, with ε-DP in total."""
    left = list(range(utilities.size))
    chosen = []
    for _ in range(count):
        position = select(utilities[left], down(epsilon / count), noise, kind)
        chosen.append(left.pop(position))
    return chosen


def count_utilities(utilities: Vector, limit: float) -> Vector:
    """Utility of selecting t = 0, 1, …, a of the a candidates, shape (a + 1,), sensitivity 1.

    The utility is q(t) = min(u_(t), −u_(t+1)), with the candidates' utilities in decreasing order:
    q(t) is large if the t largest utilities are above 0 and the next utility is below 0. u_(0) =
    limit and u_(a+1) = −limit; any constant keeps the sensitivity. After Xu, Yuan & Wu 2017,
    Equations 6–8, without the jumps of these equations at 0.
    """
    ordered = np.concatenate(([limit], np.sort(utilities)[::-1], [-limit]))
    return np.asarray(np.minimum(ordered[:-1], -ordered[1:]))


def chosen_quantile(utilities: Vector, grid: Vector, epsilon: float, noise: NoiseSource) -> float:
    """Select a grid value near the value with rank ⌈q·m⌉ among m values, under ε-DP.

    utilities: from `quantile_utilities`. With probability 1 − β, the rank of the result is off by
    at most (2/ε) ln(g/β), for g grid values. Raises ParameterError unless 0 < ε < ∞.
    """
    if not 0 < epsilon < math.inf:
        raise ParameterError("epsilon-of-quantile-out-of-range", epsilon=epsilon)
    return float(grid[select(utilities, epsilon, noise, "permute-and-flip")])


def quantile_utilities(values: Vector, q: float, grid: Vector) -> Vector:
    """Utility of each grid value as the quantile, shape (g,).

    The utility is minus the smallest number of values that must be replaced to make the grid value
    the quantile. One replaced value changes each utility by at most 1. Each value is first moved to
    the nearest grid value, since many equal values between two grid values would otherwise leave
    both with a low utility. values: shape (m,), m ≥ 1. grid: shape (g,), increasing. Raises
    ParameterError unless 0 < q ≤ 1 and the grid increases.
    """
    if not 0 < q <= 1:
        raise ParameterError("quantile-out-of-range", q=q)
    if grid.size == 0 or not (np.diff(grid) > 0).all():
        raise ParameterError("grid-quantile-contain-numbers-in-increasing")
    rank = max(math.ceil(q * values.size), 1)
    cells = np.searchsorted((grid[:-1] + grid[1:]) / 2, values)
    counts = np.bincount(cells, minlength=grid.size)
    at_most = np.cumsum(counts)
    below = at_most - counts
    missing = np.maximum(rank - at_most, below - (rank - 1))
    return np.asarray(-np.maximum(missing, 0), dtype=np.float64)


def cut_utilities(values: Vector, part: int, parts: int, grid: Vector) -> Vector:
    """Utility of each grid value as a cut with part/parts of `values` below it, shape (g,).

    The utility is −|parts · (number of values below) − part · m|, an integer with sensitivity
    `parts`. This sensitivity holds even if values may be missing, so that a replaced record can
    change m. Equal values are never on both sides of a cut, whereas a quantile can be one of many
    equal values. values: shape (m,), m ≥ 0. grid: shape (g,), increasing.
    """
    below = np.searchsorted(np.sort(values), grid, side="left").astype(np.int64)
    return -np.abs(parts * below - part * values.size).astype(np.float64)


# A share of the range that S never falls below; the larger of a smooth bound and a constant is a
# smooth bound, and so is a multiple.  Together they cover the rounding error of a median's distance
# from the threshold, 2⁻⁵² of the range.
_LEAST = 1e-9
_MORE = 1 + 1e-6
# ln of the rounding error in the ratio of S on two neighbouring data sets.
_ROUNDING = 2.0**-48


def smooth_bound(values: Vector, low: float, high: float, beta: float) -> float:
    """A β-smooth upper bound S on the local sensitivity of the median of m values, m odd.

    S is the maximum over k of e^{−kβ} max_{t=0..k+1} (x_{mid+t} − x_{mid+t−k−1}), with the values
    in increasing order, x_i = low for i < 1 and x_i = high for i > m. The computation takes O(m²)
    steps, which is fast since m is small.
    """
    ordered = np.sort(np.clip(values, low, high))
    m = ordered.size
    padded = np.concatenate((np.full(m + 1, low), ordered, np.full(m + 1, high)))
    middle = m + 1 + m // 2
    best = _LEAST * (high - low)
    for k in range(m + 1):
        t = np.arange(k + 2)
        upper = np.minimum(middle + t, padded.size - 1)
        lower = np.maximum(middle + t - k - 1, 0)
        best = max(best, math.exp(-k * beta) * float((padded[upper] - padded[lower]).max()))
    return best * _MORE


@dataclass(frozen=True)
class SmoothMedian:
    """The parameters α and β of one (ε, δ)-DP median with Laplace noise."""

    alpha: float
    beta: float

    @classmethod
    def proven(cls, epsilon: float, delta: float) -> SmoothMedian:
        """Use α = ε/2, and the largest β up to ε/2 with `dilation_delta` at most δ, rounded down.

        The β = ε/(2 ln(2/δ)) of Nissim, Raskhodnikova & Smith 2007 is smaller than this β for
        ε ≤ 1, and too large to be valid for ε above about 5. Raises ParameterError for an ε near 0,
        and for δ = 0, since this noise never gives pure DP.
        """
        _check(delta)
        beta = min(epsilon / 2, largest(lambda b: dilation_delta(epsilon, b) <= delta, epsilon / 2))
        if not beta > 2 * _ROUNDING:
            raise ParameterError("epsilon-of-one-median", epsilon=epsilon)
        return cls(epsilon / 2, beta - _ROUNDING)

    @classmethod
    def published(cls, epsilon: float, delta: float) -> SmoothMedian:
        """Use α = ε/2 and β = ε ln(1/δ)/2, as printed in Wang, Pang & Song 2020, Definition 10."""
        _check(delta)
        return cls(epsilon / 2, epsilon * math.log(1 / delta) / 2)

    def scale(self, values: Vector, low: float, high: float) -> float:
        """The Laplace scale S/α, which depends on the data and must never be released."""
        return smooth_bound(values, low, high, self.beta) / self.alpha


def dilation_delta(epsilon: float, beta: float) -> float:
    """The δ at which Laplace noise and e^β times this noise are (ε/2, δ)-close, rounded up.

    The result is e^{−z}(1 − e^{−β}) at z = (ε/2 + β)/(e^β − 1): condition (*) of the proof.
    """
    if beta == 0:
        return 0.0
    if beta > 500:  # e^β would overflow, and the noise hides nothing.
        return 1.0
    # Several operations with relative error 2⁻⁵²; the error in z counts z times.
    start = (epsilon / 2 + beta) / math.expm1(beta)
    exact = math.exp(-start) * -math.expm1(-beta)
    return exact * (1 + (start + 4) * 2.0**-49)


def _check(delta: float) -> None:
    if not 0 < delta < 1:
        raise ParameterError("smooth-noise-needs-delta")


@dataclass(frozen=True)
class StableHistogram:
    """The noise and the threshold of a stable histogram.

    sigma: σ of the discrete Gaussian noise.  threshold: the smallest noisy count that is released.
    """

    sigma: float
    threshold: int

    @classmethod
    def proven(cls, rho: float, delta: float) -> StableHistogram:
        """Calibrate σ for two counts that change by 1 each, and the threshold.

        A value that occurs in only one row is released with probability at most δ.

        σ is 1/√ρ, rounded up. The threshold satisfies P(1 + noise ≥ threshold) ≤ δ, since
        P(discrete noise ≥ m) is at most P(normal noise ≥ m − 1) (statement 1 of the proof). Raises
        ParameterError unless 0 < ρ < ∞ and 0 < δ < 1/2.
        """
        if not (0 < rho < math.inf and 0 < delta < 0.5):
            raise ParameterError("histogram-needs-budget", rho=rho, delta=delta)
        sigma = (1 + 1e-12) / math.sqrt(rho)
        threshold = 2 + math.ceil(-float(ndtri(delta)) * sigma)
        while float(log_ndtr((2 - threshold) / sigma)) > math.log(delta) - 1e-9:
            threshold += 1
        return cls(sigma, threshold)

    def shown(self, counts: Mapping[str, int], noise: NoiseSource) -> dict[str, int]:
        """Release the noisy counts that reach the threshold, sorted by value as text.

        counts: the exact count of each value that occurs, at least 1.
        """
        names = sorted(counts)
        if not names:
            return {}
        exact = np.array([counts[name] for name in names], dtype=np.int64)
        noisy = noise.discrete_gaussian_array(exact, self.sigma).tolist()
        return {
            name: count for name, count in zip(names, noisy, strict=True) if count >= self.threshold
        }
