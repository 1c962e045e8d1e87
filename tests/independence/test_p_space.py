"""p-values of scores, and the spread of Z* with ties: bounds, and constants that do not hold.

docs/proofs/p_space.md and docs/proofs/one_way_marginals.md.
"""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr

from privcore.algorithms.search.model import NoHooks, Run
from privcore.algorithms.search.parameters import PerTestParameters
from privcore.algorithms.search.per_test import corrected, share_for_tests
from privcore.counts import InMemoryCounts
from privcore.independence import SCORES, ScoreMeasure, table_scores, z_threshold
from tests.examples import examples


def p_value(z):
    return 2 * ndtr(-abs(z))


def bound(delta):
    return 2 * ndtr(delta) - 1


@settings(max_examples=examples(300))
@given(z=st.floats(-40, 40), change=st.floats(-3, 3))
def test_p_values_move_by_no_more_than_the_bound(z, change):
    moved = abs(p_value(z + change) - p_value(z))
    assert moved <= bound(abs(change)) + 1e-12
    assert bound(abs(change)) <= abs(change) * math.sqrt(2 / math.pi) + 1e-12


@pytest.mark.parametrize("n", [50, 10_000])
def test_the_p_space_bound_is_attained_at_zero(n):
    """And it is the sensitivity that a proven run in p-space uses."""
    delta = SCORES["z-star"].sensitivity(n, "proven")
    measure = ScoreMeasure(SCORES["z-star"], "proven", "p", 0.05)
    assert abs(p_value(0) - p_value(delta)) == pytest.approx(bound(delta))
    assert measure.sensitivity(n) == pytest.approx(bound(delta))
    assert measure.sensitivity(n) < delta
    assert measure.threshold(0, 1) == 0.05
    assert measure.independent_above


def test_noise_in_p_costs_more_at_the_decision():
    """By φ(0)/φ(z): 6.8 at |Z| = 1.96, 15 at 2.33, 28 at 2.576."""
    for z, factor in ((1.96, 6.8), (2.33, 15.1), (2.576, 27.6)):
        slope = (p_value(z - 1e-6) - p_value(z + 1e-6)) / 2e-6
        assert math.sqrt(2 / math.pi) / slope == pytest.approx(factor, rel=5e-3)


def one_table(x, y):
    tables = np.zeros((1, max(x) + 1, max(y) + 1), dtype=np.int64)
    np.add.at(tables[0], (x, y), 1)
    return tables


def test_curate_s_constant_in_p_space_fails():
    """.3627/√n for a one-sided p; one record moves it by more than six times that."""
    n = 400
    # n − 1 records that cancel in pairs, and one that is concordant or discordant with them.
    x = [i + 1 for i in range(n - 1)]
    y = [i + 1 if i % 2 else 2 * n - i for i in range(n - 1)]
    values = [table_scores.kendall(one_table([*x, 0], [*y, last]), n) for last in (0, 4 * n)]
    centre = sum(values) / 2
    one_sided = abs(ndtr(values[0] - centre) - ndtr(values[1] - centre))
    assert one_sided > 6 * 0.3627 / math.sqrt(n)
    assert one_sided <= ndtr(0.5 * abs(values[0] - values[1])) * 2 - 1 + 1e-12


SHARES = [
    ([0.5, 0.5], [0.5, 0.5]),
    ([0.9, 0.1], [0.5, 0.5]),
    ([0.2, 0.3, 0.5], [0.6, 0.2, 0.1, 0.1]),
]


@pytest.mark.long
@pytest.mark.parametrize(("p", "q"), SHARES)
def test_the_tie_corrected_deviation_is_that_of_z_star(p, q):
    """Standard deviation of Z* under independence: √((1 − Σp³)(1 − Σq³)), margins fixed."""
    generator = np.random.default_rng(6)
    n, runs = 2_000, 2_000
    x = np.repeat(np.arange(len(p)), np.round(np.array(p) * n).astype(int))
    y = np.repeat(np.arange(len(q)), np.round(np.array(q) * n).astype(int))
    values = [table_scores.z_star(one_table(x, generator.permutation(y)), n) for _ in range(runs)]
    expected = math.sqrt((1 - sum(s**3 for s in p)) * (1 - sum(s**3 for s in q)))
    # A standard deviation of 2,000 draws has a relative standard error of 1.6 %.
    assert np.std(values) == pytest.approx(expected, rel=0.08)
    assert abs(np.mean(values)) < 5 * expected / math.sqrt(runs)


def test_two_levels_each_give_the_binary_formula():
    for p, q in ((0.5, 0.5), (0.05, 0.05), (0.3, 0.8)):
        general = math.sqrt((1 - p**3 - (1 - p) ** 3) * (1 - q**3 - (1 - q) ** 3))
        assert general == pytest.approx(3 * math.sqrt(p * (1 - p) * q * (1 - q)))


class Recording:
    """A noise source that adds nothing and remembers what was requested."""

    def __init__(self):
        self.released = []

    def laplace_array(self, values, scale):
        self.released.append((values.copy(), scale))
        return values


def release(records, levels, correction="ties"):
    """The threshold release of `tie_correction` on records; what was released, and the measure."""
    kept, multiplicities = np.unique(np.array(records), axis=0, return_counts=True)
    names = tuple(f"x{k}" for k in range(len(levels)))
    columns = tuple(kept[:, k] for k in range(len(levels)))
    source = InMemoryCounts(names, levels, columns, multiplicities.astype(np.int64))
    noise = Recording()
    parameters = PerTestParameters(correction=correction, epsilon=2.0)
    measure = ScoreMeasure(SCORES["z-star"], "proven", "z", 0.05)
    run = Run(source, parameters, noise, NoHooks(), False)
    return noise.released, corrected(run, measure, 0.25), share_for_tests(run)


def test_the_one_way_release_has_the_scale_of_its_proof():
    """One record changes 2 in each of p histograms: Laplace 2p/(ε/10), and 9/10 are left."""
    levels = (2, 3, 2)
    one = [(0, 0, 0), (1, 2, 1), (0, 1, 1), (1, 1, 0)]
    other = [(1, 1, 1), *one[1:]]
    before, measure, left = release(one, levels)
    after, _, _ = release(other, levels)
    assert [len(values) for values, _ in before] == [2, 3, 2]
    change = sum(np.abs(a - b).sum() for (a, _), (b, _) in zip(before, after, strict=True))
    assert change == 2 * len(levels)
    for _, scale in before:
        assert scale == pytest.approx(change / (0.1 * 2.0))
    assert left == pytest.approx(0.9)
    shares = [values / 4 for values, _ in before]
    spread = [1 - (s**3).sum() for s in shares]
    expected = z_threshold(0.05) * math.sqrt(spread[0] * spread[1])
    assert measure.threshold(1, 0) == pytest.approx(expected)
    _, wider, _ = release(one, levels, "ties and noise")
    expected = z_threshold(0.05) * math.sqrt(spread[0] * spread[1] + 0.25)
    assert wider.threshold(0, 1) == pytest.approx(expected)
