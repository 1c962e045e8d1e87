"""Minimise a loss subject to h(W) = 0: an outer loop over penalties, with a choice of inner solver.

Plain NOTEARS solves each inner problem exactly (`exact_steps`); private forms take a few noisy
steps (`noisy_steps`). The penalised minimiser and the rule by which ρ and α grow are the same for
all forms (Zheng et al. 2018, Algorithm 1). A run ends early if a loss raises `Exhausted`.

The least-squares loss of a linear structural equation model, from second moments alone.

With rows x and x ≈ Wᵀx + noise, the mean over the rows of ½|x − Wᵀx|² is
½ tr((I − W)ᵀ M (I − W)), where M is the mean of xxᵀ: the rows are not needed
(Zheng et al. 2018, Section 3.1).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.linalg import expm
from scipy.optimize import minimize

from privcore.algorithms.search.result import Iteration
from privcore.arrays import Matrix
from privcore.errors import DataError
from privcore.threads import one_thread


def least_squares(moments: Matrix, weights: Matrix) -> tuple[float, Matrix]:
    """The loss, in squared units of the columns, and its gradient −M(I − W), shape (d, d).

    moments: M, symmetric positive semi-definite, shape (d, d).
    weights: W[i, j] is the weight of the edge i → j, shape (d, d).
    """
    residual = np.eye(len(weights)) - weights
    product = moments @ residual
    return 0.5 * float((residual * product).sum()), -product


def linearised(gradient: Matrix, at: Matrix, step: float, weights: Matrix) -> tuple[float, Matrix]:
    """Local model ⟨g, W − A⟩ + |W − A|²/(2 step) of a loss, and the gradient of this model.

    gradient: g, the gradient of the loss at A.
    """
    moved = weights - at
    value = float((gradient * moved).sum() + (moved * moved).sum() / (2 * step))
    return value, gradient + moved / step


# The exponential of weights within `safe_weight` is at most e to this power, so its square is
# finite.
_EXPONENT = 300.0


class WeightsTooLarge(DataError):
    """The weights are so large that the acyclicity constraint overflows."""


def safe_weight(nodes: int) -> float:
    """Largest weight for which neither h(W) nor its square overflows."""
    return math.sqrt(_EXPONENT / nodes)


def acyclicity(weights: Matrix) -> tuple[float, Matrix]:
    """The constraint h(W) = tr(exp(W∘W)) − d and its gradient exp(W∘W)ᵀ∘2W, shape (d, d).

    h is 0 if and only if the graph of non-zero weights has no cycle (Zheng et al. 2018, Theorem 1).
    Raises WeightsTooLarge if the exponential overflows, as for weights above about 20 on a cycle.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        exponential = expm(weights * weights)
        gradient = np.asarray(exponential.T * 2 * weights)
    value = float(np.trace(exponential)) - len(weights)
    if not (np.isfinite(value) and np.isfinite(gradient).all()):
        raise WeightsTooLarge("weights-overflow")
    # Rounding may make a sum of non-negative terms negative.
    return max(value, 0.0), gradient


Smooth = Callable[[Matrix], tuple[float, Matrix]]


class Penalty(NamedTuple):
    """The penalty λ|W|₁ + α h(W) + ρ h(W)²/2; sparsity: λ."""

    rho: float
    alpha: float
    sparsity: float

    def of(self, weights: Matrix) -> float:
        """The value of the penalty, which needs no data."""
        h, _ = acyclicity(weights)
        lasso = self.sparsity * float(np.abs(weights).sum())
        return lasso + self.alpha * h + 0.5 * self.rho * h * h


class Settings(NamedTuple):
    """The stopping rule and the growth of the penalty; the defaults follow Zheng et al. (2018).

    sparsity: λ. progress: if h is above this share of its last value, ρ is multiplied by
    `rho_factor`.
    """

    sparsity: float
    iterations: int = 100
    tolerance: float = 1e-8
    rho_factor: float = 10.0
    rho_limit: float = 1e16
    progress: float = 0.25


class Solution(NamedTuple):
    """The result of `solve`.

    weights: shape (d, d), zero diagonal.  converged: whether h fell to the tolerance.
    """

    weights: Matrix
    convergence: tuple[Iteration, ...]
    converged: bool


class Exhausted(Exception):
    """Raised by a loss function that must not be evaluated again."""


Inner = Callable[[Matrix, Penalty], Matrix]
Watch = Callable[[int, Iteration], None]
Search = Callable[[Matrix, Sequence[Matrix], Penalty], Matrix]


def solve(
    inner: Inner,
    nodes: int,
    settings: Settings,
    *,
    objective: Callable[[Matrix], float] = lambda _: math.nan,
    watch: Watch = lambda number, iteration: None,
) -> Solution:
    """Minimise a loss over weights with h(W) near 0, starting from W = 0.

    inner: maps weights and a penalty to better weights, or raises Exhausted if it cannot find any.
    objective: returns the objective at the weights, without the penalties on h; used only for the
    record of convergence. watch: called after each iteration with the iteration's number (from 1)
    and values; an exception raised by `watch` ends the run.
    """
    with one_thread():
        return _solve(inner, nodes, settings, objective, watch)


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
        try:
            weights = inner(weights, Penalty(rho, alpha, settings.sparsity))
        except Exhausted:
            break
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


def minimise(
    smooth: Smooth,
    start: Matrix,
    penalty: Penalty,
    limit: float | Matrix = math.inf,
    keep: Callable[[Matrix], None] = lambda weights: None,
) -> Matrix:
    """A local minimum of smooth(W) + λ|W|₁ + αh + ρh²/2 with |W| at most `limit`.

    limit: one bound for all weights, or a bound for each weight, shape (d, d). smooth: returns the
    loss and its gradient; an exception that `smooth` raises ends the search. keep: called with the
    weights after each iteration.

    If columns are collinear, the loss is flat, and the first trial step may be so long that h
    overflows. The search then restarts with bounds on the weights within which h cannot overflow.
    """
    try:
        return _minimised(smooth, start, penalty, limit, keep)
    except WeightsTooLarge:
        safe = safe_weight(len(start))
        if np.max(limit) <= safe:
            raise
        stationary = _minimised(smooth, start, penalty, np.minimum(limit, safe), keep)
        # A minimum inside the narrower limit is also one without it; at the limit, it may not be.
        if np.abs(stationary).max() >= safe:
            raise
        return stationary


def _minimised(
    smooth: Smooth,
    start: Matrix,
    penalty: Penalty,
    limit: float | Matrix,
    keep: Callable[[Matrix], None],
) -> Matrix:
    """W is split into W⁺ − W⁻, both at least 0, so that |W|₁ is smooth; the diagonal is 0."""
    nodes = len(start)

    def joined(both: Matrix) -> Matrix:
        plus, minus = both.reshape(2, nodes, nodes)
        return np.asarray(plus - minus)

    def value(both: Matrix) -> tuple[float, Matrix]:
        weights = joined(both)
        loss, slope = smooth(weights)
        h, h_slope = acyclicity(weights)
        # A step that is far too long makes these infinite, and the line search shortens it.
        with np.errstate(over="ignore"):
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
    minimum = minimize(
        value,
        split,
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        callback=lambda both: keep(joined(both)),
    )
    return joined(minimum.x)


def exact_steps(smooth: Smooth, limit: float | Matrix = math.inf) -> Inner:
    """An inner solver for a loss that may be evaluated any number of times."""
    return partial(minimise, smooth, limit=limit)


def limited_steps(smooth: Smooth, limit: float | Matrix) -> Inner:
    """An inner solver that returns its last weights if the loss raises Exhausted."""

    def inner(weights: Matrix, penalty: Penalty) -> Matrix:
        best = None

        def keep(iterate: Matrix) -> None:
            nonlocal best
            best = iterate

        try:
            return minimise(smooth, weights, penalty, limit, keep)
        except Exhausted:
            if best is None:
                raise
            return best

    return inner


def noisy_steps(
    gradient: Callable[[Matrix], Matrix],
    steps: Sequence[float],
    count: int,
    total: int,
    limit: float | Matrix,
    search: Search | None = None,
) -> Inner:
    """An inner solver that takes `count` noisy gradient steps per call, and at most `total` in all.

    The penalties need no data, so each step minimises them exactly, together with a local model of
    the loss based on the noisy gradient.

    gradient: returns the noisy gradient at the weights.
    steps: public step sizes to try, at most 2 divided by the largest eigenvalue of the second
        moments.
    search: chooses among the resulting weights; not needed for a single step size.
    """
    left = total

    def inner(weights: Matrix, penalty: Penalty) -> Matrix:
        nonlocal left
        for _ in range(min(count, left)):
            slope = gradient(weights)
            trials = [
                minimise(partial(linearised, slope, weights, step), weights, penalty, limit)
                for step in steps
            ]
            weights = search(weights, trials, penalty) if search else trials[0]
            left -= 1
        return weights

    return inner
