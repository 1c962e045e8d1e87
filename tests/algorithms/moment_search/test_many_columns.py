"""Tables of many columns: work that grows with what may be an edge, and what is said of it."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privcore.algorithms import count, discover
from privcore.algorithms.engine import planned_events
from privcore.algorithms.moment_search.algorithm import MOST_COLUMNS
from privcore.algorithms.moment_search.evidence import TableEvidence
from privcore.algorithms.moment_search.parameters import MomentSearchParameters
from privcore.algorithms.moment_search.search import OrderSearch, total
from privcore.data import Column, Dataset
from privcore.errors import ParameterError
from tests.algorithms.moment_search.releasing import data, of_pairs
from tests.examples import examples
from tests.messages import raises_code


def problem(seed):
    """A random score of families, whole numbers so that many are alike, and candidates."""
    generator = np.random.default_rng(seed)
    columns = int(generator.integers(2, 8))
    around = {c: set() for c in range(columns)}
    for i in range(columns):
        for j in range(i):
            if generator.random() < 0.5:
                around[i].add(j)
                around[j].add(i)

    def score(column, parents):
        drawn = np.random.default_rng([seed, column, *sorted(parents)]).normal(0.5, 2)
        return float(round(drawn)) if parents else 0.0

    return columns, around, score


@given(seed=st.integers(0, 10_000))
@settings(max_examples=examples(30), deadline=None)
def test_no_column_has_a_better_place_in_the_order(seed):
    columns, around, score = problem(seed)

    def gains(column, parents):
        gained = np.full(columns, -np.inf)
        for other in around[column] - parents:
            gained[other] = score(column, parents | {other}) - score(column, parents)
        return gained

    found = OrderSearch(gains, list(around.values())).best(range(columns))
    everyone = {c: set(range(columns)) - {c} for c in range(columns)}
    # Gains of columns that are no candidates are −∞, so that all may be looked at as well.
    assert OrderSearch(gains, list(everyone.values())).best(range(columns)) == found
    assert total(score, found) >= 0
    assert any(
        all(order.index(p) < order.index(c) for c, ps in enumerate(found) for p in ps)
        for order in permutations(range(columns))
    )


def test_suspects_are_all_columns_that_depend_on_one():
    source = data(1, 20_000, (2, 3, 4, 40))
    evidence = TableEvidence(of_pairs(source, 2.0), penalty=3.0)
    for column in range(3):
        for other in set(range(3)) - {column}:
            if evidence.unexplained(other, column, ()).p_value < 1e-3:
                assert other in evidence.suspects(column, ())
        # A column of many levels is always looked at.
        assert 3 in evidence.suspects(column, ())


def test_independent_columns_are_seldom_suspects():
    """More than 20 of 780 pairs at a level of 0.01 come once in 10,000 times."""
    source = data(2, 5_000, (2,) * 40, linked=False)
    evidence = TableEvidence(of_pairs(source, 30.0), penalty=3.0)
    assert sum(len(evidence.suspects(c, ())) for c in range(40)) <= 2 * 20


def test_the_level_of_candidates_is_as_stated_up_to_sixty_columns_and_then_falls():
    asked = MomentSearchParameters(epsilon=1.0)
    assert asked.level_of_candidates(1) == asked.level_of_candidates(60) == asked.candidate_level
    for columns in (61, 100, 450):
        level = asked.level_of_candidates(columns)
        assert level * (columns - 1) == pytest.approx(59 * asked.candidate_level)


@pytest.mark.long
def test_two_hundred_columns_are_searched():
    generator = np.random.default_rng(1)
    values = [generator.integers(0, 2, 5_000).astype(np.uint16)]
    for _ in range(199):
        same = generator.random(5_000) < (0.95 if len(values) % 2 else 0.5)
        values.append(np.where(same, values[-1], 1 - values[-1]).astype(np.uint16))
    columns = tuple(Column(f"c{k}", "nominal", ("a", "b"), declared=True) for k in range(200))
    source = count(Dataset("many", columns, tuple(values)))
    found = discover(source, "moment-search", {"epsilon": 10.0}, seed=1, keep_trace=False)
    assert found.graph.skeleton == {(k, k + 1) for k in range(0, 200, 2)}
    assert len(found.findings) == 200 * 199 // 2


def test_more_columns_than_pairs_can_be_told_of_are_refused_before_anything_is_spent():
    generator = np.random.default_rng(1)
    many = MOST_COLUMNS + 1
    columns = tuple(Column(f"c{k}", "nominal", ("a", "b"), declared=True) for k in range(many))
    values = tuple(generator.integers(0, 2, 10).astype(np.uint16) for _ in range(many))
    source = count(Dataset("many", columns, values))
    with raises_code(ParameterError, "too-many-columns-for-search"):
        planned_events("moment-search", {"epsilon": 1.0}, source)
