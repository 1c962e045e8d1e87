"""Several searches over orders, of which the best is taken."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privcore.algorithms.moment_search.search import DIGITS, best_of_orders
from privcore.errors import DataError
from privcore.graphs import topological_order
from tests.algorithms.moment_search.noisy_tables import every_dag, parents_of
from tests.examples import examples


def random_score(seed):
    drawn, generator = {}, np.random.default_rng(seed)

    def score(column, parents):
        if not parents:
            return 0.0
        return drawn.setdefault((column, parents), float(generator.normal(0.5)))

    return score


def gaussian_score(seed, columns):
    """BIC of linear-Gaussian columns, in which single edges lead astray often; and the DAG."""
    generator = np.random.default_rng(seed)
    rows, true = np.zeros((2_000, columns)), []
    for c in range(columns):
        causes = [k for k in range(c) if generator.random() < 0.6][:4]
        weights = generator.choice([-1.0, 1.0], len(causes)) * generator.uniform(0.5, 1.5)
        rows[:, c] = rows[:, causes] @ weights + generator.normal(size=len(rows))
        true.append(frozenset(causes))
    covariance = np.cov(rows.T)

    def score(column, parents):
        if not parents:
            return 0.0
        kept = sorted(parents)
        slopes = np.linalg.solve(covariance[np.ix_(kept, kept)], covariance[kept, column])
        left = 1 - covariance[column, kept] @ slopes / covariance[column, column]
        # Scores that are equal but for rounding would have each processor search another way.
        return round(-len(rows) * np.log(left) - len(kept) * np.log(len(rows)), DIGITS)

    return score, tuple(true)


def total(score, dag):
    return sum(score(column, parents) for column, parents in enumerate(dag))


def around(columns, edges):
    return {
        c: {o for o in range(columns) if (min(c, o), max(c, o)) in edges} for c in range(columns)
    }


@settings(max_examples=examples(40), deadline=None)
@given(
    seed=st.integers(0, 10_000),
    columns=st.integers(1, 6),
    most=st.integers(1, 3),
    data=st.data(),
)
def test_a_dag_within_its_limits_no_worse_than_the_one_it_begins_from(seed, columns, most, data):
    pairs = [(i, j) for j in range(columns) for i in range(j)]
    candidates = around(columns, {pair for pair in pairs if data.draw(st.booleans())})
    score = random_score(seed)
    start = tuple(
        frozenset(sorted(p for p in candidates[c] if p < c)[: data.draw(st.integers(0, most))])
        for c in range(columns)
    )
    found = best_of_orders(score, candidates, max_parents=most, start=start)
    edges = {(p, c) for c, parents in enumerate(found) for p in parents}
    try:
        topological_order(columns, edges)
    except DataError:
        pytest.fail("a cycle")
    assert all(len(ps) <= most and ps <= candidates[c] for c, ps in enumerate(found))
    assert total(score, found) >= total(score, start)


def test_with_all_orders_the_best_of_all_dags_of_three_columns_is_found():
    """Where parents grow one by one to the best set, as any do of a score that adds up."""
    for seed in range(20):
        drawn = np.random.default_rng(seed).normal(size=(3, 3))

        def score(column, parents, drawn=drawn):
            return float(sum(drawn[column, parent] for parent in parents))

        everyone = {c: {0, 1, 2} - {c} for c in range(3)}
        best = max(total(score, parents_of(dag)) for dag in every_dag())
        assert total(score, best_of_orders(score, everyone)) == pytest.approx(best)


@pytest.mark.long
@pytest.mark.parametrize("graphs", [4, pytest.param(12, marks=pytest.mark.long)])
def test_it_finds_dags_as_good_as_the_true_one(graphs):
    reached = 0
    for seed in range(graphs):
        score, true = gaussian_score(seed, 9)
        everyone = {c: set(range(9)) - {c} for c in range(9)}
        # Of causes that nearly cancel, growing one by one may find none.
        reached += total(score, best_of_orders(score, everyone)) > total(score, true) - 20
    assert reached >= 0.75 * graphs


def test_it_asks_whether_to_go_on_in_every_part():
    calls = []
    score, _ = gaussian_score(1, 6)
    everyone = {c: set(range(6)) - {c} for c in range(6)}
    best_of_orders(score, everyone, between=calls.append)
    # Every column of twelve searches over orders.
    assert len(calls) >= 12 * 6
