"""Spending in steps, and the unit of protection: the cost of each in F1.

    python -m benchmarks.steps [--rows 50000] [--seeds 8] [--first 1] [--networks asia,…]
        [--write]

Moment search with simulated noise, skeleton F1 and CPDAG F1 against the true graph, mean over seeds
of data and noise.  In steps: ε = 0.3; one like it at 0.7, pooled with it; ε = 1 at once.  Whom: one
row replaced; a person with at most 5 rows, replaced; one row, and a person with at most 5,
added or removed; all at ε = 1.  Sites: rows in two halves, each released at ε = 1 by itself, the
counts added.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from statistics import mean
from typing import Any

from benchmarks import parsed
from privcore import load_network
from privcore.algorithms.engine import count, discover, search_again
from privcore.algorithms.moment_search.released import pool
from privcore.algorithms.search.result import Discovery
from privcore.data import Dataset
from privcore.extras.lab.stability import halves
from privcore.graphs import cpdag_of_dag
from privcore.measures.comparison import cpdag_metrics, skeleton_metrics
from privcore.privacy.mechanisms import SimulatedNoise
from privcore.threads import one_thread

NETWORKS = ("asia", "sachs", "survey", "child", "insurance", "alarm")
_DOCUMENT = Path(__file__).parents[1] / "docs" / "experiments" / "steps.md"
_BEGIN, _END = "<!-- steps -->", "<!-- end of steps -->"
ADDED = "added or removed"


def runs_of(data: Dataset, seed: int) -> dict[str, Discovery]:
    """Every way to spend on one table, by its name."""
    source = count(data)

    def run(epsilon: float, noise: int, **more: Any) -> Discovery:
        settings = {"epsilon": epsilon, **more.pop("settings", {})}
        return discover(
            source, "moment-search", settings, seed=10 * seed + noise, keep_trace=False, **more
        )

    def again(parts: list[Discovery], *, same_rows: bool) -> Discovery:
        pooled = pool([p.released.statistics for p in parts if p.released], same_rows=same_rows)
        return search_again("moment-search", pooled, data.names, {}, parts[0].guarantee)

    first, whole = run(0.3, 1), run(1.0, 3)
    assert first.released is not None
    second = run(0.7, 2, like=first.released.statistics)
    sites = [
        discover(half, "moment-search", {"epsilon": 1.0}, seed=10 * seed + 4 + k, keep_trace=False)
        for k, half in enumerate(halves(source, SimulatedNoise(seed)))
    ]
    return {
        "0.3": first,
        "0.3 and 0.7, pooled": again([first, second], same_rows=True),
        "1 at once": whole,
        "5 rows": run(1.0, 7, settings={"rows_per_unit": 5}),
        "added or removed": run(1.0, 8, settings={"neighbours": ADDED}),
        "5 rows, added or removed": run(1.0, 9, settings={"rows_per_unit": 5, "neighbours": ADDED}),
        "two sites": again(sites, same_rows=False),
    }


def scores(data: Dataset, runs: dict[str, Discovery]) -> dict[str, tuple[float, float]]:
    names = data.names
    edges = {(names.index(a), names.index(b)) for a, b in data.true_edges or ()}
    true = cpdag_of_dag(names, edges)
    return {
        way: (skeleton_metrics(run.graph, true).f1, cpdag_metrics(run.graph, true).f1)
        for way, run in runs.items()
    }


def table(rows: int, seeds: range, networks: list[str], say: Callable[[str], None]) -> str:
    """One Markdown table: skeleton/CPDAG F1, a line for each network."""
    every: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for name in networks:
        of_network = every.setdefault(name, {})
        for seed in seeds:
            data = load_network(name).sample(rows, seed=seed)
            for way, score in scores(data, runs_of(data, seed)).items():
                of_network.setdefault(way, []).append(score)
        say(f"{name} done")
    ways = list(every[networks[0]])
    lines = ["| " + " | ".join(("skeleton/CPDAG F1", *ways)) + " |", "|---" * (len(ways) + 1) + "|"]

    def line(name: str, of: list[str]) -> str:
        cells = (_both([score for each in of for score in every[each][way]]) for way in ways)
        return "| " + " | ".join((name, *cells)) + " |"

    lines += [*(line(name, [name]) for name in networks), line("mean", networks)]
    return "\n".join(lines)


def _both(scores: list[tuple[float, float]]) -> str:
    return "/".join(f"{mean(score[kind] for score in scores):.3f}" for kind in (0, 1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--first", type=int, default=1, help="the first seed (1)")
    parser.add_argument("--networks", default=",".join(NETWORKS))
    parser.add_argument("--write", action="store_true", help="into docs/experiments/steps.md")
    options = parsed(parser, rows=1_000, seeds=2, networks="cancer", write=False)
    with one_thread():
        seeds = range(options.first, options.first + options.seeds)
        text = table(options.rows, seeds, options.networks.split(","), print)
    print(text)
    if options.write:
        document = _DOCUMENT.read_text(encoding="utf-8")
        before, _, rest = document.partition(_BEGIN)
        after = rest.partition(_END)[2]
        _DOCUMENT.write_text(f"{before}{_BEGIN}\n{text}\n{_END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
