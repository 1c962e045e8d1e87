"""Background knowledge on the columns of a graph: allowed arrows and required edges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from privcore.graphs.meek import apply_meek_rules
from privcore.graphs.pag import PAG
from privcore.graphs.pdag import PDAG, Edge, ordered


@dataclass(frozen=True, eq=False)
class Constraints:
    """Constraints on a graph over p columns.

    allowed: whether the arrow i → j is allowed, shape (p, p), False on the diagonal.
    required: pairs (i, j), i < j, that must have an edge.  At least one arrow of each required pair
    is allowed.  The arrows of required pairs with only one allowed arrow form no cycle.

    Example: the last of three columns is known to come after the others.

        >>> from privcore.graphs.knowledge import Knowledge
        >>> known = Knowledge.of(tiers="a, b; c").on(("a", "b", "c"))
        >>> known.allowed[0, 2], known.allowed[2, 0], known.known_arrows([(0, 1), (1, 2)])
        (np.True_, np.False_, {(1, 2)})
    """

    allowed: NDArray[np.bool_]
    required: frozenset[Edge] = frozenset()

    @classmethod
    def none(cls, columns: int) -> Constraints:
        """Constraints that allow every edge and require none."""
        return cls(~np.eye(columns, dtype=bool))

    @cached_property
    def possible(self) -> NDArray[np.bool_]:
        """An array of shape (p, p): whether two columns may be adjacent."""
        return self.allowed | self.allowed.T

    @cached_property
    def ruled_out(self) -> frozenset[Edge]:
        """Pairs (i, j), i < j, that must not have an edge."""
        p = len(self.allowed)
        return frozenset(pair for pair in combinations(range(p), 2) if not self.possible[pair])

    @cached_property
    def empty(self) -> bool:
        """Whether every edge is allowed and none is required."""
        p = len(self.allowed)
        return bool(self.allowed.sum() == p * (p - 1)) and not self.required

    @cached_property
    def open(self) -> NDArray[np.bool_]:
        """An array of shape (p, p): whether two columns may, but need not, be adjacent."""
        undecided = self.possible.copy()
        for i, j in self.required:
            undecided[i, j] = undecided[j, i] = False
        return undecided

    @property
    def open_pairs(self) -> int:
        """Number of pairs that may, but need not, have an edge."""
        return int(self.open.sum()) // 2

    @cached_property
    def most_parents(self) -> int:
        """The largest number of required edges at a column."""
        ends = Counter(column for pair in self.required for column in pair)
        return max(ends.values(), default=0)

    def known_arrows(self, pairs: Iterable[Edge]) -> set[Edge]:
        """The arrow of each adjacent pair for which only one direction is allowed."""
        arrows = set()
        for i, j in pairs:
            if not self.allowed[j, i]:
                arrows.add((i, j))
            elif not self.allowed[i, j]:
                arrows.add((j, i))
        return arrows

    def possible_parents(self, adjacent: Sequence[set[int]]) -> list[set[int]]:
        """For each column, the neighbours that may be its parents."""
        if self.empty:
            return [set(around) for around in adjacent]
        return [{i for i in around if self.allowed[i, j]} for j, around in enumerate(adjacent)]

    def neighbours(self) -> list[set[int]]:
        """For each column, the columns that may be adjacent to it."""
        return [set(np.flatnonzero(row).tolist()) for row in self.possible]

    def start(self, nodes: tuple[str, ...]) -> PDAG:
        """The undirected graph with every allowed edge."""
        pairs = combinations(range(len(nodes)), 2)
        return PDAG(nodes, undirected=frozenset(pair for pair in pairs if self.possible[pair]))

    def impossible(self, pairs: Iterable[Edge]) -> set[Edge]:
        """Adjacent pairs to remove, because every allowed orientation has a cycle through them.

        Required pairs are never removed.
        """
        arrows = self.known_arrows(pairs)
        parts = nx.strongly_connected_components(nx.DiGraph(list(arrows)))
        component = {node: number for number, nodes in enumerate(parts) for node in nodes}
        pairs_of = {ordered(i, j) for i, j in arrows if component[i] == component[j]}
        return pairs_of - self.required

    def directed(self, size: NDArray[np.float64]) -> set[Edge]:
        """One arrow for each required edge; together the arrows form no cycle.

        size: the size of each arrow, shape (p, p).  If both arrows of an edge are allowed, the
        larger of the two is chosen, unless it closes a cycle with larger arrows.
        """
        arrows = self.known_arrows(self.required)
        graph = nx.DiGraph(list(arrows))
        left = self.required - {ordered(i, j) for i, j in arrows}
        for i, j in sorted(left, key=lambda pair: (-max(size[pair], size[pair[::-1]]), pair)):
            first, second = (i, j) if size[i, j] >= size[j, i] else (j, i)
            graph.add_nodes_from((i, j))
            if nx.has_path(graph, second, first):
                first, second = second, first
            graph.add_edge(first, second)
        return set(graph.edges)

    def repaired(self, parents: Sequence[frozenset[int]]) -> tuple[frozenset[int], ...]:
        """The given DAG if it obeys the constraints, otherwise a similar DAG that does.

        A DAG is stated as the parents of each column.
        """
        if self.empty or (self.obeyed(parents) and not self._missing(parents)):
            return tuple(parents)
        size = np.zeros(self.allowed.shape)
        for j, those in enumerate(parents):
            size[sorted(those), j] = 1.0
        arrows = self.directed(size)
        pairs, graph = {ordered(*edge) for edge in arrows}, nx.DiGraph(list(arrows))
        for i, j in np.argwhere((size > 0) & self.allowed).tolist():
            graph.add_nodes_from((i, j))
            if ordered(i, j) not in pairs and not nx.has_path(graph, j, i):
                graph.add_edge(i, j)
        edges = set(graph.edges)
        return tuple(frozenset(i for i, j in edges if j == k) for k in range(len(parents)))

    def _missing(self, parents: Sequence[frozenset[int]]) -> bool:
        return any(i not in parents[j] and j not in parents[i] for i, j in self.required)

    def completed(self, graph: PDAG) -> PDAG:
        """Add the known directions to a graph, and all directions that follow by Meek's rules.

        graph: a CPDAG, possibly with further directions.  At least one of the DAGs that it
        represents must obey the constraints.  The result is the maximally oriented graph that
        represents all of the DAGs that obey the constraints (Meek 1995, Theorem 4).
        """
        arrows = self.known_arrows(graph.undirected)
        if not arrows:
            return graph
        lines = graph.undirected - {ordered(i, j) for i, j in arrows}
        directed = graph.directed | arrows
        return apply_meek_rules(PDAG(graph.nodes, directed, lines, graph.bidirected))

    def obeyed(self, parents: Sequence[Iterable[int]]) -> bool:
        """Whether the constraints allow every arrow of a DAG.

        parents: the parents of each column.  Required edges are not checked.
        """
        if self.empty:
            return True
        return all(self.allowed[i, j] for j, those in enumerate(parents) for i in those)

    def violation(self, graph: PDAG) -> str | None:
        """The first violation of the constraints by a graph, in words; None if there is none."""
        names = graph.nodes
        for i, j in sorted(graph.directed):
            if not self.allowed[i, j]:
                return f"the arrow {names[i]} → {names[j]} is ruled out"
        # An undirected edge of a PAG leaves no direction open: both ends affect the selection.
        for i, j in () if isinstance(graph, PAG) else sorted(graph.undirected):
            if not (self.allowed[i, j] and self.allowed[j, i]):
                return f"one direction of the edge {names[i]} – {names[j]} is ruled out"
        for i, j in sorted(graph.bidirected):
            if not self.possible[i, j]:
                return f"the edge {names[i]} – {names[j]} is ruled out"
        for i, j in sorted(self.required - graph.skeleton):
            return f"the edge {names[i]} – {names[j]} is required but missing"
        return None
