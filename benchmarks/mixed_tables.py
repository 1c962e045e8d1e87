"""Numbers beside yes/no columns: cut evenly, or kept as numbers with yes/no as −1 and 1.

    python -m benchmarks.mixed_tables [--first 9500] [--graphs 8] [--columns 12]
        [--rows 10000,50000] [--epsilons 0.3,1]

Random graphs of density 0.2.  Half of the columns, drawn anew for each graph, are yes/no with a
logistic law of a weighted sum of their parents, the others that sum and normal noise.  For each
number of rows and each ε: mean skeleton and CPDAG F1 of moment search with numbers cut as a loaded
table's would be, and with second moments of all columns as numbers.  Graph and data have one seed,
from --first; noise has it too.
"""

from __future__ import annotations

import argparse
from statistics import mean
from unittest.mock import patch

import numpy as np

from benchmarks.intervals import cut_evenly
from benchmarks.moment_search import scores
from privcore.algorithms import discover
from privcore.algorithms.moment_search import numbers
from privcore.arrays import Matrix
from privcore.counts import NumericRows
from privcore.data import Column, Dataset
from privcore.data.discretise import usual_intervals
from privcore.data.random_graph import random_dag
from privcore.graphs import cpdag_of_names

_BOUND = 5.0


def drawn(columns: int, rows: int, seed: int) -> tuple[Dataset, Matrix]:
    """Numbers beside levels, with their true graph; and all as numbers in [−1, 1], (n, p)."""
    generator = np.random.default_rng(seed)
    dag = random_dag(columns, 0.2, generator)
    binary = generator.random(columns) < 0.5
    weights = {edge: generator.uniform(0.5, 1) * generator.choice((-1, 1)) for edge in dag.edges}
    values: dict[int, np.ndarray] = {}
    for node in dag.order:
        total = np.zeros(rows)
        for cause in dag.parents[node]:
            total += weights[cause, node] * values[cause]
        if binary[node]:
            values[node] = np.where(
                generator.random(rows) < 1 / (1 + np.exp(-2 * total)), 1.0, -1.0
            )
        else:
            noisy = total + generator.standard_normal(rows)
            values[node] = noisy / (1 + 0.35 * len(dag.parents[node]))
    names = tuple(f"X{k + 1}" for k in range(columns))
    bounds = (-_BOUND, _BOUND)
    described = tuple(
        Column(name, "nominal", ("no", "yes"), declared=True)
        if yes_no
        else Column(name, "continuous", bounds=bounds, declared=True)
        for name, yes_no in zip(names, binary, strict=True)
    )
    cells = tuple(
        (values[k] > 0).astype(np.uint8) if binary[k] else np.clip(values[k], *bounds)
        for k in range(columns)
    )
    edges = tuple((names[a], names[b]) for a, b in dag.edges)
    scaled = np.column_stack(
        [values[k] if binary[k] else cells[k] / _BOUND for k in range(columns)]
    )
    return Dataset("mixed", described, cells, edges), scaled


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--first", type=int, default=9500)
    parser.add_argument("--graphs", type=int, default=8)
    parser.add_argument("--columns", type=int, default=12)
    parser.add_argument("--rows", default="10000,50000")
    parser.add_argument("--epsilons", default="0.3,1")
    options = parser.parse_args()
    print("| rows, ε, intervals | cut evenly | as numbers |")
    print("|---|---|---|")
    for rows in map(int, options.rows.split(",")):
        for epsilon in map(float, options.epsilons.split(",")):
            parts = usual_intervals(rows, options.columns, epsilon)
            both: tuple[list[tuple[float, float]], ...] = ([], [])
            for seed in range(options.first, options.first + options.graphs):
                data, scaled = drawn(options.columns, rows, seed)
                truth = cpdag_of_names(data.names, data.true_edges or ())
                kept = NumericRows(data.names, ((-1.0, 1.0),) * data.p, scaled)
                # What moments would find is asked, whatever the shapes are.
                with patch.object(numbers, "in_lines", lambda pairs: True):
                    for results, source in zip(both, (cut_evenly(data, parts), kept), strict=True):
                        result = discover(source, "moment-search", {"epsilon": epsilon}, seed=seed)
                        results.append(scores(result.graph, truth))
            cells = [
                ", ".join(f"{mean(each):.3f}" for each in zip(*results, strict=True))
                for results in both
            ]
            print(f"| {rows:,}, {epsilon:g}, {parts} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
