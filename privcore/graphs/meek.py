"""Meek's four orientation rules (Meek 1995, "Causal inference and causal explanation")."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import combinations

import networkx as nx

from privcore.graphs.pdag import PDAG, Edge, ordered

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
