"""The exact Gaussian mechanism, against an independent library and by integration."""

import math

import mpmath
import numpy as np
import pytest
from dp_accounting.gaussian_mechanism import get_epsilon_gaussian, get_sigma_gaussian
from dp_accounting.pld import privacy_loss_distribution, privacy_loss_mechanism
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from privcore.algorithms.gradients.curate_score import growing_shares
from privcore.errors import ParameterError
from privcore.privacy.accounting.plan import SampledGaussian
from privcore.privacy.mechanisms.gaussian import (
    analytic_sigma,
    gaussian_delta,
    gaussian_epsilon,
    gaussian_mu,
    planned_mu,
)
from tests.examples import examples, few
from tests.messages import says


@settings(max_examples=examples(200))
@given(epsilon=st.floats(0, 20), mu=st.floats(0.01, 10))
def test_delta_agrees_with_an_independent_library(epsilon, mu):
    library = privacy_loss_mechanism.GaussianPrivacyLoss(1 / mu)
    expected = library.get_delta_for_epsilon(epsilon)
    assert gaussian_delta(epsilon, mu) == pytest.approx(expected, rel=1e-6, abs=1e-14)


@pytest.mark.parametrize(("epsilon", "mu"), [(0.5, 0.3), (1.0, 1.0), (3.0, 2.0)])
def test_delta_is_the_integral_of_the_excess(epsilon, mu):
    """sup over sets of P(E) − e^ε Q(E), for N(μ, 1) and N(0, 1)."""
    z = np.linspace(-12, 12 + mu, 400_001)
    excess = np.maximum(0, stats.norm.pdf(z, mu) - math.exp(epsilon) * stats.norm.pdf(z))
    assert integrate.trapezoid(excess, z) == pytest.approx(gaussian_delta(epsilon, mu), rel=1e-6)


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 10.0, 1_000.0, 1e6])
@pytest.mark.parametrize("delta", [1e-12, 1e-6, 0.1])
def test_sigma_is_the_smallest(epsilon, delta):
    sigma = analytic_sigma(3.0, epsilon, delta)
    assert gaussian_delta(epsilon, 3.0 / sigma) <= delta
    assert gaussian_delta(epsilon, 3.0 / (sigma * (1 - 1e-6))) > delta
    assert gaussian_mu(epsilon, delta) == pytest.approx(3.0 / sigma)


@settings(max_examples=examples(100))
@given(mu=st.floats(0.01, 20), delta=st.floats(1e-12, 0.5))
def test_epsilon_inverts_delta(mu, delta):
    epsilon = gaussian_epsilon(mu, delta)
    assert gaussian_delta(epsilon, mu) <= delta * (1 + 1e-6)
    if epsilon > 0:
        assert gaussian_mu(epsilon, delta) == pytest.approx(mu, rel=1e-6)


@pytest.mark.parametrize("tests", [2, 10, 50])
def test_many_gaussian_tests_are_one(tests):
    """The library's numerical composition of T mechanisms with μ is that of one with √T μ."""
    mu = 0.1
    composed = privacy_loss_distribution.from_gaussian_mechanism(
        1 / mu, value_discretization_interval=1e-4
    ).self_compose(tests)
    expected = gaussian_epsilon(mu * math.sqrt(tests), 1e-6)
    assert composed.get_epsilon_for_delta(1e-6) == pytest.approx(expected, rel=1e-2)


@pytest.mark.parametrize("schedule", few(["additive", "exponential", "multiplicative"], 2))
@pytest.mark.parametrize("epsilon", few([1.0, 0.1, 10.0], 1))
def test_unequal_gaussian_charges_are_one(schedule, epsilon):
    """μ_i by a schedule, composed one by one by the library, against one release with √Σμ_i²."""
    mu, steps = gaussian_mu(epsilon, 1e-6), 8
    parts = mu * growing_shares(schedule, 4.0, steps)
    assert len({round(float(part), 12) for part in parts}) == steps
    assert math.fsum(parts**2) == pytest.approx(mu**2)
    composed = None
    for part in parts:
        one = privacy_loss_distribution.from_gaussian_mechanism(
            1 / part, value_discretization_interval=1e-4
        )
        composed = one if composed is None else composed.compose(one)
    # The library rounds every loss up, by at most the interval.
    assert epsilon - 1e-6 <= composed.get_epsilon_for_delta(1e-6) <= epsilon + steps * 1e-4
    assert composed.get_delta_for_epsilon(epsilon + steps * 1e-4) <= 1e-6


def test_the_classic_formula_fails_above_one():
    """σ = √(2 ln(1.25/δ))/ε is a theorem for ε at most 1 only; at ε = 20 it is too small."""
    delta = 1e-6
    classic = math.sqrt(2 * math.log(1.25 / delta)) / 20
    assert gaussian_delta(20, 1 / classic) > delta
    assert analytic_sigma(1.0, 20, delta) > classic


def test_gaussian_noise_needs_a_delta():
    with pytest.raises(ParameterError, match=says("gaussian-needs-delta")):
        planned_mu(1.0, 0.0)


EDGES = (0.0, 1e-300, 1e-9, 0.5, 1.0, 3.0, 1e3, math.inf)


@pytest.mark.parametrize("sigma", EDGES)
@pytest.mark.parametrize("delta", [0.0, 1e-300, 1e-12, 1e-6, 0.5, 1.0])
def test_epsilon_is_the_library_s_at_the_edges_and_between(sigma, delta):
    """At σ = 0 and δ = 1, σ = ∞ and δ = 0, and the like, the library says which comes first."""
    mu = 1 / sigma if sigma else math.inf
    found = gaussian_epsilon(mu, delta)
    if sigma == 1e-300 and 0 < delta < 1:  # The library divides by σ².
        assert found > 1e300
        return
    expected = get_epsilon_gaussian(sigma, delta)
    # Its logarithms cancel where there is hardly any noise.
    assert found == pytest.approx(expected, rel=1e-9 if sigma > 1e-6 else 1e-6, abs=1e-11)
    assert (found == math.inf) == (expected == math.inf)


@pytest.mark.long
@pytest.mark.parametrize("epsilon", EDGES)
@pytest.mark.parametrize("delta", [0.0, 1e-300, 1e-12, 1e-6, 0.5, 1.0])
def test_sigma_is_the_library_s_at_the_edges_and_between(epsilon, delta):
    found = analytic_sigma(1.0, epsilon, delta)
    if epsilon < 1e-3 and delta == 1e-300:  # The library's logarithms cancel, and it looks on.
        assert gaussian_delta(epsilon, 1 / found) <= delta
        return
    expected = get_sigma_gaussian(epsilon, delta)
    near = 1e-6 if epsilon > 1e-3 else 1e-3
    assert found == pytest.approx(expected, rel=near)
    assert gaussian_mu(epsilon, delta) == pytest.approx(
        1 / expected if expected else math.inf, rel=near
    )


def exactly(epsilon, mu, digits=200):
    """δ(ε), by many digits of a general library."""
    with mpmath.workdps(digits):
        m, e, root = mpmath.mpf(mu), mpmath.mpf(epsilon), mpmath.sqrt(2)
        near, far = mpmath.erfc((e / m - m / 2) / root), mpmath.erfc((e / m + m / 2) / root)
        return (near - mpmath.exp(e) * far) / 2


@settings(max_examples=examples(60), deadline=None)
@given(
    epsilon=st.floats(-8, 4).map(lambda k: 10**k),
    delta=st.one_of(st.floats(-40, -0.01).map(lambda k: 10**k), st.sampled_from([0.5, 1e-6])),
)
def test_conversions_keep_to_the_promise_in_exact_arithmetic(epsilon, delta):
    """Not one double more could be had."""
    mu = gaussian_mu(epsilon, delta)
    assert exactly(epsilon, mu) <= delta < exactly(epsilon, math.nextafter(mu, math.inf))
    found = gaussian_epsilon(mu, delta)
    assert exactly(found, mu) <= delta
    assert found == 0 or exactly(math.nextafter(found, 0), mu) > delta


@settings(max_examples=examples(60), deadline=None)
@given(epsilon=st.floats(0, 50), mu=st.floats(1e-6, 50))
def test_delta_is_rounded_up_by_one_double_at_most(epsilon, mu):
    exact, found = exactly(epsilon, mu, 400), gaussian_delta(epsilon, mu)
    assert exact <= found
    assert found in (1.0, 5e-324) or math.nextafter(found, 0) <= exact


@pytest.mark.parametrize("wrong", [-1.0, math.nan])
@pytest.mark.parametrize(
    "convert",
    [
        lambda x: gaussian_delta(x, 1.0),
        lambda x: gaussian_delta(1.0, x),
        lambda x: gaussian_mu(x, 0.5),
        lambda x: gaussian_mu(1.0, x),
        lambda x: gaussian_epsilon(x, 0.5),
        lambda x: gaussian_epsilon(1.0, x),
        lambda x: analytic_sigma(x, 1.0, 0.5),
        lambda x: analytic_sigma(1.0, x, 0.5),
        lambda x: SampledGaussian(10, 5).epsilon(x, 0.5, 1),
    ],
)
def test_an_impossible_argument_is_named(convert, wrong):
    with pytest.raises(ParameterError, match=str(wrong)):
        convert(wrong)


def theorem(rate, multiplier, order):
    """Wang, Balle & Kasiviswanathan 2019, Theorem 27, for Gaussian noise and a whole order."""
    rate, squares = mpmath.mpf(rate), 2 * mpmath.mpf(multiplier) ** 2

    def moment(i):
        """e^{(i−1) R(i)}."""
        return mpmath.exp((i - 1) * i / squares)

    def difference(k):
        return sum((-1) ** (k - i) * mpmath.binomial(k, i) * moment(i) for i in range(k + 1))

    second = min(4 * (moment(2) - 1), 2 * moment(2))
    total = 1 + rate**2 * mpmath.binomial(order, 2) * second
    for j in range(3, order + 1):
        pair = difference(2 * (j // 2)) * difference(2 * ((j + 1) // 2))
        term = min(2 * moment(j), 4 * mpmath.sqrt(pair))
        total += rate**j * mpmath.binomial(order, j) * term
    return float(mpmath.log(total) / (order - 1))


@pytest.mark.long
def test_the_sampled_bound_is_the_theorem_s():
    """ε of T tests is that of the theorem's Rényi divergences at the best whole order, or less."""
    n, rows, multiplier, tests, delta = 1_000, 200, 4.0, 30, 1e-6
    with mpmath.workdps(60):
        bounds = [
            tests * theorem(rows / n, multiplier, a)
            + math.log1p(-1 / a)
            - math.log(delta * a) / (a - 1)
            for a in range(2, 33)
        ]
    found = SampledGaussian(n, rows).epsilon(multiplier, delta, tests)
    assert found <= min(bounds) * (1 + 1e-9)
    assert found == pytest.approx(min(bounds), rel=1e-3)


@pytest.mark.parametrize("rows", [100, 500, 900])
@pytest.mark.parametrize("multiplier", [1.0, 5.0])
def test_the_sampled_bound_covers_an_exact_mixture(rows, multiplier):
    """A statistic that tells whether one record was drawn, T times: its exact ε is no larger.

    The pair of the Poisson case, which drawing without replacement contains.
    """
    n, tests, delta = 1_000, 10, 1e-5
    exact = (
        privacy_loss_distribution.from_gaussian_mechanism(
            multiplier, sampling_prob=rows / n, value_discretization_interval=1e-3
        )
        .self_compose(tests)
        .get_epsilon_for_delta(delta)
    )
    bound = SampledGaussian(n, rows).epsilon(multiplier, delta, tests)
    assert bound >= exact - 1e-3 * tests
    # Sub-sampling amplifies, or costs nothing.
    assert bound <= SampledGaussian(n, n).epsilon(multiplier, delta, tests) * (1 + 1e-9)


@pytest.mark.parametrize("rows", [50, 700, 1_000])
@pytest.mark.parametrize("epsilon", few([1.0, 0.1, 10.0], 1))
def test_a_sampled_plan_keeps_to_its_total(rows, epsilon):
    mechanism, delta, tests = SampledGaussian(1_000, rows), 1e-6, 40
    multiplier = mechanism.multiplier(epsilon, delta, tests)
    assert mechanism.epsilon(multiplier, delta, tests) <= epsilon * (1 + 1e-9)
    assert mechanism.epsilon(multiplier * 0.99, delta, tests) > epsilon
    assert mechanism.epsilon(multiplier, delta, tests + 1) > epsilon


@pytest.mark.long
def test_sub_sampling_does_not_help():
    """Noise over signal, √n units: σ Δ_m/(signal ∝ √m) = multiplier/m is least at rate 1."""
    n = 1_000
    cost = {
        rows: SampledGaussian(n, rows).multiplier(1.0, 1e-6, 20) * n / rows
        for rows in (50, 200, 500, 1_000)
    }
    assert min(cost, key=cost.get) == n
    assert cost[200] > 1.5 * cost[n]
