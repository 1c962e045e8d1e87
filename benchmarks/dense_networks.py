"""Random networks with many edges and few of them easy: 20 to 28 columns, 1.8 edges a column.

2 to 5 levels, at most 3 causes, whose tables with their effect have 64 cells at most; two tables
in five are sharp, and roots are rare as often.
"""

from __future__ import annotations

import numpy as np

from benchmarks.random_networks import conditional, root
from privcore.dataset import Column
from privcore.dataset.network import BayesianNetwork, Variable

_KINDS = ("sharp", "sharp", "dirichlet", "additive", "noisy or")
_EDGES = 1.8
_CELLS = 64


def dense_network(seed: int) -> BayesianNetwork:
    """A network with true DAG, the same for the same seed."""
    generator = np.random.default_rng([991, seed])
    nodes = int(generator.choice([20, 24, 28]))
    levels = [int(r) for r in generator.choice([2, 3, 4, 5], nodes, p=[0.25, 0.25, 0.35, 0.15])]
    order = [int(node) for node in generator.permutation(nodes)]
    near = [(i, j) for i in range(nodes) for j in range(i + 1, nodes) if j - i <= nodes // 3]
    generator.shuffle(near)
    wanted = round(_EDGES * nodes)
    parents: list[list[int]] = [[] for _ in range(nodes)]
    for i, j in near:
        cause, effect = order[i], order[j]
        cells = np.prod([levels[k] for k in (*parents[effect], cause)])
        if len(parents[effect]) < 3 and cells <= _CELLS and wanted:
            parents[effect].append(cause)
            wanted -= 1
    variables = []
    for node in range(nodes):
        kind = str(generator.choice(_KINDS))
        shape = tuple(levels[parent] for parent in parents[node])
        table = (
            conditional(kind, shape, levels[node], generator)
            if shape
            else root(levels[node], True, generator)
        )
        names = tuple(map(str, range(levels[node])))
        column = Column(f"X{node + 1}", "ordinal", names, declared=True)
        variables.append(Variable(column, tuple(parents[node]), table))
    return BayesianNetwork(f"dense {seed}", "A random network", "", "", tuple(variables))
