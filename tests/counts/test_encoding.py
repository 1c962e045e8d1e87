"""Rows merged to unique configurations, as by a loop."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privcore.counts.projections import combine, joint_key, merged_rows, unique_rows
from tests.examples import examples


def merged_one_by_one(columns, weights):
    """Configuration to its first row and its weight, in the order of appearance."""
    seen = {}
    for row, codes in enumerate(zip(*columns, strict=True)):
        first, weight = seen.get(codes, (row, 0))
        seen[codes] = first, weight + int(weights[row])
    return seen


@st.composite
def tables(draw):
    """Codes and levels: few cells, many cells, and more than fit in 62 bits."""
    columns, rows = draw(st.integers(1, 7)), draw(st.integers(1, 200))
    most = draw(st.sampled_from([2, 4, 60, 1000]))
    levels = draw(st.lists(st.integers(1, most), min_size=columns, max_size=columns))
    generator = np.random.default_rng(draw(st.integers(0, 10_000)))
    spread = draw(st.sampled_from([1, 3, 1000]))
    codes = [generator.integers(0, min(k, spread), rows).astype(np.uint16) for k in levels]
    return codes, levels


@settings(max_examples=examples(150), deadline=None)
@given(table=tables())
def test_unique_rows_are_those_of_a_loop(table):
    codes, levels = table
    first, counts = unique_rows(codes, levels)
    expected = list(merged_one_by_one(codes, np.ones(codes[0].size)).values())
    assert list(zip(first.tolist(), counts.tolist(), strict=True)) == expected
    assert counts.dtype == np.int64


@settings(max_examples=examples(150), deadline=None)
@given(table=tables(), seed=st.integers(0, 1000))
def test_merged_rows_are_those_of_a_loop(table, seed):
    codes, levels = table
    weights = np.random.default_rng(seed).integers(0, 5, codes[0].size)
    merged, counts = merged_rows(codes, levels, weights)
    got = {
        configuration: count
        for configuration, count in zip(
            zip(*(c.tolist() for c in merged), strict=True), counts.tolist(), strict=True
        )
        if count
    }
    assert got == {k: w for k, (_, w) in merged_one_by_one(codes, weights).items() if w}
    assert len(set(zip(*(c.tolist() for c in merged), strict=True))) == counts.size


def test_many_unique_rows():
    codes = [np.arange(30_000) % 1000, np.arange(30_000) // 1000, np.arange(30_000) % 7]
    codes = [np.concatenate((c, c[::-1])) for c in codes]
    first, counts = unique_rows(codes, [1000, 1000, 1000])
    assert (first == np.arange(30_000)).all()
    assert (counts == 2).all()


def test_rare_rows_after_the_first_thousands():
    codes = np.zeros(20_000, dtype=np.uint8)
    codes[[19_000, 12_345, 19_999]] = 2, 1, 3
    first, counts = unique_rows([codes, codes % 2], [4, 2])
    assert first.tolist() == [0, 12_345, 19_000, 19_999]
    assert counts.tolist() == [19_997, 1, 1, 1]


@given(table=tables())
def test_joint_keys_tell_configurations_apart(table):
    codes, levels = table
    key, size = joint_key(codes, levels)
    rows = list(zip(*(c.tolist() for c in codes), strict=True))
    assert len(set(key.tolist())) == len(set(rows))
    assert len(set(zip(key.tolist(), rows, strict=True))) == len(set(rows))
    assert 0 <= int(key.min()) <= int(key.max()) < size


def test_keys_take_the_smallest_type_that_holds_them():
    codes = [np.array([0, 1], dtype=np.uint16)] * 3
    kinds = [joint_key(codes, [k] * 3)[0].dtype for k in (2, 40, 1000, 100_000)]
    assert kinds == [np.uint8, np.uint16, np.int32, np.int64]


@given(table=tables())
def test_combined_numbers_count_up_as_they_occur(table):
    codes, levels = table
    numbers, count = combine(codes, levels)
    assert count == len(set(numbers.tolist()))
    firsts = [numbers.tolist().index(k) for k in range(count)]
    assert firsts == sorted(firsts)


@pytest.mark.parametrize("columns", [64, 70, 130])
def test_many_columns_with_few_unique_rows(columns):
    """Their keys are hashed on the way and end up small, but their codes cannot be read off them.

    The last number of columns is hashed twice.
    """
    generator = np.random.default_rng(3)
    kinds = generator.integers(0, 2, (5, columns)).astype(np.uint8)
    drawn = generator.integers(0, 5, 4000)
    codes = [np.ascontiguousarray(kinds[drawn, c]) for c in range(columns)]
    weights = generator.integers(1, 9, drawn.size)
    expected = merged_one_by_one(codes, weights)
    first, counts = unique_rows(codes, [2] * columns)
    merged, sums = merged_rows(codes, [2] * columns, weights)
    assert first.tolist() == [row for row, _ in expected.values()]
    assert counts.tolist() == np.bincount(drawn)[drawn[first]].tolist()
    rows = zip(*(c.tolist() for c in merged), strict=True)
    assert dict(zip(rows, sums.tolist(), strict=True)) == {k: w for k, (_, w) in expected.items()}
