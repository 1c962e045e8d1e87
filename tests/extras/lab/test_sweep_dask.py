"""A cluster gives the same rows as this process, and survives the loss of a worker."""

import builtins
import os
import re
import shlex
import signal
import sys
import types
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from distributed import LocalCluster

import privcore
from privcore.algorithms import count, discover
from privcore.data import load_network
from privcore.errors import SweepError
from privcore.extras.lab.sweeps.sweep import (
    NetworkData,
    SweepPlan,
    TableData,
    read_sweep,
    run_sweep,
)
from privcore.faces.cli import main
from tests.extras.lab.test_sweep import untimed
from tests.messages import raises_code, says

ROOT = Path(__file__).parents[3]

PLAN = SweepPlan(
    (NetworkData("cancer"), TableData(load_network("survey").sample(700, 2))),
    ("pc", "svt-pc", "privpc-star"),
    grids={"epsilon": (0.5, 5)},
    seeds=4,
    settings={"max_order": 2},
)


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


@pytest.mark.long
def test_the_same_rows(cluster, expected):
    assert untimed(run_sweep(PLAN, scheduler=cluster.scheduler_address)) == expected


@pytest.mark.long
def test_a_lost_worker_does_not_end_the_sweep(cluster, expected):
    rows = []
    for row in run_sweep(PLAN, scheduler=cluster.scheduler_address):
        if not rows:
            os.kill(next(iter(cluster.workers.values())).pid, signal.SIGKILL)
        rows.append(row)
    assert untimed(rows) == expected


@pytest.mark.long
def test_nothing_is_left_on_the_workers(cluster):
    from distributed import Client

    plan = SweepPlan((NetworkData("cancer"),), ("svt-pc",), rows=(300,), seeds=2_000)
    coming = run_sweep(plan, scheduler=cluster.scheduler_address)
    next(coming)
    coming.close()
    with Client(cluster, set_as_default=False) as client:
        plugins = client.run(lambda dask_worker: list(dask_worker.plugins))
    assert not [name for names in plugins.values() for name in names if "causalveil" in name]


@pytest.mark.long
def test_the_page_on_clusters_runs(cluster, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    levels = np.array(["no", "yes"])
    cells = np.random.default_rng(1).integers(0, 2, (400, 2))
    frame = pd.DataFrame(levels[cells], columns=["smokes", "coughs"])
    (tmp_path / "rows").mkdir()
    for part, rows in enumerate((frame[:150], frame[150:])):
        rows.to_parquet(tmp_path / "rows" / f"{part}.parquet")
    page = ROOT / "docs" / "how-to" / "cluster.md"
    text = page.read_text(encoding="utf-8").replace("localhost:8786", cluster.scheduler_address[6:])
    command, sweep, counting = re.findall(r"```(?:sh|python)\n(.*?)```", text, re.DOTALL)[1:]
    assert main(shlex.split(command.replace("\\\n", ""))[1:]) == 0
    assert len(read_sweep(tmp_path / "rows.parquet").rows) == 1 + 2 * 3
    names = {}
    exec(sweep, names)
    here = privcore.sweep(names["data"], ["svt-pc"], seeds=3)
    drop = [name for name in here.columns if "seconds" in name]
    here, there = (
        rows.sort_values("cell", ignore_index=True).drop(columns=drop)
        for rows in (here, names["rows"])
    )
    pd.testing.assert_frame_equal(there, here)
    exec(counting, names)
    in_memory = count(privcore.read_table(frame, schema=names["schema"]))
    result = discover(in_memory, "priv-pc", {"epsilon": 1.0}, seed=1)
    assert names["result"].graph == result.graph
    assert names["result"].guarantee.epsilon == result.guarantee.epsilon


def test_no_scheduler_is_one_sentence(monkeypatch):
    monkeypatch.setattr("privcore.extras.lab.sweeps.dask.JOIN_SECONDS", 0.5)
    for address in ("tcp://127.0.0.1:9", "nonsense://x", ""):
        with pytest.raises(SweepError, match=says("no-scheduler")) as caught:
            list(run_sweep(PLAN, scheduler=address))
        assert str(caught.value).count("\n") == 0


@pytest.mark.long
def test_a_scheduler_without_workers_is_one_sentence(monkeypatch):
    monkeypatch.setattr("privcore.extras.lab.sweeps.dask.JOIN_SECONDS", 0.5)
    with local_cluster(n_workers=0) as empty, raises_code(SweepError, "no-workers"):
        list(run_sweep(PLAN, scheduler=empty.scheduler_address))


@pytest.mark.long
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
        with raises_code(SweepError, "scheduler-too-busy"):
            list(run)


def test_without_the_package_it_says_how_to_get_it(monkeypatch):
    original = builtins.__import__

    def lacking(name, *rest, **named):
        if name.startswith("distributed"):
            raise ModuleNotFoundError("No module named 'distributed'", name="distributed")
        return original(name, *rest, **named)

    monkeypatch.delitem(sys.modules, "privcore.extras.lab.sweeps.dask", raising=False)
    monkeypatch.setattr(builtins, "__import__", lacking)
    with pytest.raises(SweepError, match=says("install-distributed")):
        list(run_sweep(PLAN, scheduler="tcp://127.0.0.1:9"))
