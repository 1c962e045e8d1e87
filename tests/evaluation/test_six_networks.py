"""The sweep over six networks that comes with the product."""

import shlex

import pandas as pd
import pytest

from pages.ui.six_networks import pick_sentence
from privcore.cli import build_parser
from privcore.cli.sweep import _plan
from privcore.discovery import ALGORITHMS
from privcore.evaluation.six_networks import (
    NETWORKS,
    best_on_average,
    six_networks,
    six_networks_means,
)
from privcore.evaluation.sweep_cells import Batch, Runner


def test_it_is_whole_and_of_the_command_that_it_names():
    held = six_networks()
    options = build_parser().parse_args(shlex.split(held.command)[3:])
    plan = _plan(options)
    assert plan.describe() == held.plan
    assert len(held.rows) == plan.size
    assert {row["data"] for row in held.rows} == set(NETWORKS)
    refused = {(row["algorithm"], row["data"]) for row in held.rows if row["error"]}
    assert refused == {("lapmech", "child")}


@pytest.mark.parametrize("algorithm", ["svt-pc", "em-pc"])
def test_a_run_made_again_has_the_same_row(algorithm):
    held = six_networks()
    plan = _plan(build_parser().parse_args(shlex.split(held.command)[3:]))
    cell = next(
        c for c in plan.cells
        if c.setting.choice.algorithm == algorithm and c.replicate == 2 and c.setting.data == 0
    )  # fmt: skip
    runner = Runner(plan)
    graphs = {cell.setting.reference: runner.reference(plan.references[cell.setting.reference])}
    (row,) = runner.rows(Batch((cell,), graphs), 60)
    old = held.rows[cell.number]
    assert {k: v for k, v in row.items() if k != "seconds"} == pytest.approx(
        {k: v for k, v in old.items() if k != "seconds"}
    )


def means(*lines):
    names = ["data", "algorithm", "calibration", "epsilon", "mean", "se"]
    return pd.DataFrame(lines, columns=names)


def test_the_best_on_average_by_hand():
    table = means(
        ("x", "em-pc", "proven", 1.0, 0.8, 0.03), ("y", "em-pc", "proven", 1.0, 0.4, 0.04),
        ("x", "svt-pc", "proven", 1.0, 0.7, 0.0), ("y", "svt-pc", "proven", 1.0, 0.7, 0.0),
        # Refused on y.
        ("x", "lapmech", "proven", 1.0, 1.0, 0.0), ("y", "lapmech", "proven", 1.0, None, None),
        ("x", "em-pc", "proven", 2.0, 0.0, 0.0),
    )  # fmt: skip
    best = best_on_average(table, 1.0)
    assert list(best["algorithm"]) == ["svt-pc", "em-pc"]
    assert list(best["mean"]) == pytest.approx([0.7, 0.6])
    assert list(best["error"]) == pytest.approx([0.0, 0.025])
    assert list(best["wins"]) == [1, 0]


def test_the_page_says_what_to_pick_at_one():
    best = best_on_average(six_networks_means(), 1.0).iloc[0]
    sentence = pick_sentence(1.0)
    title = ALGORITHMS[best["algorithm"]].title
    assert sentence.startswith("At ε = 1 pick **")
    assert title.replace("-", r"\-").replace("*", r"\*") in sentence
    assert f"F1 of {best['mean']:.2f}" in sentence
