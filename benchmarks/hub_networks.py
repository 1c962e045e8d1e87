"""Random networks as experts draw them: a few columns with many effects, and tables that follow
the levels of the causes, so that many columns depend on each other strongly.

20 to 28 columns of 2 to 5 levels, 1.8 edges a column, at most 3 causes with 64 configurations at
most with the column's levels.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.random_networks import Table, parents_among, root_shares
from privcore.dataset import Column
from privcore.dataset.network import BayesianNetwork, Variable

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
        shape = [levels[parent] for parent in parents[node]]
        if shape:
            table = _following(shape, levels[node], generator)
        else:
            table = root_shares(levels[node], bool(generator.random() < 0.5), generator)
        names = tuple(map(str, range(levels[node])))
        column = Column(f"X{node + 1}", "ordinal", names, declared=True)
        variables.append(Variable(column, tuple(parents[node]), table))
    return BayesianNetwork(f"hub {seed}", "A random network", "", "", tuple(variables))


def _following(shape: Sequence[int], levels: int, generator: np.random.Generator) -> Table:
    """Shape (parent configurations, levels): most likely is the level at the weighted mean of the
    causes' levels, some of them turned round."""
    count = int(np.prod(shape))
    causes = np.array(np.unravel_index(np.arange(count), shape)).T / (np.array(shape) - 1)
    weight = generator.dirichlet(np.full(len(shape), 1.5))
    turned = generator.choice([-1, 1], len(shape)) < 0
    middle = np.where(turned, 1 - causes, causes) @ weight + generator.uniform(-0.15, 0.15)
    sharpness = np.exp(generator.uniform(np.log(3), np.log(25)))
    logits = -sharpness * (np.linspace(0, 1, levels) - middle[:, None]) ** 2
    logits += generator.normal(0, 0.7, levels) + generator.normal(0, 0.8, (count, levels))
    table = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(table / table.sum(axis=1, keepdims=True))
