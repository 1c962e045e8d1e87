"""Random networks with many edges and few of them easy: 20 to 28 columns, 1.8 edges a column.

2 to 5 levels, at most 3 causes with 64 configurations at most; two tables in five are sharp, and
three roots in five have rare levels.
"""

from __future__ import annotations

import numpy as np

from benchmarks.random_networks import drawn_variable, parents_among
from privcore.data.network import BayesianNetwork

_KINDS = ("sharp", "sharp", "dirichlet", "additive", "noisy or")
_EDGES = 1.8
_CONFIGURATIONS = 64


def dense_network(seed: int) -> BayesianNetwork:
    """A network with true DAG, the same for the same seed."""
    generator = np.random.default_rng([991, seed])
    nodes = int(generator.choice([20, 24, 28]))
    levels = [int(r) for r in generator.choice([2, 3, 4, 5], nodes, p=[0.25, 0.25, 0.35, 0.15])]
    order = [int(node) for node in generator.permutation(nodes)]
    candidates = [(i, j) for i in range(nodes) for j in range(i + 1, nodes) if j - i <= nodes // 3]
    generator.shuffle(candidates)
    ends = [(order[i], order[j]) for i, j in candidates]
    parents = parents_among(ends, levels, round(_EDGES * nodes), 3, _CONFIGURATIONS)
    variables = []
    for node in range(nodes):
        kind = str(generator.choice(_KINDS))
        variables.append(drawn_variable(node, levels, parents[node], kind, True, generator))
    return BayesianNetwork(f"dense {seed}", "A random network", "", "", tuple(variables))
