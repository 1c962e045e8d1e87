"""Make the shipped sweep over eight networks, and draw it as its page does.

    python -m benchmarks.eight_networks --algorithms moment-search --networks alarm,insurance
    python -m benchmarks.eight_networks --missing [--workers 2]
    python -m benchmarks.eight_networks --references
    python -m benchmarks.eight_networks --draw-only [--out docs/images/eight_networks.png]

Runs of the algorithms and on the networks that are named, or of all, are made again from the
command that the file holds; all other rows stay.  After an interruption the same command goes on
where it was.  --references: no run is made again, but what all of them are compared with without
privacy is, from the graphs that the file holds.  A browser takes the picture: Chromium must be
there.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Collection, Mapping, Sequence
from contextlib import closing
from pathlib import Path

import pandas as pd
import plotly.graph_objects as go
from playwright.sync_api import ViewportSize

from benchmarks import parsed
from benchmarks.screenshots import browser
from pages.ui.papers.charts import Curve, small_panels
from pages.ui.theme import PALETTES
from pages.ui.tradeoff.charts import series_name
from privcore.data import load_network
from privcore.extras.lab.sweeps.cells import Runner, compared, graph_of
from privcore.extras.lab.sweeps.eight_networks import (
    NETWORKS,
    PATH,
    best_on_average,
    eight_networks,
    eight_networks_means,
)
from privcore.extras.lab.sweeps.sweep import Journal, read_sweep, run_sweep, write_rows
from privcore.faces.cli.sweep import plan_of

_WIDTH = 1200


def remake(
    path: Path,
    algorithms: Collection[str],
    networks: Collection[str],
    workers: int | None,
    *,
    epsilons: Collection[float] = (),
    missing: bool = False,
) -> None:
    """Make a sweep's rows of these algorithms on these networks again, and write its file.

    epsilons: only runs at these; at all by default. missing: only runs that the file does not have.
    """
    held = read_sweep(path)
    plan = plan_of(held.command)
    rows = {row["cell"]: row for row in held.rows}
    wanted = {
        cell.number
        for cell in plan.cells
        if cell.setting.choice.algorithm in algorithms
        and plan.data[cell.setting.data].label in networks
        and (not epsilons or cell.setting.choice.shown.get("epsilon") in epsilons)
        and not (missing and cell.number in rows)
    }
    with closing(Journal(path, plan)) as journal:
        rows |= {row["cell"]: row for row in journal.rows}
        left = wanted - {row["cell"] for row in journal.rows}
        done = set(range(plan.size)) - left
        with closing(run_sweep(plan, workers=workers, done=done)) as coming:
            for number, row in enumerate(coming, start=1):
                journal.add(row)
                rows[row["cell"]] = row
                print(f"\r{number:,} of {len(left):,} runs ", end="", file=sys.stderr, flush=True)
        write_rows(path, rows.values(), plan, held.command)
        journal.remove()
    print(f"\n{len(wanted):,} runs made; {len(rows):,} of {plan.size:,} are there: {path}")


def renew_references(path: Path) -> None:
    """Compare the graphs of a sweep with their non-private references, made anew, and write it."""
    held = read_sweep(path)
    plan = plan_of(held.command)
    runner = Runner(plan)
    found = [runner.reference(wanted).graph for wanted in plan.references]
    rows = []
    for row in held.rows:
        for number in plan.cells[row["cell"]].setting.references:
            reference = found[number]
            if reference is not None and row["edges"] is not None:
                graph = graph_of(reference.nodes, row["edges"])
                row = row | compared(graph, {plan.references[number].kind: reference})
        rows.append(row)
    write_rows(path, rows, plan, held.command)
    print(f"{len(found)} references made again: {path}")


def panels_of(means: pd.DataFrame, titles: Mapping[str, str]) -> go.Figure:
    """Mean skeleton F1 against ε, a panel for each network.  titles: of the networks, in order."""
    curves = []
    private = means[means["epsilon"].notna()]
    for name in titles:
        here = private[private["data"] == name]
        for key, part in here.groupby(["algorithm", "calibration"], sort=False):
            algorithm, calibration = map(str, key)
            points = list(zip(part["epsilon"], part["mean"], strict=True))
            line = series_name(algorithm, calibration)
            curves.append(Curve(titles[name], line, calibration, points))
    return small_panels(curves, x_title="total ε", y_title="skeleton F1", bounded=True)


def save(figure: go.Figure, path: str, height: int = 760) -> None:
    """The picture of a figure, height pixels high and twice as fine as a screen."""
    size: ViewportSize = {"width": _WIDTH, "height": height}
    palette = PALETTES["light"]
    figure.update_layout(
        paper_bgcolor=palette.background,
        plot_bgcolor=palette.surface,
        font={"color": palette.text, "family": "sans-serif"},
        margin={"l": 60, "r": 20, "t": 90, "b": 60},
        **size,
    )
    with tempfile.TemporaryDirectory() as folder, browser() as running:
        page_path = Path(folder) / "figure.html"
        figure.write_html(page_path, include_plotlyjs=True, config={"displayModeBar": False})
        context = running.new_context(viewport=size, device_scale_factor=2)
        page = context.new_page()
        page.goto(page_path.as_uri())
        page.locator(".plotly-graph-div .main-svg").first.wait_for()
        Path(path).write_bytes(page.locator(".plotly-graph-div").screenshot())


def _names(text: str | None, known: Sequence[str], parser: argparse.ArgumentParser) -> list[str]:
    names = list(known) if text is None else [name.strip() for name in text.split(",")]
    for name in names:
        if name not in known:
            parser.error(f"{name} is not in the sweep; it has {', '.join(known)}.")
    return names


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--algorithms", help="whose rows are made again (all)")
    parser.add_argument("--networks", help="on which they are (all)")
    parser.add_argument("--epsilons", help="at which they are (all)")
    parser.add_argument("--workers", type=int, help="processes (one for each processor)")
    parser.add_argument("--missing", action="store_true", help="only rows that are not there yet")
    parser.add_argument("--draw-only", action="store_true", help="make no rows")
    parser.add_argument("--references", action="store_true", help="make only references again")
    parser.add_argument("--out", default="docs/images/eight_networks.png")
    options = parsed(parser, draw_only=True, out=os.devnull)
    known = plan_of(eight_networks().command).algorithms
    algorithms = _names(options.algorithms, known, parser)
    networks = _names(options.networks, NETWORKS, parser)
    if options.references:
        renew_references(PATH)
        eight_networks.cache_clear()
    elif not options.draw_only:
        epsilons = [float(word) for word in (options.epsilons or "").split(",") if word]
        remake(
            PATH,
            algorithms,
            networks,
            options.workers,
            epsilons=epsilons,
            missing=options.missing,
        )
        eight_networks.cache_clear()
    means = eight_networks_means()
    titles = {name: f"{name} ({len(load_network(name).names)} columns)" for name in NETWORKS}
    save(panels_of(means, titles), options.out, height=940)
    print(f"Made from: {eight_networks().command}")
    for epsilon in (0.1, 1.0, 10.0):
        print(f"\nMean skeleton F1 over the eight networks at ε = {epsilon:g}:")
        print(best_on_average(means, epsilon).round(3).to_string(index=False))


if __name__ == "__main__":
    main()
