"""Tests and time against the number of columns and the largest order."""

from __future__ import annotations

import time
from typing import Any

from benchmarks.scale.pictures import draw
from privcore.algorithms import count, discover
from privcore.data import Dataset, StructuralExample, load_network
from privcore.extras.lab.work import estimate

ROWS = 20_000
_ALGORITHMS = ("pc", "priv-pc", "svt-pc", "em-pc", "moment-search")


def data(name: str, rows: int) -> Dataset:
    """A network by name, or a random DAG with this number of columns and about as many edges."""
    if name.isdigit():
        density = 2 / (int(name) - 1)
        example = StructuralExample("random-categorical", nodes=int(name), density=density)
        return example.sample(rows, 1)
    return load_network(name).sample(rows, 1)


def searched(dataset: Dataset, algorithm: str, given: dict[str, Any], limit: int) -> dict[str, Any]:
    """One run with counting, under a limit of tests, and what was expected of it."""
    given = given if algorithm == "pc" else {**given, "epsilon": 1.0}
    expected = estimate(dataset.n, dataset.levels, algorithm, given)
    start = time.perf_counter()
    run = discover(count(dataset), algorithm, given, seed=1, keep_trace=False, test_limit=limit)
    seconds = time.perf_counter() - start
    ended = {None: "finished", "work": "stopped at the limit"}.get(run.stopped, "budget used up")
    if run.unreached:
        ended += f", orders {run.unreached.first}–{run.unreached.last} not finished"
    return {
        "likely": f"{expected.tests:,}, {expected.seconds:.0f} s" if expected else "not by tests",
        "tests": run.tests_run,
        "seconds": seconds,
        "ended": ended,
        "edges": len(run.graph.skeleton),
    }


def against_columns(names: list[str], rows: int, limit: int, out: str) -> None:
    """Both tables and the picture of the growth with columns and with the order."""
    print(f"n = {rows:,}, at most {limit:,} tests, counting included\n")
    print("| data | algorithm | likely tests and time | tests | seconds | how it ended | edges |")
    print("|---" * 7 + "|")
    growth: dict[str, list[tuple[float, float]]] = {name: [] for name in _ALGORITHMS}
    for name in names:
        dataset = data(name, rows)
        label = f"random, {name} columns" if name.isdigit() else f"{name}, {dataset.p} columns"
        for algorithm in _ALGORITHMS:
            run = searched(dataset, algorithm, {}, limit)
            if name.isdigit():
                growth[algorithm].append((dataset.p, run["seconds"]))
            print(
                f"| {label} | {algorithm} | {run['likely']} | {run['tests']:,} | "
                f"{run['seconds']:.1f} | {run['ended']} | {run['edges']} |",
                flush=True,
            )
    orders: dict[str, list[tuple[float, float]]] = {}
    for name in ("hailfinder", "hepar2"):
        dataset = data(name, rows)
        for order in range(5):
            run = searched(dataset, "pc", {"max_order": order}, limit)
            orders.setdefault(f"pc, {name}", []).append((order, run["seconds"]))
    for title, lines in (("columns", growth), ("largest order", orders)):
        print(f"\nSeconds against {title}:")
        for name, points in lines.items():
            print(f"{name}: {', '.join(f'{x:g}: {y:.1f} s' for x, y in points)}")
    panels = [("columns of a random DAG", "seconds", growth), ("largest order", "seconds", orders)]
    draw(panels, out)
