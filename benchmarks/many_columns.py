"""Moment search on tables of many columns: seconds, memory, and accuracy of the graph.

    python -m benchmarks.many_columns [--columns 100,223,450] [--rows 20000,100000] [--epsilon 1]

Random networks of columns with two or three levels and about 1.5 edges a column, at most three
parents each, with tables of several kinds; and the same columns permuted, where any edge is false.
Every table is searched in a process of its own, whose largest memory the system reports.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import time

import numpy as np

from benchmarks import parsed
from benchmarks.moment_search import permuted, scores, truth_of
from benchmarks.random_networks import drawn_variable, parents_among
from privcore.algorithms import count, discover
from privcore.data.network import BayesianNetwork

_EDGES = 1.5
_MOST_PARENTS = 3
_KINDS = ("dirichlet", "sharp", "additive", "noisy or")


def sparse_network(columns: int, seed: int) -> BayesianNetwork:
    """A network with true DAG, the same for the same seed."""
    generator = np.random.default_rng([83, columns, seed])
    levels = [int(r) for r in generator.integers(2, 4, columns)]
    order = [int(column) for column in generator.permutation(columns)]
    pairs = [(i, j) for j in range(columns) for i in range(j)]
    generator.shuffle(pairs)
    ends = [(order[i], order[j]) for i, j in pairs]
    parents = parents_among(ends, levels, round(_EDGES * columns), _MOST_PARENTS, 27)
    variables = [
        drawn_variable(c, levels, parents[c], str(generator.choice(_KINDS)), False, generator)
        for c in range(columns)
    ]
    return BayesianNetwork(f"sparse {columns}", "A random network", "", "", tuple(variables))


def measured(columns: int, rows: int, epsilon: float, permute: bool) -> str:
    """A row of the table."""
    data = sparse_network(columns, 1).sample(rows, 1)
    truth = truth_of(data)
    if permute:
        data = permuted(data, 1)
    start = time.perf_counter()
    found = discover(count(data), "moment-search", {"epsilon": epsilon}, seed=1, keep_trace=False)
    seconds = time.perf_counter() - start
    skeleton, cpdag = scores(found.graph, truth)
    agreement = "– | –" if permute else f"{skeleton:.3f} | {cpdag:.3f}"
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return (
        f"| {columns} {'permuted' if permute else 'columns'} | {rows:,} | {seconds:.1f} | "
        f"{memory:.2f} GiB | {len(found.graph.skeleton)} of {len(truth.skeleton)} | {agreement} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--columns", default="100,223,450")
    parser.add_argument("--rows", default="20000,100000")
    parser.add_argument("--epsilon", type=float, default=1.0)
    options = parsed(parser, columns="20", rows="1000")
    print("| table | rows | seconds | largest memory | edges | skeleton F1 | CPDAG F1 |")
    print("|---" * 7 + "|")
    alone = multiprocessing.get_context("spawn")
    for columns in map(int, options.columns.split(",")):
        for rows in map(int, options.rows.split(",")):
            for permute in (False, True):
                with alone.Pool(1) as pool:
                    arguments = (columns, rows, options.epsilon, permute)
                    print(pool.apply(measured, arguments), flush=True)


if __name__ == "__main__":
    main()
