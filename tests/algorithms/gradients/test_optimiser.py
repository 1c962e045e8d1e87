"""The augmented Lagrangian: against an independent solver, a search over orders, and the truth."""

from itertools import pairwise, permutations

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.optimize import minimize

from privcore.algorithms.gradients.common import strong_edges
from privcore.algorithms.gradients.optimiser import (
    Exhausted,
    Penalty,
    Settings,
    exact_steps,
    least_squares,
    limited_steps,
    minimise,
    noisy_steps,
    solve,
)
from privcore.data.structural import LinearGaussian, random_dag, random_weights
from privcore.errors import DataError
from tests.messages import raises_code


def equations(seed, nodes, density):
    """Weights and the covariance of columns whose noises all have variance 1."""
    dag = random_dag(nodes, density, np.random.default_rng([seed, 0]))
    weights = random_weights(dag, 0.7, 1.5, np.random.default_rng([seed, 1]))
    return dag, weights, LinearGaussian(dag, weights, 4.0).covariance


def notears(sigma, sparsity=0.02, **settings):
    return solve(
        exact_steps(lambda w: least_squares(sigma, w)), len(sigma), Settings(sparsity, **settings)
    )


def total(sigma, w, sparsity):
    return least_squares(sigma, w)[0] + sparsity * np.abs(w).sum()


def best_of_all_orders(sigma, sparsity):
    """The global optimum: lasso on all predecessors, for each of the d! orders."""
    d = len(sigma)
    best = np.inf
    for order in permutations(range(d)):
        w = np.zeros((d, d))
        for _ in range(100):
            for place, j in enumerate(order):
                for i in order[:place]:
                    w[i, j] = 0.0
                    pull = sigma[i, j] - sigma[i] @ w[:, j]
                    w[i, j] = np.sign(pull) * max(abs(pull) - sparsity, 0.0) / sigma[i, i]
        best = min(best, total(sigma, w, sparsity))
    return best


def slsqp(sigma, sparsity):
    """An independent NOTEARS: SLSQP with the constraint itself, and W split by hand."""
    d = len(sigma)
    off = ~np.eye(d, dtype=bool)
    k = d * (d - 1)

    def full(z):
        w = np.zeros((d, d))
        w[off] = z[:k] - z[k:]
        return w

    def cost(z):
        w = full(z)
        residual = np.eye(d) - w
        return 0.5 * np.trace(residual.T @ sigma @ residual) + sparsity * z.sum()

    def h(z):
        w = full(z)
        with np.errstate(over="ignore"):
            return 1e-7 - (np.trace(expm(w * w)) - d)

    # From W = 0 the constraint has no slope: start a little beside it, as our first step does.
    start = np.maximum(np.concatenate((sigma[off], -sigma[off])), 0) / sigma.diagonal().max() / 4
    found = minimize(
        cost,
        start,
        method="SLSQP",
        bounds=[(0, None)] * (2 * k),
        constraints=[{"type": "ineq", "fun": h}],
        options={"maxiter": 500, "ftol": 1e-9},
    )
    return found.fun


@pytest.mark.long
@pytest.mark.parametrize("graphs", [3, pytest.param(10, marks=pytest.mark.long)])
def test_against_slsqp_and_all_orders(graphs):
    """On ten graphs of 4 nodes: never below the optimum, mostly at it, and no worse than SLSQP."""
    ours, others, optimal = [], [], []
    for seed in range(graphs):
        _, _, sigma = equations(seed, 4, 0.5)
        solution = notears(sigma)
        assert solution.converged
        ours.append(total(sigma, solution.weights, 0.02))
        others.append(slsqp(sigma, 0.02))
        optimal.append(best_of_all_orders(sigma, 0.02))
    ours, others, optimal = np.array(ours), np.array(others), np.array(optimal)
    assert (ours >= optimal - 1e-3).all()
    assert (ours <= optimal + 1e-3).sum() >= 0.7 * graphs
    assert ours.mean() <= others.mean() + 1e-2


def test_without_constraint_and_penalty_it_is_the_proximal_step():
    start = np.zeros((3, 3))
    target = np.array([[9.0, 0.5, -0.2], [0.04, 9.0, 3.0], [-0.04, 0.0, 9.0]])
    found = minimise(
        lambda w: (0.5 * ((w - target) ** 2).sum(), w - target), start, Penalty(0, 0, 0.1), 2
    )
    expected = np.clip(np.sign(target) * np.maximum(np.abs(target) - 0.1, 0), -2, 2)
    np.fill_diagonal(expected, 0.0)
    assert found == pytest.approx(expected, abs=1e-4)


def test_the_record_and_the_stopping_rules():
    _, _, sigma = equations(1, 5, 0.6)
    seen = []
    solution = solve(
        exact_steps(lambda w: least_squares(sigma, w)),
        5,
        Settings(0.02),
        objective=lambda w: total(sigma, w, 0.02),
        watch=lambda number, iteration: seen.append((number, iteration)),
    )
    assert [number for number, _ in seen] == list(range(1, len(solution.convergence) + 1))
    assert tuple(iteration for _, iteration in seen) == solution.convergence
    rhos = [iteration.rho for iteration in solution.convergence]
    assert rhos == sorted(rhos)
    for before, after in pairwise(solution.convergence):
        assert after.alpha == pytest.approx(before.alpha + before.rho * before.h)
    assert solution.convergence[-1].h <= 1e-8
    assert solution.convergence[-1].objective == pytest.approx(total(sigma, solution.weights, 0.02))
    short = notears(sigma, iterations=2)
    assert not short.converged
    assert len(short.convergence) == 2
    assert len(notears(sigma, tolerance=-1.0).convergence) < 100


def test_a_search_is_asked_at_every_step_and_followed():
    _, _, sigma = equations(3, 6, 0.4)
    asked = []

    def search(weights, trials, penalty):
        asked.append((weights, trials, penalty))
        return trials[-1]

    inner = noisy_steps(lambda w: least_squares(sigma, w)[1], (0.01, 0.02), 4, 6, 3.0, search)
    found = solve(inner, 6, Settings(0.005, iterations=2, tolerance=-1.0))
    assert len(asked) == 6
    for before, after in pairwise(asked):
        assert after[0] is before[1][-1]
    assert found.weights is asked[-1][1][-1]
    assert [penalty.rho for _, _, penalty in asked[3:5]] == [1.0, found.convergence[1].rho]


def test_a_loss_that_ends_gives_what_was_found_before():
    _, _, sigma = equations(3, 6, 0.4)
    left = 40

    def limited(w):
        nonlocal left
        if not left:
            raise Exhausted
        left -= 1
        return least_squares(sigma, w)

    found = solve(limited_steps(limited, 3.0), 6, Settings(0.005))
    assert left == 0
    assert not found.converged
    assert len(found.convergence) >= 1
    assert np.abs(found.weights).max() > 0.3
    # Nothing at all can be found: the weights stay where they began.
    none = solve(limited_steps(limited, 3.0), 6, Settings(0.005))
    assert not none.weights.any()
    assert none.convergence == ()


def nearly_flat(bend):
    """A slope of −1 that hardly changes until weights of `bend`, where it turns steeply."""

    def smooth(weights):
        beyond = np.maximum(weights - bend, 0.0)
        value = (-weights + 5e-5 * weights**2 + 50 * beyond**2).sum()
        return float(value), -1 + 1e-4 * weights + 100 * beyond

    return smooth


def test_a_trial_so_long_that_the_constraint_overflows_is_no_failure():
    """What little the slope changes between two steps lets the next one be thousands long."""
    found = minimise(nearly_flat(2.0), np.zeros((2, 2)), Penalty(0.0, 0.0, 0.0))
    assert found[0, 1] == found[1, 0] == pytest.approx(2.01, abs=1e-3)


def test_a_minimum_out_of_reach_is_refused():
    with raises_code(DataError, "weights-overflow"):
        minimise(nearly_flat(1e3), np.zeros((2, 2)), Penalty(0.0, 0.0, 0.0))
    with raises_code(DataError, "weights-overflow"):
        minimise(nearly_flat(1e3), np.full((2, 2), 20.0), Penalty(0.0, 0.0, 0.0))


def test_cycles_lose_their_weakest_edge_only():
    w = np.zeros((4, 4))
    w[0, 1], w[1, 2], w[2, 0], w[0, 3], w[3, 0] = 0.9, -0.5, 0.4, 0.35, 0.8
    assert strong_edges(w, 0.3) == {(0, 1), (1, 2), (3, 0)}
    assert strong_edges(w, 0.6) == {(0, 1), (3, 0)}
    assert strong_edges(np.zeros((3, 3)), 0.0) == frozenset()
