"""Limits follow from levels, the number of rows and settings: no record decides what fails."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privcore.algorithms import ALGORITHMS, discover
from privcore.counts import InMemoryCounts, NumericRows, cells_of_test
from privcore.data import Column, Dataset
from privcore.data.discretise import finite_bounds
from privcore.errors import DataError
from privcore.privacy.mechanisms import SecureNoise
from privcore.storage.external import ExternalCounts, ShardedRows, memory_for_all
from privcore.storage.parquet import open_parquet
from tests.algorithms.extremes import extreme_tables
from tests.counts.sources import Pieces, dataset, schema_of, write_parquet
from tests.examples import examples
from tests.messages import raises_code

WHERE_CELLS_ARE_LIMITED = (
    "privcore.counts.source",
    "privcore.counts.tables",
    "privcore.independence.score",
    "privcore.independence.measures",
    "privcore.algorithms.em_pc.utilities",
)
# What asks test by test.
BY_TESTS = ("pc", "laplace-pc", "svt-pc", "priv-pc", "sg-pc", "em-pc", "curate")


@pytest.fixture
def cells_limited(monkeypatch):
    def limited(cells):
        for module in WHERE_CELLS_ARE_LIMITED:
            monkeypatch.setattr(f"{module}.MAX_CELLS", cells)

    return limited


def counted(source, x, y, within):
    try:
        return source.conditional_tables(x, y, within).sum()
    except DataError:
        return None


@settings(max_examples=examples(60), deadline=None)
@given(
    seed=st.integers(0, 2**16),
    levels=st.lists(st.integers(1, 5), min_size=4, max_size=4),
    n=st.integers(2, 30),
    limit=st.integers(1, 600),
    dense=st.sampled_from([1, 8, 4096]),
)
def test_neighbours_are_counted_or_refused_alike(seed, levels, n, limit, dense):
    rng = np.random.default_rng(seed)
    rows = np.column_stack([rng.integers(0, k, n) for k in levels])
    other = rows.copy()
    other[rng.integers(n)] = [rng.integers(k) for k in levels]
    with pytest.MonkeyPatch.context() as patch:
        for module in WHERE_CELLS_ARE_LIMITED:
            patch.setattr(f"{module}.MAX_CELLS", limit)
        patch.setattr("privcore.counts.tables._DENSE_STRATA", dense)
        for within in ((), (2,), (2, 3)):
            found = []
            for neighbour in (rows, other):
                data = dataset(neighbour, levels)
                for source in (
                    InMemoryCounts.from_dataset(data),
                    ExternalCounts(ShardedRows(Pieces(data, [n // 2])), 1 << 24),
                ):
                    found.append(counted(source, 0, 1, within))
            fits = cells_of_test(source, 0, 1, within) <= limit
            assert found == [n if fits else None] * 4


def strata_that_occur(number, n=60):
    """Rows of two columns and two more whose combinations occur `number` times."""
    first = np.minimum(np.arange(n), number - 1)
    rows = np.column_stack([np.arange(n) % 2, np.arange(n) // 2 % 2, first // 8, first % 8])
    return dataset(rows, [2, 2, 8, 8])


@pytest.mark.parametrize("name", BY_TESTS)
def test_a_search_passes_over_what_does_not_fit_in_either_neighbour(name, cells_limited):
    # 47 strata of 2 × 2 cells would fit, and 48 would not; 60 rows may have 60.
    cells_limited(4 * 47)
    for number in (47, 48):
        given = {"epsilon": 500.0, "threshold": 0.999} if ALGORITHMS[name].private else {}
        given |= {"max_tests": 100} if name in ("laplace-pc", "sg-pc") else {}
        data = strata_that_occur(number)
        for seed in range(3):
            result = discover(data, name, given | {"max_order": 2}, seed=seed)
            assert result.stopped in (None, "size", "budget", "noise")
    assert discover(data, "pc", {"threshold": 1e-12, "max_order": 2}).stopped in (None, "size")


def test_what_is_passed_over_is_said(cells_limited):
    rng = np.random.default_rng(1)
    cause = rng.integers(0, 4, 2_000)
    copies = [np.where(rng.random(2_000) < 0.7, cause, rng.integers(0, 4, 2_000)) for _ in range(4)]
    data = dataset(np.column_stack(copies), [4] * 4)
    complete = discover(data, "pc", {"score": "z-star"})
    assert complete.stopped is None
    cells_limited(4**3)
    result = discover(data, "pc", {"score": "z-star"})
    assert result.stopped == "size"
    assert (result.unreached.first, result.unreached.last) == (2, 2)
    assert result.unreached.epsilon is None
    assert result.graph.skeleton == complete.graph.skeleton
    assert result.orders_run == 3


def test_a_table_in_files_is_refused_by_levels_and_rows_alone(tmp_path):
    """One of two tables has a unique row more, and just does not fit: both are refused."""
    rng = np.random.default_rng(5)
    rows = np.column_stack([rng.integers(0, 9, 400) for _ in range(5)])
    few = np.repeat(rows[:40], 10, axis=0)
    needed = 2 * memory_for_all(400, (9,) * 5)
    for name, sample in (("many", rows), ("few", few)):
        data = dataset(sample, [9] * 5)
        folder = write_parquet(tmp_path / name, data)
        table = open_parquet(folder, schema_of(data), memory=1 << 28)
        table.check_memory()
        short = replace(table, memory=needed - 2)
        with raises_code(DataError, "table-may-be-too-large"):
            short.check_memory()
        replace(table, memory=needed).check_memory()


@pytest.mark.unseeded
@pytest.mark.parametrize("algorithm", ["laplace-pc", "em-pc"])
@pytest.mark.parametrize("score", ["g2-votes", "chi2-median"])
def test_no_table_of_a_domain_makes_blocks_fail(algorithm, score):
    if algorithm == "em-pc" and score == "chi2-median":
        pytest.skip("a median has no one sensitivity, whatever the table")
    given = {"epsilon": 1.0, "delta": 1e-3, "score": score, "blocks": 5}
    for data in extreme_tables():
        result = discover(data, algorithm, given, noise=SecureNoise())
        assert result.graph.nodes == data.names


@pytest.mark.unseeded
@given(log_scale=st.floats(-18, 12))
@settings(max_examples=examples(60), deadline=None)
def test_noise_of_any_scale_that_a_median_may_ask_for(log_scale):
    """Its scale depends on the rows, so that none may be refused."""
    assert np.isfinite(SecureNoise().laplace(0.5, 10.0**log_scale))


def test_bounds_that_can_be_computed_with_whatever_the_rows_are():
    with raises_code(DataError, "bounds-too-far-apart"):
        finite_bounds((8.9e307, 1.7e308), "x")
    for low, high in ((-4e307, 4e307), (3e307, 4e307), (-1e-300, 1e-300)):
        low, high = finite_bounds((low, high), "x")
        columns = tuple(Column(c, "continuous", bounds=(low, high), declared=True) for c in "ab")
        values = np.linspace(0, 1, 9) * (high / 2 - low / 2) * 2 + low
        values = np.clip(values, low, high)
        rows = NumericRows.from_dataset(Dataset("t", columns, (values, values[::-1].copy())))
        assert np.isfinite(rows.moments()).all()
