"""The search over DAGs, the choice of edges, and the plan."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privcore.algorithms.moment_search.dags.dag_search import search_dag
from privcore.algorithms.moment_search.release.plan import LEAST_CELLS, plan_moments
from privcore.privacy.mechanisms.gaussian import gaussian_delta, planned_mu
from tests.algorithms.moment_search.noisy_tables import every_dag, parents_of
from tests.examples import examples


def random_score(seed):
    generator = np.random.default_rng(seed)
    drawn = {}

    def score(column, parents):
        key = (column, parents)
        if key not in drawn:
            drawn[key] = float(generator.normal()) if parents else 0.0
        return drawn[key]

    return score


THREE = [parents_of(dag) for dag in every_dag()]


@pytest.mark.parametrize("seed", range(20))
def test_with_patience_the_best_of_all_dags_is_found(seed):
    score = random_score(seed)
    everyone = {c: {0, 1, 2} - {c} for c in range(3)}
    found = search_dag(score, everyone, (frozenset(),) * 3, patience=25)
    best = max(sum(score(c, ps) for c, ps in enumerate(dag)) for dag in THREE)
    assert sum(score(c, ps) for c, ps in enumerate(found)) == pytest.approx(best)


@settings(max_examples=examples(100), deadline=None)
@given(
    n=st.integers(10, 10**6),
    levels=st.lists(st.integers(2, 6), min_size=2, max_size=40),
    epsilon=st.floats(0.01, 100),
    delta=st.sampled_from([1e-9, 1e-6, 1e-3]),
    share=st.floats(0.05, 0.95),
)
def test_both_releases_together_are_the_total(n, levels, epsilon, delta, share):
    plan = plan_moments(n, levels, planned_mu(epsilon, delta), share=share, tables=40.0)
    together = math.hypot(plan.mu_pairs, plan.mu_tables)
    assert gaussian_delta(epsilon, together) <= delta
    assert gaussian_delta(epsilon, together * (1 + 1e-9)) > delta * (1 - 1e-6)
    assert plan.rounds == (3 if plan.cells else 0)
    if plan.rounds:
        assert plan.mu_round**2 * plan.rounds == pytest.approx(plan.mu_tables**2)
    assert (plan.mu_tables > 0) == (plan.cells > 0)
    assert plan.cells == 0 or plan.cells >= LEAST_CELLS
