"""Which graphs a test cannot tell apart: CPDAGs of DAGs, PAGs of DAGs with hidden columns.

Families (a column and its parents) in the DAGs of a Markov equivalence class.

Computes the CPDAG that represents the Markov equivalence class of a DAG.

The PAG of a DAG in which some columns are hidden.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from heapq import heappop, heappush
from itertools import combinations

import networkx as nx

from privcore.errors import DataError
from privcore.graphs.constraints import Constraints, apply_meek_rules
from privcore.graphs.fci import Neighbours, Separating, cut, orient_pag, triples_of
from privcore.graphs.pdag import PAG, PDAG, Edge, ordered

Family = tuple[int, frozenset[int]]


class EquivalenceClass:
    """DAGs with the same skeleton and the same v-structures (Verma & Pearl 1990).

    A possible parent set of a column consists of its directed parents and any clique of its
    undirected neighbours.  The reason is that the undirected components of a CPDAG are chordal, and
    that an arrow into one column of a component implies an arrow into every column of the component
    (Andersson, Madigan & Perlman 1997).
    """

    def __init__(self, graph: PDAG) -> None:
        """graph: a CPDAG."""
        columns = range(len(graph.nodes))
        self._causes = [frozenset(i for i, j in graph.directed if j == k) for k in columns]
        self._open: list[set[int]] = [set() for _ in columns]
        for i, j in graph.undirected:
            self._open[i].add(j)
            self._open[j].add(i)

    def families(self) -> Iterator[Family]:
        """Every (column, parent set) in a DAG of the class; empty parent sets are left out."""
        for column, neighbours in enumerate(self._open):
            for chosen in self._cliques(sorted(neighbours)):
                if causes := self._causes[column].union(chosen):
                    yield column, causes

    def _cliques(self, among: Sequence[int]) -> Iterator[tuple[int, ...]]:
        """All cliques among these columns, the empty clique first."""
        yield ()
        for k, column in enumerate(among):
            later = [other for other in among[k + 1 :] if other in self._open[column]]
            for clique in self._cliques(later):
                yield column, *clique

    def member(self, family: Family) -> tuple[frozenset[int], ...]:
        """The parents of each column, in one DAG of the class in which the family occurs."""
        column, causes = family
        first = [*sorted(causes & self._open[column]), column]
        order = self._order(first)
        place = {other: k for k, other in enumerate(order)}
        return tuple(
            known | {other for other in neighbours if place[other] < place[own]}
            for own, (known, neighbours) in enumerate(zip(self._causes, self._open, strict=True))
        )

    def _order(self, first: list[int]) -> list[int]:
        """The columns in the order of maximum cardinality search, starting with a clique.

        The search is by Tarjan & Yannakakis (1984).

        The undirected neighbours before a column form a clique, so no new v-structure arises.
        """
        order: list[int] = []
        seen = [0] * len(self._open)
        placed = [False] * len(seen)
        # Entries of every column over time; only the last one is valid.
        waiting = [(0, column) for column in range(len(seen))]
        while len(order) < len(seen):
            if len(order) < len(first):
                column = first[len(order)]
            else:
                fewest, column = heappop(waiting)
                if placed[column] or -fewest != seen[column]:
                    continue
            order.append(column)
            placed[column] = True
            for other in self._open[column]:
                seen[other] += 1
                heappush(waiting, (-seen[other], other))
        return order


def topological_order(p: int, edges: Iterable[Edge]) -> list[int]:
    """The nodes 0..p-1 with causes before effects; raises DataError if there is a cycle."""
    parents: list[set[int]] = [set() for _ in range(p)]
    for i, j in edges:
        parents[j].add(i)
    order: list[int] = []
    placed: set[int] = set()
    while len(order) < p:
        ready = [i for i in range(p) if i not in placed and parents[i] <= placed]
        if not ready:
            raise DataError("graph-directed-cycle-but-causal-graph")
        order += ready
        placed.update(ready)
    return order


def cpdag_of_dag(nodes: Sequence[str], edges: Iterable[Edge]) -> PDAG:
    """The CPDAG of a DAG, from the v-structures of the DAG and Meek's rules.

    Raises DataError if the edges form a cycle.
    """
    arrows = frozenset(edges)
    topological_order(len(nodes), arrows)
    skeleton = {ordered(i, j) for i, j in arrows}
    parents: dict[int, set[int]] = {}
    for i, j in arrows:
        parents.setdefault(j, set()).add(i)
    kept = {
        (i, child)
        for child, causes in parents.items()
        for a, b in combinations(sorted(causes), 2)
        if (a, b) not in skeleton
        for i in (a, b)
    }
    undirected = frozenset(skeleton - {ordered(i, j) for i, j in kept})
    return apply_meek_rules(PDAG(tuple(nodes), frozenset(kept), undirected))


def cpdag_of_names(nodes: Sequence[str], edges: Iterable[tuple[str, str]]) -> PDAG:
    """Like `cpdag_of_dag`, but the edges are pairs of names (cause, effect)."""
    return cpdag_of_dag(nodes, PDAG.from_names(nodes, directed=edges).directed)


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
