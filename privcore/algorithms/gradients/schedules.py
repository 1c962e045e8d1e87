"""Budgets that change from one iteration to the next (Bhattacharjee & Tandon 2024, Section III-B).

With iterations i = 0 … I − 1 the published budgets are

    additive        ε_i = ε₀(1 + i/I)      sum ε₀(3I − 1)/2
    exponential     ε_i = ε₀ e^{i/I}       sum ε₀(e − 1)/(e^{1/I} − 1)
    multiplicative  ε_i = ε₀^{1 + i/I}     sum ε₀(1 − ε₀)/(1 − ε₀^{1/I})

Errors of the paper:

* I_exp of Lemma 2 bounds the sum by e·I·ε₀.  The sum is about (e − 1)·I·ε₀, so that 58 % more
  iterations fit (`largest_count`).  The proof's sum runs to i = I, one term more; that bound
  fails at I = 1, where it reads 1 + e ≤ e.
* "Multiplicative" budgets *shrink* for ε₀ < 1, from ε₀ to nearly ε₀², so the last iterations get
  the least, contrary to the paper's aim; hence the many iterations.
* Algorithm 2 uses i/(I − 1) in place of i/I, with which the sum exceeds the lemma's whenever
  budgets grow.

I_add and I_mul are exact up to rounding down; I_mul is 0/0 at ε₀ = 1, where it tends to the total
divided by ε₀.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from privcore.errors import ParameterError

Schedule = Literal["additive", "exponential", "multiplicative"]
SCHEDULES: tuple[Schedule, ...] = ("additive", "exponential", "multiplicative")

_MOST = 10**7


def budgets(schedule: Schedule, first: float, count: int) -> NDArray[np.float64]:
    """ε_i of each iteration, shape (count,), from ε₀ = `first`."""
    share = np.arange(count) / count
    if schedule == "additive":
        return np.asarray(first * (1 + share))
    if schedule == "exponential":
        return np.asarray(first * np.exp(share))
    return np.asarray(first ** (1 + share))


def total(schedule: Schedule, first: float, count: int) -> float:
    """Sum of the budgets, in closed form."""
    if schedule == "additive":
        return first * (3 * count - 1) / 2
    if schedule == "exponential":
        return first * math.expm1(1.0) / math.expm1(1 / count)
    if first == 1:
        return float(count)
    return first * (first - 1) / math.expm1(math.log(first) / count)


def lemma_count(schedule: Schedule, epsilon: float, first: float) -> int:
    """I of Lemma 2, rounded down: 0 where not even one iteration fits."""
    if schedule == "additive":
        count = (epsilon + first / 2) / (1.5 * first)
    elif schedule == "exponential":
        count = epsilon / (first * math.e)
    elif first > epsilon:
        # The logarithm of the lemma is then that of a negative number, or the count is below 1.
        return 0
    elif first == 1:
        count = epsilon
    else:
        count = math.log(first) / math.log1p(first * (first - 1) / epsilon)
    # Slightly more, so that rounding does not lose a whole count.
    return math.floor(count * (1 + 1e-12))


def largest_count(schedule: Schedule, epsilon: float, first: float) -> int:
    """The largest I whose budgets add up to at most `epsilon`, by bisection: the sum grows with I.

    Raises ParameterError if more than ten million iterations would fit.
    """

    def fits(count: int) -> bool:
        return total(schedule, first, count) <= epsilon * (1 + 1e-12)

    if not fits(1):
        return 0
    low, high = 1, 2
    while fits(high):
        low, high = high, 2 * high
        if high > _MOST:
            raise ParameterError(
                "More than ten million iterations would fit; raise the first iteration's epsilon."
            )
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def published_schedules(epsilon: float, first: float) -> dict[str, NDArray[np.float64]]:
    """Per schedule, ε of each iteration that Lemma 2 allows for (ε_total, ε₀); empty if it allows
    none.

    Schedules of more than ten thousand iterations are left out: no figure could show them.
    """
    counts = {name: lemma_count(name, epsilon, first) for name in SCHEDULES}
    return {
        name: budgets(name, first, count) for name, count in counts.items() if 0 < count <= 10_000
    }


def proven_schedules(growth: float, count: int) -> dict[str, NDArray[np.float64]]:
    """Per schedule, the share of μ² for each of `count` iterations; the shares add up to 1."""
    return {name: growing_shares(name, growth, count) ** 2 for name in SCHEDULES}


def growing_shares(schedule: Schedule, growth: float, count: int) -> NDArray[np.float64]:
    """μ_i/μ of each iteration, shape (count,), whose squares add up to 1.

    The schedule's relative sizes, for Gaussian noise, where Σμ_i² = μ² is exact. growth: last
    budget over first in the multiplicative schedule, whose budgets grow here even if ε₀ < 1.
    """
    if schedule == "multiplicative":
        sizes = growth ** (np.arange(count) / max(count - 1, 1))
    else:
        sizes = budgets(schedule, 1.0, count)
    return np.asarray(sizes / math.sqrt(float(sizes @ sizes)))
