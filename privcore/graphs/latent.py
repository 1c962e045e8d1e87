"""The PAG of a DAG in which some columns are hidden."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from itertools import combinations

import networkx as nx

from privcore.graphs.constraints import Constraints
from privcore.graphs.fci import Neighbours, Separating, cut, orient_pag, triples_of
from privcore.graphs.pag import PAG
from privcore.graphs.pdag import Edge


def pag_of_dag(
    nodes: tuple[str, ...],
    edges: Iterable[Edge],
    hidden: Collection[int] = (),
    known: Constraints | None = None,
) -> PAG:
    """The PAG over all columns of a DAG except the hidden columns.

    edges: (i, j) for i → j, indices into `nodes`.  known: background knowledge on the columns that
    are not hidden; the marks that it implies are included if the DAG obeys it.

    Two columns that are not adjacent in the maximal ancestral graph are separated by all of their
    observed ancestors (Richardson & Spirtes 2002, Section 4.2), so no search for separating sets is
    needed.

    Example: rain and a sprinkler make the grass wet; the season, which affects both, is hidden.

        >>> names = ("season", "rain", "sprinkler", "wet")
        >>> pag_of_dag(names, [(0, 1), (0, 2), (1, 3), (2, 3)], hidden=[0]).mark(0, 1)
        'o-o'
        >>> pag_of_dag(names, [(1, 3), (2, 3)]).mark(1, 3)
        'o->'
    """
    graph = nx.DiGraph()
    graph.add_nodes_from(range(len(nodes)))
    graph.add_edges_from(edges)
    seen = [node for node in range(len(nodes)) if node not in set(hidden)]
    above = {node: nx.ancestors(graph, node) | {node} for node in seen}
    neighbours: Neighbours = [set(range(len(seen))) - {k} for k in range(len(seen))]
    place = {node: k for k, node in enumerate(seen)}
    separating: Separating = {}
    for x, y in combinations(seen, 2):
        observed = (above[x] | above[y]) & place.keys() - {x, y}
        relevant = graph.subgraph(above[x] | above[y])
        if nx.is_d_separator(relevant, {x}, {y}, observed):
            held = frozenset(place[node] for node in observed)
            cut(neighbours, separating, place[x], place[y], {held})
    names = tuple(nodes[node] for node in seen)
    if known is not None and not _obeys(neighbours, [above[node] for node in seen], place, known):
        known = None
    return orient_pag(
        names, neighbours, separating, triples_of(neighbours, separating), known=known
    )


def _obeys(
    neighbours: Neighbours, above: list[set[int]], place: Mapping[int, int], known: Constraints
) -> bool:
    if any(j not in neighbours[i] for i, j in known.required):
        return False
    return all(
        known.allowed[place[cause], effect]
        for effect, causes in enumerate(above)
        for cause in causes & place.keys()
        if place[cause] in neighbours[effect]
    )
