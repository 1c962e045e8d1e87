"""EM-PC's greedy distance by compiled kernel and in numpy: the same integer, ties included."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from privcore.algorithms import count, discover
from privcore.data import load_network
from privcore.independence import greedy_distance as module
from privcore.independence.greedy_distance import greedy_distance, p_value
from privcore.independence.order_scan import critical_values
from privcore.kernels import compiled
from tests.counts.kernel_switch import counting_with
from tests.examples import examples

LEVELS = st.sampled_from([1e-3, 0.01, 0.05, 0.3])


@st.composite
def tables(draw):
    """Few different counts, so that many removals gain the same."""
    shape = draw(st.tuples(st.integers(1, 4), st.integers(1, 4), st.integers(1, 4)))
    largest = draw(st.sampled_from([1, 3, 12, 90]))
    some = draw(st.lists(st.integers(0, largest), min_size=1, max_size=4))
    return draw(arrays(np.int64, shape, elements=st.sampled_from(some)))


def both_ways(table, level):
    found = []
    for kernels in (True, False):
        before = table.copy()
        with counting_with(kernels):
            found.append(greedy_distance(table, level))
        assert (table == before).all()
        assert type(found[-1]) is int
    return found


def clear(table, level, size=64):
    """Whether the kernel decides by itself."""
    with counting_with(True):
        return compiled.ready().greedy_removals(table.copy(), critical_values(level, size), 32)[1]


@settings(max_examples=examples(300), deadline=None)
@given(table=tables(), level=LEVELS)
def test_kernel_and_numpy_agree(table, level):
    fast, slow = both_ways(table, level)
    assert fast == slow


@settings(max_examples=examples(60), deadline=None)
@given(table=arrays(np.int64, (2, 2, 3), elements=st.integers(0, 20_000)), level=LEVELS)
def test_they_agree_over_thousands_of_removals(table, level):
    fast, slow = both_ways(table, level)
    assert fast == slow


def test_lone_records_of_a_column_gain_the_same():
    """The first of them goes, in the kernel as in numpy, whatever their counts."""
    with counting_with(True):
        from privcore.kernels.distance import examine

    for first, second in combinations(range(2, 40), 2):
        table = np.array([[first, 0], [second, 0], [0, 1]])
        for stratum in (table, np.ascontiguousarray(table.T)):
            gain = module._change(stratum[None])[0]
            rows, columns = (np.empty(size, dtype=np.int64) for size in stratum.shape)
            _, degrees, best, found = examine(stratum, 1.0, rows, columns)
            assert degrees == 2
            assert best == pytest.approx(gain.max() / 2, rel=1e-12)
            assert found == np.argmax(gain) == 0


def test_they_agree_on_the_tests_of_a_network():
    source = count(load_network("survey").sample(20_000, 1))
    for x, y, z in combinations(range(6), 3):
        for table in (source.conditional_tables(x, y, ()), source.conditional_tables(x, y, (z,))):
            fast, slow = both_ways(table, 0.05)
            assert fast == slow


def test_published_runs_are_the_same_either_way():
    data = load_network("asia").sample(5000, 2)
    runs = []
    for kernels in (False, True):
        with counting_with(kernels):
            asked = {"epsilon": 2.0, "calibration": "published"}
            runs.append(discover(count(data), "em-pc", asked, seed=5))
    assert runs[0].graph == runs[1].graph
    assert repr(runs[0].trace) == repr(runs[1].trace)


def test_a_verdict_at_the_level_is_left_to_numpy():
    """The level is the p-value of the table, or of one met on the way, so that rounding decides."""
    for seed in range(20):
        table = np.random.default_rng(seed).integers(1, 40, (2, 2, 2))
        on_the_way = table.copy()
        on_the_way[0, 0, 0] -= 1
        level = p_value(table)
        assert not clear(table, level)
        for at in (level, p_value(on_the_way)):
            fast, slow = both_ways(table, at)
            assert fast == slow


def test_many_degrees_of_freedom_are_left_to_numpy(monkeypatch):
    table = np.random.default_rng(0).integers(0, 9, (3, 3, 3))
    assert clear(table, 0.05)
    assert not clear(table, 0.05, size=4)
    expected = greedy_distance(table, 0.05)
    monkeypatch.setattr(module, "_DEGREES", 4)
    assert both_ways(table, 0.05) == [expected, expected]


def test_what_cannot_be_tested_is_independent():
    """One row, one column, or nothing at all: as many removals as leave two records."""
    for table, records in (([[[4, 3]]], 5), ([[[4], [3]], [[0], [2]]], 7), ([[[1, 1]]], 0)):
        assert both_ways(np.array(table), 0.05) == [records, records]


def test_gains_that_are_equal_have_equal_bits():
    """Otherwise the rounding of a logarithm would choose the record, and so the distance."""
    for low, high in ((3, 5), (7919, 104_729)):
        mirrored = module._change(np.array([[[high, low], [low, 2 * high]]]))[0]
        assert mirrored[0, 1] == mirrored[1, 0]
        # A record alone in its row or column moves the other sums only.
        alone = module._change(np.array([[[low, 0], [high, 0], [0, 9]]]))[0]
        assert alone[0, 0] == alone[1, 0]
        single = module._change(np.array([[[low, high, 1]], [[high, 2, 0]]]))
        assert (single == 0).all()
