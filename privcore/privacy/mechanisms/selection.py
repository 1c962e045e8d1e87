"""Private selection by the exponential mechanism or permute-and-flip.

All utilities have sensitivity 1: replacing a record changes each candidate's utility by at most 1.
Proofs: docs/proofs/em_pc.md.
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
