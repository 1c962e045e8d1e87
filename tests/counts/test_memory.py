"""Counts over unique rows equal counts over rows, for any data."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from privcore.counts import InMemoryCounts
from privcore.counts.source import Cache
from privcore.data import Column, Dataset, load_network
from privcore.errors import DataError, ParameterError
from privcore.privacy.mechanisms import SimulatedNoise
from tests.messages import raises_code, says

LEVELS = (2, 3, 4, 2, 3)


def dataset(rows):
    columns = tuple(
        Column(f"c{i}", "ordinal", tuple(map(str, range(k))), declared=True)
        for i, k in enumerate(LEVELS)
    )
    values = tuple(np.ascontiguousarray(rows[:, i] % k) for i, k in enumerate(LEVELS))
    return Dataset("t", columns, values)


rows = hnp.arrays(np.uint8, st.tuples(st.integers(2, 60), st.just(5)), elements=st.integers(0, 11))


def test_strata_beyond_the_dense_limit_agree_with_pandas():
    """Conditioning sets with millions of configurations keep only those that occur."""
    data = load_network("alarm").sample(150, 5)
    counts = InMemoryCounts.from_dataset(data)
    given_columns = tuple(range(2, 24))
    got = counts.conditional_tables(0, 1, given_columns)
    frame = pd.DataFrame(dict(enumerate(data.values)))
    groups = frame.groupby(list(given_columns))
    expected = [
        pd.crosstab(g[0], g[1]).reindex(index=range(2), columns=range(3), fill_value=0).to_numpy()
        for _, g in groups
    ]
    assert sorted(map(bytes, got)) == sorted(bytes(e.astype(np.int64)) for e in expected)


@pytest.mark.parametrize("size", [0, 41])
def test_impossible_subsamples(size):
    counts = InMemoryCounts.from_dataset(dataset(np.arange(200).reshape(40, 5).astype(np.uint8)))
    with pytest.raises(ParameterError, match=says("sub-sample-size", low=1, high=40)):
        counts.subsample(size, SimulatedNoise(0))


def test_tables_too_large_to_hold_are_refused():
    data = load_network("alarm").sample(100, 5)
    counts = InMemoryCounts.from_dataset(data)
    with raises_code(DataError, "too-many-cells-to-count"):
        counts.table(range(30))


def test_the_cache_keeps_to_its_budget():
    cache = Cache(budget=10, size=lambda value: value)
    for key in range(8):
        cache.get(key, lambda: 3)
    misses = []
    for key in range(8):
        cache.get(key, lambda key=key: misses.append(key) or 3)
    assert len(misses) >= 5
