"""Tests on noisy counts: the classical ones without noise, and a level that holds with it."""

import numpy as np
import pytest
from scipy.stats import binom, chi2_contingency, kstest

from privcore.algorithms.moment_search.evidence import LevelTests, TableEvidence
from privcore.algorithms.moment_search.measure import choose_tables
from privcore.privacy.mechanisms import SimulatedNoise
from tests.algorithms.moment_search.releasing import (
    LEVELS,
    StrataTests,
    counted,
    data,
    of_pairs,
    of_tables,
    release_tables,
)
from tests.examples import few


@pytest.mark.parametrize(("x", "y"), [(0, 1), (1, 2), (2, 3)])
def test_without_noise_pairs_give_pearson_s_chi_squared(x, y):
    source = data(1)
    expected = chi2_contingency(source.table([x, y]), correction=False)
    for found in (
        LevelTests(of_pairs(source)).test(x, y),
        StrataTests(of_tables(source, [(0, 1, 2, 3)])).test(x, y),
    ):
        assert found.value == pytest.approx(expected.statistic)
        assert found.dof == pytest.approx(expected.dof)
        assert found.p_value == pytest.approx(expected.pvalue)


def test_without_noise_a_linear_test_is_that_of_regression_residuals():
    source, n = data(2), 4_000
    rows = np.repeat(np.column_stack(source._configurations), source._multiplicities, axis=0)
    hot = [np.eye(r)[rows[:, k]][:, 1:] for k, r in enumerate(LEVELS)]
    known = np.column_stack([np.ones(n), hot[1], hot[3]])
    left = [h - known @ np.linalg.lstsq(known, h, rcond=None)[0] for h in (hot[0], hot[2])]
    inner = [np.linalg.inv(a.T @ a) for a in left]
    across = left[0].T @ left[1]
    expected = n * np.trace(inner[0] @ across @ inner[1] @ across.T)
    found = LevelTests(of_pairs(source)).test(0, 2, (1, 3))
    assert found.value == pytest.approx(expected)
    assert found.dof == pytest.approx(3)


def test_without_noise_strata_add_up():
    source = data(3)
    strata = source.table([3, 1, 0, 2]).reshape(-1, 2, 4)
    expected = [chi2_contingency(s, correction=False) for s in strata]
    found = StrataTests(of_tables(source, [(0, 1, 2, 3)])).test(0, 2, (1, 3))
    assert found.value == pytest.approx(sum(e.statistic for e in expected))
    assert found.dof == pytest.approx(sum(e.dof for e in expected))


def test_without_noise_the_score_is_a_penalised_deviance():
    source = data(4)
    evidence = TableEvidence(of_tables(source, [(0, 1, 2)]), penalty=7.0)
    joint = source.table([0, 1, 2]).reshape(6, 4)
    expected = chi2_contingency(joint, correction=False, lambda_="log-likelihood")
    assert evidence.tabulated_score(2, [0, 1]) == pytest.approx(
        expected.statistic - 7 * expected.dof
    )
    assert evidence.score(2, frozenset()) == 0


@pytest.mark.long
@pytest.mark.parametrize("ratio", [pytest.param(0.3, marks=pytest.mark.long), 3.0])
@pytest.mark.parametrize(
    "given", [*(pytest.param(g, marks=pytest.mark.long) for g in ((), (1,))), (1, 3)]
)
@pytest.mark.parametrize("kind", few(["pairs", "table", "all, linear", "all, strata"], 2))
def test_the_level_holds_when_the_noise_is_large(ratio, given, kind):
    """Independent columns, noise of `ratio` times the sampling variance and more.

    Fails by chance less than once in a million runs, were the p-values uniform.
    """
    n, runs = 20_000, 400
    levels = (2, 3, 4, 2)
    source = data(5, n, levels, linked=False)
    sigma = np.sqrt(ratio * n) / 4
    p_values = []
    for seed in range(runs):
        fresh = data(1_000 + seed, n, levels, linked=False) if seed % 4 == 0 else source
        source = fresh
        if kind == "pairs":
            tests = LevelTests(of_pairs(fresh, sigma, seed))
        elif kind == "table":
            tests = StrataTests(of_tables(fresh, [(0, 1, 2, 3)], sigma / 4, seed))
        else:
            both = of_pairs(fresh, sigma, seed)
            for number, columns in enumerate([(0, 1, 2, 3), (0, 2, 3)]):
                noise = SimulatedNoise(seed + 10_000 * (number + 1))
                release_tables(both, fresh, [columns], sigma / 4, noise)
            tests = (LevelTests if kind == "all, linear" else StrataTests)(both)
        p_values.append(tests.test(0, 2, given).p_value)
    false = sum(p < 0.05 for p in p_values)
    assert binom.sf(false - 1, runs, 0.05) > 1e-6
    assert binom.cdf(false, runs, 0.05) > 1e-6
    assert kstest(p_values[::4], "uniform").pvalue > 1e-6


def test_tables_hold_each_column_with_its_strongest_neighbours():
    around = {0: {1, 2, 3}, 1: {0}, 2: {0, 3}, 3: {0, 2}}
    strength = {(0, 1): 1.0, (0, 2): 3.0, (0, 3): 2.0, (2, 3): 1.0}

    def strong(x, y):
        return strength[(min(x, y), max(x, y))]

    def chosen(cells, dag=(frozenset(),) * 4):
        return choose_tables(around, dag, strong, (2, 2, 2, 2), cells)

    assert chosen(16) == [(0, 1, 2, 3)]
    # Only two fit beside column 0; the third comes on a table of its own.
    assert chosen(8) == [(0, 1), (0, 2, 3)]
    assert chosen(4) == [(0, 1), (0, 2), (0, 3), (2, 3)]
    assert chosen(3) == []
    # The parents of column 3 in a DAG are counted with it, where they fit.
    causes = (frozenset(), frozenset(), frozenset(), frozenset({0, 1}))
    assert chosen(8, causes) == [(0, 1, 3), (0, 2, 3)]
    assert chosen(4, causes) == [(0, 1), (0, 2), (0, 3), (2, 3)]


@pytest.mark.parametrize(
    ("levels", "tables"),
    [
        # A sixth column of four levels would make 4,096 cells of 1,024.
        (4, [(0, 1, 2, 3, 4), (0, 5, 6)]),
        # Four columns may have more, since no smaller table holds what they say together.
        (20, [(0, 1, 2, 3), (0, 4, 5, 6)]),
        # Never more than what can be read through the noise.
        (40, [(0, 1, 2), (0, 3, 4), (0, 5, 6)]),
    ],
)
def test_tables_of_many_columns_are_kept_small(levels, tables):
    around = {0: set(range(1, 7))}
    nothing = (frozenset(),) * 7
    chosen = choose_tables(around, nothing, lambda x, y: -max(x, y), (levels,) * 7, 1_000_000)
    assert chosen == tables


def test_a_gate_leaves_nothing_to_test_with():
    """Given the inputs of an OR its output cannot depend on anything; that is said, not hidden."""
    generator = np.random.default_rng(8)
    a, b = (generator.random(3_000) < 0.4 for _ in range(2))
    gate = a | b
    effect = np.where(generator.random(3_000) < 0.9, gate, ~gate)
    source = counted((a, b, gate, effect), (2, 2, 2, 2))
    tables = StrataTests(of_tables(source, [(0, 1, 2, 3)]))
    given_inputs = tables.test(2, 3, (0, 1))
    assert given_inputs.p_value > 0.01
    assert given_inputs.residual_share == pytest.approx(0)
    assert tables.test(2, 3).residual_share == pytest.approx(1)
    pairs = LevelTests(of_pairs(source))
    assert pairs.test(2, 3).residual_share == pytest.approx(1)
    share = 1 - np.corrcoef(gate, a)[0, 1] ** 2
    assert pairs.test(2, 3, (0,)).residual_share == pytest.approx(
        share * (1 - np.corrcoef(effect, a)[0, 1] ** 2)
    )


def test_tests_of_a_column_with_all_others_are_those_of_each_pair():
    source = data(4, 3_000, (2, 3, 4, 2, 3, 2))
    for sigma in (0.0, 5.0, 300.0):
        released = of_pairs(source, sigma)
        together = LevelTests(released)
        for y, conditioning_set in ((0, ()), (3, (1,)), (5, (0, 2))):
            row = together.tests_of(y, conditioning_set)
            for x in range(6):
                if x in (y, *conditioning_set):
                    assert row.one(x).p_value == row.p_values[x] == 1.0
                    continue
                # Other tests know nothing of the row.
                alone = LevelTests(released).test(x, y, conditioning_set)
                assert row.one(x) == pytest.approx(alone)
                assert row.p_values[x] == pytest.approx(alone.p_value)
                assert together.test(x, y, conditioning_set) == pytest.approx(alone)
