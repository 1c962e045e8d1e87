"""Meek's four orientation rules (Meek 1995, "Causal inference and causal explanation")."""

from __future__ import annotations

from privcore.graphs.pdag import PDAG, ordered


class _Marks:
    """The graph while it is being oriented."""

    def __init__(self, graph: PDAG) -> None:
        p = len(graph.nodes)
        self.parents: list[set[int]] = [set() for _ in range(p)]
        self.children: list[set[int]] = [set() for _ in range(p)]
        self.lines: list[set[int]] = [set() for _ in range(p)]
        for i, j in graph.directed:
            self.children[i].add(j)
            self.parents[j].add(i)
        for i, j in graph.undirected:
            self.lines[i].add(j)
            self.lines[j].add(i)

    def adjacent(self, i: int, j: int) -> bool:
        return j in self.lines[i] or j in self.children[i] or j in self.parents[i]

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

    def allowed(self, a: int, b: int) -> bool:
        """Whether a → b closes no directed cycle and makes no new unshielded collider.

        Never refuses on consistent input; noisy decisions can ask for the impossible.
        """
        if any(not self.adjacent(other, a) for other in self.parents[b] if other != a):
            return False
        return not self.reaches(b, a)

    def orient(self, a: int, b: int) -> None:
        self.lines[a].discard(b)
        self.lines[b].discard(a)
        self.children[a].add(b)
        self.parents[b].add(a)

    def implied(self, a: int, b: int) -> bool:
        """Whether one of the rules asks for a → b, for an undirected a — b."""
        # Rule 1: c → a — b with c and b not adjacent (else a new collider at a).
        if any(not self.adjacent(c, b) for c in self.parents[a]):
            return True
        # Rule 2: a → c → b (else a cycle).
        if self.children[a] & self.parents[b]:
            return True
        # Rule 3: a — c → b and a — d → b with c and d not adjacent.
        around = self.lines[a] & self.parents[b]
        if any(not self.adjacent(c, d) for c in around for d in around if c < d):
            return True
        # Rule 4: a — d → c → b with a and c adjacent, d and b not.
        return any(
            self.adjacent(a, c)
            and any(not self.adjacent(d, b) for d in self.parents[c] & self.lines[a])
            for c in self.parents[b]
        )


def apply_meek_rules(graph: PDAG) -> PDAG:
    """Orient every undirected edge that the rules decide; the skeleton stays.

    An orientation that would close a directed cycle or make a new unshielded collider is not
    made, so contradictory input leaves edges undirected.  Edges are looked at in sorted order
    until nothing changes, so the result is deterministic; on consistent input it does not depend
    on the order at all (Meek 1995, Theorem 3).
    """
    marks = _Marks(graph)
    changed = True
    while changed:
        changed = False
        for i in range(len(graph.nodes)):
            for j in sorted(marks.lines[i]):
                if j in marks.lines[i] and marks.implied(i, j) and marks.allowed(i, j):
                    marks.orient(i, j)
                    changed = True
    directed = frozenset((i, j) for i, c in enumerate(marks.children) for j in c)
    undirected = frozenset(ordered(i, j) for i, n in enumerate(marks.lines) for j in n)
    return PDAG(graph.nodes, directed, undirected)
