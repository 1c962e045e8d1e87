"""What the sum of the sites' noise promises, against divergences computed from its exact law."""

import math

import numpy as np
import pytest
from scipy.special import logsumexp

from privcore.errors import ParameterError
from privcore.privacy.mechanisms import SimulatedNoise, distributed
from privcore.privacy.mechanisms.distributed import (
    SumPlan,
    central_sigma,
    counts_sensitivity,
    noise_distance,
    site_sigma,
    sum_rho,
)

# A divergence of order α is made by values about α times the change: these are within doubles.
ORDERS = (1.0001, 1.01, 1.1, 1.5, 2.0, 3.0, 4.0)
# σ of a site and how many there are: from the least that the theorem is for, where a sum is far
# from a discrete Gaussian, to where no double shows a difference.
CASES = [(s, m) for s in (0.5, 0.6, 0.8, 1.0, 1.5) for m in (1, 2, 3, 5, 16)]


def summed_law(sigma, sites):
    """Probabilities of the sum of so many discrete Gaussians, by convolution, centred."""
    reach = math.ceil(12 * sigma) + 14
    one = np.exp(-((np.arange(-reach, reach + 1) / sigma) ** 2) / 2)
    one /= one.sum()
    law = one
    for _ in range(sites - 1):
        law = np.convolve(law, one)
    return law


def divergence(law, shift, order):
    """Rényi divergence between the law and itself moved by a whole number."""
    here, moved = law[shift:], law[:-shift]
    both = (here > 0) & (moved > 0)
    powers = order * np.log(here[both]) + (1 - order) * np.log(moved[both])
    return float(logsumexp(powers)) / (order - 1)


def exact_rho(sigma, sites, changes):
    """Largest divergence over α of tables that change by these whole numbers, each in a cell."""
    law = summed_law(sigma, sites)
    return max(sum(divergence(law, c, a) for c in changes) / a for a in ORDERS)


@pytest.mark.parametrize(("sigma", "sites"), CASES)
@pytest.mark.parametrize("changes", [(1,), (2,), (1, 1), (3, 3), (1, 1, 2)])
def test_no_sum_diverges_by_more_than_it_promises(sigma, sites, changes):
    length = math.sqrt(sum(c * c for c in changes))
    exact = exact_rho(sigma, sites, changes)
    bound = sum_rho(sigma, sites, length, len(changes))
    assert exact <= bound * (1 + 1e-9)
    # No constant is far too large: with σ from 1 on, the promise is what it is to a thousandth.
    if sigma >= 1 and sites < 16:
        assert bound <= 1.01 * exact


def test_without_tau_a_sum_of_little_noise_would_promise_too_much():
    """The case that τ is there for: a bound without it is below the exact divergence."""
    exact = exact_rho(0.5, 3, (1, 1))
    assert 2 / (2 * 3 * 0.25) < exact <= sum_rho(0.5, 3, math.sqrt(2), 2)


@pytest.mark.parametrize(("sigma", "sites"), CASES)
def test_tau_bounds_how_far_the_sum_is_from_a_discrete_gaussian(sigma, sites):
    """Half of τ on each log ratio is what the short proof in docs/experiments/sites.md needs."""
    law = summed_law(sigma, sites)
    steps = np.arange(law.size) - law.size // 2
    one = np.exp(-(steps**2) / (2 * sites * sigma**2))
    # Beyond, doubles of a convolution have lost their digits.
    near = np.abs(steps) < 5 * sigma * math.sqrt(sites)
    apart = np.abs(np.log(law[near] / (one / one.sum())[near])).max()
    assert apart <= noise_distance(sigma, sites) / 2 + 1e-12


def test_tau_is_the_sum_of_the_paper():
    by_hand = 10 * (math.exp(-(math.pi**2) * 0.49) + math.exp(-4 / 3 * math.pi**2 * 0.49))
    assert noise_distance(0.7, 3) == pytest.approx(by_hand, rel=1e-11)
    assert noise_distance(0.7, 3) >= by_hand
    assert noise_distance(0.7, 1) == 0


@pytest.mark.parametrize("rho", [1e-6, 3e-4, 0.024, 0.5, 4.0])
@pytest.mark.parametrize("sites", [1, 2, 7, 64])
def test_sigma_is_the_least_that_keeps_the_promise(rho, sites):
    sensitivity, cells = counts_sensitivity(3)
    sigma = site_sigma(rho, sites, sensitivity, cells)
    assert sum_rho(sigma, sites, sensitivity, cells) <= rho
    if sigma > 0.5:
        before = math.nextafter(sigma, 0)
        assert sum_rho(before, sites, sensitivity, cells) > rho


def test_one_site_has_the_noise_of_one_holder():
    sensitivity, cells = counts_sensitivity(1)
    sigma = site_sigma(0.01, 1, sensitivity, cells)
    assert sigma == pytest.approx(central_sigma(0.01, sensitivity), rel=1e-9)
    # Four sites have half of it each.
    assert site_sigma(0.01, 4, sensitivity, cells) == pytest.approx(sigma / 2, rel=1e-9)


@pytest.mark.parametrize("rows", [1, 2, 5])
def test_sensitivity_bounds_what_replaced_rows_change(rows):
    """Rows of three columns are replaced, at random and all alike; tables are the three pairs."""
    random = np.random.default_rng(rows)
    sensitivity, cells = counts_sensitivity(3, rows)
    worst = 0.0
    for trial in range(200):
        before, after = random.integers(0, 3, (2, rows, 3))
        if trial == 0:
            before, after = np.zeros((rows, 3), int), np.ones((rows, 3), int)
        change = np.zeros((3, 3, 3))
        for table, (x, y) in enumerate(((0, 1), (0, 2), (1, 2))):
            np.add.at(change[table], (before[:, x], before[:, y]), -1)
            np.add.at(change[table], (after[:, x], after[:, y]), 1)
        assert np.linalg.norm(change) <= sensitivity
        assert np.count_nonzero(change) <= cells
        worst = max(worst, np.linalg.norm(change))
    assert worst == pytest.approx(sensitivity)


def test_what_is_left_after_losses():
    plan = SumPlan(n=1000, sites=16, adding=16, tables=1, cells=32, rho=0.001)
    assert plan.rho_left(16) <= plan.rho
    assert plan.rho_left(8) == pytest.approx(2 * plan.rho, rel=1e-6)
    assert plan.rho_left(1) == pytest.approx(16 * plan.rho, rel=1e-6)
    assert plan.rho_left(0) == math.inf
    # Noise that is planned for those that stay keeps the promise, and is more where all do.
    fewer = SumPlan(n=1000, sites=16, adding=8, tables=1, cells=32, rho=0.001)
    assert fewer.rho_left(8) <= fewer.rho
    assert fewer.variance(16) == pytest.approx(2 * plan.variance(16), rel=1e-6)


def test_no_sum_of_public_rows_leaves_the_modulus():
    """A tenth of a bit less would not do; noise stays within reach but with chance 2⁻⁴⁰."""
    plan = SumPlan(n=200, sites=3, adding=3, tables=1, cells=4, rho=0.02)
    assert plan.n + 2 * plan.reach < 2**plan.bits <= 2 * (plan.n + 2 * plan.reach)
    drawn = sum(
        SimulatedNoise(k).discrete_gaussian_array(np.zeros(200_000, np.int64), plan.sigma)
        for k in range(3)
    )
    assert np.abs(drawn).max() <= plan.reach
    # Not out of all proportion: a subgaussian of this variance at 2⁻⁴⁰ for 4 cells.
    assert plan.reach < 9 * math.sqrt(plan.variance(3))


def test_more_rows_than_a_modulus_holds_are_refused():
    with pytest.raises(ParameterError, match="more than 62"):
        SumPlan(n=2**62, sites=2, adding=2, tables=1, cells=4, rho=0.1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: noise_distance(0.4, 2), "at least 0.5"),
        (lambda: noise_distance(math.nan, 2), "at least 0.5"),
        (lambda: sum_rho(1.0, 0, 1.0, 1), "0 sites"),
        (lambda: sum_rho(1.0, 2, math.inf, 1), "sensitivity is inf"),
        (lambda: sum_rho(1.0, 2, 1.0, 0), "0 cells"),
        (lambda: site_sigma(0.0, 2, 1.0, 1), "rho is 0.0"),
        (lambda: central_sigma(math.nan, 1.0), "rho is nan"),
        (lambda: counts_sensitivity(0), "0 tables"),
        (lambda: SumPlan(10, 2, 3, 1, 4, 0.1), "3 of 2 sites"),
        (lambda: SumPlan(0, 2, 2, 1, 4, 0.1), "0 rows"),
        (lambda: SumPlan(10, 20_000, 2, 1, 4, 0.1), "20000 sites"),
    ],
)
def test_bad_input_is_said_in_a_sentence(call, message):
    with pytest.raises(ParameterError, match=message):
        call()


# Each of the mistakes that the tests above are there for is made once, and seen.
PLANTED = {
    "τ with σ in place of σ²": ("noise_distance", lambda s, m: 10 * (m - 1) * math.exp(-20 * s)),
    "no τ": ("noise_distance", lambda s, m: 0.0),
}


@pytest.mark.parametrize("wrong", PLANTED)
def test_a_wrong_tau_is_seen(monkeypatch, wrong):
    name, replaced = PLANTED[wrong]
    monkeypatch.setattr(distributed, name, replaced)
    with pytest.raises(AssertionError):
        test_no_sum_diverges_by_more_than_it_promises(0.5, 3, (1, 1))
