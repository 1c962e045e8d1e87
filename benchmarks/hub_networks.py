"""Random networks as experts draw them: a few columns with many effects, and tables that follow
the levels of the parents, so that many columns depend on each other strongly.

20 to 28 columns of 2 to 5 levels, at most 3 causes, half of the roots with rare levels.  Networks
of `hub_network` have 1.8 edges a column; networks of `strong_hub_network` 1.95, larger hubs and
tables that follow the parents closely, so that many sets of columns nearly determine another: PC
without noise finds fewer of their edges, too.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from benchmarks.random_networks import drawn_variable, parents_among
from privcore.data.network import BayesianNetwork


class _Kind(NamedTuple):
    """edges: a column.  configurations: of the parents and the column, at most.

    popularity: the k-th column is drawn as a cause with a weight of k to minus this.
    """

    tables: str
    edges: float
    configurations: int
    popularity: float


_HUBS = _Kind("following", 1.8, 64, 0.8)
_STRONG = _Kind("following closely", 1.95, 100, 1.4)


def hub_network(seed: int) -> BayesianNetwork:
    """A network with true DAG, the same for the same seed."""
    return _drawn(f"hub {seed}", _HUBS, np.random.default_rng([993, seed]))


def strong_hub_network(seed: int) -> BayesianNetwork:
    """A network with true DAG, the same for the same seed."""
    return _drawn(f"strong hub {seed}", _STRONG, np.random.default_rng([993, 7000 + seed]))


def _drawn(name: str, kind: _Kind, generator: np.random.Generator) -> BayesianNetwork:
    nodes = int(generator.choice([20, 24, 28]))
    levels = [int(r) for r in generator.choice([2, 3, 4, 5], nodes, p=[0.3, 0.25, 0.3, 0.15])]
    weights = np.arange(1, nodes + 1) ** -kind.popularity
    weights = weights / weights.sum()
    order = [int(node) for node in generator.permutation(nodes)]
    pairs = [(i, j) for i in range(nodes) for j in range(i + 1, nodes)]
    # The smallest of exponential waiting times come first: draws without replacement.
    waiting = [-np.log(generator.random()) / weights[i] for i, _ in pairs]
    ends = [(order[i], order[j]) for i, j in (pairs[k] for k in np.argsort(waiting))]
    parents = parents_among(ends, levels, round(kind.edges * nodes), 3, kind.configurations)
    variables = []
    for node in range(nodes):
        rare = not parents[node] and bool(generator.random() < 0.5)
        variables.append(drawn_variable(node, levels, parents[node], kind.tables, rare, generator))
    return BayesianNetwork(name, "A random network", "", "", tuple(variables))
