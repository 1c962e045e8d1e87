"""A noise source that keeps what is released through it, and how likely that was.

Whatever an algorithm does with noisy numbers afterwards, the numbers are what its proof is about.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from privcore.arrays import Vector
from privcore.privacy.mechanisms import NoiseSource
from privcore.privacy.mechanisms.noise import Counts

# What draws no noise on numbers.
_OTHER = frozenset({"noisy_max", "coin", "shuffled"})


class Draw(NamedTuple):
    """The sub-sample `number` of a run, of `size` of so many rows."""

    number: int
    rows: int
    size: int


@dataclass(frozen=True)
class Released:
    """Numbers that got noise: the method that drew it, and the exact and noisy numbers, (k,).

    draw: the last sub-sample before it, if there was any.
    """

    method: str
    exact: Vector
    scale: float
    noisy: Vector
    draw: Draw | None = None

    def again(self, runs: int, noise: NoiseSource) -> Vector:
        """The same release that many times, shape (runs, k)."""
        many = self.method if self.method.endswith("_array") else f"{self.method}_array"
        kind = np.int64 if "discrete" in self.method else np.float64
        drawn = getattr(noise, many)(np.tile(self.exact.astype(kind), runs), self.scale)
        return np.asarray(drawn, dtype=np.float64).reshape(runs, -1)

    def log_density(self, noisy: Vector) -> Vector:
        """Log density of noisy numbers, shape (…, k), up to a constant; integers too."""
        apart = (noisy - self.exact) / self.scale
        loss = apart * apart / 2 if "gaussian" in self.method else np.abs(apart)
        return np.asarray(-loss.sum(axis=-1) - self.exact.size * np.log(self.scale))


class Listening:
    """Noise from another source, of which everything on numbers is kept in `released`.

    replayed: what to give out in place of noise, in order, as if it had been drawn.
    """

    def __init__(self, noise: NoiseSource, replayed: Sequence[Released] | None = None) -> None:
        self._noise, self._replayed = noise, replayed
        self.released: list[Released] = []
        self.draws: list[Draw] = []

    def subsample(self, multiplicities: Counts, size: int) -> Counts:
        self.draws.append(Draw(len(self.draws), int(multiplicities.sum()), size))
        return self._noise.subsample(multiplicities, size)

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._noise, name)
        return (
            partial(self._keep, name, method)
            if callable(method) and name not in _OTHER
            else (method)
        )

    def _keep(self, name: str, method: Callable[..., Any], values: Any, scale: float) -> Any:
        if self._replayed is None:
            noisy = method(values, scale)
        else:
            shown = self._replayed[len(self.released)].noisy
            like = np.asarray(values)
            noisy = shown.astype(like.dtype).reshape(like.shape) if like.shape else float(shown[0])
        exact, kept = (np.array(v, dtype=np.float64).reshape(-1) for v in (values, noisy))
        self.released.append(
            Released(name, exact, scale, kept, self.draws[-1] if self.draws else None)
        )
        return noisy
