"""The same table gives the same bytes in any order, another table other bytes."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privcore.counts import InMemoryCounts
from privcore.data import StructuralExample, domain, load_network
from privcore.data.domain import canonical_bytes, canonical_bytes_of_unique


def whole(dataset):
    return b"".join(canonical_bytes(dataset))


@pytest.fixture(
    scope="module",
    params=[
        lambda: load_network("survey").sample(60, 1),
        lambda: StructuralExample("linear-gaussian", nodes=4).sample(60, 1),
    ],
)
def table(request):
    return request.param()


@given(seed=st.integers(0, 1000))
def test_order_does_not_matter(table, seed):
    generator = np.random.default_rng(seed)
    rows, columns = generator.permutation(table.n), generator.permutation(table.p)
    other = replace(
        table,
        name="another name",
        columns=tuple(table.columns[i] for i in columns),
        values=tuple(table.values[i][rows] for i in columns),
    )
    assert whole(other) == whole(table)


@given(row=st.integers(0, 59), column=st.integers(0, 3))
def test_one_other_cell_is_another_table(table, row, column):
    values = [v.copy() for v in table.values]
    low = table.columns[column].bounds[0] if table.columns[column].bounds else 0
    values[column][row] = (values[column][row] + 1) % 2 if low == 0 else low
    assert whole(replace(table, values=tuple(values))) != whole(table)


def test_names_levels_and_bounds_count(table):
    first = table.columns[0]
    changed = [replace(first, name="Z")]
    if first.levels:
        changed.append(replace(first, levels=(*first.levels, "more")))
    else:
        changed.append(replace(first, bounds=(first.bounds[0] - 1, first.bounds[1])))
    for column in changed:
        other = replace(table, columns=(column, *table.columns[1:]), true_edges=None)
        assert whole(other) != whole(table)


def test_minus_zero_is_zero():
    example = StructuralExample("linear-gaussian", nodes=2).sample(5, 1)
    zero = [v.copy() for v in example.values]
    zero[0][2] = 0.0
    minus = [v.copy() for v in zero]
    minus[0][2] = -0.0
    first, second = (replace(example, values=tuple(v)) for v in (zero, minus))
    assert whole(first) == whole(second)


@pytest.mark.parametrize("block", [7, 1 << 20])
def test_unique_rows_have_the_bytes_of_all_rows(monkeypatch, block):
    data = load_network("survey").sample(3_000, 2)
    monkeypatch.setattr(domain, "_BLOCK", block)
    unique = InMemoryCounts.from_dataset(data).unique()
    assert b"".join(canonical_bytes_of_unique(data, *unique)) == whole(data)
