"""From weights to a directed acyclic graph: post-processing of the weights alone."""

from __future__ import annotations

import networkx as nx
import numpy as np

from privcore.arrays import Matrix

Edge = tuple[int, int]


def strong_edges(weights: Matrix, threshold: float) -> frozenset[Edge]:
    """Edges i → j with |W[i, j]| above the threshold, and of each cycle all but the weakest.

    From the weakest up, an edge that still lies on a cycle is dropped: it is the weakest of that
    cycle, and no edge that was kept before can come to lie on one.
    """
    size = np.abs(weights)
    chosen = [(int(i), int(j)) for i, j in np.argwhere(size > threshold) if i != j]
    graph = nx.DiGraph(chosen)
    for i, j in sorted(chosen, key=lambda edge: (size[edge], edge)):
        if nx.has_path(graph, j, i):
            graph.remove_edge(i, j)
    return frozenset(graph.edges)
