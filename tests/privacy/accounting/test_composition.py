"""Composition against closed forms, published figures and an independent library."""

import math

import pytest
from dp_accounting.pld import common, privacy_loss_distribution
from hypothesis import given, settings
from hypothesis import strategies as st

from privcore.errors import BudgetError
from privcore.privacy.accounting import composition, plan_rounds
from tests.examples import examples

DELTA = 1e-6


@pytest.mark.parametrize(
    ("epsilon", "rounds", "classic", "zcdp", "simple"),
    [
        # Columns: advanced (classic), zCDP optimal, zCDP simple; independent computation.
        (0.1, 10, 1.767, 1.472, 1.712),
        (0.1, 30, 3.195, 2.673, 3.029),
        (0.1, 100, 6.308, 5.222, 5.757),
        (1.0, 10, 33.8, 20.55, 21.62),
        (1.0, 30, 80.3, 42.37, 43.79),
        (1.0, 100, 224.4, 100.69, 102.57),
    ],
)
def test_published_figures(epsilon, rounds, classic, zcdp, simple):
    steps = [epsilon] * rounds
    rho = rounds * composition.rho_of_pure(epsilon)
    assert composition.advanced_classic(steps, DELTA) == pytest.approx(classic, rel=1e-3)
    assert composition.zcdp(rho, DELTA) == pytest.approx(zcdp, rel=1e-3)
    assert composition.zcdp_classic(rho, DELTA) == pytest.approx(simple, rel=1e-3)


@settings(max_examples=examples(25), deadline=None)
@given(epsilon=st.floats(0.01, 1.0), rounds=st.integers(1, 40))
def test_never_below_the_exact_composition(epsilon, rounds):
    """The optimal composition of pure-DP steps, from dp-accounting, bounds all of ours below."""
    parameters = common.DifferentialPrivacyParameters(epsilon, 0)
    exact = (
        privacy_loss_distribution.from_privacy_parameters(
            parameters, value_discretization_interval=1e-3
        )
        .self_compose(rounds)
        .get_epsilon_for_delta(DELTA)
    )
    steps = [epsilon] * rounds
    rho = rounds * composition.rho_of_pure(epsilon)
    slack = 1e-3 * rounds  # the library rounds each step to its grid, upwards
    assert composition.basic(steps) >= exact - slack
    assert composition.advanced(steps, DELTA) >= exact - slack
    assert composition.zcdp(rho, DELTA) >= exact - slack


@given(steps=st.lists(st.floats(1e-3, 2.0), min_size=1, max_size=30), delta=st.floats(1e-12, 0.5))
def test_ordering_and_monotonicity(steps, delta):
    rho = math.fsum(composition.rho_of_pure(e) for e in steps)
    assert composition.advanced(steps, delta) <= composition.advanced_classic(steps, delta)
    assert composition.zcdp(rho, delta) <= composition.zcdp_classic(rho, delta) + 1e-12
    assert composition.zcdp(rho * 1.01, delta) >= composition.zcdp(rho, delta) - 1e-9
    assert composition.zcdp(rho, delta / 2) >= composition.zcdp(rho, delta) - 1e-9


@given(epsilon=st.floats(1e-3, 100), delta=st.floats(1e-12, 0.1))
def test_rho_for_inverts_and_never_exceeds(epsilon, delta):
    rho = composition.rho_for(epsilon, delta)
    assert composition.zcdp(rho, delta) <= epsilon
    if rho > 0:
        assert composition.zcdp(rho * (1 + 1e-6), delta) >= epsilon * (1 - 1e-6)


@given(
    epsilon=st.floats(1e-3, 50),
    delta=st.one_of(st.just(0.0), st.floats(1e-12, 0.1)),
    rounds=st.integers(1, 500),
    share=st.floats(0.05, 0.95),
)
def test_a_plan_composes_to_at_most_its_total(epsilon, delta, rounds, share):
    plan = plan_rounds(epsilon, delta, rounds, (share, 1 - share))
    steps = list(plan.step_epsilons) * rounds
    bounds = [composition.basic(steps)]
    if delta > 0:
        rho = math.fsum(composition.rho_of_pure(e) for e in steps)
        bounds += [composition.advanced(steps, delta), composition.zcdp(rho, delta)]
    assert min(bounds) <= epsilon * (1 + 1e-9)
    # And it is no more careful than needed.
    assert min(bounds) >= epsilon * (1 - 1e-6)


@given(
    epsilon=st.floats(1e-3, 50),
    delta=st.one_of(st.just(0.0), st.floats(1e-12, 0.1)),
    rounds=st.integers(1, 200),
    share=st.floats(0.05, 0.95),
)
def test_a_plan_s_filter_grants_every_planned_step_and_no_round_more(epsilon, delta, rounds, share):
    plan = plan_rounds(epsilon, delta, rounds, (share, 1 - share))
    ledger = plan.new_filter()
    for _ in range(rounds):
        for step in plan.step_epsilons:
            ledger.charge(step)
    assert ledger.used <= ledger.total
    with pytest.raises(BudgetError):
        ledger.charge(max(plan.step_epsilons))


def test_more_rounds_per_budget_with_delta():
    """Few rounds: basic composition wins; many: zCDP does."""
    assert plan_rounds(5.0, DELTA, 10).accountant == "basic composition"
    assert plan_rounds(1.0, DELTA, 200).accountant == "zCDP"


@pytest.mark.parametrize("epsilon", [1e-6, 1e-5, 1e-3, 1e3, 1e6])
@pytest.mark.parametrize("delta", [1e-300, 1e-12, 0.5])
def test_extreme_budgets_convert_too(epsilon, delta):
    """Where rounding is as large as ε, the answer is smaller, but it comes."""
    rho = composition.rho_for(epsilon, delta)
    assert rho == 0 or composition.zcdp(rho, delta) <= epsilon
