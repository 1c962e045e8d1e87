"""Tables counted from merged rows equal those counted from all rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privcore.counts import InMemoryCounts, projections
from privcore.counts.projections import Projections, pack
from privcore.independence.table_scores import scan
from tests.examples import examples
from tests.messages import says

LEVELS = (2, 3, 4, 2, 5, 3, 2, 7, 2, 3)
# Neighbours of each column while nothing is separated.
ALL = [set(range(10)) - {column} for column in range(10)]


@pytest.fixture
def always(monkeypatch):
    """Rows are merged however few there are."""
    monkeypatch.setattr(projections, "_FEW_ROWS", 0)


def rows_of(seed, rows=400):
    generator = np.random.default_rng(seed)
    # A common cause, so that merging halves the rows now and then.
    cause = generator.integers(0, 2, rows)
    codes = tuple(
        ((cause + (generator.random(rows) < 0.1) * generator.integers(0, k, rows)) % k).astype(
            np.uint16
        )
        for k in LEVELS
    )
    return codes, generator.integers(1, 50, rows)


def counted(codes, weights, columns):
    """Row by row."""
    table = np.zeros([LEVELS[c] for c in columns], dtype=np.int64)
    np.add.at(table, tuple(codes[c] for c in columns), weights)
    return table


@settings(max_examples=examples(60), deadline=None)
@given(data=st.data(), seed=st.integers(0, 30))
def test_tables_do_not_depend_on_what_was_merged_before(data, seed):
    codes, weights = rows_of(seed)
    source = InMemoryCounts(tuple("abcdefghij"), LEVELS, codes, weights)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(projections, "_FEW_ROWS", data.draw(st.sampled_from([0, 1_000])))
        for _ in range(6):
            columns = data.draw(st.lists(st.integers(0, 9), min_size=1, max_size=6, unique=True))
            if data.draw(st.booleans()):
                source.prepare([tuple(columns), tuple(range(0, 10, 2))])
            assert (source.table(columns) == counted(codes, weights, columns)).all()
            if len(columns) > 1:
                x, y, *given_columns = columns
                full = counted(codes, weights, [*given_columns, x, y])
                full = full.reshape(-1, LEVELS[x], LEVELS[y])
                expected = full[full.any(axis=(1, 2))] if len(full) > 1 else full
                got = source.conditional_tables(x, y, given_columns)
                assert (got == expected).all()


def test_merging_pays_where_columns_depend_on_each_other(always):
    codes, weights = rows_of(1, rows=3000)
    made = Projections(codes, weights, LEVELS)
    small = made.smallest((0, 1, 2))
    assert small.columns >= {0, 1, 2}
    assert small.rows < made.whole.rows / 2
    assert small.multiplicities.sum() == weights.sum()


def test_few_rows_are_left_as_they_are():
    codes, weights = rows_of(1)
    made = Projections(codes, weights, LEVELS)
    assert made.smallest((0, 1)) is made.whole
    assert made.for_order(1, ALL) == [made.whole]


def test_groups_and_families_of_the_same_numbers_are_told_apart(always):
    """Groups 0, 1 and 2 hold other columns than the family {0, 1, 2}."""
    codes, weights = rows_of(2)
    made = Projections(codes, weights, LEVELS)
    made.prepare([(0, 1, 2, 9)])
    for columns in ((0, 3, 9), (0, 1, 2, 9), (0, 1, 2), (4, 5, 6)):
        assert made.smallest(columns).columns.issuperset(columns)


@pytest.mark.parametrize("order", range(4))
def test_the_rows_of_an_order_are_sorted_and_end_with_all(always, order):
    codes, weights = rows_of(3)
    made = Projections(codes, weights, LEVELS)
    found = made.for_order(order, [{*range(5)} - {c} if c < 5 else set() for c in range(10)])
    assert found[-1] is made.whole
    assert [p.rows for p in found] == sorted(p.rows for p in found)
    for projection in found:
        assert projection.multiplicities.sum() == weights.sum()


def test_only_what_enough_tests_read_is_merged(always, monkeypatch):
    """Only the first three of ten columns have neighbours: three tests at order 1."""
    monkeypatch.setattr(projections, "_GROUP_CELLS", 1)
    codes, weights = rows_of(3)
    adjacent = [{0, 1, 2} - {column} if column < 3 else set() for column in range(10)]
    for least, columns in ((6, {0, 1, 2}), (7, None)):
        monkeypatch.setattr(projections, "_TESTS_THAT_PAY", least)
        made = Projections(codes, weights, LEVELS)
        merged = made.for_order(1, adjacent)[:-1]
        assert [set(p.columns) for p in merged] == ([columns] if columns else [])
        assert made.for_order(3, adjacent) == [made.whole]


def test_what_an_order_merges_is_bounded(always, monkeypatch):
    monkeypatch.setattr(projections, "_GROUP_CELLS", 1)
    monkeypatch.setattr(projections, "_TESTS_THAT_PAY", 1)
    codes, weights = rows_of(4)
    # Columns 0 and 9 are neighbours of all others.
    adjacent = [set(range(1, 9))] + [{0, 9}] * 8 + [set(range(1, 9))]
    everything = Projections(codes, weights, LEVELS).for_order(1, adjacent)[:-1]
    largest = max(p.nbytes for p in everything)
    budget = sum(p.nbytes for p in everything) // 3
    monkeypatch.setattr(projections, "_BUDGET", budget)
    some = Projections(codes, weights, LEVELS).for_order(1, adjacent)[:-1]
    assert 0 < sum(p.nbytes for p in some) <= budget + largest
    assert len(some) < len(everything)


def test_what_is_kept_is_bounded(always, monkeypatch):
    monkeypatch.setattr(projections, "_BUDGET", 20_000)
    codes, weights = rows_of(4)
    made = Projections(codes, weights, LEVELS)
    for first in range(8):
        for second in range(first + 1, 9):
            made.smallest((first, second, 9))
            kept = {id(p): p for p in made._of_groups.values() if p is not made.whole}
            assert sum(p.nbytes for p in kept.values()) <= 20_000 + made.whole.nbytes


def test_packed_rows_are_the_projections(always):
    codes, weights = rows_of(5)
    made = Projections(codes, weights, LEVELS).for_order(1, ALL)
    packed = pack(made, LEVELS)
    for view, projection in enumerate(made):
        rows = packed.sizes[view]
        begin = packed.weight_starts[view]
        assert (packed.weights[begin : begin + rows] == projection.multiplicities).all()
        for column in range(len(LEVELS)):
            place = packed.places[view, column]
            assert (place >= 0) == (column in projection.columns)
            if place >= 0:
                start = packed.starts[view] + place * rows
                assert (packed.codes[start : start + rows] == projection.codes[column]).all()


def test_columns_with_too_many_levels_are_not_packed():
    codes, weights = rows_of(6)
    for first, expected in ((LEVELS[0], True), (1 << 16, True), (70_000, False)):
        source = InMemoryCounts(tuple("abcdefghij"), (first, *LEVELS[1:]), codes, weights)
        assert source.packs is expected
        scanned = scan(source, "g2", 0.05, 0, 0, [(0, 1)], ALL)
        assert (scanned is not None) is expected


@pytest.mark.parametrize("rows", [50, 3000])
@pytest.mark.parametrize("wrong", [2, 60_000])
def test_codes_outside_the_levels_are_refused_before_they_are_counted(rows, wrong):
    codes, weights = rows_of(8, rows)
    codes[0][rows // 2] = wrong
    source = InMemoryCounts(tuple("abcdefghij"), LEVELS, codes, weights)
    with pytest.raises((ValueError, IndexError), match=says("code-outside-levels")):
        source.packed(0, ALL)
