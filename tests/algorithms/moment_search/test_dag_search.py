"""The search over DAGs, the choice of edges, and the plan."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privcore.algorithms.moment_search.budget import LEAST_CELLS, plan_moments
from privcore.algorithms.moment_search.parameters import MomentSearchParameters
from privcore.privacy.mechanisms.gaussian import gaussian_delta, planned_mu
from tests.examples import examples


@settings(max_examples=examples(100), deadline=None)
@given(
    n=st.integers(10, 10**6),
    levels=st.lists(st.integers(2, 6), min_size=2, max_size=40),
    epsilon=st.floats(0.01, 100),
    delta=st.sampled_from([1e-9, 1e-6, 1e-3]),
    share=st.floats(0.05, 0.95),
)
def test_both_releases_together_are_the_total(n, levels, epsilon, delta, share):
    parameters = MomentSearchParameters(table_share=share, table_noise_ratio=40.0)
    plan = plan_moments(n, levels, planned_mu(epsilon, delta), parameters)
    tables, together = plan.mus[1], math.hypot(*plan.mus)
    assert gaussian_delta(epsilon, together) <= delta
    assert gaussian_delta(epsilon, together * (1 + 1e-9)) > delta * (1 - 1e-6)
    assert plan.rounds == (3 if plan.cells else 0)
    if plan.rounds:
        assert plan.mu_round**2 * plan.rounds == pytest.approx(tables**2)
    assert (tables > 0) == (plan.cells > 0)
    assert plan.cells == 0 or plan.cells >= LEAST_CELLS
