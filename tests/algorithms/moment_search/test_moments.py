"""Estimates from several releases: least squares, with the variances that it has."""

from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from privcore import kernels
from privcore.algorithms.moment_search.moments import Moments, sum_zero_basis
from privcore.privacy.mechanisms import SimulatedNoise
from tests.algorithms.moment_search.releasing import release_pairs, release_tables
from tests.examples import examples

LEVELS = (2, 3, 2)
CELLS = 12


class Counts:
    """Counts of a table written out; all that a release asks of a source."""

    def __init__(self, table):
        self.full, self.levels, self.n = table, table.shape, int(table.sum())

    def table(self, columns):
        others = tuple(c for c in range(self.full.ndim) if c not in columns)
        kept = sorted(columns)
        return self.full.sum(axis=others).transpose([kept.index(c) for c in columns])


def drawn(seed, levels=LEVELS):
    return Counts(np.random.default_rng(seed).integers(0, 50, levels))


def released(source, seed, sigma=20.0, sets=(((0, 1, 2), 7.0), ((0, 2), 3.0))):
    found = release_pairs(source, sigma, SimulatedNoise(seed))
    for number, (columns, deviation) in enumerate(sets):
        release_tables(found, source, [columns], deviation, SimulatedNoise([seed, number]))
    return found


@settings(max_examples=examples(30), deadline=None)
@given(
    levels=st.lists(st.integers(2, 4), min_size=2, max_size=4),
    seed=st.integers(0, 1_000),
)
def test_without_noise_tables_are_those_of_the_data(levels, seed):
    source = drawn(seed, tuple(levels))
    found = released(source, 1, 0.0, [(tuple(range(len(levels))), 0.0)])
    for size in (1, 2, len(levels)):
        for columns in permutations(range(len(levels)), size):
            assert found.table(columns) == pytest.approx(source.table(columns), abs=1e-6)
            assert found.cell_variance(columns) == 0


def marginal_of(columns):
    """Sums of the cells: (levels of the columns flat, CELLS)."""
    cells = np.eye(CELLS).reshape(*LEVELS, CELLS)
    others = tuple(c for c in range(3) if c not in columns)
    return cells.sum(axis=others).reshape(-1, CELLS)


def design(sigma, sets):
    """What is released as functions of the cells, and the precision of each."""
    rows, weights = [], []
    for size in (1, 2):
        for columns in combinations(range(3), size):
            codes = sum_zero_basis(LEVELS[columns[0]]).T
            for c in columns[1:]:
                codes = np.kron(codes, sum_zero_basis(LEVELS[c]).T)
            rows.append(codes @ marginal_of(columns))
            weights += [sigma**-2] * len(codes)
    for columns, deviation in sets:
        rows.append(marginal_of(columns))
        weights += [deviation**-2] * len(rows[-1])
    return np.vstack(rows), np.array(weights)


def covariance(sigma, sets):
    """Covariance of the cells' noise, by least squares with the number of rows known."""
    matrix, weights = design(sigma, sets)
    free = sum_zero_basis(CELLS)
    among = (matrix @ free).T @ (weights[:, None] * (matrix @ free))
    return free @ np.linalg.inv(among) @ free.T


@pytest.mark.parametrize("sigma", [3.0, 20.0, 200.0])
def test_variances_are_those_of_least_squares(sigma):
    """No better unbiased estimate exists: Gauss and Markov."""
    sets = (((0, 1, 2), 7.0), ((0, 2), 3.0), ((1, 2), 50.0))
    found = released(drawn(1), 0, sigma, sets)
    expected = covariance(sigma, sets)
    for size in (1, 2, 3):
        for columns in combinations(range(3), size):
            of_cells = marginal_of(columns) @ expected @ marginal_of(columns).T
            assert np.diag(of_cells) == pytest.approx(found.cell_variance(columns))


@pytest.mark.parametrize(("within", "fixed"), [((1,), (0, 2)), ((0, 1), (2,)), ((1, 2), (0,))])
def test_noise_of_strata_is_that_of_least_squares(within, fixed):
    sigma, sets = 20.0, (((0, 1, 2), 7.0), ((0, 2), 3.0))
    found = released(drawn(2), 0, sigma, sets)
    expected = covariance(sigma, sets)
    levels = np.array([LEVELS[c] for c in within])
    codes = np.eye(levels.prod())
    for column in fixed:
        codes = np.kron(codes, sum_zero_basis(LEVELS[column]).T)
    order = np.arange(CELLS).reshape(LEVELS).transpose(*within, *fixed).ravel()
    of_strata = codes @ expected[np.ix_(order, order)] @ codes.T
    variances = found.variances((*fixed, *within))[(1,) * len(fixed)].reshape(1, -1)
    between_strata = kernels.table_tests.between_strata
    ((*between,),) = between_strata(np.ascontiguousarray(variances), levels)
    strata = np.array(np.unravel_index(np.arange(levels.prod()), levels)).T
    agreeing = (strata[:, None] == strata) @ (1 << np.arange(len(levels))[::-1])
    assert np.array(between)[agreeing] == pytest.approx(of_strata)
    assert between[-1] == pytest.approx(found.stratum_variance(within, fixed))


def test_noise_is_of_the_size_that_is_said():
    """Fails by chance less than twice in a million runs."""
    source = drawn(3)
    exact = source.table([0, 2]).astype(float)
    expected = np.linalg.pinv(
        marginal_of((0, 2))
        @ covariance(20.0, (((0, 1, 2), 7.0), ((0, 2), 3.0)))
        @ marginal_of((0, 2)).T
    )
    squares = 0.0
    for seed in range(400):
        error = (released(source, seed).table([0, 2]) - exact).ravel()
        squares += float(error @ expected @ error)
    assert 1e-6 < chi2.cdf(squares, 3 * 400) < 1 - 1e-6


def test_order_of_columns_does_not_matter():
    found = released(drawn(4), 0)
    assert found.table([2, 0, 1]) == pytest.approx(found.table([0, 1, 2]).transpose(2, 0, 1))
    assert found.covers([2, 1, 0])
    assert not Moments(10, LEVELS).covers([0, 1])
    assert found.variance(2, 0) == found.variance(0, 2)
