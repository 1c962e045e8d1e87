"""Algorithms for numbers on linear-Gaussian graphs of 20 columns, as one table.

    python -m benchmarks.linear_gaussian [--graphs 10] [--first 5000] [--epsilons 0.1,0.3,1,3,10]
        [--algorithms moment-search,privpc-star,moment-notears]

For densities 0.1 and 0.2 with 10,000 and 100,000 rows: mean F1 of the skeleton and of the CPDAG
over as many graphs, their seeds from --first, for each ε, and the median engine seconds of a run;
then PC's with Fisher's z at level 0.01, which is not private.  Defaults otherwise.  Data seed 1000,
noise seed 500.  A run that is refused for its noise counts as an empty graph.
"""

from __future__ import annotations

import argparse
import time
from itertools import product
from statistics import mean, median

from benchmarks import parsed
from benchmarks.moment_search import scores, truth_of
from privcore.algorithms import count, discover
from privcore.counts import MomentSource
from privcore.data import Dataset, StructuralExample
from privcore.errors import PrivcoreError
from privcore.graphs import PDAG

_PC = {"score": "fisher-z", "threshold": 0.01}


def linear_gaussian(density: float, rows: int, seed: int) -> Dataset:
    """A sample of a graph of 20 columns.  seed: of the graph."""
    example = StructuralExample("linear-gaussian", nodes=20, density=density, graph_seed=seed)
    return example.sample(rows, 1000)


def found(source: MomentSource, algorithm: str, epsilon: float) -> PDAG:
    try:
        return discover(source, algorithm, {"epsilon": epsilon}, seed=500, keep_trace=False).graph
    except PrivcoreError:
        return PDAG(source.names)


def cell(pairs: list[tuple[float, float]]) -> str:
    return "/".join(f"{mean(pair[which] for pair in pairs):.3f}" for which in (0, 1))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--graphs", type=int, default=10)
    parser.add_argument("--first", type=int, default=5000)
    parser.add_argument("--epsilons", default="0.1,0.3,1,3,10")
    parser.add_argument("--algorithms", default="moment-search,privpc-star,moment-notears")
    options = parsed(parser, graphs=1, epsilons="1", algorithms="moment-search")
    epsilons = [float(word) for word in options.epsilons.split(",")]
    print("| density, rows | algorithm | " + options.epsilons.replace(",", " | ") + " | seconds |")
    print("|---|---|" + "---|" * (len(epsilons) + 1))
    for density, rows in product((0.1, 0.2), (10_000, 100_000)):
        seeds = range(options.first, options.first + options.graphs)
        samples = [linear_gaussian(density, rows, seed) for seed in seeds]
        cases = [(count(data), truth_of(data)) for data in samples]
        for algorithm in filter(None, options.algorithms.split(",")):
            cells, seconds = [], []
            for epsilon in epsilons:
                pairs = []
                for source, truth in cases:
                    start = time.perf_counter()
                    pairs.append(scores(found(source, algorithm, epsilon), truth))
                    seconds.append(time.perf_counter() - start)
                cells.append(cell(pairs))
            line = " | ".join(cells)
            print(
                f"| {density}, {rows:,} | {algorithm} | {line} | {median(seconds):.2f} |",
                flush=True,
            )
        pc = [
            scores(discover(source, "pc", _PC, keep_trace=False).graph, truth)
            for source, truth in cases
        ]
        print(f"| {density}, {rows:,} | PC, not private | {cell(pc)} |", flush=True)


if __name__ == "__main__":
    main()
