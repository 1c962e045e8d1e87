"""Summaries against pandas by hand, and what must hold of the least budget."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privcore.extras.lab.sweeps.sweep import (
    NetworkData,
    SweepPlan,
    best_alike,
    edge_recovery,
    edges_of,
    frontier,
    run_sweep,
    smallest_epsilon,
    summarise,
)
from tests.examples import examples

F1 = "truth_skeleton_f1"


@pytest.fixture(scope="module")
def rows():
    plan = SweepPlan(
        (NetworkData("cancer"), NetworkData("survey")),
        ("pc", "svt-pc", "priv-pc", "lapmech"),
        rows=(2000,),
        seeds=6,
        grids={"epsilon": (0.5, 2, 10), "tweak": (0, 1)},
    )
    return list(run_sweep(plan, workers=0))


def test_summaries_by_hand(rows):
    found = summarise(rows, F1)
    table = pd.DataFrame(rows)
    # pc; svt-pc and lapmech at 3 ε; priv-pc at 3 ε and 2 tweaks; on 2 networks.
    assert len(found) == 2 * (1 + 3 + 3 + 6)
    for line in found.to_dict("records"):
        mine = table[(table["data"] == line["data"]) & (table["algorithm"] == line["algorithm"])]
        for name in ("epsilon", "tweak"):
            mine = mine[mine[name].isna() if np.isnan(line[name]) else mine[name] == line[name]]
        values = np.array(mine[F1], dtype=float)
        assert line["runs"] == len(values) == (1 if line["algorithm"] == "pc" else 6)
        assert line["refused"] == 0
        assert line["mean"] == pytest.approx(values.mean())
        assert (line["min"], line["max"]) == (values.min(), values.max())
        assert line["median"] == pytest.approx(np.median(values))
        for name, share in (("q05", 0.05), ("q25", 0.25), ("q75", 0.75), ("q95", 0.95)):
            assert line[name] == pytest.approx(np.quantile(values, share))
        if len(values) > 1:
            deviation = np.sqrt(((values - values.mean()) ** 2).sum() / (len(values) - 1))
            assert line["sd"] == pytest.approx(deviation)
            assert line["se"] == pytest.approx(deviation / np.sqrt(len(values)))
        else:
            assert np.isnan(line["sd"])
            assert np.isnan(line["se"])


def test_groups_that_are_asked_for(rows):
    found = summarise(rows, F1, ("algorithm",))
    expected = pd.DataFrame(rows).groupby("algorithm")[F1].mean()
    assert dict(zip(found["algorithm"], found["mean"], strict=True)) == pytest.approx(
        expected.to_dict()
    )
    assert found.equals(summarise(pd.DataFrame(rows), F1, ("algorithm",)))


ROW = {
    "cell": 0, "data": "d", "data_seed": 1, "rows": 9, "algorithm": "a", "calibration": "proven",
    "epsilon": 1.0, "delta": 0.0, "replicate": 0, "edges": "", "error": None,
}  # fmt: skip


def made(means, metric=F1, refused=()):
    """One algorithm with two rows at each ε, 1, 2, 4, …, whose mean is as given."""
    return [
        {
            **ROW,
            "epsilon": 2.0**i,
            "replicate": k,
            metric: None if k == 0 and i in refused else mean + (0.25 if k else -0.25),
        }
        for i, mean in enumerate(means)
        for k in range(2)
    ]


def test_refused_runs_are_counted_apart():
    found = summarise(made([0.5, 0.5], refused=(1,)), F1)
    assert list(found["refused"]) == [0, 1]
    assert list(found["mean"]) == pytest.approx([0.5, 0.75])
    nothing = [{**row, F1: None} for row in made([0.5])]
    (line,) = summarise(nothing, F1).to_dict("records")
    assert (line["runs"], line["refused"]) == (0, 2)
    assert np.isnan(line["mean"])


@settings(max_examples=examples(40))
@given(st.lists(st.integers(0, 8), min_size=1, max_size=7), st.integers(0, 8))
def test_the_least_budget(eighths, target):
    means = [value / 8 for value in eighths]
    found = smallest_epsilon(made(means), F1, target / 8).iloc[0]
    reaching = [i for i in range(len(means)) if all(m >= target / 8 for m in means[i:])]
    if not reaching:
        assert np.isnan(found["epsilon"])
        assert not found["lowest"]
        return
    assert found["epsilon"] == 2.0 ** reaching[0]
    assert found["mean"] == means[reaching[0]]
    assert found["lowest"] == (reaching[0] == 0)
    # A lower target never needs more.
    easier = smallest_epsilon(made(means), F1, target / 8 - 0.1).iloc[0]
    assert easier["epsilon"] <= found["epsilon"]


def test_those_too_close_to_the_best_to_call():
    means = pd.DataFrame(
        {
            "algorithm": list("abcde"),
            "mean": [0.9, 0.845, 0.85, float("nan"), 0.5],
            "se": [0.03, 0.0, 0.0, 0.1, float("nan")],
        }
    )
    # Two standard errors of a difference to the best are 0.06.
    assert list(best_alike(means)["algorithm"]) == ["a", "c", "b"]
    assert list(best_alike(means.assign(se=0.0))["algorithm"]) == ["a"]
    assert list(best_alike(means, lower=True)["algorithm"]) == ["e"]
    assert best_alike(means[means["mean"].isna()]).empty


def test_the_least_budget_where_less_is_better():
    metric = "truth_cpdag_shd"
    found = smallest_epsilon(made([6, 1, 5, 3, 2], metric), metric, 3)
    assert found["epsilon"].iloc[0] == 8
    assert np.isnan(smallest_epsilon(made([6, 1], metric), metric, 0)["epsilon"].iloc[0])
    # A budget at which runs are refused reaches nothing.
    assert smallest_epsilon(made([1, 1, 1], refused=(1,)), F1, 0.5)["epsilon"].iloc[0] == 4


def test_least_budgets_by_algorithm(rows):
    found = smallest_epsilon(rows, F1, 0.0)
    assert "pc" not in set(found["algorithm"])
    assert set(found["epsilon"]) == {0.5}
    assert found["lowest"].all()
    # priv-pc once for each tweak.
    assert len(found) == 2 * (1 + 1 + 2)
    assert np.isnan(smallest_epsilon(rows, F1, 1.1)["epsilon"]).all()


def test_the_frontier_of_one_metric_is_the_best(rows):
    found = frontier(rows)
    means = summarise(rows, F1)
    private = means[means["calibration"] != "none"]
    best = private.groupby(["data", "epsilon"])["mean"].max()
    assert set(zip(found["data"], found["epsilon"], strict=True)) == set(best.index)
    for line in found.to_dict("records"):
        assert line[F1] == best[(line["data"], line["epsilon"])]


def test_the_frontier_of_two_metrics():
    points = {"a": (0.9, 5.0), "b": (0.8, 1.0), "c": (0.8, 2.0), "d": (0.1, 1.0), "e": (0.9, 5.0)}
    rows = [
        {**ROW, "algorithm": name, F1: f1, "seconds": seconds}
        for name, (f1, seconds) in points.items()
    ]
    assert set(frontier(rows, (F1, "seconds"))["algorithm"]) == {"a", "b", "e"}
    assert set(frontier(rows)["algorithm"]) == {"a", "e"}
    assert frontier([{**row, "calibration": "none"} for row in rows]).empty


def test_calibrations_are_not_compared():
    good = [{**row, "algorithm": "b", "calibration": "published"} for row in made([1.0])]
    assert set(frontier([*made([0.5]), *good])["algorithm"]) == {"a", "b"}


def test_edges_by_hand(rows):
    wanted = [("Smoker", "Cancer"), ("Cancer", "Xray"), ("Smoker", "Xray")]
    mine = [row for row in rows if row["data"] == "cancer"]
    found = edge_recovery(mine, wanted, ("algorithm", "epsilon"))
    assert len(found) == 3 * (1 + 3 * 3)
    for line in found.to_dict("records"):
        graphs = [
            edges_of(row["edges"])
            for row in mine
            if row["algorithm"] == line["algorithm"]
            and (row["epsilon"] == line["epsilon"] or row["epsilon"] is None)
        ]
        pair = (line["cause"], line["effect"])
        touching = sum(any({a, b} == set(pair) for a, b, _ in graph) for graph in graphs)
        pointing = sum((*pair, "directed") in graph for graph in graphs)
        assert line["runs"] == len(graphs)
        assert line["adjacent"] == pytest.approx(touching / len(graphs))
        assert line["directed"] == pytest.approx(pointing / len(graphs))
    # The data show these two edges to all but the noisiest runs.
    strong = found[(found["algorithm"] == "pc") & (found["effect"] != "Smoker")]
    assert strong["adjacent"].max() == 1.0


def test_refused_runs_have_no_edges():
    rows = [{**ROW, "edges": edges} for edges in (None, "a->b")]
    for wanted, directed in ((("a", "b"), 1.0), (("b", "a"), 0.0)):
        (line,) = edge_recovery(rows, [wanted]).to_dict("records")
        assert (line["runs"], line["adjacent"], line["directed"]) == (1, 1.0, directed)
