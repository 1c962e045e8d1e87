"""Minimise under h(W) = 0: an outer loop over penalties, an inner one that anyone may supply.

Plain NOTEARS solves each inner problem exactly (`exact_steps`); private forms take a few noisy
steps (`noisy_steps`).  Both share the penalised minimiser, and the rule by which ρ and α grow
(Zheng et al. 2018, Algorithm 1).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from threadpoolctl import ThreadpoolController

from privcore.score_based.acyclicity import acyclicity
from privcore.score_based.least_squares import linearised

Matrix = NDArray[np.float64]
Smooth = Callable[[Matrix], tuple[float, Matrix]]


class Penalty(NamedTuple):
    """λ|W|₁ + α h(W) + ρ h(W)²/2."""

    rho: float
    alpha: float
    sparsity: float


class Iteration(NamedTuple):
    """One outer iteration, for a convergence curve.

    objective: loss + λ|W|₁, NaN where knowing it would cost privacy.
    """

    objective: float
    h: float
    rho: float
    alpha: float


class Settings(NamedTuple):
    """When to stop, and how fast the penalty grows; the defaults are those of Zheng et al.

    sparsity: λ.  progress: ρ grows by `rho_factor` unless h fell to this share.
    """

    sparsity: float
    iterations: int = 100
    tolerance: float = 1e-8
    rho_factor: float = 10.0
    rho_limit: float = 1e16
    progress: float = 0.25


class Solution(NamedTuple):
    """weights: shape (d, d), zero diagonal.  converged: whether h fell to the tolerance."""

    weights: Matrix
    convergence: tuple[Iteration, ...]
    converged: bool


Inner = Callable[[Matrix, Penalty], Matrix]
Watch = Callable[[int, Iteration], None]


def solve(
    inner: Inner,
    nodes: int,
    settings: Settings,
    *,
    objective: Callable[[Matrix], float] = lambda _: math.nan,
    watch: Watch = lambda number, iteration: None,
) -> Solution:
    """Weights near h(W) = 0, from W = 0.

    inner: from weights and a penalty to better weights.
    objective: of the weights, without the penalties on h.
    watch: called after each iteration with its number from 1; what it raises ends the run.
    """
    with _linear_algebra().limit(limits=1, user_api="blas"):
        return _solve(inner, nodes, settings, objective, watch)


@cache
def _linear_algebra() -> ThreadpoolController:
    """Threads of the linear algebra: on small matrices more than one get in each other's way,
    a hundredfold where another process is busy too."""
    return ThreadpoolController()


def _solve(
    inner: Inner,
    nodes: int,
    settings: Settings,
    objective: Callable[[Matrix], float],
    watch: Watch,
) -> Solution:
    weights = np.zeros((nodes, nodes))
    rho, alpha, best = 1.0, 0.0, math.inf
    record: list[Iteration] = []
    for number in range(1, settings.iterations + 1):
        weights = inner(weights, Penalty(rho, alpha, settings.sparsity))
        h, _ = acyclicity(weights)
        record.append(Iteration(objective(weights), h, rho, alpha))
        watch(number, record[-1])
        if h <= settings.tolerance:
            return Solution(weights, tuple(record), True)
        alpha += rho * h
        if h > settings.progress * best:
            rho *= settings.rho_factor
        if rho > settings.rho_limit:
            break
        best = h
    return Solution(weights, tuple(record), False)


def minimise(smooth: Smooth, start: Matrix, penalty: Penalty, limit: float = math.inf) -> Matrix:
    """A local minimum of smooth(W) + λ|W|₁ + αh + ρh²/2 with |W| at most `limit`.

    W is split into W⁺ − W⁻, both at least 0, so that |W|₁ is smooth; the diagonal's bounds are 0.
    """
    nodes = len(start)

    def value(both: Matrix) -> tuple[float, Matrix]:
        plus, minus = both.reshape(2, nodes, nodes)
        weights = plus - minus
        loss, slope = smooth(weights)
        h, h_slope = acyclicity(weights)
        slope = slope + (penalty.alpha + penalty.rho * h) * h_slope
        total = loss + penalty.alpha * h + 0.5 * penalty.rho * h * h
        total += penalty.sparsity * float(both.sum())
        return total, np.concatenate(
            ((slope + penalty.sparsity).ravel(), (penalty.sparsity - slope).ravel())
        )

    upper = np.where(np.eye(nodes, dtype=bool), 0.0, limit).ravel()
    start = np.clip(start, -limit, limit)
    split = np.concatenate((np.maximum(start, 0).ravel(), np.maximum(-start, 0).ravel()))
    bounds = [(0.0, high) for high in np.concatenate((upper, upper))]
    found = minimize(value, split, jac=True, method="L-BFGS-B", bounds=bounds)
    plus, minus = found.x.reshape(2, nodes, nodes)
    return np.asarray(plus - minus)


def exact_steps(smooth: Smooth) -> Inner:
    """Each inner problem solved for a loss that may be looked at freely."""
    return partial(minimise, smooth)


def noisy_steps(
    gradient: Callable[[Matrix], Matrix], step: float, count: int, total: int, limit: float
) -> Inner:
    """Inner problems of `count` noisy gradients each, `total` in all; then weights stay.

    The penalties need no data, so each step minimises them exactly beside the linear model that
    the gradient gives; no loss, and no line search on it, is ever asked for.
    step: public step size, at most 2 over the largest eigenvalue of the second moments.
    """
    left = total

    def inner(weights: Matrix, penalty: Penalty) -> Matrix:
        nonlocal left
        for _ in range(min(count, left)):
            model = partial(linearised, gradient(weights), weights, step)
            weights = minimise(model, weights, penalty, limit)
            left -= 1
        return weights

    return inner
