"""Budgets that change from one iteration to the next (Bhattacharjee & Tandon 2024, Section III-B).

With iterations i = 0 … I − 1 the published budgets are

    additive        ε_i = ε₀(1 + i/I)      sum ε₀(3I − 1)/2
    exponential     ε_i = ε₀ e^{i/I}       sum ε₀(e − 1)/(e^{1/I} − 1)
    multiplicative  ε_i = ε₀^{1 + i/I}     sum ε₀(1 − ε₀)/(1 − ε₀^{1/I})

Errors in the paper:

* I_exp in Lemma 2 bounds the sum by e·I·ε₀.  The sum is about (e − 1)·I·ε₀, so 58 % more
  iterations fit (`largest_count`).  The sum in the proof has an additional term, for i = I, and
  the bound on this sum fails at I = 1, where the bound would imply 1 + e ≤ e.
* "Multiplicative" budgets *shrink* for ε₀ < 1, from ε₀ to nearly ε₀², so the last iterations get
  the smallest budgets, contrary to the paper's aim.  This is why many iterations fit.
* Algorithm 2 uses i/(I − 1) in place of i/I, so its sum exceeds the sum in the lemma whenever
  budgets grow.

I_add and I_mul are exact up to rounding down.  At ε₀ = 1, I_mul is 0/0; its limit there is the
total divided by ε₀.
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
    """The published budget ε_i of each iteration, shape (count,), with ε₀ = `first`."""
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
    """The number of iterations I in Lemma 2, rounded down; 0 if `epsilon` does not cover one."""
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
    """The largest number of iterations whose budgets add up to at most `epsilon`, by bisection.

    Raises ParameterError if more than ten million iterations would fit into the budget.
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
                "More than ten million iterations would fit into the budget; raise the first "
                "iteration's epsilon."
            )
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def published_schedules(epsilon: float, first: float) -> dict[str, NDArray[np.float64]]:
    """The ε of each iteration that Lemma 2 allows for (ε_total, ε₀), by schedule.

    Schedules with no iterations are left out, as are schedules with more than ten thousand
    iterations, which are too long for a figure.
    """
    counts = {name: lemma_count(name, epsilon, first) for name in SCHEDULES}
    return {
        name: budgets(name, first, count) for name, count in counts.items() if 0 < count <= 10_000
    }


def proven_schedules(growth: float, count: int) -> dict[str, NDArray[np.float64]]:
    """The share of μ² for each of `count` iterations, by schedule; the shares add up to 1."""
    return {name: growing_shares(name, growth, count) ** 2 for name in SCHEDULES}


def growing_shares(schedule: Schedule, growth: float, count: int) -> NDArray[np.float64]:
    """The ratio μ_i/μ for each iteration, shape (count,); the squared ratios add up to 1.

    Gaussian noise composes exactly as Σμ_i² = μ², so only the schedule's relative budgets matter.
    growth: ratio of the last to the first budget in the multiplicative schedule, whose budgets grow
    here even if ε₀ < 1.
    """
    if schedule == "multiplicative":
        sizes = growth ** (np.arange(count) / max(count - 1, 1))
    else:
        sizes = budgets(schedule, 1.0, count)
    return np.asarray(sizes / math.sqrt(float(sizes @ sizes)))
