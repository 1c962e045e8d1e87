"""Every chart of the pages, made with small data."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from pages.ui import expectation
from pages.ui.audit import charts as audit
from pages.ui.data import charts as data
from pages.ui.direction import charts as pairs
from pages.ui.discover import charts as runs
from pages.ui.effects import result as effects
from pages.ui.learn import averaging, membership, noise, per_test, selection, sieve
from pages.ui.learn import runs as run_panel
from pages.ui.papers import charts as papers
from pages.ui.release import panels as release
from pages.ui.tradeoff import charts as tradeoff
from privcore.algorithms import count, discover
from privcore.algorithms.moment_search.visible import Visible
from privcore.algorithms.search.result import Iteration
from privcore.data import load_network
from privcore.extras.audits import MECHANISMS, AuditResult
from privcore.extras.audits.events import TestedEvent
from privcore.extras.lab.reliability import shipped_reliability
from privcore.extras.lab.reproductions import shipped
from privcore.extras.pairs import ScoreRelease
from privcore.extras.teaching import PANELS
from privcore.extras.teaching.per_test import PER_TEST
from privcore.extras.teaching.runs import compare_runs
from privcore.privacy.accounting.composition import Event

ROOT = Path(__file__).parents[2]
NASTY = "$x^2$ <b>bold</b> & _under_ \\frac{1}{2}\x07"
EVENT = TestedEvent("an edge", "the graph has an edge", None, "D", 300, 120, 500, 0.55, 0.30, 0.6)
X = np.linspace(-1, 1, 12)
SWEEP = pd.DataFrame(
    [
        ("priv-pc", calibration, data, epsilon, 0.1 * epsilon, 0.05 * epsilon, 0.2 * epsilon, 5, o)
        for calibration in ("proven", "published")
        for data in ("asia", "alarm")
        for o in (1, 2)
        for epsilon in (0.1, 0.5, 1.0, 5.0)
    ]
    + [("pc", "none", "asia", np.nan, 0.9, 0.9, 0.9, 5, 1)],
    columns=["algorithm", "calibration", "data", "epsilon", "mean", "q05", "q95", "runs", "order"],
)


def defined() -> set[str]:
    """Every function of the pages that says that it returns a figure, as "file:function"."""
    return {
        f"{path.relative_to(ROOT / 'pages/ui').as_posix()}:{node.name}"
        for path in (ROOT / "pages").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef)
        and node.returns is not None
        and ast.unparse(node.returns) == "go.Figure"
        # What charts share is drawn with them.
        and node.name != "_two_lines"
    }


def charts() -> dict[str, Callable[[], go.Figure]]:
    """What makes each of them; one of Learn that is not in CHARTS is given its panel's result."""
    panels = {panel.compute.__module__.rpartition(".")[2]: name for name, panel in PANELS.items()}
    made = dict(CHARTS)
    for chart in sorted(defined() - set(CHARTS)):
        file, _, function = chart.partition(":")
        folder, _, module = file.removesuffix(".py").rpartition("/")
        assert folder == "learn", f"add {chart} to CHARTS of tests/pages/charts_of_pages.py"
        drawn = getattr(import_module(f"pages.ui.learn.{module}"), function)
        made[chart] = partial(_of_panel, drawn, panels[module])
    return made


def _of_panel(drawn: Callable[..., go.Figure], name: str) -> go.Figure:
    return drawn(_panel(name))


def _audit() -> AuditResult:
    return AuditResult(MECHANISMS["laplace"], 1.0, 0.0, 1000, 1, 0.95, (EVENT,), 1.0)


def _panel(name: str):
    panel = PANELS[name]
    return panel.compute(panel.checked())


def _run():
    source = count(load_network("cancer").sample(500, 1))
    return discover(source, "priv-pc", {"epsilon": 2.0}, seed=1)


def _reproduction() -> go.Figure:
    held = shipped("wang-figure-1")
    item = held.item
    lines = [line for line in held.result.lines if line.case[2] == item.settings["measures"][0]]
    return papers.reproduction_figure(item, lines, ["proven", "published"])


def _scores() -> list[ScoreRelease]:
    """One released with intervals, one that was refused."""
    fixed = (1.0, 2.0), (1.0, 2.0)
    return [
        ScoreRelease(
            "hsic", "laplace", *fixed, (1.1, 2.2), 0.1, ((0.9, 1.3), None), None, None, 0.9
        ),
        ScoreRelease(
            "kendall", "laplace", *fixed, (None, None), 0.1, (None, None), None, None, 0.9
        ),
    ]


_PAIR = ("cause " + NASTY, "effect")
# "file:function" to what makes the figure.
CHARTS: dict[str, Callable[[], go.Figure]] = {
    "audit/charts.py:against_claim": lambda: audit.against_claim(_audit()),
    "audit/charts.py:probabilities": lambda: audit.probabilities(EVENT),
    "audit/charts.py:two_histograms": lambda: audit.two_histograms(X, X + 0.3, NASTY),
    "direction/charts.py:points_and_fits": lambda: pairs.points_and_fits(
        X,
        X**2,
        _PAIR,
        [pairs.Line("x to y", X, X**2, True, True), pairs.Line("y to x", X, X, False, False)],
    ),
    "direction/charts.py:residuals": lambda: pairs.residuals(X, X**3, _PAIR, True, 1.5),
    "direction/charts.py:score_intervals": lambda: pairs.score_intervals(_scores(), _PAIR),
    "direction/charts.py:curves": lambda: pairs.curves(
        {"one": (X + 2, X**2, 0.1 + 0 * X), NASTY: (X + 2, X**2 / 2, None)},
        x_title="ε",
        y_title="share",
        marker=2.0,
    ),
    "data/charts.py:marginal": lambda: data.marginal(("no", NASTY, "maybe"), [5, 7, 9], NASTY),
    "data/charts.py:conditional": lambda: data.conditional(
        pd.DataFrame([[0.2, 0.7], [0.8, 0.3]], index=["a", NASTY], columns=["u", "v"]), "x", "y"
    ),
    "data/charts.py:histogram": lambda: data.histogram(X, (-1.0, 1.0), NASTY),
    "data/charts.py:scatter": lambda: data.scatter(
        np.column_stack([X, X**2]), [(-1.0, 1.0), (0.0, 1.0)], ["x", NASTY]
    ),
    "discover/charts.py:budget_bar": lambda: runs.budget_bar(_run()),
    "discover/charts.py:weights": lambda: runs.weights(
        np.array([[0, 0.8], [-0.1, 0]]), ["a", NASTY], 0.3
    ),
    "discover/charts.py:convergence": lambda: runs.convergence(
        (Iteration(3.0, 0.1, 1.0, 0.5), Iteration(2.0, 1e-9, 10.0, 0.5))
    ),
    "discover/charts.py:schedules": lambda: runs.schedules(
        {"even": X + 1, "rising": X + 2}, "even", "share of the budget"
    ),
    "expectation.py:_figure": lambda: expectation._figure(
        [Visible(0.9 - 0.02 * k, 0.95 - 0.02 * k, None) for k in range(36)],
        Visible(0.05, 0.06, None),
        1.0,
        numbers=False,
    ),
    "effects/result.py:intervals": lambda: effects.intervals(
        [
            effects.Row("+9", f"if {NASTY} points at it", (9.0,), 8.0, 10.0, "shown"),
            effects.Row("no bound", "else", (1.0,), -np.inf, np.inf, "other"),
            effects.Row("not measured", "or", (), None, None, "other"),
            effects.Row("+1 to +9", "whatever", (), 1.0, 9.0, "whole"),
            effects.Row("+2", "exact", (2.0, 3.0), 1.0, 4.0, "exact"),
        ],
        NASTY,
        (9.0, "truth +9"),
    ),
    "learn/averaging.py:bill": lambda: averaging.bill(1.0, 10),
    "learn/membership.py:success": lambda: membership.success(_panel("membership"), 1.0, NASTY),
    "learn/noise.py:densities": lambda: noise.densities(_panel("noise"), False),
    "learn/noise.py:privacy_loss": lambda: noise.privacy_loss(_panel("noise"), 1.0),
    "learn/per_test.py:noise_by_columns": lambda: per_test.noise_by_columns(
        PER_TEST.compute(PER_TEST.checked()), 10
    ),
    "learn/runs.py:runs": lambda: run_panel.runs(compare_runs("cancer", 1_000, 2)),
    "learn/selection.py:_two_bars": lambda: selection._two_bars(
        ["a", "b"], np.array([0.2, 0.8]), np.array([0.1, 0.9]), "candidate"
    ),
    "learn/sieve.py:sieve_error_curves": lambda: sieve.sieve_error_curves(
        _panel("sieve-and-examine"), "epsilon"
    ),
    "papers/charts.py:reliability_figure": lambda: papers.reliability_figure(
        shipped_reliability().edges, shipped_reliability().arrows
    ),
    "papers/charts.py:small_panels": lambda: papers.small_panels(
        [
            papers.Curve(f"panel {k}", name, series, [(0.1, 0.2), (1, 0.5 + k / 10), (10, 0.9)])
            for k in range(5)
            for name in ("one", NASTY)
            for series in ("proven", "exact")
        ],
        x_title="ε",
        y_title="F1",
        bounded=True,
    ),
    "papers/charts.py:reproduction_figure": _reproduction,
    "release/panels.py:rounds_figure": lambda: release.rounds_figure(
        Event("pure", 0.1, count=50), 1e-5
    ),
    "tradeoff/charts.py:quality": lambda: tradeoff.quality(
        SWEEP[(SWEEP["data"] == "asia") & (SWEEP["order"] == 1)],
        "skeleton F1",
        bounded=True,
        target=0.8,
    ),
    "tradeoff/charts.py:network": lambda: tradeoff.network(
        SWEEP[(SWEEP["data"] == "asia") & (SWEEP["order"] == 1)], NASTY, ()
    ),
    "tradeoff/charts.py:_map": lambda: tradeoff._map(
        pd.DataFrame([[0.1, np.nan]], index=["a"], columns=[0.1, 1.0]),
        NASTY,
        "%{z}",
        bounded=False,
        written=True,
    ),
    "tradeoff/charts.py:pair_map": lambda: tradeoff.pair_map(
        SWEEP[SWEEP["epsilon"].notna()], "order", "order", "F1", True
    ),
    "tradeoff/charts.py:edge_map": lambda: tradeoff.edge_map(
        pd.DataFrame(
            [(f"cause {k}", NASTY, e, e / 10) for k in range(30) for e in (0.1, 1.0, 5.0)],
            columns=["cause", "effect", "epsilon", "adjacent"],
        ),
        "adjacent",
    ),
}
