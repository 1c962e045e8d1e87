"""Every source of counts gives the same tables, and every algorithm the same result on each."""

import tempfile
from collections import Counter
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.stats import chisquare

from privcore.algorithms import ALGORITHMS, discover
from privcore.counts import InMemoryCounts
from privcore.data import load_network
from privcore.errors import DataError, ParameterError
from privcore.privacy.mechanisms import SecureNoise, SimulatedNoise
from privcore.storage import external as external_module
from privcore.storage.external import (
    CELLS,
    ExternalCounts,
    ShardedRows,
    count_external,
    distinct_rows,
    joint_columns,
    merged,
)
from tests.counts.sources import (
    Pieces,
    dataset,
    external,
    loop_table,
    parquet_rows,
    sharded,
    write_parquet,
)
from tests.examples import examples, few
from tests.messages import raises_code, says

LEVELS = (2, 3, 4, 2, 5)
rows = hnp.arrays(
    np.uint8, st.tuples(st.integers(2, 50), st.just(len(LEVELS))), elements=st.integers(0, 59)
)
ends = st.lists(st.integers(1, 49), max_size=2, unique=True).map(sorted)
some = st.lists(st.integers(0, 4), min_size=1, max_size=5, unique=True)


def every_source(data, ends, folder):
    """In memory, handed over to memory from files and shards, and never in memory."""
    ends = [end for end in ends if end < data.n]
    files = parquet_rows(write_parquet(folder, data, ends), data)
    return {
        "memory": InMemoryCounts.from_dataset(data),
        "files, handed over": count_external(files, 1 << 28),
        "files": external(files),
        "shards, handed over": count_external(ShardedRows(Pieces(data, ends)), 1 << 28),
        "shards": sharded(data, ends),
    }


@settings(max_examples=examples(40))
@given(rows=rows, ends=ends, asked=st.lists(some, min_size=1, max_size=4))
def test_every_source_gives_the_same_tables(rows, ends, asked):
    data = dataset(rows, LEVELS)
    with tempfile.TemporaryDirectory() as folder:
        sources = every_source(data, ends, Path(folder) / "t")
        memory = sources["memory"]
        for name, source in sources.items():
            assert (source.n, source.names, source.levels) == (data.n, data.names, LEVELS), name
            for columns in asked:
                table = source.table(columns)
                assert table.dtype == np.int64
                assert np.array_equal(table, loop_table(data, columns)), name
                if len(columns) > 1:
                    x, y, *within = columns
                    got = source.conditional_tables(x, y, within)
                    assert np.array_equal(got, memory.conditional_tables(x, y, within)), name
            for radius in (None, 0.7):
                assert np.allclose(
                    source.moments(radius), memory.moments(radius), rtol=0, atol=1e-12
                ), name


@settings(max_examples=examples(20))
@given(rows=rows, ends=ends, seed=st.integers(0, 99), share=st.floats(0.05, 1.0))
def test_what_is_handed_over_draws_as_memory_does(rows, ends, seed, share):
    data = dataset(rows, LEVELS)
    size = max(1, int(share * data.n))
    with tempfile.TemporaryDirectory() as folder:
        sources = every_source(data, ends, Path(folder) / "t")
        memory = sources["memory"]
        expected = memory.subsample(size, SimulatedNoise(seed)).table(range(5))
        blocked = memory.blocked(3, SimulatedNoise(seed)).table([5, 0, 1])
        for name in ("files, handed over", "shards, handed over"):
            source = sources[name]
            assert isinstance(source, InMemoryCounts)
            assert np.array_equal(
                source.subsample(size, SimulatedNoise(seed)).table(range(5)), expected
            )
            assert np.array_equal(source.blocked(3, SimulatedNoise(seed)).table([5, 0, 1]), blocked)
        drawn = [
            sources[name].subsample(size, SimulatedNoise(seed)).table(range(5))
            for name in ("files", "shards")
        ]
        assert np.array_equal(*drawn)
        assert drawn[0].sum() == size
        assert (drawn[0] <= memory.table(range(5))).all()


@settings(max_examples=examples(30))
@given(rows=rows, ends=ends, data=st.data())
def test_sampled_rows_are_the_rows_asked_for(rows, ends, data):
    table = dataset(rows, LEVELS)
    chosen = sorted(data.draw(st.sets(st.integers(0, table.n - 1), min_size=1)))
    expected = loop_table(dataset(rows[chosen], LEVELS), range(5)) if len(chosen) > 1 else None
    shards = ShardedRows(Pieces(table, [e for e in ends if e < table.n]))
    found = shards.sampled(np.array(chosen))
    assert found.multiplicities.sum() == len(chosen)
    if expected is not None:
        counted = np.zeros_like(expected)
        np.add.at(counted, found.configurations, found.multiplicities)
        assert np.array_equal(counted, expected)


@pytest.mark.long
def test_sub_samples_by_row_number_are_uniform(monkeypatch):
    """Every set of 3 of 7 rows is as likely, across stretches; false alarms 1e-6 in each kind."""
    monkeypatch.setattr(external_module, "_STRETCH", 3)
    everything = list(combinations(range(7), 3))
    for noise, times in ((SimulatedNoise(5), 14_000), (SecureNoise(), 3_500)):
        drawn = Counter(
            tuple(external_module._row_numbers(7, 3, noise).tolist()) for _ in range(times)
        )
        assert set(drawn) <= set(everything)
        assert chisquare([drawn[s] for s in everything]).pvalue > 1e-6


@settings(max_examples=examples(60))
@given(
    levels=st.lists(st.integers(1, 1000), min_size=1, max_size=30),
    n=st.integers(1, 40),
    seed=st.integers(0, 2**32 - 1),
)
def test_unique_rows_keep_their_order_however_many_columns(levels, n, seed):
    """Products of levels beyond 64 bits are no different."""
    generator = np.random.default_rng(seed)
    codes = [generator.integers(0, min(k, 3), n) for k in levels]
    expected = Counter(zip(*(c.tolist() for c in codes), strict=True))
    found = distinct_rows(codes, levels)
    assert list(zip(*(c.tolist() for c in found.configurations), strict=True)) == list(expected)
    assert found.multiplicities.tolist() == list(expected.values())
    cut = n // 3
    cuts = [(a, b) for a, b in ((0, cut), (cut, n)) if a < b]
    parts = [distinct_rows([c[a:b] for c in codes], levels) for a, b in cuts]
    whole = merged(parts, levels, n)
    assert all(map(np.array_equal, whole.configurations, found.configurations))
    assert np.array_equal(whole.multiplicities, found.multiplicities)
    assert found.rows == 1 or merged([found], levels, found.rows - 1) is None


@given(levels=st.lists(st.integers(2, 60), min_size=1, max_size=60).map(tuple), data=st.data())
def test_joint_tables_hold_what_is_asked_and_stay_small(levels, data):
    columns = data.draw(
        st.lists(st.integers(0, len(levels) - 1), min_size=1, max_size=6, unique=True)
    )
    joint = joint_columns(levels, columns)
    assert set(columns) <= set(joint)
    assert list(joint) == sorted(set(joint))
    assert set(joint) == set(columns) or np.prod([levels[c] for c in joint]) <= CELLS


def test_few_passes_serve_many_tables():
    data = load_network("sachs").sample(500, 1)
    counts = sharded(data)
    for pair in combinations(range(11), 2):
        counts.table(pair)
    assert counts.passes <= 6
    for x, y, z in combinations(range(11), 3):
        counts.conditional_tables(x, y, (z,))
    assert counts.passes <= 6 + 20


@pytest.fixture(scope="module")
def asia(tmp_path_factory):
    data = load_network("asia").sample(3_000, 3)
    folder = write_parquet(tmp_path_factory.mktemp("asia") / "t", data, [1_000, 1_500])
    return InMemoryCounts.from_dataset(data), parquet_rows(folder, data)


# What each algorithm that cannot run without its unique rows in memory says.
REFUSED = {name: says("counts-row-by-row") for name in ("noleaks", "curate-score")}


@pytest.mark.long
@pytest.mark.parametrize("name", few(ALGORITHMS, 5))
def test_every_algorithm_gives_the_same_result_on_files(asia, name):
    memory, files = asia
    parameters = {"epsilon": 3.0} if ALGORITHMS[name].private else {}
    expected = discover(memory, name, parameters, seed=4)
    handed = discover(count_external(files, 1 << 28), name, parameters, seed=4)
    assert handed.graph == expected.graph
    # NaN, where a step has no value, is not equal to itself.
    assert repr(handed.trace) == repr(expected.trace)
    source = ExternalCounts(files, 1 << 28)
    if name in REFUSED:
        with pytest.raises(DataError, match=REFUSED[name]):
            discover(source, name, parameters, seed=4)
        return
    passed = discover(source, name, parameters, seed=4)
    assert passed.graph == expected.graph
    assert passed.separating_sets == expected.separating_sets
    assert (passed.tests_run, passed.spent) == (expected.tests_run, expected.spent)
    assert passed.guarantee == expected.guarantee


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.long) for n in ("priv-pc", "sg-pc")] + ["curate"]
)
def test_sub_sampling_needs_no_unique_rows(asia, name):
    memory, files = asia
    given = {"epsilon": 3.0, "rate": 0.5}
    result = discover(ExternalCounts(files, 1 << 28), name, given, seed=4)
    again = discover(sharded_like(files), name, given, seed=4)
    assert result.graph == again.graph
    assert result.guarantee == discover(memory, name, given, seed=4).guarantee


def sharded_like(files):
    """Other rows in the same order, so that the same numbers are drawn."""
    return sharded(load_network("asia").sample(files.n, 3), [77])


def test_what_cannot_be_done_is_refused_in_one_sentence(asia):
    _, files = asia
    tiny = ExternalCounts(files, 4_000)
    with raises_code(DataError, "sub-sample-too-large", rows="2,000"):
        tiny.subsample(2_000, SimulatedNoise(1))
    with raises_code(DataError, "blocks-need-unique-rows"):
        tiny.blocked(3, SimulatedNoise(1))
    with raises_code(DataError, "counts-too-large"):
        tiny.table(range(8))
    with pytest.raises(ParameterError, match=says("sub-sample-size", low=1, high=3000)):
        tiny.subsample(3_001, SimulatedNoise(1))
    with raises_code(DataError, "blocks-need-unique-rows"):
        discover(ExternalCounts(files, 1 << 28), "svt-pc", {"score": "g2-votes"}, seed=1)


def test_more_unique_rows_than_fit_are_left_where_they_are(asia):
    memory, files = asia
    # Of 8 columns, each unique row takes 96 bytes while it arrives.
    needed = memory.unique_rows * 96
    assert isinstance(count_external(files, needed), InMemoryCounts)
    assert isinstance(count_external(files, needed - 96), ExternalCounts)
