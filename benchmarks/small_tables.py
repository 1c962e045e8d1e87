"""Questions answered 1 to 5 in small tables: what is found of them as levels and as numbers.

    python -m benchmarks.small_tables [--graphs 10] [--first 900] [--epsilon 1]

Each table is of a random linear model: 1.2 edges a column, at most three parents, weights of .4 to
.8 of which four in five are positive, every column standardised, then rounded to 1 … 5.  Per shape:
means of skeleton and CPDAG F1 against the true graph, and seconds of a run, of PC without privacy
on levels and of moment search (δ = 10⁻⁶) with each answer a level, and with answers as numbers
within 1 and 5.  The same tables for all three.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence

import numpy as np

from privcore import kernels
from privcore.algorithms import discover
from privcore.arrays import Matrix
from privcore.data import Column, Dataset
from privcore.graphs import PDAG, cpdag_of_dag
from privcore.measures import cpdag_metrics, skeleton_metrics

SHAPES = ((8, 1_000), (12, 1_000), (12, 3_000), (25, 3_000), (25, 10_000))
_EDGES = 1.2
_MOST_PARENTS = 3
_ANSWERS = 5


def answers(columns: int, rows: int, seed: int) -> tuple[Matrix, PDAG]:
    """Answers 0 … 4, shape (rows, columns), and the CPDAG of their model."""
    drawn = np.random.default_rng(seed)
    order = drawn.permutation(columns)
    pairs = [(order[i], order[j]) for j in range(columns) for i in range(j)]
    drawn.shuffle(pairs)
    parents: dict[int, list[int]] = {column: [] for column in range(columns)}
    edges: set[tuple[int, int]] = set()
    for cause, effect in pairs:
        if len(edges) < int(_EDGES * columns) and len(parents[effect]) < _MOST_PARENTS:
            parents[effect].append(cause)
            edges.add((int(cause), int(effect)))
    values = np.zeros((rows, columns))
    for column in order:
        values[:, column] = drawn.normal(size=rows)
        for cause in parents[column]:
            weight = drawn.uniform(0.4, 0.8) * drawn.choice([-1, 1], p=[0.2, 0.8])
            values[:, column] += weight * values[:, cause]
        values[:, column] /= values[:, column].std()
    shifted = 2 + 1.1 * values + drawn.uniform(-0.4, 0.4, columns)
    names = tuple(f"q{column + 1}" for column in range(columns))
    return np.clip(np.round(shifted), 0, _ANSWERS - 1).astype(int), cpdag_of_dag(names, edges)


def as_levels(values: Matrix, names: Sequence[str]) -> Dataset:
    levels = tuple(str(answer + 1) for answer in range(_ANSWERS))
    columns = tuple(Column(name, "ordinal", levels, declared=True) for name in names)
    return Dataset("answers", columns, tuple(column.astype(np.uint8) for column in values.T))


def as_numbers(values: Matrix, names: Sequence[str]) -> Dataset:
    bounds = (1.0, float(_ANSWERS))
    columns = tuple(Column(name, "continuous", bounds=bounds, declared=True) for name in names)
    return Dataset("answers", columns, tuple(column + 1.0 for column in values.T))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--graphs", type=int, default=10)
    parser.add_argument("--first", type=int, default=900, help="seed of the first graph")
    parser.add_argument("--epsilon", type=float, default=1.0)
    given = parser.parse_args()
    kernels.load()
    ways = {
        "PC": (as_levels, "pc", {}),
        "levels": (as_levels, "moment-search", {"epsilon": given.epsilon}),
        "numbers": (as_numbers, "moment-search", {"epsilon": given.epsilon}),
    }
    print("| columns × rows | " + " | ".join(ways) + " |\n|---|" + "---|" * len(ways))
    for columns, rows in SHAPES:
        found: dict[str, list[tuple[float, float, float]]] = {way: [] for way in ways}
        for seed in range(given.first, given.first + given.graphs):
            values, truth = answers(columns, rows, seed)
            for way, (made, algorithm, parameters) in ways.items():
                start = time.perf_counter()
                seeded = {} if algorithm == "pc" else {"seed": seed}
                dataset = made(values, truth.nodes)
                graph = discover(dataset, algorithm, parameters, **seeded).graph
                seconds = time.perf_counter() - start
                skeleton, cpdag = skeleton_metrics(graph, truth), cpdag_metrics(graph, truth)
                found[way].append((skeleton.f1, cpdag.f1, seconds))
        cells = ["{:.2f} / {:.2f}, {:.2f} s".format(*np.mean(found[way], axis=0)) for way in ways]
        print(f"| {columns} × {rows:,} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
