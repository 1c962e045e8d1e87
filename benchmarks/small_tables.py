"""Small tables: questions answered 1 to 5, and numbers with yes/no columns.

    python -m benchmarks.small_tables [--graphs 10] [--first 900] [--epsilon 1]
    python -m benchmarks.small_tables --algorithms all [--graphs 10] ...

Answers are of a random linear model: 1.2 edges a column, at most three parents, weights of .4 to
.8 of which four in five are positive, every column standardised, then rounded to 1 … 5.  Printed
per shape: means of skeleton and CPDAG F1 against the true graph, and seconds of a run, of PC
without privacy and of moment search (δ = 10⁻⁶), as it measures them by itself and level by level.

With --algorithms, names or all: skeleton F1 of each on 12 answers, and on 10 columns of
`mixed_tables` where it takes them, for 1,000, 3,000 and 10,000 rows.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks import parsed
from benchmarks.mixed_tables import drawn
from privcore import kernels
from privcore.algorithms import ALGORITHMS, discover, get_algorithm
from privcore.algorithms.engine import accepts, source_of
from privcore.arrays import Matrix
from privcore.data import Column, Dataset
from privcore.errors import PrivcoreError
from privcore.graphs import PDAG, cpdag_of_dag, cpdag_of_names
from privcore.measures import cpdag_metrics, skeleton_metrics

SHAPES = ((8, 1_000), (12, 1_000), (12, 3_000), (25, 3_000), (25, 10_000))
ROWS = (1_000, 3_000, 10_000)
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


def of_answers(columns: int, rows: int, seed: int) -> tuple[Dataset, PDAG]:
    values, truth = answers(columns, rows, seed)
    return as_levels(values, truth.nodes), truth


def of_mixed(columns: int, rows: int, seed: int) -> tuple[Dataset, PDAG]:
    """Numbers and yes/no columns, at least one of each kind."""
    while True:
        data, _ = drawn(columns, rows, seed)
        if len({column.is_categorical for column in data.columns}) == 2:
            return data, cpdag_of_names(data.names, data.true_edges or ())
        seed += 10_000


def scored(
    tables: list[tuple[Dataset, PDAG]], algorithm: str, parameters: dict[str, Any]
) -> tuple[float, float, float] | None:
    """Mean skeleton F1, CPDAG F1 and seconds; None where the algorithm does not take them."""
    found = []
    for seed, (dataset, truth) in enumerate(tables):
        seeded = {"seed": seed} if get_algorithm(algorithm).private else {}
        source = source_of(dataset)
        if not accepts(get_algorithm(algorithm), source):
            return None
        start = time.perf_counter()
        try:
            graph = discover(source, algorithm, parameters, **seeded).graph
        except PrivcoreError:
            return None
        seconds = time.perf_counter() - start
        found.append((skeleton_metrics(graph, truth).f1, cpdag_metrics(graph, truth).f1, seconds))
    one, other, seconds = (float(value) for value in np.mean(found, axis=0))
    return one, other, seconds


def shapes(seeds: range, epsilon: float) -> None:
    ways: dict[str, tuple[str, dict[str, Any]]] = {
        "PC": ("pc", {}),
        "moment search": ("moment-search", {"epsilon": epsilon}),
        "level by level": ("moment-search", {"epsilon": epsilon, "measured": "levels"}),
    }
    print("| columns × rows | " + " | ".join(ways) + " |\n|---|" + "---|" * len(ways))
    for columns, rows in SHAPES:
        tables = [of_answers(columns, rows, seed) for seed in seeds]
        scores = [scored(tables, *way) for way in ways.values()]
        cells = ["{:.2f} / {:.2f}, {:.2f} s".format(*one) for one in scores if one]
        print(f"| {columns} × {rows:,} | " + " | ".join(cells) + " |", flush=True)


def by_algorithm(names: Sequence[str], seeds: range, epsilon: float) -> None:
    print("| algorithm | " + " | ".join(f"answers {n:,}" for n in ROWS), end=" | ")
    print(" | ".join(f"mixed {n:,}" for n in ROWS) + " |\n|---|" + "---|" * (2 * len(ROWS)))
    tables = {("a", n): [of_answers(12, n, seed) for seed in seeds] for n in ROWS}
    tables |= {("m", n): [of_mixed(10, n, seed) for seed in seeds] for n in ROWS}
    for name in names:
        declared = {parameter.name for parameter in get_algorithm(name).parameters}
        settings = {"epsilon": epsilon} if "epsilon" in declared else {}
        scores = [scored(each, name, settings) for each in tables.values()]
        cells = [f"{one[0]:.2f}" if one else "–" for one in scores]
        print(f"| `{name}` | " + " | ".join(cells) + " |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--graphs", type=int, default=10)
    parser.add_argument("--first", type=int, default=900, help="seed of the first graph")
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--algorithms", help="names with commas, or all; else the shapes")
    given = parsed(parser, graphs=1)
    kernels.load()
    seeds = range(given.first, given.first + given.graphs)
    if given.algorithms is None:
        shapes(seeds, given.epsilon)
    else:
        every = given.algorithms == "all"
        by_algorithm(
            list(ALGORITHMS) if every else given.algorithms.split(","), seeds, given.epsilon
        )


if __name__ == "__main__":
    main()
