"""Moment search on the eight networks, on random networks, and on independent columns.

    python -m benchmarks.moment_search [--data cancer,…,insurance] [--rows 100000] [--seeds 20]
        [--epsilons 0.1,0.3,1,3,10] [--random 40 [--dense | --hubs | --strong-hubs]] [--first 0]
        [--cells 0,2048] [--set NAME=VALUE …]

For each data set mean F1 of the skeleton, and of the CPDAG, against the truth, one number for each
ε, in the end PC's (G², level .01) and the complete graph's, and the median engine seconds of a run.
With `--epsilons ""` these two alone.
Data seeds from 1000, noise seeds from 500.  random: as many random networks, the mean over them,
their seeds from --first (those from 0 on had a part in choosing defaults), with --cells only those
with more combinations of levels than the first number and no more than the second; with --dense
networks of `dense_networks`, with --hubs or --strong-hubs of `hub_networks`.  permuted: the random
networks with every column permuted; the share of runs that show any edge.
"""

from __future__ import annotations

import argparse
import itertools
import time
from statistics import mean, median
from typing import Any

import numpy as np

from benchmarks import parsed
from benchmarks.dense_networks import dense_network
from benchmarks.hub_networks import hub_network, strong_hub_network
from benchmarks.random_networks import networks_from
from privcore.algorithms import count, discover
from privcore.counts import MomentSource
from privcore.data import Dataset, load_network
from privcore.graphs import PDAG, cpdag_of_names
from privcore.measures import cpdag_metrics, skeleton_metrics

_DATA = "cancer,earthquake,survey,asia,sachs,child,alarm,insurance"
_PC = {"score": "g2", "threshold": 0.01}


def scores(graph: PDAG, truth: PDAG) -> tuple[float, float]:
    return skeleton_metrics(graph, truth).f1, cpdag_metrics(graph, truth).f1


def measured(
    samples: list[tuple[MomentSource, PDAG, int]], epsilons: list[float], given: dict[str, Any]
) -> str:
    found: list[list[tuple[float, float]]] = [[] for _ in (*epsilons, "pc", "complete")]
    seconds = []
    for source, truth, seed in samples:
        for k, epsilon in enumerate(epsilons):
            start = time.perf_counter()
            result = discover(
                source, "moment-search", {**given, "epsilon": epsilon}, seed=seed, keep_trace=False
            )
            seconds.append(time.perf_counter() - start)
            found[k].append(scores(result.graph, truth))
        pc = discover(source, "pc", _PC, keep_trace=False)
        found[-2].append(scores(pc.graph, truth))
        found[-1].append(scores(PDAG.complete(truth.nodes), truth))
    both = [
        " / ".join(f"{mean(pair[which] for pair in cell):.3f}" for cell in found[:-2])
        + f" (PC {mean(pair[which] for pair in found[-2]):.3f},"
        + f" complete {mean(pair[which] for pair in found[-1]):.3f})"
        for which in (0, 1)
    ]
    return f"{both[0]} | {both[1]} | {f'{median(seconds):.2f} s' if seconds else '–'}"


def truth_of(data: Dataset) -> PDAG:
    return cpdag_of_names(data.names, data.true_edges or ())


def permuted(data: Dataset, seed: int) -> Dataset:
    generator = np.random.default_rng(seed)
    permuted = tuple(generator.permutation(column) for column in data.values)
    return Dataset(data.name, data.columns, permuted)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", default=_DATA)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--epsilons", default="0.1,0.3,1,3,10")
    parser.add_argument("--random", type=int, default=40)
    kinds = parser.add_mutually_exclusive_group()
    kinds.add_argument("--dense", dest="kind", action="store_const", const=dense_network)
    kinds.add_argument("--hubs", dest="kind", action="store_const", const=hub_network)
    kinds.add_argument("--strong-hubs", dest="kind", action="store_const", const=strong_hub_network)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--cells", default=None)
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    options = parsed(parser, data="cancer", rows=1_000, seeds=1, epsilons="1", random=1)
    epsilons = [float(word) for word in options.epsilons.split(",") if word]
    given = {name: float(value) for name, value in (word.split("=") for word in options.set)}
    print(
        f"| data | skeleton F1 at ε = {options.epsilons} | CPDAG F1 | seconds |\n|---|---|---|---|"
    )
    for name in filter(None, options.data.split(",")):
        samples = []
        for seed in range(options.seeds):
            data = load_network(name).sample(options.rows, 1000 + seed)
            samples.append((count(data), truth_of(data), 500 + seed))
        print(f"| {name} | {measured(samples, epsilons, given)} |", flush=True)
    networks = (
        map(options.kind, itertools.count(options.first))
        if options.kind
        else networks_from(options.first, options.cells)
    )
    chosen = itertools.islice(networks, options.random)
    drawn = [network.sample(options.rows, 1000) for network in chosen]
    if not drawn:
        return
    samples = [(count(data), truth_of(data), 500 + k) for k, data in enumerate(drawn)]
    print(f"| {len(drawn)} random networks | {measured(samples, epsilons, given)} |", flush=True)
    shares = []
    sources = [count(permuted(data, k)) for k, data in enumerate(drawn)]
    for epsilon in epsilons:
        settings = {**given, "epsilon": epsilon}
        graphs = [
            discover(source, "moment-search", settings, seed=500 + k, keep_trace=False).graph
            for k, source in enumerate(sources)
        ]
        shares.append(mean(bool(graph.skeleton) for graph in graphs))
    print("\nPermuted, share of runs with any edge:", " / ".join(f"{s:.3f}" for s in shares))


if __name__ == "__main__":
    main()
