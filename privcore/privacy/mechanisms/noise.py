"""Noise sources: the only origin of random numbers.

A `NoiseSource` is either a seeded *simulation*, for exploring and for experiments that anyone can
repeat, or *secure* (see `secure`): OpenDP's samplers and the operating system's entropy, with no
seed. Mechanisms treat both alike. Results record which source was used, and only results with
secure noise may be released. A third source adds no noise, to measure the cost of noise (see
`no_noise`).
"""

from __future__ import annotations

import math
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from privcore.arrays import Vector
from privcore.errors import ParameterError

Counts = NDArray[np.int64]
Perturbation = Literal["gumbel", "exponential"]
NoiseKind = Literal["none", "simulated", "secure"]


class NoiseSource(Protocol):
    """The source of a mechanism's randomness.

    Every method that adds noise raises ParameterError for a negative, infinite or NaN scale.
    """

    kind: NoiseKind

    def laplace(self, value: float, scale: float) -> float:
        """`value` plus a draw from the Laplace density exp(-|x|/scale)/(2 scale)."""
        ...

    def laplace_array(self, values: Vector, scale: float) -> Vector:
        """The values plus independent Laplace noise of this scale, shape (k,)."""
        ...

    def discrete_laplace_array(self, values: Counts, scale: float) -> Counts:
        """The integers plus independent noise, P(x) proportional to exp(-|x|/scale), shape (k,)."""
        ...

    def discrete_gaussian_array(self, values: Counts, sigma: float) -> Counts:
        """The integers, shape (k,), plus noise with P(x) proportional to exp(-x²/(2 sigma²))."""
        ...

    def gaussian_array(self, values: Vector, sigma: float) -> Vector:
        """The values plus independent normal noise of standard deviation sigma, shape (k,)."""
        ...

    def noisy_max(self, scores: Vector, scale: float, perturbation: Perturbation) -> int:
        """Position of the largest score after each score gets independent noise of this scale.

        For scores of sensitivity 1, Gumbel noise of scale 2/ε gives the exponential mechanism, and
        exponential noise of scale 2/ε gives permute-and-flip (Ding et al. 2021).
        """
        ...

    def coin(self) -> bool:
        """True with probability one half."""
        ...

    def subsample(self, multiplicities: Counts, size: int) -> Counts:
        """Draw `size` records without replacement; returns the number drawn of each unique row.

        multiplicities: number of records equal to each unique row, shape (u,), like the result.
        """
        ...

    def permutation(self, size: int) -> Counts:
        """A uniformly random order of 0..size-1."""
        ...


def check_scale(scale: float) -> None:
    """Raises ParameterError unless the scale is finite and at least 0."""
    if not (math.isfinite(scale) and scale >= 0):
        raise ParameterError("noise-scale-out-of-range", scale=scale)


def check_size(total: int, size: int) -> None:
    """Raises ParameterError unless `size` is at least 1 and at most the number `total` of rows."""
    if not 0 < size <= total:
        raise ParameterError("sub-sample-rows", size=size, total=total)


class SimulatedNoise:
    """Seeded noise of the right distribution, for exploration and never for release.

    Floating-point Laplace draws can identify their input (Mironov 2012), and a seed can be guessed,
    so results with this noise must not be released.
    """

    kind: NoiseKind = "simulated"

    def __init__(self, seed: int | np.random.SeedSequence) -> None:
        self._generator = np.random.default_rng(seed)

    def laplace(self, value: float, scale: float) -> float:
        check_scale(scale)
        return value + scale * float(self._generator.laplace())

    def laplace_array(self, values: Vector, scale: float) -> Vector:
        check_scale(scale)
        return np.asarray(values + scale * self._generator.laplace(size=values.shape))

    def discrete_laplace_array(self, values: Counts, scale: float) -> Counts:
        check_scale(scale)
        if scale == 0:
            return values.copy()
        return values + self._two_sided(scale, values.shape)

    def _two_sided(self, scale: float, shape: tuple[int, ...]) -> Counts:
        """Discrete Laplace noise: the difference of two geometric variables."""
        stop = -math.expm1(-1 / scale)
        up = self._generator.geometric(stop, size=shape)
        down = self._generator.geometric(stop, size=shape)
        return np.asarray(up - down, dtype=np.int64)

    def discrete_gaussian_array(self, values: Counts, sigma: float) -> Counts:
        check_scale(sigma)
        if sigma == 0:
            return values.copy()
        noisy = values.astype(np.int64)
        waiting = np.arange(values.size)
        spread = math.floor(sigma) + 1
        # Candidates of discrete Laplace noise, accepted as Canonne, Kamath & Steinke 2020 do.
        while waiting.size:
            drawn = self._two_sided(spread, waiting.shape)
            excess = (np.abs(drawn) - sigma**2 / spread) / sigma
            taken = self._generator.random(waiting.size) < np.exp(-(excess**2) / 2)
            noisy[waiting[taken]] += drawn[taken]
            waiting = waiting[~taken]
        return noisy

    def gaussian_array(self, values: Vector, sigma: float) -> Vector:
        check_scale(sigma)
        return np.asarray(values + sigma * self._generator.standard_normal(size=values.shape))

    def noisy_max(self, scores: Vector, scale: float, perturbation: Perturbation) -> int:
        check_scale(scale)
        draw = self._generator.gumbel if perturbation == "gumbel" else self._generator.exponential
        return int(np.argmax(scores + scale * draw(size=scores.shape)))

    def coin(self) -> bool:
        return bool(self._generator.integers(2))

    def subsample(self, multiplicities: Counts, size: int) -> Counts:
        total = int(multiplicities.sum())
        check_size(total, size)
        if size == total:
            return multiplicities
        drawn = self._generator.multivariate_hypergeometric(
            multiplicities, size, method="marginals"
        )
        return np.asarray(drawn, dtype=np.int64)

    def permutation(self, size: int) -> Counts:
        return self._generator.permutation(size)


def discrete_laplace_variance(scale: float) -> float:
    """Variance of discrete Laplace noise, with P(k) proportional to exp(−|k|/scale).

    >>> round(discrete_laplace_variance(2.0), 3)
    7.835
    """
    stop = -math.expm1(-1 / scale)
    return 2 * math.exp(-1 / scale) / (stop * stop)


_LEAST_VARIANCE = 1e-300


def discrete_laplace_scale(variance: float) -> float:
    """The scale of the discrete Laplace noise that has this variance.

    >>> round(discrete_laplace_scale(7.835), 3)
    2.0
    """
    # The variance is 1/(2 sinh²(1/(2 scale))), and 0 in floating point below some scale.
    return 1 / (2 * math.asinh(1 / math.sqrt(2 * max(variance, _LEAST_VARIANCE))))
