"""NOTEARS against a second implementation, written from the equations of Zheng et al. 2018.

It works on the rows, splits W = W⁺ − W⁻, and follows Algorithm 1: for a fixed α, ρ grows until h
has fallen to a quarter, and only then α does.  It shares nothing with ours but scipy.
"""

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.optimize import approx_fprime, minimize

from privcore.algorithms import discover
from privcore.counts import NumericRows

NODES, EDGES, ROWS, SPARSITY, THRESHOLD = 10, 10, 1_000, 0.1, 0.3


def erdos_renyi(seed):
    """ER1: 10 nodes, 10 edges expected, weights ±U(0.5, 2), standard normal noise, 1,000 rows."""
    generator = np.random.default_rng([seed, 99])
    order = generator.permutation(NODES)
    upper = np.triu(generator.random((NODES, NODES)) < 2 * EDGES / (NODES * (NODES - 1)), 1)
    sizes = generator.uniform(0.5, 2.0, (NODES, NODES)) * generator.choice((-1, 1), (NODES, NODES))
    weights = np.zeros((NODES, NODES))
    weights[np.ix_(order, order)] = upper * sizes
    noise = generator.standard_normal((ROWS, NODES))
    return weights, noise @ np.linalg.inv(np.eye(NODES) - weights)


def lagrangian(x, rho, alpha):
    """F of Equation 11 for stacked (W⁺, W⁻), and its gradient."""
    n, d = x.shape

    def function(both):
        w = both[: d * d].reshape(d, d) - both[d * d :].reshape(d, d)
        error = x - x @ w
        exponential = expm(w * w)
        h = np.trace(exponential) - d
        value = (error**2).sum() / (2 * n) + rho / 2 * h * h + alpha * h + SPARSITY * both.sum()
        slope = -x.T @ error / n + (rho * h + alpha) * exponential.T * 2 * w
        return value, np.concatenate(((slope + SPARSITY).ravel(), (SPARSITY - slope).ravel()))

    return function


def second_notears(x):
    d = x.shape[1]
    bounds = [(0, 0) if i == j else (0, None) for _ in range(2) for i in range(d) for j in range(d)]
    both, rho, alpha, h = np.zeros(2 * d * d), 1.0, 0.0, np.inf
    w = np.zeros((d, d))
    while h > 1e-8 and rho < 1e16:
        while rho < 1e16:
            found = minimize(
                lagrangian(x, rho, alpha), both, jac=True, method="L-BFGS-B", bounds=bounds
            ).x
            w = (found[: d * d] - found[d * d :]).reshape(d, d)
            now = np.trace(expm(w * w)) - d
            if now <= 0.25 * h:
                break
            rho *= 10
        both, h = found, now
        alpha += rho * h
    return w


def objective(x, w):
    return ((x - x @ w) ** 2).sum() / (2 * len(x)) + SPARSITY * np.abs(w).sum()


def distance(w, truth):
    """Structural Hamming distance: pairs whose edge is missing, extra or the other way round."""
    found, true = np.abs(w) > THRESHOLD, truth != 0
    wrong = (found != true) | (found != true).T
    return int(np.triu(wrong, 1).sum())


def test_its_gradient_is_that_of_finite_differences():
    _, x = erdos_renyi(0)
    both = np.random.default_rng(1).uniform(0, 0.3, 2 * NODES * NODES)
    function = lagrangian(x, 3.0, 0.5)
    numeric = approx_fprime(both, lambda b: function(b)[0], 1e-6)
    assert function(both)[1] == pytest.approx(numeric, rel=1e-3, abs=1e-3)


@pytest.mark.long
def test_both_find_graphs_of_the_same_quality():
    """Ten random graphs: the same mean Hamming distance within a quarter of an edge, a mean
    objective no worse by more than 1e-3 of it, and the same graph on at least nine."""
    ours, theirs, costs, agreeing = [], [], [], 0
    for seed in range(10):
        truth, x = erdos_renyi(seed)
        x = x - x.mean(axis=0)
        # Ours divides all columns by the root of their mean variance; λ and bounds follow.
        scale = np.sqrt((x**2).mean())
        half = np.full(NODES, np.abs(x).max())
        bounds = tuple((-float(h), float(h)) for h in half)
        source = NumericRows(tuple(f"X{i}" for i in range(NODES)), bounds, x / half)
        given = {"sparsity": SPARSITY / scale**2, "weight_threshold": THRESHOLD}
        found = discover(source, "notears", given).weights
        other = second_notears(x)
        assert np.trace(expm(found * found)) - NODES <= 1e-7
        ours.append(distance(found, truth))
        theirs.append(distance(other, truth))
        costs.append((objective(x, found), objective(x, other)))
        agreeing += int(((np.abs(found) > THRESHOLD) == (np.abs(other) > THRESHOLD)).all())
    mine, reference = np.array(costs).mean(axis=0)
    assert mine <= reference * (1 + 1e-3)
    assert abs(np.mean(ours) - np.mean(theirs)) <= 0.25
    assert np.mean(ours) <= 1
    assert agreeing >= 9
