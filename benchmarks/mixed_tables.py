"""Tables of numbers and levels: numbers cut in several ways, uncut, and as in moment search.

    python -m benchmarks.mixed_tables [--first 9500] [--graphs 8] [--columns 12]
        [--rows 10000,50000] [--epsilons 0.3,1] [--levels 2] [--bent]

Random graphs of density 0.2.  Half of the columns, drawn anew for each graph, have levels: a
weighted sum of their parents and logistic noise, cut into `--levels` levels at even steps.  The
others are that sum and normal noise.  With --bent, what a number adds to a sum is the sine of twice
its value, or its square less one, drawn for each edge.  For each number of rows and each ε: mean
skeleton and CPDAG F1 of moment search with numbers cut into four intervals of equal width, or as a
loaded table's would be; with second moments of all columns as numbers; as it takes a mixed table,
and how often it cuts numbers then.  Graph and data have one seed, from --first; noise has it too.
Graphs whose columns are all of one kind are left out.
"""

from __future__ import annotations

import argparse
from statistics import mean
from unittest.mock import patch

import numpy as np

from benchmarks import parsed
from benchmarks.intervals import cut_evenly
from benchmarks.moment_search import scores
from privcore.algorithms import discover
from privcore.algorithms.moment_search import measure
from privcore.arrays import Matrix
from privcore.counts import NumericRows
from privcore.data import Column, Dataset
from privcore.data.discretise import intervals, usual_intervals
from privcore.data.structural import random_dag
from privcore.graphs import cpdag_of_names

_BOUND = 5.0


def drawn(
    columns: int, rows: int, seed: int, levels: int = 2, bent: bool = False
) -> tuple[Dataset, Matrix]:
    """Numbers and levels, with their true graph; and all as numbers in [−1, 1], (n, p)."""
    generator = np.random.default_rng(seed)
    dag = random_dag(columns, 0.2, generator)
    binary = generator.random(columns) < 0.5
    weights = {edge: generator.uniform(0.5, 1) * generator.choice((-1, 1)) for edge in dag.edges}
    waves = {edge: generator.random() < 0.5 for edge in dag.edges} if bent else {}
    values: dict[int, np.ndarray] = {}
    steps = np.arange(levels - 1) - levels / 2 + 1
    for node in dag.order:
        total = np.zeros(rows)
        for cause in dag.parents[node]:
            part = values[cause]
            if bent and not binary[cause]:
                part = np.sin(2 * part) if waves[cause, node] else part * part - 1
            total += weights[cause, node] * part
        if binary[node]:
            share = 1 - generator.random(rows)
            codes = np.searchsorted(steps, total + np.log(share / (1 - share)) / 2)
            values[node] = 2 * codes / (levels - 1) - 1
        else:
            noisy = total + generator.standard_normal(rows)
            values[node] = noisy / (1 + 0.35 * len(dag.parents[node]))
    names = tuple(f"X{k + 1}" for k in range(columns))
    bounds = (-_BOUND, _BOUND)
    described = tuple(
        Column(name, "ordinal", tuple(map(str, range(levels))), declared=True)
        if yes_no
        else Column(name, "continuous", bounds=bounds, declared=True)
        for name, yes_no in zip(names, binary, strict=True)
    )
    cells = tuple(
        np.rint((values[k] + 1) * (levels - 1) / 2).astype(np.uint8)
        if binary[k]
        else np.clip(values[k], *bounds)
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
    parser.add_argument("--levels", type=int, default=2)
    parser.add_argument("--bent", action="store_true")
    options = parsed(parser, graphs=1, rows="1000", epsilons="1")
    print("| rows, ε, intervals | equal width | cut evenly | as numbers | as it is | cut |")
    print("|---|---|---|---|---|---|")
    for rows in map(int, options.rows.split(",")):
        for epsilon in map(float, options.epsilons.split(",")):
            parts = usual_intervals(rows, options.columns, epsilon)
            ways: tuple[list[tuple[float, float]], ...] = ([], [], [], [])
            cut = 0
            for seed in range(options.first, options.first + options.graphs):
                data, scaled = drawn(options.columns, rows, seed, options.levels, options.bent)
                if len({column.is_categorical for column in data.columns}) < 2:
                    continue
                truth = cpdag_of_names(data.names, data.true_edges or ())
                kept = NumericRows(data.names, ((-1.0, 1.0),) * data.p, scaled)
                settings = {"epsilon": epsilon}
                # What moments would find is asked, whatever the shapes are.
                with patch.object(measure, "in_lines", lambda pairs: True):
                    tried = [
                        discover(source, "moment-search", settings, seed=seed)
                        for source in (intervals(data, 4), cut_evenly(data, parts), kept)
                    ]
                tried.append(discover(data, "moment-search", settings, seed=seed))
                cut += tried[-1].intervals is not None
                for results, result in zip(ways, tried, strict=True):
                    results.append(scores(result.graph, truth))
            cells = [
                " / ".join(f"{mean(each):.3f}" for each in zip(*results, strict=True))
                for results in ways
            ]
            cells.append(f"{cut} of {len(ways[0])}")
            print(f"| {rows:,}, {epsilon:g}, {parts} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
