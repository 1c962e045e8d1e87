"""Random networks as experts draw them: a few columns with many effects, and tables that follow
the levels of the causes, so that many columns depend on each other strongly.

20 to 28 columns of 2 to 5 levels, 1.8 edges a column, at most 3 causes with 64 configurations at
most with the column's levels.
"""

from __future__ import annotations

import numpy as np

from benchmarks.random_networks import drawn_variable, parents_among
from privcore.dataset.network import BayesianNetwork

_KIND = "following"
_EDGES = 1.8
_CONFIGURATIONS = 64
# The k-th column is drawn as a cause with a weight of k to minus this.
_POPULARITY = 0.8


def hub_network(seed: int) -> BayesianNetwork:
    """A network with true DAG, the same for the same seed."""
    generator = np.random.default_rng([993, seed])
    nodes = int(generator.choice([20, 24, 28]))
    levels = [int(r) for r in generator.choice([2, 3, 4, 5], nodes, p=[0.3, 0.25, 0.3, 0.15])]
    weights = np.arange(1, nodes + 1) ** -_POPULARITY
    weights = weights / weights.sum()
    order = [int(node) for node in generator.permutation(nodes)]
    pairs = [(i, j) for i in range(nodes) for j in range(i + 1, nodes)]
    # The smallest of exponential waiting times come first: draws without replacement.
    waiting = [-np.log(generator.random()) / weights[i] for i, _ in pairs]
    ends = [(order[i], order[j]) for i, j in (pairs[k] for k in np.argsort(waiting))]
    parents = parents_among(ends, levels, round(_EDGES * nodes), 3, _CONFIGURATIONS)
    variables = []
    for node in range(nodes):
        rare = not parents[node] and bool(generator.random() < 0.5)
        variables.append(drawn_variable(node, levels, parents[node], _KIND, rare, generator))
    return BayesianNetwork(f"hub {seed}", "A random network", "", "", tuple(variables))
