"""Accountants side by side against published figures, dp-accounting and closed forms."""

import math
from itertools import pairwise

import dp_accounting as da
import numpy as np
import pytest
from dp_accounting import pld, rdp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from privcore.errors import ParameterError
from privcore.privacy.accounting import composition
from privcore.privacy.accounting.accountants import NAMES, by_rounds, side_by_side
from privcore.privacy.accounting.composition import KINDS, Event, orders, renyi_curve, total_rho
from privcore.privacy.mechanisms.gaussian import gaussian_mu
from tests.examples import examples

DELTA = 1e-6


def said(events, delta=DELTA):
    return {account.name: account.epsilon for account in side_by_side(events, delta)}


@pytest.mark.long
@pytest.mark.parametrize(
    ("epsilon", "rounds", "advanced", "kov", "renyi", "laplace", "pure", "selection", "exact"),
    [
        # Computed independently; the last is of Gaussian noise with sensitivity over σ = ε.
        (0.1, 10, 1.767, 1.0, 0.999, 0.999, 0.999, 0.700, 1.368),
        (0.1, 30, 3.195, 2.966, 2.405, 2.298, 2.346, 1.260, 2.492),
        (0.1, 100, 6.308, 5.756, 4.984, 4.693, 4.775, 2.419, 4.887),
        (1.0, 10, 33.8, 10.0, 9.999, 9.999, 10.0, 8.846, 19.42),
        (1.0, 30, 80.3, 30.0, 28.24, 27.77, 29.99, 17.16, 40.32),
        (1.0, 100, 224.4, 98.8, 73.8, 71.55, 83.53, 37.4, 96.72),
    ],
)
def test_published_figures(epsilon, rounds, advanced, kov, renyi, laplace, pure, selection, exact):
    steps = said([Event("laplace", epsilon, rounds)])
    assert steps["advanced, classic"] == pytest.approx(advanced, rel=1e-3)
    assert steps["advanced, exact form"] == pytest.approx(kov, rel=1e-3)
    assert steps["Rényi"] == pytest.approx(renyi, rel=1e-3)
    assert steps["privacy-loss distribution"] == pytest.approx(laplace, rel=1e-3)
    worst = said([Event("pure", epsilon, rounds)])
    assert worst["privacy-loss distribution"] == pytest.approx(pure, rel=1e-3)
    assert worst["optimal for equal steps"] == pytest.approx(pure, rel=1e-3)
    chosen = said([Event("exponential", epsilon, rounds)])
    assert chosen["zCDP, optimal conversion"] == pytest.approx(selection, rel=1e-3)
    gaussian = said([Event("gaussian", 1 / epsilon, rounds)])
    assert gaussian["privacy-loss distribution"] == pytest.approx(exact, rel=1e-3)


def test_renyi_equals_the_library_s_accountant():
    accountant = rdp.RdpAccountant(
        orders=list(orders()), neighboring_relation=da.NeighboringRelation.ADD_OR_REMOVE_ONE
    )
    accountant.compose(da.LaplaceDpEvent(1 / 0.3), 7)
    accountant.compose(da.GaussianDpEvent(5.0), 11)
    accountant.compose(da.ZCDpEvent(0.004), 3)
    events = [Event("laplace", 0.3, 7), Event("gaussian", 5.0, 11), Event("zcdp", 0.004, 3)]
    assert said(events)["Rényi"] == pytest.approx(accountant.get_epsilon(DELTA), rel=1e-9)


@pytest.mark.long
def test_distributions_equal_the_library_s_accountant():
    accountant = pld.PLDAccountant()
    sizes = np.geomspace(0.05, 0.5, 30)
    for size in sizes:
        accountant.compose(da.LaplaceDpEvent(1 / size))
    accountant.compose(da.GaussianDpEvent(9.0), 4)
    events = [*(Event("laplace", float(e)) for e in sizes), Event("gaussian", 9.0, 4)]
    ours = said(events)["privacy-loss distribution"]
    assert ours == pytest.approx(accountant.get_epsilon(DELTA), rel=1e-3)
    whole = pld.PLDAccountant()
    whole.compose(da.dp_event.DiscreteLaplaceDpEvent(0.2, 1), 40)
    ours = said([Event("discrete laplace", 0.2, 40)])["privacy-loss distribution"]
    assert ours == pytest.approx(whole.get_epsilon(DELTA), rel=1e-3)


@pytest.mark.parametrize("kind", ["pure", "discrete laplace"])
@pytest.mark.parametrize(("epsilon", "small"), [(0.1, 1e-9), (40.0, 1e-6), (1.0, 1e-3)])
def test_distributions_are_never_above_the_sum(kind, epsilon, small):
    """Of the ε of all Gaussian noise and of each other step, on either side of which is small."""
    for pure, rest in ((epsilon, small), (small, epsilon)):
        mu = gaussian_mu(rest, DELTA)
        events = [Event(kind, pure / 2, 2), Event("gaussian", math.sqrt(2) / mu, 2)]
        ours = said(events)["privacy-loss distribution"]
        assert ours <= (pure + rest) * (1 + 1e-9)
        assert ours >= max(pure, rest) / 2


@pytest.mark.long
def test_integer_noise_is_not_continuous_noise():
    """At ε = 1 a hundred steps with whole numbers leak more than continuous noise would."""
    continuous = said([Event("laplace", 1.0, 100)])["privacy-loss distribution"]
    whole = said([Event("discrete laplace", 1.0, 100)])["privacy-loss distribution"]
    assert whole > continuous + 10


def randomised_response_delta(epsilon, count, whole):
    """δ(ε′) of `count` randomised responses, by adding up the two binomial laws."""
    lies = np.arange(count + 1)
    chance = 1 / (1 + math.exp(epsilon))
    one, other = binom.pmf(lies, count, chance), binom.pmf(count - lies, count, chance)
    return np.maximum(one - math.exp(whole) * other, 0).sum()


@settings(max_examples=examples(60))
@given(epsilon=st.floats(0.01, 2.0), count=st.integers(1, 60), delta=st.floats(1e-9, 0.3))
def test_the_optimal_composition_is_attained_by_randomised_response(epsilon, count, delta):
    least = composition.optimal_equal(epsilon, count, delta)
    assert randomised_response_delta(epsilon, count, least) <= delta * (1 + 1e-9)
    if least > 1e-6:
        # Failures are counted a relative 1e-7 up, for what logarithms of chances lose.
        below = randomised_response_delta(epsilon, count, least * (1 - 1e-6))
        assert below > delta * (1 - 2e-7)
    steps = [epsilon] * count
    assert least <= composition.basic(steps)
    assert least <= composition.advanced(steps, delta) * (1 + 1e-9)
    assert least <= composition.zcdp(count * composition.rho_of_pure(epsilon), delta) * (1 + 1e-9)


@given(epsilon=st.floats(1e-4, 5.0))
def test_curves_are_ordered_by_what_is_known_of_the_noise(epsilon):
    """Laplace noise is ε-DP, so its divergences are below the worst of ε-DP; both below αε²/2."""
    pure, laplace = renyi_curve(Event("pure", epsilon)), renyi_curve(Event("laplace", epsilon))
    assert (laplace <= pure * (1 + 1e-7)).all()
    assert (pure <= np.minimum(epsilon, orders() * epsilon**2 / 2) * (1 + 1e-12)).all()
    assert (renyi_curve(Event("exponential", epsilon)) <= orders() * epsilon**2 / 8 + 1e-15).all()


def test_the_pure_curve_is_that_of_randomised_response():
    a, e = orders(), 0.7
    p = math.exp(e) / (1 + math.exp(e))
    small = a[a < 200]
    direct = p**small * (1 - p) ** (1 - small) + (1 - p) ** small * p ** (1 - small)
    curve = renyi_curve(Event("pure", e))[a < 200]
    assert curve == pytest.approx(np.log(direct) / (small - 1), rel=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_every_account_says_a_bound_or_why_not(kind):
    found = side_by_side([Event(kind, 2.0, 5)], DELTA)
    assert [account.name for account in found] == list(NAMES)
    for account in found:
        assert account.note
        assert (account.epsilon is None) == account.note.startswith("not defined: ")
    assert sum(account.epsilon is not None for account in found) >= 3


def test_without_delta_only_the_sum_is_left():
    found = said([Event("pure", 0.5, 3), Event("laplace", 0.25, 2)], 0.0)
    assert found.pop("basic") == 2.0
    assert set(found.values()) == {None}


def test_steps_with_a_delta_of_their_own_are_charged_for_it():
    with_own = said([Event("pure", 0.1, 50, delta=1e-8)], DELTA)
    without = said([Event("pure", 0.1, 50)], DELTA / 2)
    assert with_own == without
    spent = side_by_side([Event("pure", 0.1, 50, delta=1e-7)], DELTA)
    assert all(account.epsilon is None for account in spent)
    assert "leaves no δ" in spent[0].note
    assert total_rho([Event("pure", 0.1, 50, delta=1e-8)]) is None


def test_rho_of_each_kind():
    events = [
        Event("pure", 0.2, 2),
        Event("exponential", 0.4),
        Event("gaussian", 5.0),
        Event("zcdp", 0.1),
    ]
    assert total_rho(events) == pytest.approx(0.04 + 0.02 + 0.02 + 0.1)
    assert total_rho([]) is None


@pytest.mark.long
def test_curves_against_the_number_of_steps():
    counts = [1, 5, 20, 80, 200]
    event = Event("laplace", 0.1)
    curves = {curve.name: curve for curve in by_rounds(event, counts, DELTA)}
    assert set(curves) == set(NAMES)
    for name, curve in curves.items():
        assert all(a < b for a, b in pairwise(curve.epsilons))
        last = said([Event("laplace", 0.1, 200)])[name]
        assert curve.epsilons[-1] == pytest.approx(last, rel=1e-9)
        assert curve.counts[-1] == 200
    exact = curves["privacy-loss distribution"]
    for name in ("zCDP, optimal conversion", "Rényi", "advanced, exact form"):
        inner = np.isin(curves[name].counts, exact.counts)
        assert (curves[name].epsilons[inner] >= exact.epsilons * (1 - 1e-3)).all()
    gaussian = {curve.name for curve in by_rounds(Event("gaussian", 10.0), counts, DELTA)}
    assert "basic" not in gaussian


@pytest.mark.parametrize(
    "make",
    [
        lambda: Event("normal", 1.0),
        lambda: Event("pure", 0.0),
        lambda: Event("pure", math.nan),
        lambda: Event("pure", 1.0, 0),
        lambda: Event("gaussian", 1.0, 1, delta=0.1),
        lambda: side_by_side([], 1e-6),
        lambda: side_by_side([Event("pure", 1.0)], 1.0),
        lambda: by_rounds(Event("pure", 1.0), [0], 1e-6),
        lambda: by_rounds(Event("pure", 1.0), [1], 0.0),
    ],
)
def test_impossible_steps_are_refused(make):
    with pytest.raises(ParameterError):
        make()
