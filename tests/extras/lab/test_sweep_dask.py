"""A cluster gives the same rows as this process, and survives the loss of a worker."""

import builtins
import os
import signal
import sys
import types

import pytest
from distributed import LocalCluster

from privcore.data import load_network
from privcore.errors import SweepError
from privcore.extras.lab.sweeps.sweep import NetworkData, SweepPlan, TableData, run_sweep

PLAN = SweepPlan(
    (NetworkData("cancer"), TableData(load_network("survey").sample(700, 2))),
    ("pc", "svt-pc", "privpc-star"),
    grids={"epsilon": (0.5, 5)},
    seeds=30,
    settings={"max_order": 2},
)


def untimed(rows):
    rows = [{k: v for k, v in row.items() if k != "seconds"} for row in rows]
    return sorted(rows, key=lambda row: row["cell"])


@pytest.fixture(scope="module")
def expected():
    return untimed(run_sweep(PLAN, workers=0))


@pytest.fixture(scope="module")
def plain_main():
    """A main module without a file while processes start.

    Streamlit's test harness leaves a page as the main module, and a new process would run it.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "__main__", types.ModuleType("__main__"))
        yield


def local_cluster(**settings):
    """Asked again where its thread does not start within its ten seconds, on a busy machine."""
    for left in (2, 1, 0):
        try:
            return LocalCluster(threads_per_worker=1, dashboard_address=":0", **settings)
        except AssertionError:
            if not left:
                raise


@pytest.fixture(scope="module")
def cluster(plain_main):
    with local_cluster(n_workers=2) as cluster:
        yield cluster


def test_the_same_rows(cluster, expected):
    assert untimed(run_sweep(PLAN, scheduler=cluster.scheduler_address)) == expected


def test_a_lost_worker_does_not_end_the_sweep(cluster, expected):
    rows = []
    for row in run_sweep(PLAN, scheduler=cluster.scheduler_address):
        if not rows:
            os.kill(next(iter(cluster.workers.values())).pid, signal.SIGKILL)
        rows.append(row)
    assert untimed(rows) == expected


def test_nothing_is_left_on_the_workers(cluster):
    from distributed import Client

    plan = SweepPlan((NetworkData("cancer"),), ("svt-pc",), rows=(300,), seeds=2_000)
    coming = run_sweep(plan, scheduler=cluster.scheduler_address)
    next(coming)
    coming.close()
    with Client(cluster, set_as_default=False) as client:
        plugins = client.run(lambda dask_worker: list(dask_worker.plugins))
    assert not [name for names in plugins.values() for name in names if "causalveil" in name]


def test_no_scheduler_is_one_sentence(monkeypatch):
    monkeypatch.setattr("privcore.extras.lab.sweeps.dask.JOIN_SECONDS", 0.5)
    for address in ("tcp://127.0.0.1:9", "nonsense://x", ""):
        with pytest.raises(SweepError, match="There is no scheduler at") as caught:
            list(run_sweep(PLAN, scheduler=address))
        assert str(caught.value).count("\n") == 0


def test_a_scheduler_without_workers_is_one_sentence(monkeypatch):
    monkeypatch.setattr("privcore.extras.lab.sweeps.dask.JOIN_SECONDS", 0.5)
    with (
        local_cluster(n_workers=0) as empty,
        pytest.raises(SweepError, match="has no workers"),
    ):
        list(run_sweep(PLAN, scheduler=empty.scheduler_address))


@pytest.mark.parametrize("failures", [1, 9])
def test_a_client_whose_thread_does_not_start_is_asked_again(failures, monkeypatch, cluster):
    from privcore.extras.lab.sweeps import dask as sweep_dask

    original, left = sweep_dask.Client, [None] * failures

    def busy(*given, **named):
        if left:
            left.pop()
            raise AssertionError
        return original(*given, **named)

    monkeypatch.setattr(sweep_dask, "Client", busy)
    plan = SweepPlan((NetworkData("cancer"),), ("svt-pc",), grids={"epsilon": (1,)}, seeds=2)
    run = run_sweep(plan, scheduler=cluster.scheduler_address)
    if failures == 1:
        assert len(list(run)) == 2
    else:
        with pytest.raises(SweepError, match="too busy to reach a scheduler"):
            list(run)


def test_without_the_package_it_says_how_to_get_it(monkeypatch):
    original = builtins.__import__

    def lacking(name, *rest, **named):
        if name.startswith("distributed"):
            raise ModuleNotFoundError("No module named 'distributed'", name="distributed")
        return original(name, *rest, **named)

    monkeypatch.delitem(sys.modules, "privcore.extras.lab.sweeps.dask", raising=False)
    monkeypatch.setattr(builtins, "__import__", lacking)
    with pytest.raises(SweepError, match="pip install distributed"):
        list(run_sweep(PLAN, scheduler="tcp://127.0.0.1:9"))
