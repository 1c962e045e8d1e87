"""The one place where random numbers come from.

A `NoiseSource` is either a seeded *simulation*, for exploring and for
experiments that anyone can repeat, or *secure*: OpenDP's samplers and the
operating system's entropy, with no seed.  Mechanisms cannot tell them apart;
results record which one was used, and only secure noise may be released.
"""

from __future__ import annotations

import math
import secrets
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from privcore.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable

Counts = NDArray[np.int64]


class NoiseSource(Protocol):
    """Where a mechanism's randomness comes from."""

    kind: Literal["simulated", "secure"]

    def laplace(self, value: float, scale: float) -> float:
        """`value` plus a draw from the Laplace distribution with density exp(-|x|/scale)/(2 scale).

        Raises ParameterError for a negative, infinite or NaN scale.
        """
        ...

    def subsample(self, multiplicities: Counts, size: int) -> Counts:
        """Multiplicities, shape (u,), of `size` records drawn without replacement."""
        ...


def _check_scale(scale: float) -> None:
    if not (math.isfinite(scale) and scale >= 0):
        raise ParameterError(f"The noise scale is {scale}; it must be a finite number, at least 0.")


def _check_size(total: int, size: int) -> None:
    if not 0 < size <= total:
        raise ParameterError(f"The sub-sample has {size} rows; it must have between 1 and {total}.")


class SimulatedNoise:
    """Noise of the right distribution from a seed: for exploring, never for release.

    Floating-point Laplace draws can identify their input (Mironov 2012), and a
    seed can be tried out, so nothing made with it may leave the building.
    """

    kind: Literal["simulated", "secure"] = "simulated"

    def __init__(self, seed: int | np.random.SeedSequence) -> None:
        self._generator = np.random.default_rng(seed)

    def laplace(self, value: float, scale: float) -> float:
        _check_scale(scale)
        return value + scale * float(self._generator.laplace())

    def subsample(self, multiplicities: Counts, size: int) -> Counts:
        total = int(multiplicities.sum())
        _check_size(total, size)
        if size == total:
            return multiplicities
        drawn = self._generator.multivariate_hypergeometric(
            multiplicities, size, method="marginals"
        )
        return np.asarray(drawn, dtype=np.int64)


class SecureNoise:
    """Noise fit for release: OpenDP's exact samplers and operating-system entropy, no seed.

    OpenDP samples the Laplace distribution exactly on a grid far below floating-point
    resolution, so the result does not depend on how floats of the input round.
    """

    kind: Literal["simulated", "secure"] = "secure"

    def __init__(self) -> None:
        self._samplers: dict[float, Callable[[float], float]] = {}

    def laplace(self, value: float, scale: float) -> float:
        _check_scale(scale)
        if scale == 0:
            raise ParameterError("Secure noise of scale 0 would release the exact value; raise it.")
        if not math.isfinite(value):
            raise ParameterError("Only a finite number can be released with noise.")
        if scale not in self._samplers:
            # Imported here: the library takes half a second, and simulations never need it.
            import opendp.prelude as dp

            dp.enable_features("contrib")
            space = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)
            self._samplers[scale] = dp.m.make_laplace(*space, scale=scale)
        return float(self._samplers[scale](value))

    def subsample(self, multiplicities: Counts, size: int) -> Counts:
        total = int(multiplicities.sum())
        _check_size(total, size)
        rows = np.asarray(secrets.SystemRandom().sample(range(total), size), dtype=np.int64)
        owner = np.searchsorted(np.cumsum(multiplicities), rows, side="right")
        return np.bincount(owner, minlength=multiplicities.size).astype(np.int64)
