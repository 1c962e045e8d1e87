"""The best number of intervals for numeric columns, on random graphs of numbers.

    python -m benchmarks.intervals [--kind nonlinear] [--density 0.4] [--first 9000] [--graphs 3]
        [--columns 15] [--rows 5000,20000,50000] [--epsilons 1] [--intervals 0,2,3,4,6,8]

For each number of rows and each ε: mean skeleton and CPDAG F1 of moment search with every column
cut into as many intervals of about as many rows each, with numbers as they are (0, where
the run decides), and what
`usual_intervals` would choose.  Graph and data have one seed, from --first; noise has that seed
plus 500.
"""

from __future__ import annotations

import argparse
from statistics import mean

import numpy as np

from benchmarks import parsed
from benchmarks.moment_search import scores, truth_of
from privcore.algorithms import discover
from privcore.data import NUMERIC_EXAMPLES, Dataset, StructuralExample, discretise
from privcore.data.discretise import usual_intervals
from privcore.intake.levels import even_cuts


def cut_evenly(dataset: Dataset, parts: int) -> Dataset:
    """The data set with its numbers cut as an uploaded table's would be; 0 for not at all."""
    if not parts:
        return dataset
    cuts = {}
    for column, values in zip(dataset.columns, dataset.values, strict=True):
        if column.is_categorical:
            continue
        distinct, counts = np.unique(values, return_counts=True)
        cuts[column.name] = even_cuts(distinct, counts.astype(np.float64), parts)
    return discretise(dataset, cuts)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--kind", default="nonlinear", choices=NUMERIC_EXAMPLES)
    parser.add_argument("--density", type=float, default=0.4)
    parser.add_argument("--first", type=int, default=9000)
    parser.add_argument("--graphs", type=int, default=3)
    parser.add_argument("--columns", type=int, default=15)
    parser.add_argument("--rows", default="5000,20000,50000")
    parser.add_argument("--epsilons", default="1")
    parser.add_argument("--intervals", default="0,2,3,4,6,8")
    options = parsed(parser, graphs=1, rows="1000")
    parts = [int(k) for k in options.intervals.split(",")]
    seeds = range(options.first, options.first + options.graphs)
    print("| rows, ε | " + " | ".join(map(str, parts)) + " | chosen |")
    print("|---" * (len(parts) + 2) + "|")
    for rows in map(int, options.rows.split(",")):
        for epsilon in map(float, options.epsilons.split(",")):
            cells = []
            for count in parts:
                found = []
                for seed in seeds:
                    example = StructuralExample(
                        options.kind,
                        nodes=options.columns,
                        graph_seed=seed,
                        density=options.density,
                    )
                    data = cut_evenly(example.sample(rows, seed), count)
                    settings = {"epsilon": epsilon}
                    result = discover(
                        data, "moment-search", settings, seed=seed + 500, keep_trace=False
                    )
                    found.append(scores(result.graph, truth_of(data)))
                skeletons, cpdags = zip(*found, strict=True)
                cells.append(f"{mean(skeletons):.3f}, {mean(cpdags):.3f}")
            chosen = usual_intervals(rows, options.columns, epsilon)
            print(f"| {rows:,}, {epsilon:g} | " + " | ".join(cells) + f" | {chosen} |", flush=True)


if __name__ == "__main__":
    main()
