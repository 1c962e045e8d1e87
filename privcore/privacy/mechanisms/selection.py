"""Private selection: the exponential mechanism, permute-and-flip, and the choice of a number.

All utilities have sensitivity 1: a replaced record changes each candidate's by at most 1. Proofs:
docs/proofs/em_pc.md.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

import numpy as np

from privcore.arrays import Vector
from privcore.privacy.mechanisms.noise import NoiseSource, Perturbation
from privcore.rounding import down, round_up, up

Selection = Literal["exponential", "permute-and-flip"]

_NOISE: dict[Selection, Perturbation] = {
    "exponential": "gumbel",
    "permute-and-flip": "exponential",
}


def select(utilities: Vector, epsilon: float, noise: NoiseSource, kind: Selection) -> int:
    """Position of one candidate, chosen with ε-DP; utilities: sensitivity 1, shape (k,).

    exponential: probability proportional to exp(εu/2) (McSherry & Talwar 2007), drawn as the
        largest utility plus Gumbel noise of scale 2/ε.
    permute-and-flip: never worse in expected utility (McKenna & Sheldon 2020), drawn as the
        largest utility plus exponential noise of scale 2/ε (Ding et al. 2021).
    """
    return noise.noisy_max(utilities, up(2 / epsilon), _NOISE[kind])


def rho_of_selection(epsilon: float, kind: Selection) -> float:
    """ρ of the zCDP that an ε-DP selection satisfies.

    The exponential mechanism has bounded range, which gives ε²/8 (Cesar & Rogers 2021, Lemma
    3.2); for permute-and-flip only the bound of pure DP is known, ε²/2 (Bun & Steinke 2016).
    Rounded up.
    """
    return round_up(Fraction(epsilon) ** 2 / (8 if kind == "exponential" else 2))


def peel(
    utilities: Vector, count: int, epsilon: float, noise: NoiseSource, kind: Selection
) -> list[int]:
    """`count` different positions, chosen one by one at ε/count each, with ε-DP in total."""
    left = list(range(utilities.size))
    chosen = []
    for _ in range(count):
        position = select(utilities[left], down(epsilon / count), noise, kind)
        chosen.append(left.pop(position))
    return chosen


def count_utilities(utilities: Vector, limit: float) -> Vector:
    """Utility of selecting 0, 1, …, a of the a candidates, shape (a + 1,), sensitivity 1.

    q(t) = min(u_(t), −u_(t+1)) over the utilities in decreasing order: large if the t best
    utilities are above 0 and the next is below. u_(0) = limit and u_(a+1) = −limit; any constant
    keeps the sensitivity. After Xu, Yuan & Wu 2017, Equations 6–8, without their jumps at 0.
    """
    ordered = np.concatenate(([limit], np.sort(utilities)[::-1], [-limit]))
    return np.asarray(np.minimum(ordered[:-1], -ordered[1:]))
