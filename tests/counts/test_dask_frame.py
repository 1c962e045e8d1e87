"""Counts on a real cluster are those in memory, whatever happens to a worker meanwhile."""

import os
import signal
import sys
import types
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from privcore.algorithms import discover
from privcore.counts import InMemoryCounts
from privcore.data import load_network
from privcore.storage.external import ShardedRows
from tests.counts.sources import external, frame_of, schema_of
from tests.one_by_one import one_by_one

dataframe = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")

pytestmark = pytest.mark.long
DATA = load_network("asia").sample(4_000, 3)
RUNS = {
    "pc": {"score": "g2"},
    "priv-pc": {"epsilon": 3.0},
    "moment-search": {"epsilon": 1.0},
    "sg-pc": {"epsilon": 3.0},
}


@pytest.fixture(scope="module")
def client():
    """A cluster of two processes, started from a plain main module: see test_sweep_dask."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "__main__", types.ModuleType("__main__"))
        with (
            distributed.LocalCluster(
                n_workers=2, threads_per_worker=1, dashboard_address=":0"
            ) as cluster,
            distributed.Client(cluster) as client,
        ):
            yield client


@pytest.fixture(scope="module")
def partitions(client):
    from privcore.storage.dask_frame import FramePartitions

    frame = dataframe.from_pandas(frame_of(DATA), npartitions=5)
    return FramePartitions(frame, schema_of(DATA), "refuse")


class Fatal:
    """The same shards; the first worker that counts the second of them is killed at it."""

    def __init__(self, shards, mark):
        self.names, self.levels, self.caveats = shards.names, shards.levels, shards.caveats
        self.ordered = shards.ordered
        self.sizes, self._shards, self._mark = shards.sizes, shards, mark

    def map(self, function):
        return self._shards.map(partial(_fatal, self._mark, function))


def _fatal(mark, function, shard, codes):
    found = function(shard, codes)
    if shard == 1:
        try:
            os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return found
        Path(mark).write_text(str(os.getpid()))
        os.kill(os.getpid(), signal.SIGKILL)
    return found


def check(source, name):
    # A scan of a whole order adds in another order, and differs in the last bits.
    with one_by_one():
        expected = discover(InMemoryCounts.from_dataset(DATA), name, RUNS[name], seed=5)
    result = discover(source, name, RUNS[name], seed=5)
    assert source.passes > 0
    assert result.graph == expected.graph
    assert result.separating_sets == expected.separating_sets
    assert result.tests_run == expected.tests_run
    assert repr(result.trace) == repr(expected.trace)


def test_a_worker_killed_while_it_counts_changes_nothing(client, partitions, tmp_path):
    mark = tmp_path / "killed"
    check(external(ShardedRows(Fatal(partitions, str(mark)))), "pc")
    killed = int(mark.read_text())
    assert killed != os.getpid()
    assert killed not in client.run(os.getpid).values()


@pytest.mark.parametrize(
    "name",
    RUNS,
)
def test_the_same_result_to_the_last_bit(partitions, name):
    check(external(ShardedRows(partitions)), name)


def test_unique_rows_and_sub_samples_are_those_of_the_rows(client, partitions):
    from privcore.storage.dask_frame import count_frame

    frame = dataframe.from_pandas(frame_of(DATA), npartitions=7)
    source = count_frame(frame, schema_of(DATA))
    assert isinstance(source, InMemoryCounts)
    # The source is that in memory, so that two algorithms stand for all.
    for name, given in {"pc": RUNS["pc"], "sg-pc": {"epsilon": 3.0, "rate": 0.5}}.items():
        expected = discover(InMemoryCounts.from_dataset(DATA), name, given, seed=2)
        assert repr(discover(source, name, given, seed=2).trace) == repr(expected.trace)
    rows = np.array([0, 5, 2_000, 3_999])
    found = ShardedRows(partitions).sampled(rows)
    cells = zip(*(column.tolist() for column in found.configurations), strict=True)
    times = found.multiplicities.tolist()
    asked = [tuple(int(v[r]) for v in DATA.values) for r in rows]
    assert dict(zip(cells, times, strict=True)) == {cell: asked.count(cell) for cell in asked}
