"""Noise that is safe for release: OpenDP's exact samplers and the operating system's entropy."""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable
from typing import Any

import numpy as np

from privcore.arrays import Vector
from privcore.errors import ParameterError
from privcore.privacy.mechanisms.noise import (
    Counts,
    NoiseKind,
    Perturbation,
    check_scale,
    check_size,
)

# Allowance for the library's rounding up of its privacy map.
_ROUNDING = 1e-9


class SecureNoise:
    """Noise without a seed, safe for release.

    OpenDP samples the Laplace and Gaussian distributions exactly on a grid far below floating-point
    resolution, so the result does not depend on floating-point rounding of the input.
    """

    kind: NoiseKind = "secure"

    def __init__(self) -> None:
        self._samplers: dict[tuple[str, float], Callable[[Any], Any]] = {}

    def laplace(self, value: float, scale: float) -> float:
        _check_finite(np.asarray([value]))
        return float(self._sampler("laplace", scale)(value))

    def laplace_array(self, values: Vector, scale: float) -> Vector:
        _check_finite(values)
        return np.asarray(self._sampler("laplace array", scale)(values.tolist()))

    def discrete_laplace_array(self, values: Counts, scale: float) -> Counts:
        return np.asarray(self._sampler("discrete", scale)(values.tolist()), dtype=np.int64)

    def discrete_gaussian_array(self, values: Counts, sigma: float) -> Counts:
        return np.asarray(self._sampler("discrete gaussian", sigma)(values.tolist()), np.int64)

    def gaussian_array(self, values: Vector, sigma: float) -> Vector:
        _check_finite(values)
        return np.asarray(self._sampler("gaussian", sigma)(values.tolist()))

    def noisy_max(self, scores: Vector, scale: float, perturbation: Perturbation) -> int:
        _check_finite(scores)
        return int(self._sampler(perturbation, scale)(scores.tolist()))

    def coin(self) -> bool:
        return bool(secrets.randbelow(2))

    def subsample(self, multiplicities: Counts, size: int) -> Counts:
        total = int(multiplicities.sum())
        check_size(total, size)
        rows = np.asarray(secrets.SystemRandom().sample(range(total), size), dtype=np.int64)
        owner = np.searchsorted(np.cumsum(multiplicities), rows, side="right")
        return np.bincount(owner, minlength=multiplicities.size).astype(np.int64)

    def permutation(self, size: int) -> Counts:
        return np.asarray(secrets.SystemRandom().sample(range(size), size), dtype=np.int64)

    def _sampler(self, name: str, scale: float) -> Callable[[Any], Any]:
        check_scale(scale)
        if scale == 0:
            raise ParameterError("exact-value")
        key = (name, scale)
        if key not in self._samplers:
            self._samplers[key] = _make_sampler(name, scale)
        return self._samplers[key]


def _make_sampler(name: str, scale: float) -> Callable[[Any], Any]:
    # Imported here: the library takes half a second, and simulations never need it.
    import opendp.prelude as dp

    dp.enable_features("contrib")
    number = dp.atom_domain(T=float, nan=False)
    sampler: Callable[[Any], Any]
    if name == "laplace":
        sampler = dp.m.make_laplace(number, dp.absolute_distance(T=float), scale=scale)
    elif name == "laplace array":
        space = dp.vector_domain(number), dp.l1_distance(T=float)
        sampler = dp.m.make_laplace(*space, scale=scale)
    elif name == "discrete":
        integers = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
        sampler = dp.m.make_laplace(*integers, scale=scale)
    elif name == "discrete gaussian":
        whole = dp.vector_domain(dp.atom_domain(T=int)), dp.l2_distance(T=float)
        sampler = dp.m.make_gaussian(*whole, scale=scale)
    elif name == "gaussian":
        space = dp.vector_domain(number), dp.l2_distance(T=float)
        sampler = dp.m.make_gaussian(*space, scale=scale)
    else:
        # OpenDP adds Gumbel noise for this measure, and exponential noise for the other.
        measures = {
            "gumbel": dp.zero_concentrated_divergence(),
            "exponential": dp.max_divergence(),
        }
        scores = dp.vector_domain(number), dp.linf_distance(T=float)
        sampler = dp.m.make_noisy_max(*scores, measures[name], scale=scale)
    _check_map(sampler, name, scale)
    return sampler


def _check_map(sampler: Any, name: str, scale: float) -> None:
    """Raises ParameterError if OpenDP states a larger privacy loss than the accounting assumes.

    At distance 1 the privacy loss is ε = 1/scale for Laplace noise, and ρ = 1/(2σ²) for Gaussian
    noise. For the noisy maximum the privacy loss is ε = 2/scale with exponential noise, and
    ρ = (2/scale)²/8 with Gumbel noise.
    """
    due = {
        **dict.fromkeys(("gaussian", "discrete gaussian", "gumbel"), 0.5 / scale**2),
        "exponential": 2 / scale,
    }
    stated = float(sampler.map(1 if name == "discrete" else 1.0))
    if not stated <= due.get(name, 1 / scale) * (1 + _ROUNDING):
        raise ParameterError("noise-library-differs", stated=stated, scale=scale)


def _check_finite(values: Vector) -> None:
    if not all(map(math.isfinite, values.tolist())):
        raise ParameterError("number-release-infinite-nan")
