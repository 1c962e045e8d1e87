"""Counts of tests by the columns that they read, against going through the tests."""

from collections import Counter
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from privcore.counts.projections import demand_of_families, demand_of_groups

MOST_COLUMNS = 9


@st.composite
def graphs(draw):
    """Neighbours of each column."""
    p = draw(st.integers(1, MOST_COLUMNS))
    pairs = [(x, y) for y in range(p) for x in range(y)]
    edges = draw(st.sets(st.sampled_from(pairs))) if pairs else set()
    return [{y for y in range(p) if {(x, y), (y, x)} & edges} for x in range(p)]


def around_each_end(adjacent, order):
    """End, neighbour and set of other neighbours of all tests of an order.

    A set within the neighbours of both ends is there twice.
    """
    for x, neighbours in enumerate(adjacent):
        for y in neighbours:
            for given_columns in combinations(neighbours - {y}, order):
                yield x, y, given_columns


@given(adjacent=graphs(), starts=st.sets(st.integers(1, MOST_COLUMNS - 1)), order=st.integers(0, 1))
def test_groups(adjacent, starts, order):
    starts = sorted({0, *(start for start in starts if start < len(adjacent))})
    group = [max(g for g, start in enumerate(starts) if start <= c) for c in range(len(adjacent))]
    expected = Counter()
    for x, y, given_columns in around_each_end(adjacent, order):
        touched = tuple(sorted({group[c] for c in (x, y, *given_columns)}))
        if len(touched) == order + 2:
            expected[touched] += 1
    if order == 0:
        # One test from either end.
        expected = Counter({touched: tests // 2 for touched, tests in expected.items()})
    for least in (1, 3):
        found = demand_of_groups(starts, adjacent, order, least)
        assert found == {key: tests for key, tests in expected.items() if tests >= least}


@given(adjacent=graphs(), order=st.integers(0, 4))
def test_families(adjacent, order):
    expected = Counter()
    for x, _, _ in around_each_end(adjacent, order):
        expected[tuple(sorted((x, *adjacent[x])))] += 1
    for least in (1, 3):
        found = demand_of_families(adjacent, order, least)
        assert found == {key: tests for key, tests in expected.items() if tests >= least}
