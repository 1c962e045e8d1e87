"""EM-PC's greedy distance is that of a plain loop: the same integer, ties included."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import xlog1py, xlogy

from privcore import kernels
from privcore.algorithms import count
from privcore.data import load_network
from privcore.independence import table_scores
from privcore.independence.table_scores import greedy_distance, p_value
from tests.examples import examples

LEVELS = st.sampled_from([1e-3, 0.01, 0.05, 0.3])


@st.composite
def tables(draw):
    """Few different counts, so that many removals gain the same."""
    shape = draw(st.tuples(st.integers(1, 4), st.integers(1, 4), st.integers(1, 4)))
    largest = draw(st.sampled_from([1, 3, 12, 90]))
    some = draw(st.lists(st.integers(0, largest), min_size=1, max_size=4))
    return draw(arrays(np.int64, shape, elements=st.sampled_from(some)))


def drop(counts):
    """(n − 1) ln(n − 1) − n ln n, and 0 at n = 0; without differences of large numbers."""
    values = np.maximum(counts, 1).astype(float)
    return xlog1py(values - 1, -1 / values) - xlogy(1, values)


def growth(tables):
    """By how much G² grows when one record of each cell is removed; shape of the tables."""
    rows, columns, totals = (
        np.broadcast_to(tables.sum(axis=axes, keepdims=True), tables.shape)
        for axes in (2, 1, (1, 2))
    )
    gain = (drop(tables) + drop(totals)) - (drop(rows) + drop(columns))
    # Equal counts cancel, so that cells that gain the same have the same bits.
    gain = np.where(tables == rows, drop(totals) - drop(columns), gain)
    return 2 * np.where(tables == columns, drop(totals) - drop(rows), gain)


def removed_one_by_one(tables, level, strides=32):
    """All gains made anew for each removal; of equal ones the first goes, as in the kernel.

    From so many removals on they go by strides of that part of them.
    """
    left = tables.copy()
    independent = p_value(left) >= level
    removed = 0
    while left.sum() > 2:
        gain = growth(left) if independent else -growth(left)
        gain[left == 0] = -np.inf
        cell = np.unravel_index(int(np.argmax(gain)), left.shape)
        step = max(1, min(int(left[cell]) - 1, removed // strides))
        left[cell] -= step
        removed += step
        if (p_value(left) >= level) != independent:
            while step > 1:
                # Go back half of the last step, unless that undoes the crossing.
                back = step // 2
                left[cell] += back
                if (p_value(left) >= level) == independent:
                    left[cell] -= back
                else:
                    removed -= back
                step -= back
            break
    return removed if independent else -removed


def both_ways(table, level):
    before = table.copy()
    found = greedy_distance(table, level)
    assert (table == before).all()
    assert type(found) is int
    return found, removed_one_by_one(table, level)


@settings(max_examples=examples(300), deadline=None)
@given(table=tables(), level=LEVELS)
def test_it_is_that_of_a_plain_loop(table, level):
    fast, slow = both_ways(table, level)
    assert fast == slow


@settings(max_examples=examples(60), deadline=None)
@given(table=arrays(np.int64, (2, 2, 3), elements=st.integers(0, 20_000)), level=LEVELS)
def test_it_is_so_over_thousands_of_removals(table, level):
    fast, slow = both_ways(table, level)
    assert fast == slow


def test_strides_keep_long_distances_close():
    """Far from the boundary removals go by strides; the last step is made exact."""
    for counts in ([[900, 100], [100, 900]], [[1500, 1400], [1000, 1200]]):
        table = np.array([counts])
        alone = removed_one_by_one(table, 0.01, strides=10**9)
        assert greedy_distance(table, 0.01) == pytest.approx(alone, rel=0.02)


def test_lone_records_of_a_column_gain_the_same():
    """The first of them goes, whatever their counts."""
    for first, second in combinations(range(2, 40), 2):
        table = np.array([[first, 0], [second, 0], [0, 1]])
        for stratum in (table, np.ascontiguousarray(table.T)):
            gain = growth(stratum[None])[0]
            sums = np.empty(sum(stratum.shape), dtype=np.int64)
            _, degrees, best, found = kernels.tables.examine(stratum, 1.0, sums)
            assert degrees == 2
            assert best == pytest.approx(gain.max() / 2, rel=1e-12)
            assert found == np.argmax(gain) == 0


@pytest.mark.long
def test_it_is_so_on_the_tests_of_a_network():
    source = count(load_network("survey").sample(20_000, 1))
    for x, y, z in combinations(range(6), 3):
        for table in (source.conditional_tables(x, y, ()), source.conditional_tables(x, y, (z,))):
            fast, slow = both_ways(table, 0.05)
            assert fast == slow


def test_many_degrees_of_freedom_are_those_that_there_are(monkeypatch):
    table = np.random.default_rng(0).integers(0, 2, (3, 9, 9))
    expected = greedy_distance(table, 0.05)
    monkeypatch.setattr(table_scores, "_FEW_CELLS", 4)
    assert both_ways(table, 0.05) == (expected, expected)


def test_what_cannot_be_tested_is_independent():
    """One row, one column, or nothing at all: as many removals as leave two records."""
    for table, records in (([[[4, 3]]], 5), ([[[4], [3]], [[0], [2]]], 7), ([[[1, 1]]], 0)):
        assert both_ways(np.array(table), 0.05) == (records, records)
