"""PC's rules of orientation side by side, and their effect on the private algorithms.

    python -m benchmarks.orientation [--data cancer,…,alarm] [--samples 3] [--rows 100000]
        [--random 40] [--random-rows 5000,20000,100000] [--first 0] [--level 0.01] [--peer]
    python -m benchmarks.orientation --every [--random 60] [--kind dense] …
    python -m benchmarks.orientation --private [--random 40] [--epsilons 1,10] …
    python -m benchmarks.orientation --published CAUSAL-LEARN/tests/TestData/bnlearn_discrete_10000

Mean F1 of the skeleton and of the CPDAG, with G² and no limit on the order: of the first separating
set with contested v-structures dropped (what PC did here before), of the default, of causal-learn's
rules, and with --peer of causal-learn itself; how many edge marks change when the columns are
permuted, as a mean over runs; and the median milliseconds of a run.  --every: the CPDAG F1 of all
rules, on random networks.  --private: CPDAG F1 before and after of every algorithm that is oriented
by separating sets, on random networks and then on the eight.  --published: how many edges differ
from the CPDAGs that a checkout of causal-learn holds, under its rules (χ² at 0.05, `uc_priority`
3), and whether its graph has a directed cycle.  Data seeds from 1000, noise seed 500.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from statistics import mean, median
from typing import Any, NamedTuple

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from benchmarks import parsed
from benchmarks.dense_networks import dense_network
from benchmarks.hub_networks import hub_network, strong_hub_network
from benchmarks.moment_search import truth_of
from benchmarks.peers.comparison import THEIR_RULES
from benchmarks.random_networks import random_network
from privcore import kernels
from privcore.algorithms import count, discover
from privcore.algorithms.search.parameters import COLLIDER_RULE, CONFLICT_RULE
from privcore.counts import CountSource, InMemoryCounts
from privcore.data import Dataset, load_network
from privcore.errors import PrivcoreError
from privcore.graphs import PDAG, orient
from privcore.measures import cpdag_metrics, skeleton_metrics

Matrix = NDArray[Any]

_DATA = "cancer,earthquake,survey,asia,sachs,child,insurance,alarm"
_OLD = {"collider_rule": "first", "conflict_rule": "drop"}
_RULES = {"old": _OLD, "default": {}, "causal-learn's rules": THEIR_RULES}
_KINDS = {
    "random": random_network,
    "dense": dense_network,
    "hubs": hub_network,
    "strong-hubs": strong_hub_network,
}
_BY_SETS = "laplace-pc,svt-pc,priv-pc,sg-pc,em-pc,curate,lapmech,privpc-star"


class Found(NamedTuple):
    skeleton: float
    cpdag: float
    moved: float
    seconds: float


def permuted(data: Dataset, seed: int) -> Dataset:
    place = np.random.default_rng(seed).permutation(data.p)
    return Dataset(
        data.name, tuple(data.columns[i] for i in place), tuple(data.values[i] for i in place)
    )


def marks(graph: PDAG) -> dict[frozenset[str], str]:
    """Marks of each edge by its ends' names, whatever the order of the columns."""
    found = {frozenset(pair): f"{pair[0]}->{pair[1]}" for pair in graph.named_directed()}
    return found | {frozenset(pair): "--" for pair in graph.named_undirected()}


def moved(graph: PDAG, other: PDAG) -> int:
    here, there = marks(graph), marks(other)
    return sum(here.get(pair) != there.get(pair) for pair in here.keys() | there.keys())


def by_rules(data: Dataset, level: float, rules: dict[str, str]) -> Found:
    settings = {"score": "g2", "threshold": level, "max_order": None, **rules}
    start = time.perf_counter()
    graph = discover(count(data), "pc", settings, keep_trace=False).graph
    seconds = time.perf_counter() - start
    again = discover(count(permuted(data, 1)), "pc", settings, keep_trace=False).graph
    return scored(data, graph, again, seconds)


def by_peer(data: Dataset, level: float) -> Found:
    graphs = []
    start = time.perf_counter()
    for each in (data, permuted(data, 1)):
        graphs.append(causal_learn(each, level))
    return scored(data, *graphs, (time.perf_counter() - start) / 2)


def causal_learn(data: Dataset, level: float) -> PDAG:
    from causallearn.search.ConstraintBased.PC import pc

    ends = pc(np.column_stack(data.values), level, "gsq", show_progress=False).G.graph
    return graph_of(ends, tuple(data.names))


def graph_of(ends: Matrix, names: tuple[str, ...]) -> PDAG:
    """From causal-learn's end marks: -1 at a tail, 1 at an arrowhead, shape (p, p)."""
    pairs = [(i, j) for i, j in product(range(len(names)), repeat=2) if ends[i, j] == -1]
    arrows = frozenset((i, j) for i, j in pairs if ends[j, i] == 1)
    lines = frozenset((i, j) for i, j in pairs if i < j and ends[j, i] == -1)
    return PDAG(names, arrows, lines)


def published(folder: Path) -> Iterator[str]:
    for path in sorted(
        (folder / "benchmark_returned_results").glob("*_pc_chisq_0.05_stable_0_-1.txt")
    ):
        name = path.name.partition("_")[0]
        rows = np.loadtxt(folder / "data" / f"{name}.txt", skiprows=1, dtype=np.int64)
        columns = [np.unique(column, return_inverse=True)[1] for column in rows.T]
        levels = tuple(max(int(column.max()) + 1, 2) for column in columns)
        names = tuple(f"X{i + 1}" for i in range(len(columns)))
        ones = np.ones(len(rows), dtype=np.int64)
        source = InMemoryCounts(names, levels, tuple(columns), ones)
        theirs = graph_of(np.loadtxt(path), names)
        settings = {"score": "chi2", "threshold": 0.05, "max_order": None, "collider_rule": "union"}
        ours = discover(source, "pc", {**settings, "in_turn": True}, keep_trace=False).graph
        both = theirs.skeleton | ours.skeleton
        differ = sum(ours.mark(i, j) != theirs.mark(i, j) for i, j in both)
        cycle = (
            "" if nx.is_directed_acyclic_graph(nx.DiGraph(list(theirs.directed))) else ", a cycle"
        )
        yield f"{name}: {differ} of {len(both)} edges differ{cycle}"


def scored(data: Dataset, graph: PDAG, again: PDAG, seconds: float) -> Found:
    truth = truth_of(data)
    return Found(
        skeleton_metrics(graph, truth).f1,
        cpdag_metrics(graph, truth).f1,
        moved(graph, again),
        seconds,
    )


def row(name: str, samples: Iterable[Dataset], level: float, *, peer: bool) -> str:
    found: dict[str, list[Found]] = {}
    for data in samples:
        for rule, settings in _RULES.items():
            found.setdefault(rule, []).append(by_rules(data, level, settings))
        if peer:
            found.setdefault("causal-learn", []).append(by_peer(data, level))
    cells = [
        f"{mean(f.skeleton for f in runs):.3f} / {mean(f.cpdag for f in runs):.3f} / "
        f"{mean(f.moved for f in runs):.1f} / {1000 * median(f.seconds for f in runs):.1f}"
        for runs in found.values()
    ]
    return f"| {name} | {' | '.join(cells)} |"


def random_samples(number: int, first: int, rows: int, kind: str) -> Iterator[Dataset]:
    for seed in range(first, first + number):
        yield _KINDS[kind](seed).sample(rows, 1000)


def every_rule(samples: Iterable[Dataset], level: float) -> str:
    found: dict[tuple[str, str], list[float]] = {}
    for data in samples:
        source, truth = count(data), truth_of(data)
        for rules in product(COLLIDER_RULE.choices, CONFLICT_RULE.choices):
            names = (COLLIDER_RULE.name, CONFLICT_RULE.name)
            settings = {"score": "g2", "threshold": level, "max_order": None}
            graph = discover(
                source, "pc", {**settings, **dict(zip(names, rules, strict=True))}, keep_trace=False
            ).graph
            found.setdefault(rules, []).append(cpdag_metrics(graph, truth).f1)
    lines = [
        f"| {rule} | " + " | ".join(f"{mean(found[rule, c]):.3f}" for c in CONFLICT_RULE.choices)
        for rule in COLLIDER_RULE.choices
    ]
    return "\n".join(f"{line} |" for line in lines)


def before_and_after(
    source: CountSource, algorithm: str, epsilon: float, truth: PDAG
) -> tuple[float, float] | None:
    """CPDAG F1, None where the run is refused."""
    try:
        after = discover(source, algorithm, {"epsilon": epsilon}, seed=500, keep_trace=False)
        if "collider_rule" in after.parameters:
            before = discover(
                source, algorithm, {"epsilon": epsilon, **_OLD}, seed=500, keep_trace=False
            ).graph
        else:
            sets = {pair: [given] for pair, given in after.separating_sets.items()}
            lines = PDAG(after.graph.nodes, undirected=after.graph.skeleton)
            before = orient(lines, sets, conflicts="drop")
    except PrivcoreError:
        return None
    return cpdag_metrics(before, truth).f1, cpdag_metrics(after.graph, truth).f1


def private(samples: list[Dataset], epsilons: list[float], algorithms: str) -> Iterator[str]:
    for algorithm in algorithms.split(","):
        cells = []
        for epsilon in epsilons:
            runs = [
                before_and_after(count(data), algorithm, epsilon, truth_of(data))
                for data in samples
            ]
            made = [run for run in runs if run is not None]
            before, after = (mean(run[which] for run in made) for which in (0, 1))
            cells.append(f"{before:.3f} → {after:.3f} ({len(made)})")
        yield f"| {algorithm} | {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", default=_DATA)
    parser.add_argument("--samples", type=int, default=3)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--random", type=int, default=40)
    parser.add_argument("--random-rows", default="5000,20000,100000")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--kind", choices=_KINDS, default="random")
    parser.add_argument("--level", type=float, default=0.01)
    parser.add_argument("--peer", action="store_true")
    parser.add_argument("--published", type=Path, metavar="FOLDER")
    parser.add_argument("--every", action="store_true")
    parser.add_argument("--private", action="store_true")
    parser.add_argument("--algorithms", default=_BY_SETS)
    parser.add_argument("--epsilons", default="1,10")
    few = {"samples": 1, "rows": 1_000, "random": 1, "random_rows": "1000"}
    options = parsed(parser, data="cancer", epsilons="1", **few)
    kernels.load()
    if options.published:
        for line in published(options.published):
            print(line, flush=True)
        return
    names = list(filter(None, options.data.split(",")))
    drawn = partial(random_samples, options.random, options.first, kind=options.kind)
    sizes = [int(word) for word in options.random_rows.split(",")]
    if options.every:
        print("| sets \\ conflicts | " + " | ".join(CONFLICT_RULE.choices) + " |")
        print("|---|" + "---|" * len(CONFLICT_RULE.choices))
        samples = (data for size in sizes for data in drawn(size))
        print(every_rule(samples, options.level))
        return
    if options.private:
        epsilons = [float(word) for word in options.epsilons.split(",")]
        for what, given in (
            ("random networks", list(drawn(options.rows))),
            (
                "published networks",
                [
                    load_network(name).sample(options.rows, 1000 + k)
                    for name in names
                    for k in range(options.samples)
                ],
            ),
        ):
            print(f"| {what} | " + " | ".join(f"ε = {epsilon:g}" for epsilon in epsilons) + " |")
            print("|---|" + "---|" * len(epsilons))
            for line in private(given, epsilons, options.algorithms) if given else ():
                print(line, flush=True)
        return
    columns = [*_RULES, *(["causal-learn"] if options.peer else [])]
    print("Skeleton F1 / CPDAG F1 / marks that permuting the columns changes / ms")
    print("| data | " + " | ".join(columns) + " |\n|---|" + "---|" * len(columns))
    for name in names:
        samples = (
            load_network(name).sample(options.rows, 1000 + k) for k in range(options.samples)
        )
        print(row(name, samples, options.level, peer=options.peer), flush=True)
    for size in sizes if options.random else ():
        name = f"{options.random} random networks, {size:,} rows"
        print(row(name, drawn(size), options.level, peer=options.peer), flush=True)


if __name__ == "__main__":
    main()
