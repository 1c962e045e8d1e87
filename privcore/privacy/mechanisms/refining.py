"""Release a number again with less discrete Laplace noise than before.

Discrete Laplace noise of scale s₁ is the sum of discrete Laplace noise of a smaller scale s₂ and
independent noise, which is 0 with probability r and otherwise discrete Laplace noise of scale s₁.
So the noise on the second number is drawn from the conditional distribution of the smaller noise
given the sum. Together the two numbers then reveal no more than the second number alone
(Koufogiannis, Han & Pappas 2015, for Laplace noise). Proof: docs/proofs/topping_up.md.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from privcore.errors import ParameterError

# Random bits per step; steps end when both ends of the interval give the same number.
_BITS = 128


def refined(noise: int, before: float, scale: float, bits: Callable[[int], int]) -> int:
    """Noise of the smaller scale, drawn conditionally on the noise of the larger scale.

    noise: the drawn noise of scale `before`. bits: function that returns an integer of the
    requested number of random bits. The draw is exact: bits are read until the outcome is certain,
    and every formula is computed with enough digits.

    Raises ParameterError unless 0 < scale < before.
    """
    check_refining(before, scale)
    # Imported here: few runs refine.
    from mpmath import mp

    uniform, read = 0, 0
    while True:
        uniform, read = uniform << _BITS | bits(_BITS), read + _BITS
        with mp.workprec(4 * read + 64):
            low, high = (mp.mpf(uniform + end) / mp.mpf(2) ** read for end in (0, 1))
            hair = mp.mpf(2) ** (-2 * read)
            ends = (max(low - hair, mp.mpf(0)), min(high + hair, 1 - hair))
            first, last = (quantile(end, noise, mp.mpf(before), mp.mpf(scale), mp) for end in ends)
        if first == last:
            return first


def quantile(uniform: Any, noise: int, before: Any, scale: Any, library: Any) -> int:
    """Quantile function, on [0, 1), of the smaller noise conditional on the larger noise.

    noise: the larger noise, of scale `before`. library: `math` for floats, or `mp` for mpmath's
    numbers. Outcomes have a special order: first the numbers from 0 to `noise`, then additional
    probability at `noise`, then the numbers beyond `noise`, and last the numbers on the other side
    of 0.
    """
    sign, away = (1, noise) if noise >= 0 else (-1, -noise)
    # By logarithms and expm1, as all terms may be near 1.
    large, small = -1 / before, -1 / scale
    both, ratio = large + small, (scale - before) / before / scale
    inner = library.expm1(large) / library.expm1(small)
    alone = library.exp(ratio) * inner**2
    # 1 − alone, from (1 − b)² − (b/a)(1 − a)² = (1 − b/a)(1 − ab).
    rest = library.expm1(ratio) * library.expm1(both) / library.expm1(small) ** 2
    power, beyond = library.exp(ratio * away), -library.exp(both) / library.expm1(both)
    within = -library.expm1(ratio * (away + 1))
    weights = (
        rest * within / -library.expm1(ratio),
        alone * power * (1 + library.exp(large)) / -library.expm1(large),
        rest * power * beyond,
        rest * beyond,
    )
    place = uniform * sum(weights)
    for part, weight in enumerate(weights):
        if place < weight or part == 3:
            break
        place -= weight
    # By the share of the part below, as each part is geometric.
    share = min(max(place / weight, 0), 1) if weight > 0 else 0
    if part == 0:
        steps = library.floor(library.log1p(-share * within) / ratio)
        return sign * min(max(int(steps), 0), away)
    if part == 1:
        return noise
    left = max(1 - share, library.exp(-700))
    steps = 1 + max(int(library.floor(library.log(left) / both)), 0)
    return sign * (away + steps) if part == 2 else -sign * steps


def check_refining(before: float, scale: float) -> None:
    """Raises ParameterError unless 0 < scale < before."""
    if not 0 < scale < before < float("inf"):
        raise ParameterError(
            f"Noise of scale {before:g} cannot be refined to {scale:g}; the new scale must be "
            "positive and smaller than the old scale."
        )
