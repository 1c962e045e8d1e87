"""Sieve, sub-sampling, p-values, composition, allocation and classes of DAGs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from privcore.algorithms.gradients.curate_score import total
from privcore.errors import ParameterError
from privcore.extras.teaching.allocation import DELTA, curate_orders, schedule_curves
from privcore.extras.teaching.composition import SLOW, composition_curves
from privcore.extras.teaching.equivalence import STRUCTURES, equivalence_class, markov_equivalents
from privcore.extras.teaching.p_space import p_against_z
from privcore.extras.teaching.sieve import AXES, printed_costs, sieve_errors
from privcore.extras.teaching.subsampling import subsampling_curves
from privcore.graphs import PDAG, cpdag_of_dag
from privcore.privacy.accounting.accountants import NAMES
from privcore.privacy.accounting.composition import zcdp
from privcore.privacy.mechanisms import SimulatedNoise
from tests.examples import examples
from tests.graphs.random_dags import members
from tests.messages import raises_code

ALARM = 1e-6


@pytest.mark.long
@pytest.mark.parametrize("axis", AXES)
def test_simulated_errors_agree_with_the_exact_ones(axis):
    found = sieve_errors(axis, 10_000, 0.2, 1.0, 0.5, 1.0, 3_000, 1)
    for x, one, two in zip(
        found.simulated_x, found.simulated_one, found.simulated_two, strict=True
    ):
        for shares, exact in ((one, found.type_one), (two, found.type_two)):
            expected = float(np.interp(x, found.x, exact))
            seen = round(shares * found.runs)
            assert stats.binomtest(seen, found.runs, min(expected, 1.0)).pvalue > ALARM


def test_the_printed_bound_on_type_two_errors_is_below_the_truth():
    found = sieve_errors("epsilon", 10_000, 0.2, 1.0, 1.0, 1.5, 50, 1)
    assert (found.printed_two < found.type_two).all()
    far = sieve_errors("tweak", 10_000, 0.2, 1.0, 1.0, 1.5, 50, 1)
    assert np.isnan(far.printed_two[far.x > 1.5]).all()


def test_what_the_printed_algorithms_cost():
    """The figures of docs/proofs/sieve_and_examine.md."""
    first, _, proven = printed_costs(1.0, 1.0)
    assert (first.claimed, first.actual) == (0.5, pytest.approx(0.75))
    assert proven.actual == pytest.approx(proven.claimed)
    assert printed_costs(1.0, 0.25)[1].actual == pytest.approx(0.898, abs=5e-4)


@given(epsilon=st.floats(0.05, 20))
@settings(max_examples=examples(30))
def test_signal_over_noise_is_largest_at_rate_one(epsilon):
    found = subsampling_curves(epsilon, 1000)
    assert (np.diff(found.ratio) > 0).all()
    assert found.ratio[-1] == pytest.approx(1.0)
    # docs/guarantees.md: g ln(1 + (e^x − 1)/g)/x at a charge x of ε/2.
    g, x = found.rates, epsilon / 2
    np.testing.assert_allclose(found.ratio, g * np.log1p(np.expm1(x) / g) / x, rtol=1e-9)
    g = found.paper_rate
    here = g * np.log1p(np.expm1(x) / g) / x
    assert found.paper_ratio == pytest.approx(here, rel=1e-9)
    # The noise there is the least of all: signal over ratio.
    assert np.sqrt(g) / here <= found.noise.min() * (1 + 1e-6)


def test_noise_on_p_and_on_z_against_simulation():
    found = p_against_z(2_000, 0.5, 0.05, 0.1, 0.2)
    noise = SimulatedNoise(1)
    for position in (20, 45, 100):
        for exact, scale, threshold, sign, chance in (
            (found.z[position], found.delta_z / 0.5, found.threshold, -1, found.in_z[position]),
            (found.p[position], found.delta_p / 0.5, 0.05, 1, found.in_p[position]),
        ):
            noisy = noise.laplace_array(np.full(20_000, exact), scale)
            seen = int((sign * (noisy - threshold) >= 0).sum())
            assert stats.binomtest(seen, 20_000, float(chance)).pvalue > ALARM
    # A p-value stops at 0, so that no dependence however strong is surely seen.
    assert found.in_p[-1] == pytest.approx(0.5 * np.exp(-0.05 * 0.5 / found.delta_p), rel=1e-6)


def test_ties_shrink_the_score_s_spread():
    """Binary columns with shares of 0.1 and 0.2: 3 √(0.09 · 0.16)."""
    found = p_against_z(2_000, 1.0, 0.05, 0.1, 0.2)
    assert found.tied_sd == pytest.approx(0.36)
    assert found.size == pytest.approx(2 * stats.norm.sf(found.threshold / 0.36))
    assert found.power[0] == pytest.approx(found.size)
    assert found.corrected_power[0] == pytest.approx(0.05)


def test_all_accountants_and_only_on_request_the_slow_one():
    quick = composition_curves("laplace", 0.5, 1.0, 10, 1e-6, False)
    assert [c.name for c in quick.curves] == [name for name in NAMES if name != SLOW]
    slow = composition_curves("laplace", 0.5, 1.0, 10, 1e-6, True)
    assert [c.name for c in slow.curves] == list(NAMES)
    assert slow.best == SLOW
    assert min(slow.final) <= min(quick.final)
    basic = quick.curves[0]
    np.testing.assert_allclose(basic.epsilons, 0.5 * basic.counts)


@settings(max_examples=examples(30))
@given(
    columns=st.integers(3, 12),
    orders=st.integers(1, 6),
    epsilon=st.floats(0.1, 10),
    survivors=st.floats(0.05, 1),
    margin=st.floats(0.05, 0.9),
)
def test_curate_never_spends_more_than_its_budget(columns, orders, epsilon, survivors, margin):
    found = curate_orders(columns, orders, 100_000, epsilon, survivors, margin)
    spent = float(found.made @ found.chosen**2) / 2
    assert zcdp(spent, DELTA) <= epsilon * (1 + 1e-6)
    assert (found.made <= found.planned).all()
    assert found.bound <= found.even_bound + 1e-12
    for row in found.plans:
        assert (np.diff(row[~np.isnan(row)]) <= 1e-12).all()


def test_schedules_add_up_to_the_total():
    lines, counts = schedule_curves(1.0, 0.01)
    for name, (lemma, fits) in counts.items():
        assert lines[name].size == lemma
        assert lines[name].sum() <= 1.0 + 1e-9
        assert total(name, 0.01, fits) <= 1.0 + 1e-9 < total(name, 0.01, fits + 1) + 2e-9


@settings(max_examples=examples(60))
@given(chosen=st.lists(st.booleans(), min_size=10, max_size=10), order=st.permutations(range(5)))
def test_the_dags_of_a_class_against_brute_force(chosen, order):
    pairs = [(order[i], order[j]) for i in range(5) for j in range(i + 1, 5)]
    edges = [pair for pair, kept in zip(pairs, chosen, strict=True) if kept]
    cpdag = cpdag_of_dag("ABCDE", edges)
    found = markov_equivalents(cpdag)
    assert found == sorted(tuple(sorted(dag)) for dag in members(cpdag))
    assert tuple(sorted(edges)) in found


@pytest.mark.parametrize("structure", STRUCTURES)
def test_examples_of_classes(structure):
    found = equivalence_class(structure)
    assert found.count == len(set(found.members))
    assert len(found.positions) == len(found.cpdag.nodes)
    # An edge is undirected exactly where members differ.
    for i, j in found.cpdag.skeleton:
        ways = {(i, j) in member for member in found.members}
        assert (len(ways) == 2) == ((i, j) in found.cpdag.undirected)


def test_too_many_dags_and_no_cpdag_are_one_sentence():
    with raises_code(ParameterError, "too-many-dags", limit=10):
        markov_equivalents(PDAG.complete("ABCD"), most=10)
    square = PDAG(tuple("ABCD"), undirected=frozenset({(0, 1), (1, 2), (2, 3), (0, 3)}))
    with raises_code(ParameterError, "no-cpdag"):
        markov_equivalents(square)
    with raises_code(ParameterError, "no-such-structure", name="x"):
        equivalence_class("x")
