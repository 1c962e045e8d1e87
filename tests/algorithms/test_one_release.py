"""LapMech and PrivPC*: noise once, then PC."""

import numpy as np
import pytest

from privcore.algorithms import count, discover
from privcore.algorithms.privpc_star import noise_variance, positive
from privcore.counts.tables import NoisyTable
from privcore.data import StructuralExample
from privcore.errors import DataError, ParameterError
from privcore.graphs import PDAG
from privcore.independence.linear_scores import covariance, partial_correlation
from privcore.privacy.mechanisms import SimulatedNoise
from privcore.privacy.mechanisms.gaussian import analytic_sigma
from privcore.privacy.mechanisms.moments import l1_sensitivity, l2_sensitivity
from tests.messages import says, shows


@pytest.fixture(scope="module")
def numbers():
    return count(StructuralExample("linear-gaussian", nodes=8, density=0.3).sample(20_000, 3))


def release(result):
    return next(step for step in result.trace if step.phase == "release")


@pytest.mark.parametrize("noise", ["discrete", "laplace"])
def test_lapmech_s_scale_is_two_over_epsilon(asia, noise):
    for calibration, scale in (("proven", 2 / 0.5), ("published", 1 / 0.5)):
        given = {"epsilon": 0.5, "table_noise": noise, "calibration": calibration}
        result = discover(asia, "lapmech", given, seed=1)
        assert release(result).noise_scale == pytest.approx(scale)
        assert (result.guarantee.epsilon, result.guarantee.delta) == (0.5, 0.0)
    assert not result.guarantee.holds


def test_marginals_of_a_noisy_table_are_summed_before_they_are_cut_off():
    table = np.array([[[-3.0, 5.4], [0.0, 2.0]], [[7.0, -0.6], [1.0, 1.0]]])
    source = NoisyTable(("a", "b", "c"), table, 12)
    assert source.table([0]).tolist() == [4, 8]
    assert source.table([2, 0]).tolist() == [[0, 8], [7, 0]]
    strata = source.conditional_tables(0, 1, (2,))
    assert strata.tolist() == [[[0, 0], [7, 1]], [[5, 2], [0, 1]]]
    with pytest.raises(DataError, match=says("no-rows-to-draw")):
        source.subsample(2, SimulatedNoise(1))


def test_privpc_star_s_noise_is_that_derived(numbers):
    p, n = 8, numbers.n
    cases = [
        ({"mechanism": "laplace"}, l1_sensitivity(p, n, centred=True) / 0.7, 0.0),
        (
            {"mechanism": "laplace", "centring": "middle"},
            l1_sensitivity(p, n, centred=False) / 0.7,
            0.0,
        ),
        (
            {"radius": 0.5},
            analytic_sigma(l2_sensitivity(p, n, centred=True, radius=0.5 * p**0.5), 0.7, 1e-6),
            1e-6,
        ),
        ({"radius": 1.0}, analytic_sigma(l2_sensitivity(p, n, centred=True), 0.7, 1e-6), 1e-6),
        ({"calibration": "published"}, p * (p + 1) / (2 * (n - 1)) / 0.7, 0.0),
    ]
    for given, scale, delta in cases:
        result = discover(numbers, "privpc-star", {"epsilon": 0.7, **given}, seed=1)
        assert release(result).noise_scale == pytest.approx(pytest.approx(scale))
        assert (result.guarantee.epsilon, result.guarantee.delta) == (0.7, delta)
        assert shows(result.guarantee.public, "names-and-bounds-public")


def test_gaussian_noise_needs_a_delta(numbers):
    with pytest.raises(ParameterError, match=says("gaussian-needs-delta")):
        discover(numbers, "privpc-star", {"delta": 0.0}, seed=1)


def test_fisher_z_pc_finds_the_graph_of_linear_data():
    example = StructuralExample("linear-gaussian", nodes=8, density=0.25, graph_seed=4)
    data = example.sample(100_000, 1)
    found = discover(data, "pc", {"threshold": 1e-4, "max_order": "auto"})
    truth = PDAG.from_names(data.names, data.true_edges)
    assert found.graph.skeleton == truth.skeleton


def test_partial_correlations_agree_with_regression(numbers):
    generator = np.random.default_rng(1)
    x = generator.normal(size=(500, 5)) @ generator.normal(size=(5, 5))
    full = np.column_stack((np.ones(500), x))
    sigma = covariance(full.T @ full / 500)
    for given in ((), (2,), (2, 3, 4)):
        design = np.column_stack((np.ones(500), x[:, list(given)]))
        residuals = x[:, :2] - design @ np.linalg.lstsq(design, x[:, :2], rcond=None)[0]
        expected = np.corrcoef(residuals.T)[0, 1]
        assert partial_correlation(sigma, 0, 1, given) == pytest.approx(expected, abs=1e-9)


def test_columns_determined_by_others_do_no_harm():
    sigma = np.array([[1.0, 1.0, 0.5], [1.0, 1.0, 0.5], [0.5, 0.5, 1.0]])
    assert partial_correlation(sigma, 0, 2, (1,)) == 0.0
    assert partial_correlation(sigma, 0, 1, ()) == 1.0


def test_eigenvalues_are_raised_to_the_floor():
    matrix = np.array([[1.0, 2.0], [2.0, 1.0]])
    assert np.linalg.eigvalsh(positive(matrix, 0.1)).min() == pytest.approx(0.1)
    good = np.array([[2.0, 0.3], [0.3, 1.0]])
    assert positive(good, 0.1) == pytest.approx(good)


@pytest.mark.long
@pytest.mark.parametrize("given", [(), (2,), (2, 3)])
def test_the_noise_s_variance_is_that_of_simulation(given):
    """Against 4,000 noisy matrices; the standard error of a variance is about 2.2 %."""
    generator = np.random.default_rng(3)
    loading = generator.normal(size=(5, 5))
    sigma = loading @ loading.T + np.eye(5)
    # Make the pair independent given the columns, so that the first-order formula is exact.
    inverse = np.linalg.inv(sigma[np.ix_([0, 1, *given], [0, 1, *given])])
    inverse[0, 1] = inverse[1, 0] = 0.0
    sigma[np.ix_([0, 1, *given], [0, 1, *given])] = np.linalg.inv(inverse)
    deviation = 1e-4
    drawn = []
    for _ in range(4_000):
        noise = np.triu(generator.normal(scale=deviation, size=(5, 5)))
        noisy = sigma + noise + np.triu(noise, 1).T
        drawn.append(partial_correlation(noisy, 0, 1, given))
    assert np.var(drawn) == pytest.approx(noise_variance(sigma, deviation, 0, 1, given), rel=0.1)


def test_a_null_that_knows_the_noise_keeps_independent_pairs_apart():
    """Ten independent columns, ε = 0.5: at level .05 about 5 % of 45 pairs, not most of them."""
    data = count(StructuralExample("linear-gaussian", density=0.0).sample(5_000, 1))
    kept = {
        null: np.mean(
            [
                len(
                    discover(
                        data,
                        "privpc-star",
                        {"epsilon": 0.5, "null": null, "max_order": 0},
                        seed=seed,
                    ).graph.skeleton
                )
                for seed in range(20)
            ]
        )
        for null in ("sampling", "sampling and noise")
    }
    assert kept["sampling and noise"] < 5
    assert kept["sampling"] > 25


def test_regressions_are_the_same_when_shared():
    source = count(StructuralExample("linear-gaussian", 6, 0.5, 1).sample(500, 1))
    sigma = positive(source.moments()[1:, 1:], 1e-3)
    known = {}
    generator = np.random.default_rng(0)
    for _ in range(200):
        x, y, *given = generator.permutation(6)[: generator.integers(2, 6)].tolist()
        alone = noise_variance(sigma, 0.1, x, y, tuple(given))
        assert noise_variance(sigma, 0.1, x, y, tuple(given), known) == alone
    assert len(known) < 200
