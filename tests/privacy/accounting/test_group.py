"""What k rows pay for the steps of a run, against closed forms and an independent library."""

import itertools
import math

import pytest
from dp_accounting.pld import common, privacy_loss_distribution
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp

from privcore.errors import ParameterError
from privcore.privacy.accounting import composition, plan_rounds
from privcore.privacy.accounting.composition import Event, total_rho
from privcore.privacy.accounting.guarantee import composed, for_unit, row_budget, row_delta
from privcore.privacy.mechanisms.gaussian import gaussian_epsilon, planned_mu
from tests.examples import examples
from tests.messages import raises_code, says

ROWS = st.integers(2, 40)
EPSILON = st.floats(0.05, 20)
DELTA = st.sampled_from([1e-9, 1e-5, 1e-2])


def gaussian_steps(epsilon, delta):
    """Two releases of Gaussian noise, a tenth of μ² for the first."""
    mu = planned_mu(epsilon, delta)
    return [Event("gaussian", 1 / (mu * math.sqrt(share))) for share in (0.1, 0.9)]


def laplace_steps(count):
    def planned(epsilon, delta):
        return [Event("laplace", plan_rounds(epsilon, delta, count).step_epsilons[0], count)]

    return planned


# With a large δ and many rows, δ alone would pay for more than what a row may cost.
FEW, SMALL = st.integers(2, 12), st.sampled_from([1e-9, 1e-5])


@settings(max_examples=examples(15), deadline=None)
@given(rows=FEW, epsilon=EPSILON, delta=SMALL)
def test_gaussian_steps_for_a_unit_are_those_of_one_row(rows, epsilon, delta):
    """μ of a row is μ of the unit over k: σ grows by k exactly, and nothing more is lost."""
    budget = row_budget(epsilon, delta, rows, gaussian_steps)
    assert budget.delta == delta
    for own, of_row in zip(budget.events, gaussian_steps(epsilon, delta), strict=True):
        assert own.kind == of_row.kind == "gaussian"
        assert own.value == pytest.approx(of_row.value, rel=1e-6)
        assert own.value >= of_row.value
    row = gaussian_steps(budget.epsilon, delta)
    assert row[0].value == pytest.approx(rows * gaussian_steps(epsilon, delta)[0].value, rel=1e-6)


@given(rows=ROWS, epsilon=EPSILON)
def test_pure_steps_are_those_of_a_row_at_a_kth(rows, epsilon):
    budget = row_budget(epsilon, 0.0, rows, lambda e, d: [Event("pure", e / 4, 4)])
    assert budget.epsilon == pytest.approx(epsilon / rows, rel=1e-8)
    assert (budget.delta, [e.kind for e in budget.events]) == (0.0, ["pure"])
    assert budget.events[0].value * 4 <= epsilon
    assert budget.events[0].value == pytest.approx(epsilon / 4, rel=1e-8)


@given(rows=FEW, epsilon=EPSILON, delta=SMALL)
def test_the_total_of_a_zcdp_filter_is_a_squareth(rows, epsilon, delta):
    def planned(e, d):
        return [Event("zcdp", composition.rho_for(e, d))]

    budget = row_budget(epsilon, delta, rows, planned)
    whole = composition.rho_for(epsilon, delta)
    assert total_rho(budget.events) == pytest.approx(whole, rel=1e-5)
    assert total_rho(budget.events) <= whole
    (row,) = planned(budget.epsilon, delta)
    assert row.value == pytest.approx(whole / rows**2, rel=1e-5)


def zcdp_by_grid(rho, delta):
    """The conversion, by its formula at many orders, with digits to spare."""
    with mp.workdps(40):
        orders = (1 + mp.mpf(10) ** (mp.mpf(k) / 400) for k in range(-1600, 1601))
        return float(
            min(rho * a + mp.log(1 / (a * delta)) / (a - 1) + mp.log(1 - 1 / a) for a in orders)
        )


@settings(max_examples=examples(20), deadline=None)
@given(
    rows=st.integers(2, 12),
    epsilon=st.floats(0.2, 8),
    delta=st.sampled_from([0.0, 1e-6, 1e-3]),
    count=st.integers(1, 30),
    kind=st.sampled_from(["laplace", "gaussian", "zcdp"]),
)
def test_steps_of_a_unit_compose_to_at_most_its_total(rows, epsilon, delta, count, kind):
    """What the steps of a row cost k rows, by an accountant of others, is at most (ε, δ)."""
    if kind == "laplace":
        planned = laplace_steps(count)
        budget = row_budget(epsilon, delta, rows, planned)
        each = rows * planned(budget.epsilon, budget.delta)[0].value
        interval = min(1e-3, each / 20)
        loss = privacy_loss_distribution.from_privacy_parameters(
            common.DifferentialPrivacyParameters(each, 0), value_discretization_interval=interval
        ).self_compose(count)
        exact = loss.get_epsilon_for_delta(delta) if delta else count * each
        # The library rounds each step up to its grid.
        assert exact - interval * count <= epsilon * (1 + 1e-9)
        return
    delta = delta or 1e-6
    if kind == "gaussian":
        budget = row_budget(epsilon, delta, rows, gaussian_steps)
        sigmas = [step.value / rows for step in gaussian_steps(budget.epsilon, budget.delta)]
        one = [
            privacy_loss_distribution.from_gaussian_mechanism(s, value_discretization_interval=1e-3)
            for s in sigmas
        ]
        assert one[0].compose(one[1]).get_epsilon_for_delta(delta) <= epsilon + 5e-3
    else:
        budget = row_budget(
            epsilon, delta, rows, lambda e, d: [Event("zcdp", composition.rho_for(e, d))]
        )
        rho = rows**2 * composition.rho_for(budget.epsilon, budget.delta)
        assert zcdp_by_grid(rho, delta) <= epsilon * (1 + 1e-5)


@settings(max_examples=examples(50), deadline=None)
@given(rows=ROWS, epsilon=st.floats(0.05, 50), delta=DELTA)
def test_steps_with_a_delta_of_their_own_take_the_general_bound(rows, epsilon, delta):
    def planned(e, d):
        return [Event("pure", e / 3, 3, d / 6)]

    budget = row_budget(epsilon, delta, rows, planned)
    assert budget.events == (Event("pure", epsilon, 1, delta),)
    assert rows * budget.epsilon <= epsilon
    with mp.workdps(60):
        e = mp.mpf(budget.epsilon)
        assert budget.delta * mp.expm1(rows * e) / mp.expm1(e) <= delta
        assert budget.delta * mp.expm1(rows * e) / mp.expm1(e) >= delta * (1 - 1e-6)


@pytest.mark.parametrize("rows", [1, 2, 5])
def test_the_general_bound_is_attained(rows):
    """By a mechanism on j = 0 … k that is (ε, δ)-DP, step by step, and loses all of the bound."""
    epsilon, delta = 0.4, 1e-3
    probabilities = [0.0]
    for _ in range(rows):
        probabilities.append(math.exp(epsilon) * probabilities[-1] + delta)
    for before, after in itertools.pairwise(probabilities):
        assert after <= math.exp(epsilon) * before + delta + 1e-18
        assert 1 - before <= math.exp(epsilon) * (1 - after) + delta
    growth = math.expm1(rows * epsilon) / math.expm1(epsilon)
    assert probabilities[-1] == pytest.approx(delta * growth, rel=1e-12)
    assert row_delta(rows * epsilon, delta * growth, rows) == pytest.approx(delta, rel=1e-9)


def test_a_delta_too_small_for_floating_point_is_refused():
    """It rounds to 0, with which the run would have kept all of the δ of the unit."""
    assert row_delta(1200.0, 1e-6, 2) > 0
    with raises_code(ParameterError, "row-delta-too-small"):
        row_delta(2000.0, 1e-6, 2)
    assert row_delta(2000.0, 0.0, 2) == 0.0


def test_a_step_with_a_delta_has_no_cost_by_itself():
    """ρ of such a step is no ε, and its δ may come to more than 1."""
    for step in (Event("zcdp", 0.1, 1, 1e-6), Event("pure", 0.1, 1, 1e-6)):
        with pytest.raises(ValueError, match=says("steps-with-delta-follow")):
            for_unit(step, 5)
        assert composed((step,), 1e-3) == math.inf


@pytest.mark.parametrize("kind", ["pure", "laplace", "exponential", "discrete laplace"])
def test_noise_of_sensitivity_k(kind):
    step = for_unit(Event(kind, 0.3, 7), 5)
    assert step.kind == ("pure" if kind == "discrete laplace" else kind)
    assert (step.value, step.count) == (pytest.approx(1.5), 7)
    assert step.value >= 1.5


def test_an_epsilon_that_delta_pays_for_alone_is_no_candidate():
    """Where even no ε at all would do for μ/k, the others are tried."""
    budget = row_budget(0.01, 0.3, 10, gaussian_steps)
    assert budget.epsilon > 0
    assert gaussian_epsilon(10 * planned_mu(budget.epsilon, budget.delta), 0.3) <= 0.01
