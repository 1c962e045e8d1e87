"""How CURATE splits a budget over orders (Bhattacharjee & Tandon 2024, Equations 2 and 3)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from scipy.optimize import LinearConstraint, NonlinearConstraint, minimize

from privcore.arrays import Vector

Line = np.ndarray[tuple[int], np.dtype[np.float64]]
CostRule = Literal["epsilon", "rho", "published"]


@dataclass(frozen=True)
class Margins:
    """The inputs of Lemma 1's error bounds.

    keep, delete: distances from the threshold to the two ends of the range in which a coin toss
    decides, divided by the sensitivity of the value: Tβ₁/Δ and Tβ₂/Δ. slack: the value of both c₁
    and c₂.
    """

    keep: float
    delete: float
    slack: float


def error_bound(epsilons: Vector, margins: Margins) -> float:
    """The bound of Equation 2: Π q¹_j + 1 − Π (1 − q²_j), with q_j = c/2 + e^{−(Tβ/Δ) ε_j}/2."""
    kept = margins.slack / 2 + np.exp(-margins.keep * epsilons) / 2
    deleted = margins.slack / 2 + np.exp(-margins.delete * epsilons) / 2
    return float(np.prod(kept) + 1 - np.prod(1 - deleted))


def cost(epsilons: Vector, tests: Vector, rule: CostRule, delta: float) -> float:
    """The cost of t_j tests of each order j at ε_j per test, in the rule's unit.

    epsilon: Σ t_j ε_j.  rho: Σ t_j ε_j²/2.  published: Equation 3's left side,
    Σ (t_j ε_j² + sqrt(2 ln(1/δ) t_j) ε_j).
    """
    if rule == "epsilon":
        return float(tests @ epsilons)
    squares = tests @ (epsilons * epsilons)
    if rule == "rho":
        return float(squares / 2)
    return float(squares + math.sqrt(2 * math.log(1 / delta)) * (np.sqrt(tests) @ epsilons))


def planned_tests(pairs: int, p: int, first: int, last: int) -> Vector:
    """Upper bounds on the number of tests of each order j from `first` to `last`: e·C(p − 2, j).

    pairs: the number e of remaining edges. p: number of columns.
    """
    return np.array([max(1, pairs * math.comb(p - 2, j)) for j in range(first, last + 1)], float)


def allocate(
    tests: Sequence[float], budget: float, margins: Margins, rule: CostRule, delta: float
) -> Vector:
    """Choose ε_j for each remaining order j, to minimise the error bound within the budget.

    The ε_j do not increase with j. A solution found by sequential least squares is adjusted to the
    constraints. The even split is used instead if its error bound is no larger.
    """
    return _allocated(tuple(tests), budget, margins, rule, delta).copy()


# Runs that differ only in their noise solve the same problem before their first order.
@lru_cache(maxsize=4096)
def _allocated(
    tests: tuple[float, ...], budget: float, margins: Margins, rule: CostRule, delta: float
) -> Vector:
    counts = np.asarray(tests, dtype=np.float64)
    even = _even_split(counts, budget, rule, delta)
    if counts.size == 1:
        return np.array([even])

    def objective(shares: Line) -> float:
        return error_bound(even * shares, margins)

    def left(shares: Line) -> list[float]:
        return [1 - cost(even * shares, counts, rule, delta) / budget]

    constraints = (
        NonlinearConstraint(left, 0, np.inf),
        LinearConstraint(np.eye(counts.size)[:-1] - np.eye(counts.size)[1:], 0, np.inf),
    )
    largest = math.sqrt(counts.sum() / counts[0]) if rule == "rho" else counts.sum() / counts[0]
    start = np.ones(counts.size)
    best, lowest = start, objective(start)
    # The bound is not convex, so start from the even split and from all budget on the first order.
    first = np.full(counts.size, 1e-3)
    first[0] = 0.9 * largest
    for guess in (start, first):
        minimum = minimize(
            objective,
            guess,
            method="SLSQP",
            bounds=[(1e-4, largest)] * counts.size,
            constraints=constraints,
            options={"maxiter": 200, "ftol": 1e-10},
        ).x
        shares = np.minimum.accumulate(np.clip(minimum, 1e-4, None))
        if not np.isfinite(shares).all():
            continue
        # Rounding may exceed the budget; scale back.
        over = cost(even * shares, counts, rule, delta) / budget
        if over > 1:
            shares = shares / over if rule != "rho" else shares / math.sqrt(over)
        if objective(shares) < lowest:
            best, lowest = shares, objective(shares)
    return np.asarray(even * best)


def _even_split(tests: Vector, budget: float, rule: CostRule, delta: float) -> float:
    """The ε at which all tests, with equal ε, together cost `budget`."""
    if rule == "epsilon":
        return budget / float(tests.sum())
    if rule == "rho":
        return math.sqrt(2 * budget / float(tests.sum()))
    linear = math.sqrt(2 * math.log(1 / delta)) * float(np.sqrt(tests).sum())
    square = float(tests.sum())
    return (math.sqrt(linear * linear + 4 * square * budget) - linear) / (2 * square)
