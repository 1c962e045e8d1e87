"""Every function of ε and δ at 0, 1 and ∞, and for arguments that cannot be."""

import math

import pytest
from dp_accounting.rdp import rdp_privacy_accountant

from privcore.errors import ParameterError
from privcore.privacy.accounting import composition
from privcore.privacy.accounting.composition import orders
from privcore.privacy.accounting.guarantee import guessing_bound, posterior_bound
from privcore.privacy.accounting.plan import SampledGaussian
from privcore.privacy.mechanisms.gaussian import planned_mu
from privcore.privacy.mechanisms.selection import dilation_delta
from privcore.privacy.mechanisms.sparse_vector import amplified, before_amplification
from privcore.rounding import largest

INF, NAN = math.inf, math.nan


@pytest.mark.parametrize("conversion", [composition.zcdp, composition.zcdp_classic])
def test_zcdp_at_the_edges_is_as_the_library_s(conversion):
    """With the Rényi curve αρ of ρ-zCDP."""
    for rho in (0.0, 0.5, 1e3, INF):
        expected = rdp_privacy_accountant.compute_epsilon(orders(), orders() * rho, 0.0)[0]
        assert conversion(rho, 0.0) == expected
        # Whatever is released is (0, 1)-DP, as the library says of Gaussian noise.
        assert conversion(rho, 1.0) == 0
    assert conversion(INF, 0.5) == INF
    assert conversion(1e-300, 1e-300) >= 0


def test_rho_for_undoes_it():
    assert composition.rho_for(1.0, 0.0) == composition.rho_for(0.0, 1e-6) == 0
    assert composition.rho_for(1.0, 1.0) == composition.rho_for(INF, 1e-6) == INF
    for epsilon in (1e-12, 1.0, 1e12):
        for delta in (1e-300, 1e-6, 0.999):
            rho = composition.rho_for(epsilon, delta)
            assert 0 < composition.zcdp(rho, delta) <= epsilon
            assert composition.zcdp(rho * (1 + 1e-6), delta) > epsilon


@pytest.mark.parametrize("total", [composition.advanced, composition.advanced_classic])
def test_advanced_composition_at_the_edges(total):
    assert total([], 0.0) == total([0.0, 0.0], 0.0) == total([1.0], 1.0) == 0
    assert total([1.0], 0.0) == total([INF], 0.5) == INF
    assert composition.basic([]) == 0
    assert composition.basic([1.0, INF]) == INF


def test_the_optimal_composition_at_the_edges():
    assert composition.optimal_equal(1.0, 0, 0.0) == composition.optimal_equal(0.0, 9, 0.0) == 0
    assert composition.optimal_equal(1.0, 9, 1.0) == 0
    assert composition.optimal_equal(0.5, 4, 0.0) == 2.0
    assert composition.optimal_equal(INF, 4, 0.5) == INF


def test_amplification_at_the_edges():
    assert amplified(1.0, 0.0) == amplified(0.0, 0.5) == amplified(INF, 0.0) == 0
    assert amplified(1.0, 1.0) == pytest.approx(1.0)
    assert amplified(INF, 0.5) == before_amplification(INF, 0.5) == INF
    assert before_amplification(1.0, 1.0) == 1.0
    assert before_amplification(1.0, 0.0) == INF
    for epsilon in (1e-9, 0.9, 1.1, 1e4):
        for rate in (1e-6, 0.5, 1.0):
            assert amplified(before_amplification(epsilon, rate), rate) <= epsilon * (1 + 2e-12)


def test_what_a_guess_can_do_at_the_edges():
    assert guessing_bound(0.0, 0.0) == posterior_bound(0.0) == 0.5
    assert guessing_bound(INF, 0.0) == guessing_bound(0.0, 1.0) == posterior_bound(INF) == 1
    assert posterior_bound(5.0, 0.0) == 0
    assert posterior_bound(5.0, 1.0) == 1


def test_sampled_noise_at_the_edges():
    for rows in (10, 100):
        tests = SampledGaussian(100, rows)
        assert tests.epsilon(0.0, 1e-6, 0) == 0
        assert tests.epsilon(0.0, 1e-6, 1) == tests.epsilon(1.0, 0.0, 1) == INF
        assert tests.epsilon(1.0, 1.0, 1) == tests.epsilon(INF, 1e-6, 1) == 0
    assert dilation_delta(1.0, 0.0) == 0


@pytest.mark.parametrize("wrong", [-1.0, NAN])
@pytest.mark.parametrize(
    "asked",
    [
        lambda x: composition.basic([x]),
        lambda x: composition.advanced([x], 0.5),
        lambda x: composition.advanced([1.0], x),
        lambda x: composition.advanced_classic([x], 0.5),
        lambda x: composition.zcdp(x, 0.5),
        lambda x: composition.zcdp(1.0, x),
        lambda x: composition.zcdp_classic(1.0, x),
        lambda x: composition.rho_for(x, 0.5),
        lambda x: composition.rho_for(1.0, x),
        lambda x: composition.optimal_equal(x, 2, 0.5),
        lambda x: composition.optimal_equal(1.0, 2, x),
        lambda x: composition.total([(x, 1.0, 1)], 0.5),
        lambda x: composition.total([(1.0, 1.0, 1)], x),
        lambda x: amplified(x, 0.5),
        lambda x: amplified(1.0, x),
        lambda x: before_amplification(1.0, x),
        lambda x: guessing_bound(x, 0.0),
        lambda x: guessing_bound(1.0, x),
        lambda x: posterior_bound(1.0, x),
        lambda x: planned_mu(1.0, x),
    ],
)
def test_an_impossible_argument_is_named(asked, wrong):
    with pytest.raises(ParameterError, match=str(wrong)):
        asked(wrong)


@pytest.mark.parametrize("limit", [5e-324, 1e-300, 0.1, 1.0, 3.7, 1e300])
@pytest.mark.parametrize("guess", [0.0, 1e-310, 1.0, 1e308])
def test_the_largest_number_is_found_from_anywhere(limit, guess):
    assert largest(lambda x: x <= limit, guess) == limit
    assert largest(lambda x: x < limit, guess) == math.nextafter(limit, 0)
