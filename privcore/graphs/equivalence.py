"""Families (a column and its parents) in the DAGs of a Markov equivalence class."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import heappop, heappush

from privcore.graphs.pdag import PDAG

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
