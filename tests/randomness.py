"""Where the random numbers of tests come from.

Secure noise is drawn from a seed, so that no test fails by chance: `SecureNoise` keeps its own
code, its checks and the samplers of its library, but what these draw, and the random bits of the
operating system, follow from the seed.  `secure_alone` lets no other generator draw.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from privcore.privacy.mechanisms import NoiseSource, SecureNoise, SimulatedNoise, secure

# All that a noise source can draw.
DRAWS = sorted(n for n, own in vars(NoiseSource).items() if callable(own) and n[0] != "_")

_MAKE, _SECRETS = secure._make_sampler, secure.secrets
_simulated: SimulatedNoise | None = None


class _Sampler:
    """A sampler of the library whose draws are simulated as long as there is a seed."""

    def __init__(self, name: str, scale: float) -> None:
        self._real, self._name, self._scale = _MAKE(name, scale), name, scale

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def __call__(self, value: Any) -> Any:
        if _simulated is None:
            return self._real(value)
        if self._name == "laplace":
            return _simulated.laplace(value, self._scale)
        if self._name in ("gumbel", "exponential"):
            return _simulated.noisy_max(np.asarray(value), self._scale, self._name)
        draw = {
            "laplace array": _simulated.laplace_array,
            "gaussian": _simulated.gaussian_array,
            "discrete": _simulated.discrete_laplace_array,
            "discrete gaussian": _simulated.discrete_gaussian_array,
        }[self._name]
        return draw(np.asarray(value), self._scale).tolist()


class _Secrets(random.Random):
    """What `SecureNoise` needs of `secrets`."""

    randbits, randbelow = random.Random.getrandbits, random.Random.randrange

    def SystemRandom(self) -> random.Random:
        return self


def seed_secure_noise(seed: int | None) -> None:
    """Let secure noise be drawn from this seed from now on; None: as a release draws it."""
    global _simulated
    _simulated = None if seed is None else SimulatedNoise(seed)
    secure._make_sampler = _Sampler
    secure.secrets = _SECRETS if seed is None else _Secrets(seed)


@contextmanager
def secure_alone() -> Iterator[list[str]]:
    """Raise where Python or numpy draws numbers that cannot be repeated; yields the secure draws.

    During a draw of `SecureNoise` no generator of theirs may be made, be it with a seed.
    """
    # The library's parts for others make generators when they are loaded.
    import opendp.prelude  # noqa: F401

    drawn: list[str] = []
    within = 0

    def guarded(name: str, right: Any) -> Any:
        maker = isinstance(right, type) or name == "default_rng"

        def check(*given: Any, **named: Any) -> None:
            seeded = next(iter([*given, *named.values()]), None) is not None
            if within or not (maker and seeded) or name == "SystemRandom":
                raise AssertionError(f"{name} is called where secure noise is to be drawn")

        def call(*given: Any, **named: Any) -> Any:
            check(*given, **named)
            return right(*given, **named)

        def new(cls: Any, *given: Any, **named: Any) -> Any:
            check(*given, **named)
            return right.__new__(cls, *given, **named)

        return type(name, (right,), {"__new__": new}) if isinstance(right, type) else call

    def watched(name: str, right: Any) -> Any:
        def draw(*given: Any) -> Any:
            nonlocal within
            drawn.append(name)
            within += 1
            try:
                return right(*given)
            finally:
                within -= 1

        return draw

    with pytest.MonkeyPatch.context() as patch:
        for module in (np.random, random):
            # A `Generator` is made of one of the others.
            for name in {*module.__all__} - {"Generator", "BitGenerator"}:
                patch.setattr(module, name, guarded(name, getattr(module, name)))
        for name in DRAWS:
            patch.setattr(SecureNoise, name, watched(name, getattr(SecureNoise, name)))
        yield drawn
