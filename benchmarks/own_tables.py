"""Real tables on the command line and the page, at the first attempt, as a table in Markdown.

    python -m benchmarks.own_tables FOLDER [--epsilon 1] [--seed 1]

Every file of FOLDER that is a table goes through `causalveil discover` without an option but --csv
and --epsilon: rows, columns used and left out, seconds of the whole command and of the engine, and
F1 of the private graph against non-private PC on the same cuts.  The page takes the same files in
Chromium: upload, *Discover its graph*, seconds from the upload to both graphs, without the reader's
click.  Where there is a NAME.graph.txt, NAME the file's up to its first dot, also skeleton F1 of
both against that graph.

The files are not ours to ship: Adult and credit approval (crx) are at the UCI repository, Titanic
in many collections, the others among the example data of Tetrad.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser

from benchmarks import parsed
from benchmarks.dashboard_load import free_port, server
from benchmarks.screenshots import browser

_PATIENCE = 120_000
ENDINGS = {".csv", ".tsv", ".txt", ".parquet"}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--epsilon", default="1")
    parser.add_argument("--seed", default="1")
    options = parsed(parser)
    print(
        "| table | rows | columns used | left out | seconds, engine | skeleton F1, CPDAG F1 "
        "| against its graph: private, PC | page, seconds |"
    )
    print("|---" * 8 + "|")
    with server(port := free_port()), browser() as running:
        for path in sorted(options.folder.iterdir()):
            if path.suffix.lower() in ENDINGS and "graph" not in path.name:
                row = _row(path, options.epsilon, options.seed)
                print(row, on_page(running, port, path), "|", flush=True)


def on_page(browser: Browser, port: int, path: Path) -> str:
    """Seconds from the upload to both graphs, in a session of its own."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    page.set_default_timeout(_PATIENCE)
    page.goto(f"http://127.0.0.1:{port}/data")
    page.locator("input[type=file]").first.wait_for(state="attached")
    start = time.perf_counter()
    page.locator("input[type=file]").first.set_input_files(path)
    page.get_by_role("button", name="Discover its graph").click()
    page.get_by_role("heading", name="Without privacy (").wait_for()
    seconds = time.perf_counter() - start
    context.close()
    return f"{seconds:.1f}"


def _report(path: Path, *more: str) -> tuple[dict[str, Any], float]:
    """What the command reports, and its seconds; a refusal is a report with its sentence alone."""
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "privcore", "discover", "--csv", str(path), *more, "--json"],
        capture_output=True,
        text=True,
        check=False,
    )
    seconds = time.perf_counter() - start
    refused = {"refused": done.stderr.strip()}
    return (refused if done.returncode else json.loads(done.stdout)), seconds


def _row(path: Path, epsilon: str, seed: str) -> str:
    graph = path.with_name(path.name.split(".")[0] + ".graph.txt")
    truth = ("--truth", str(graph)) if graph.exists() else ()
    report, seconds = _report(path, "--epsilon", epsilon, "--seed", seed, *truth)
    if "refused" in report:
        return f"| {path.name} | {report['refused']} | | | {seconds:.1f} | | |"
    left = ", ".join(
        f"{name} ({reason.split(':')[0]})" for name, reason in report["left_out"].items()
    )
    metrics, known = report["metrics"], "–"
    if truth:
        reference, _ = _report(path, "--algorithm", "pc", *truth)
        both = (metrics["truth"], reference["metrics"]["truth"])
        known = ", ".join(f"{each['skeleton']['f1']:.3f}" for each in both)
    against = metrics["non_private"]
    return (
        f"| {path.name} | {report['data']['rows']:,} | {len(report['nodes'])} | {left or '–'} "
        f"| {seconds:.1f}, {report['seconds']:.1f} "
        f"| {against['skeleton']['f1']:.3f}, {against['cpdag']['f1']:.3f} | {known} |"
    )


if __name__ == "__main__":
    main()
