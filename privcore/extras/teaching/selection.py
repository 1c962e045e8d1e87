"""Exact selection probabilities, computed from the candidates' utilities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from privcore.arrays import Vector
from privcore.errors import ParameterError
from privcore.extras.teaching.panel import Panel, epsilon_parameter, number
from privcore.privacy.mechanisms.selection import count_utilities

_DEFAULTS = (4.0, 3.0, 1.0, -2.0, -5.0)


@dataclass(frozen=True)
class Selections:
    """Candidates' utilities, and each candidate's selection probability under two mechanisms.

    utilities, exponential, permute_and_flip: (k,) each.
    count, count_exponential, count_flip: utility and probabilities of removing 0, 1, … k
        candidates, (k + 1,) each.
    expected, expected_flip: the mean utility of the selected candidate under each mechanism.
    best: the largest utility.
    """

    utilities: Vector
    exponential: Vector
    permute_and_flip: Vector
    count: Vector
    count_exponential: Vector
    count_flip: Vector
    expected: float
    expected_flip: float
    best: float


def selection_probabilities(
    utilities: Sequence[float] | Vector, epsilon: float
) -> tuple[Vector, Vector]:
    """Selection probabilities of the exponential mechanism and of permute-and-flip, (k,) each.

    With a_r = exp(ε(u_r − max u)/2) permute-and-flip selects r with probability
    a_r ∫₀¹ Π_{s≠r} (1 − a_s t) dt (McKenna & Sheldon 2020, Algorithm 1, averaged over its random
    order); the integrand is a polynomial, so that Gauss–Legendre quadrature is exact.
    Raises ParameterError for an empty list or non-finite utilities.
    """
    u = np.asarray(utilities, dtype=np.float64)
    if u.size == 0 or not np.isfinite(u).all():
        raise ParameterError("give-least-one-utility")
    a = np.exp(epsilon * (u - u.max()) / 2)
    nodes, weights = np.polynomial.legendre.leggauss(u.size // 2 + 1)
    t, w = (nodes + 1) / 2, weights / 2
    misses = 1 - a[:, None] * t
    others = np.array([np.delete(misses, r, axis=0).prod(axis=0) for r in range(u.size)])
    return a / a.sum(), a * (others @ w)


def selections(utilities: Sequence[float], epsilon: float) -> Selections:
    """Selection probabilities of each candidate, and of each number of candidates to remove."""
    u = np.asarray(utilities, dtype=np.float64)
    exponential, flip = selection_probabilities(u, epsilon)
    count = count_utilities(u, float(np.abs(u).max()) + 1)
    count_exponential, count_flip = selection_probabilities(count, epsilon)
    return Selections(
        utilities=u,
        exponential=exponential,
        permute_and_flip=flip,
        count=count,
        count_exponential=count_exponential,
        count_flip=count_flip,
        expected=float(exponential @ u),
        expected_flip=float(flip @ u),
        best=float(u.max()),
    )


def _utilities(values: Mapping[str, Any]) -> list[float]:
    return [values[f"u{k + 1}"] for k in range(len(_DEFAULTS))]


def _compute(values: Mapping[str, Any]) -> Selections:
    return selections(_utilities(values), values["epsilon"])


def _code(values: Mapping[str, Any]) -> str:
    return f"""import numpy as np

from privcore.extras.teaching.selection import selection_probabilities
from privcore.privacy.mechanisms import SimulatedNoise
from privcore.privacy.mechanisms.selection import select

utilities = np.array({_utilities(values)!r})
epsilon = {values["epsilon"]!r}
exponential, permute_and_flip = selection_probabilities(utilities, epsilon)
print(exponential, permute_and_flip)

# The mechanism itself adds noise to the utilities and selects the largest:
noise = SimulatedNoise(1)
drawn = [select(utilities, epsilon, noise, "permute-and-flip") for _ in range(2_000)]
print(np.bincount(drawn, minlength=utilities.size) / 2_000)
"""


_SOURCE = "Xu, Yuan & Wu 2017, Section III-B"

SELECTION = Panel(
    name="selection",
    title="Private selection in EM-PC",
    question="How does a private algorithm select the most independent neighbour?",
    formula=r"\Pr[r] = \frac{e^{\varepsilon u_r/2}}{\sum_s e^{\varepsilon u_s/2}},\qquad "
    r"u_r = \max_S \frac{T - |Z^*_{ir|S}|}{\Delta}",
    sentence="A better candidate is more likely to be selected, but no candidate is certain to be. "
    "Permute-and-flip costs the same ε as the exponential mechanism and is never worse on average.",
    source=f"{_SOURCE}; McSherry & Talwar 2007; McKenna & Sheldon 2020; docs/proofs/em_pc.md",
    parameters=(
        epsilon_parameter(1.0, "The cost of one selection.", _SOURCE),
        *(
            number(
                f"u{k + 1}",
                f"Utility of candidate {k + 1}",
                f"u{'₁₂₃₄₅'[k]}",
                default,
                (-10.0, 10.0),
                "How far this neighbour's most independent test lies on the independent side of "
                "the threshold, in units of the sensitivity. One record changes this utility by at "
                "most 1.",
                _SOURCE,
            )
            for k, default in enumerate(_DEFAULTS)
        ),
    ),
    compute=_compute,
    code=_code,
    reproduces=("exponential", "permute_and_flip"),
)
