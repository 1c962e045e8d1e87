"""The search over DAGs, the choice of edges, and the plan."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privcore.algorithms.moment_search.parameters import MomentSearchParameters
from privcore.algorithms.moment_search.plan import LEAST_CELLS, ROUNDS, plan_moments
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
    tables = plan.tables
    together = math.hypot(plan.pairs.mu, tables.mu if tables else 0.0)
    assert gaussian_delta(epsilon, together) <= delta
    assert gaussian_delta(epsilon, together * (1 + 1e-9)) > delta * (1 - 1e-6)
    assert len(plan.events) == 1 + (ROUNDS if tables else 0)
    if tables:
        assert tables.round(()).mu ** 2 * ROUNDS == pytest.approx(tables.mu**2)
        assert tables.cells >= LEAST_CELLS
