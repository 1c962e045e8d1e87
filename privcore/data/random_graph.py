"""Random directed acyclic graphs with an exact number of edges."""

from __future__ import annotations

from dataclasses import dataclass

import networkx as nx
import numpy as np

from privcore.graphs.constraints import Constraints
from privcore.graphs.pdag import ordered


@dataclass(frozen=True)
class RandomDag:
    """A random DAG.

    order: the nodes, causes before effects.  parents: the parents of each node, increasing.
    """

    order: tuple[int, ...]
    parents: tuple[tuple[int, ...], ...]

    @property
    def edges(self) -> tuple[tuple[int, int], ...]:
        """The edges as (cause, effect), sorted."""
        return tuple(
            sorted((cause, node) for node, causes in enumerate(self.parents) for cause in causes)
        )


def random_dag(
    nodes: int,
    density: float,
    generator: np.random.Generator,
    known: Constraints | None = None,
) -> RandomDag:
    """Draws a random DAG: a uniform order of the nodes, and round(density p(p − 1)/2) edges.

    The edges are drawn uniformly, but the graph is not uniform over all DAGs: a graph with many
    topological orders is more likely.
    known: background knowledge that the graph obeys; the graph may then have fewer edges.
    """
    if known is not None and not known.empty:
        return _obeying(nodes, density, generator, known)
    order = generator.permutation(nodes)
    earlier, later = np.triu_indices(nodes, 1)
    chosen = generator.choice(earlier.size, round(density * earlier.size), replace=False)
    parents: list[list[int]] = [[] for _ in range(nodes)]
    for pair in chosen:
        parents[order[later[pair]]].append(int(order[earlier[pair]]))
    return RandomDag(tuple(map(int, order)), tuple(tuple(sorted(causes)) for causes in parents))


def _obeying(
    nodes: int, density: float, generator: np.random.Generator, known: Constraints
) -> RandomDag:
    """A random DAG under background knowledge: all required edges, and further edges at random."""
    place = generator.permutation(nodes)
    possible = [(i, j) for i in range(nodes) for j in range(i + 1, nodes) if known.possible[i, j]]
    ahead = nx.DiGraph(list(known.known_arrows(possible)))
    if not nx.is_directed_acyclic_graph(ahead):
        # If rules on single edges leave only a cycle of three edges, one of them is left out.
        ahead = nx.DiGraph(list(known.known_arrows(known.required)))
    ahead.add_nodes_from(range(nodes))
    order = list(nx.lexicographical_topological_sort(ahead, key=lambda node: int(place[node])))
    later = [(a, b) for k, a in enumerate(order) for b in order[k + 1 :] if known.allowed[a, b]]
    held = [edge for edge in later if ordered(*edge) in known.required]
    others = [edge for edge in later if ordered(*edge) not in known.required]
    wanted = round(density * nodes * (nodes - 1) / 2) - len(held)
    many = min(max(wanted, 0), len(others))
    chosen = generator.choice(len(others), many, replace=False) if many else ()
    edges = [*held, *(others[k] for k in chosen)]
    parents = (tuple(sorted(i for i, j in edges if j == node)) for node in range(nodes))
    return RandomDag(tuple(order), tuple(parents))
