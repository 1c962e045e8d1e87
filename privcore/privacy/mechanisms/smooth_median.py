"""The median with noise scaled to its smooth sensitivity (Nissim, Raskhodnikova & Smith 2007).

Values are clipped to a public range, and one record changes one value. If S is the bound of
`smooth_bound`, median + (S/α)·Lap(1) is (ε, δ)-DP for α = ε/2 and a small enough β. Proof:
docs/proofs/smooth_median.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from privcore.arrays import Vector
from privcore.errors import ParameterError
from privcore.rounding import largest

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
            raise ParameterError(
                f"The epsilon of one median is {epsilon:.3g}, which is too small; raise epsilon, "
                "pay for fewer tests, or choose the score g2-votes or chi2-votes."
            )
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
        raise ParameterError(
            "Noise scaled to smooth sensitivity needs a failure probability above 0; raise delta, "
            "or choose the score g2-votes or chi2-votes."
        )
