"""Meek's rules, and the directions that background knowledge forbids or requires.

Meek's four orientation rules (Meek 1995, "Causal inference and causal explanation").

Background knowledge on the columns of a graph: allowed arrows and required edges.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from privcore.graphs.pdag import PAG, PDAG, Edge, ordered

Triple = tuple[int, int, int]


class _Marks:
    """The graph during orientation."""

    def __init__(self, graph: PDAG, ambiguous: Collection[Triple] = ()) -> None:
        p = len(graph.nodes)
        self.parents: list[set[int]] = [set() for _ in range(p)]
        self.children: list[set[int]] = [set() for _ in range(p)]
        self.lines: list[set[int]] = [set() for _ in range(p)]
        self.bidirected = graph.bidirected
        self._spouses: list[set[int]] = [set() for _ in range(p)]
        self._ambiguous = ambiguous
        for i, j in graph.directed:
            self.children[i].add(j)
            self.parents[j].add(i)
        for own, edges in ((self.lines, graph.undirected), (self._spouses, graph.bidirected)):
            for i, j in edges:
                own[i].add(j)
                own[j].add(i)
        self.adjacent = [
            set().union(*around)
            for around in zip(self.parents, self.children, self.lines, self._spouses, strict=True)
        ]

    def points(self, i: int, j: int) -> bool:
        """Whether an edge between i and j has an arrowhead at j."""
        return j in self.children[i] or j in self._spouses[i]

    def reaches(self, start: int, goal: int) -> bool:
        """Whether a directed path leads from start to goal."""
        seen, stack = {start}, [start]
        while stack:
            node = stack.pop()
            if node == goal:
                return True
            new = self.children[node] - seen
            seen |= new
            stack.extend(new)
        return False

    def no_collider(self, a: int, b: int, c: int) -> bool:
        """Whether a, b, c is an unshielded triple that is known to have no v-structure at b."""
        return c not in self.adjacent[a] and (min(a, c), b, max(a, c)) not in self._ambiguous

    def allowed(self, a: int, b: int) -> bool:
        """Whether a → b closes no directed cycle and makes no new v-structure.

        This is always true for consistent input, but noisy decisions can contradict each other.
        """
        into = self.parents[b] | self._spouses[b]
        if any(self.no_collider(other, b, a) for other in into if other != a):
            return False
        return not self.reaches(b, a)

    def orient(self, a: int, b: int) -> None:
        self.lines[a].discard(b)
        self.lines[b].discard(a)
        self.children[a].add(b)
        self.parents[b].add(a)

    def implied(self, a: int, b: int) -> bool:
        """Whether one of the rules requires a → b, for an undirected a — b."""
        # Rule 1: c → a — b with c and b not adjacent (else a new collider at a).
        if any(self.no_collider(c, a, b) for c in self.parents[a]):
            return True
        # Rule 2: a → c → b (else a cycle).
        if self.children[a] & self.parents[b]:
            return True
        # Rule 3: a — c → b and a — d → b with c and d not adjacent.
        around = self.lines[a] & self.parents[b]
        if any(self.no_collider(c, a, d) for c, d in combinations(around, 2)):
            return True
        # Rule 4: a — d → c → b with a and c adjacent, d and b not.
        return any(
            c in self.adjacent[a]
            and any(self.no_collider(d, a, b) for d in self.parents[c] & self.lines[a])
            for c in self.parents[b]
        )

    def implied_arrows(self) -> Iterator[Edge]:
        """Arrows that a rule requires and that make no cycle and no new v-structure."""
        for a, neighbours in enumerate(self.lines):
            for b in neighbours:
                if self.implied(a, b) and self.allowed(a, b):
                    yield a, b

    def agreeing(self, arrows: set[Edge]) -> set[Edge]:
        """The arrows that conflict with no other arrow, so that their order does not matter."""
        arrows = {(a, b) for a, b in arrows if (b, a) not in arrows}
        into: dict[int, list[int]] = {}
        for a, b in arrows:
            into.setdefault(b, []).append(a)
        arrows -= {
            (own, b)
            for b, causes in into.items()
            for pair in combinations(causes, 2)
            if self.no_collider(pair[0], b, pair[1])
            for own in pair
        }
        children = ((i, j) for i, around in enumerate(self.children) for j in around)
        return arrows - on_cycles({*children, *arrows}) if arrows else arrows

    def graph(self, nodes: tuple[str, ...]) -> PDAG:
        directed = frozenset((i, j) for i, c in enumerate(self.children) for j in c)
        undirected = frozenset(ordered(i, j) for i, n in enumerate(self.lines) for j in n)
        return PDAG(nodes, directed, undirected, self.bidirected)


def on_cycles(arrows: Iterable[Edge]) -> set[Edge]:
    """The arrows that lie on a directed cycle."""
    left, kept = set(arrows), set[Edge]()
    # Usually there is no cycle: nodes without incoming or outgoing arrows are on none.
    while len(kept) != len(left):
        kept = left
        causes, effects = {i for i, _ in kept}, {j for _, j in kept}
        left = {(i, j) for i, j in kept if i in effects and j in causes}
    if not left:
        return left
    parts = nx.strongly_connected_components(nx.DiGraph(list(left)))
    component = {node: number for number, nodes in enumerate(parts) for node in nodes}
    return {(i, j) for i, j in left if component[i] == component[j]}


def apply_meek_rules(graph: PDAG, ambiguous: Collection[Triple] = ()) -> PDAG:
    """Orient every undirected edge whose direction follows from Meek's rules.

    A CPDAG represents all DAGs with the same skeleton and v-structures.  An edge of the CPDAG has a
    direction if all of these DAGs agree on the direction.  Meek's rules derive such directions from
    the v-structures alone; i — j becomes i → j if

    1. k → i, with k and j not adjacent: i ← j would make a new v-structure;
    2. i → k → j: i ← j would close a cycle;
    3. i — k → j and i — l → j, with k and l not adjacent;
    4. i — k, k → l → j, with i and l adjacent, k and j not.

    ambiguous: unshielded triples (x, z, y), x < y, that may or may not have a v-structure at z; the
    rules do not use them (Colombo & Maathuis 2014, Section 4.2).

    In each round, all arrows that the rules require are added at once; the rounds end when no more
    arrows are required.  Arrows that would close a directed cycle or make a new v-structure, alone
    or together, are left out.  Contradictory input therefore leaves edges undirected, and the
    result does not depend on the order of the columns.  For consistent input, the order does not
    matter in any case (Meek 1995, Theorem 3).  The skeleton is unchanged.

    Example: rule 1 directs b — c away from the arrow a → b.

        >>> chain = PDAG.from_names("abc", directed=["ab"], undirected=["bc"])
        >>> apply_meek_rules(chain).named_directed()
        [('a', 'b'), ('b', 'c')]
    """
    marks = _Marks(graph, ambiguous)
    while arrows := marks.agreeing(set(marks.implied_arrows())):
        for a, b in arrows:
            marks.orient(a, b)
    return marks.graph(graph.nodes)


def apply_meek_rules_in_turn(graph: PDAG, ambiguous: Collection[Triple] = ()) -> PDAG:
    """Apply rules 1, 2 and 3 to one edge at a time in column order; only cycles are prevented.

    This is the procedure of causal-learn 0.1.4.8.  For consistent input, the result is that of
    `apply_meek_rules`; for contradictory input, the result depends on the order of the columns
    and may have new v-structures.  ambiguous: as in `apply_meek_rules`.
    """
    marks = _Marks(graph, ambiguous)
    around = [sorted(neighbours) for neighbours in marks.adjacent]
    pairs = [(i, j) for i, neighbours in enumerate(around) for j in neighbours]
    # causal-learn lists tails before arrowheads, each sorted by column.
    pairs.sort(key=lambda pair: (marks.points(*pair), pair[1], pair[0]))
    after: dict[int, list[int]] = {}
    for j, k in pairs:
        after.setdefault(j, []).append(k)
    paths = [(i, j, k) for i, j in pairs for k in after[j] if k != i]
    unshielded = [(i, j, k) for i, j, k in paths if marks.no_collider(i, j, k)]
    triangles = [(i, j, k) for i, j, k in paths if k in marks.adjacent[i]]
    kites = [
        (i, j, k, end)
        for i, j, end in triangles
        for other, k, last in triangles
        if (i, end) == (other, last) and j < k and marks.no_collider(j, i, k)
    ]

    def point(a: int, b: int) -> bool:
        if b not in marks.lines[a] or marks.reaches(b, a):
            return False
        marks.orient(a, b)
        return True

    changed = True
    while changed:
        changed = False
        for i, j, k in unshielded:
            if j in marks.children[i]:
                changed |= point(j, k)
        for i, j, k in triangles:
            if j in marks.children[i] and k in marks.children[j]:
                changed |= point(i, k)
        for i, j, k, end in kites:
            if {j, k} <= marks.lines[i] & marks.parents[end]:
                changed |= point(i, end)
    return marks.graph(graph.nodes)


@dataclass(frozen=True, eq=False)
class Constraints:
    """Constraints on a graph over p columns.

    allowed: whether the arrow i → j is allowed, shape (p, p), False on the diagonal.
    required: pairs (i, j), i < j, that must have an edge.  At least one arrow of each required pair
    is allowed.  The arrows of required pairs with only one allowed arrow form no cycle.
    repeats: the column that stands for each column that repeats it (`repeating`).

    Example: the last of three columns is known to come after the others.

        >>> from privcore.graphs.knowledge import Knowledge
        >>> known = Knowledge.of(tiers="a, b; c").on(("a", "b", "c"))
        >>> known.allowed[0, 2], known.allowed[2, 0], known.known_arrows([(0, 1), (1, 2)])
        (np.True_, np.False_, {(1, 2)})
    """

    allowed: NDArray[np.bool_]
    required: frozenset[Edge] = frozenset()
    repeats: Mapping[int, int] = field(default_factory=dict)

    @classmethod
    def none(cls, columns: int) -> Constraints:
        """Constraints that allow every edge and require none."""
        return cls(~np.eye(columns, dtype=bool))

    def repeating(self, pairs: Iterable[Edge]) -> Constraints:
        """The constraints if the columns of each pair repeat each other.

        One column of each group stands for all: the first that the constraints name, or else the
        first. The others hang on it, as effects if these are allowed, without further edges. A
        column that must have an edge with a column outside its group stays a column of its own.
        """
        p, alike, pairs = len(self.allowed), np.eye(len(self.allowed), dtype=bool), tuple(pairs)
        if not pairs:
            return self
        for i, j in pairs:
            alike[i, j] = alike[j, i] = True
        free = self.allowed | np.eye(p, dtype=bool)
        ends = [{j for pair in self.required if i in pair for j in pair} for i in range(p)]
        own = {i for i in range(p) if any(not alike[i, j] for j in ends[i])}
        named = {i for i in range(p) if ends[i] or not (free[i].all() and free[:, i].all())}
        repeats: dict[int, int] = {}
        for first in sorted(range(p), key=lambda i: (i not in own, i not in named, i)):
            if first not in repeats:
                taken = {first, *own, *repeats, *repeats.values()}
                others = set(np.flatnonzero(alike[first]).tolist()) - taken
                repeats |= dict.fromkeys(sorted(others), first)
        if not repeats:
            return self
        allowed, required = self.allowed.copy(), set(self.required)
        required -= {pair for pair in self.required if repeats.keys() & pair}
        for i, first in repeats.items():
            link = (first, i) if self.allowed[first, i] else (i, first)
            allowed[i] = allowed[:, i] = False
            if self.allowed[link]:
                allowed[link] = True
                required.add(ordered(*link))
        return Constraints(allowed, frozenset(required), repeats)

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
