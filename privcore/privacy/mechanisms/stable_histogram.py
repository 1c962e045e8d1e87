"""A stable histogram: counts of the values that occur get noise, and large noisy counts are shown.

Neighbouring data sets differ in one of n records. The release is δ-approximately ρ-zCDP. Proof:
docs/proofs/bought_domain.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr, ndtri

from privcore.errors import ParameterError
from privcore.privacy.mechanisms.noise import NoiseSource


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
            raise ParameterError(
                "A histogram of values needs ρ above 0 and δ between 0 and ½, but ρ is "
                f"{rho:g} and δ is {delta:g}; raise epsilon or delta."
            )
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
