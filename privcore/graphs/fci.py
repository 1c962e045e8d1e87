"""From independences to a partial ancestral graph: the fast causal inference of Spirtes et al.

P. Spirtes, C. Glymour and R. Scheines, Causation, Prediction, and Search, 2000, chapter 6; the
orientation rules R1 to R10 are those of J. Zhang, On the completeness of orientation rules for
causal discovery in the presence of latent confounders and selection bias, Artificial Intelligence
172, 1873-1896, 2008.  The skeleton is made order by order, and depends on no order of the columns
(Colombo and Maathuis 2014).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import combinations, pairwise

from privcore.graphs.pag import PAG, End
from privcore.graphs.pdag import Edge, ordered

# Whether x and y are independent where the columns of the set are held.
Independent = Callable[[int, int, tuple[int, ...]], bool]
Separating = Mapping[Edge, frozenset[int]]


def fci(
    nodes: tuple[str, ...],
    independent: Independent,
    *,
    max_order: int | None = None,
    hidden_paths: bool = True,
) -> PAG:
    """The PAG of what `independent` answers.

    max_order: of conditioning sets, None for any.  hidden_paths: whether the columns of
    Possible-D-Sep are tried as well, which the full algorithm needs; without them the skeleton may
    hold edges that only hidden causes make.

    Example: two causes of one effect, which nothing hidden joins.

        >>> graph = fci(("a", "b", "c"), lambda x, y, given: {x, y} == {0, 1} and not given)
        >>> graph.mark(0, 2), graph.mark(1, 2), graph.mark(0, 1)
        ('o>', 'o>', None)
    """
    near = [set(range(len(nodes))) - {node} for node in range(len(nodes))]
    apart: dict[Edge, frozenset[int]] = {}
    _separate(near, apart, independent, max_order)
    if hidden_paths:
        marks = _Marks(near)
        marks.colliders(apart)
        reach = [_possible_d_sep(marks, node) for node in marks.nodes]
        for x, y in [(a, b) for a in marks.nodes for b in sorted(near[a]) if a < b]:
            pools = reach[x] - {x, y}, reach[y] - {x, y}
            separator = _separated(x, y, pools, independent, max_order)
            if separator is not None:
                apart[x, y] = separator
                near[x].discard(y)
                near[y].discard(x)
    return orient_pag(nodes, near, apart)


def _separate(
    near: list[set[int]],
    apart: dict[Edge, frozenset[int]],
    independent: Independent,
    max_order: int | None,
) -> None:
    """Takes edges away, order by order; the neighbours of an order are those at its begin."""
    order = 0
    while max_order is None or order <= max_order:
        held = [set(others) for others in near]
        pairs = [(x, y) for x in range(len(near)) for y in held[x] if x < y]
        if all(max(len(held[x]), len(held[y])) - 1 < order for x, y in pairs):
            return
        for x, y in pairs:
            for pool in (held[x] - {y}, held[y] - {x}):
                sets = combinations(sorted(pool), order)
                separator = next((s for s in sets if independent(x, y, s)), None)
                if separator is not None:
                    apart[x, y] = frozenset(separator)
                    near[x].discard(y)
                    near[y].discard(x)
                    break
        order += 1


def _separated(
    x: int,
    y: int,
    pools: tuple[set[int], set[int]],
    independent: Independent,
    max_order: int | None,
) -> frozenset[int] | None:
    most = max(map(len, pools)) if max_order is None else max_order
    for order in range(1, most + 1):
        for pool in pools:
            for held in combinations(sorted(pool), order):
                if independent(x, y, held):
                    return frozenset(held)
    return None


def orient_pag(nodes: tuple[str, ...], near: list[set[int]], separating: Separating) -> PAG:
    """Circles everywhere, then v-structures and R1 to R10, until nothing changes.

    near: the neighbours of each node.  separating: for each pair (i, j), i < j, that is not
    adjacent, the columns that separate it.
    """
    marks = _Marks(near)
    marks.colliders(separating)
    while any(rule(marks) for rule in (_away, _transitive, _double, _discriminating(separating))):
        pass
    _undirected(marks)
    while any(rule(marks) for rule in (_tails, _no_circle_cause, _along_paths, _two_paths)):
        pass
    return marks.graph(nodes)


class _Marks:
    """Marks while they are made: at[i][j] is the mark at j of the edge between i and j."""

    def __init__(self, near: list[set[int]]) -> None:
        self.at: list[dict[int, End]] = [dict.fromkeys(sorted(others), "o") for others in near]

    @property
    def nodes(self) -> range:
        return range(len(self.at))

    def end(self, i: int, j: int) -> End | None:
        return self.at[i].get(j)

    def is_edge(self, i: int, j: int, here: str, there: str) -> bool:
        """Whether the marks at i and at j are among these; "*" for any."""
        first, second = self.at[j].get(i), self.at[i].get(j)
        if first is None or second is None:
            return False
        return (here == "*" or first in here) and (there == "*" or second in there)

    def put(self, i: int, j: int, mark: End) -> bool:
        """Replace a circle at j; whether there was one."""
        if self.at[i][j] != "o":
            return False
        self.at[i][j] = mark
        return True

    def colliders(self, separating: Separating) -> None:
        """V-structures of unshielded triples whose middle separates nothing."""
        for z in self.nodes:
            for x, y in combinations(self.at[z], 2):
                if y not in self.at[x] and z not in separating.get(ordered(x, y), frozenset()):
                    self.at[x][z] = self.at[y][z] = ">"

    def triples(self) -> Iterator[tuple[int, int, int]]:
        """(a, b, c) where a and c are neighbours of b and not of each other."""
        for b in self.nodes:
            for a in self.at[b]:
                for c in self.at[b]:
                    if a != c and c not in self.at[a]:
                        yield a, b, c

    def graph(self, nodes: tuple[str, ...]) -> PAG:
        pairs = [(i, j) for i in self.nodes for j in self.at[i] if i < j]
        return PAG(nodes, {(i, j): (self.at[j][i], self.at[i][j]) for i, j in pairs})


def _possible_d_sep(marks: _Marks, x: int) -> set[int]:
    """Nodes that a path reaches on which every inner node is a collider or in a triangle."""
    seen = {(x, y) for y in marks.at[x]}
    waiting = sorted(seen)
    while waiting:
        a, b = waiting.pop()
        for c in marks.at[b]:
            if c == a or (b, c) in seen:
                continue
            collider = marks.at[a][b] == ">" and marks.at[c][b] == ">"
            if collider or c in marks.at[a]:
                seen.add((b, c))
                waiting.append((b, c))
    return {b for _, b in seen}


def _away(m: _Marks) -> bool:
    """R1: a *→ b o-* c, and a and c are not adjacent: b → c."""
    changed = False
    for a, b, c in m.triples():
        if m.at[a][b] == ">" and m.at[c][b] == "o":
            m.at[c][b], m.at[b][c] = "-", ">"
            changed = True
    return changed


def _transitive(m: _Marks) -> bool:
    """R2: a → b *→ c or a *→ b → c, and a *-o c: a *→ c."""
    changed = False
    for b in m.nodes:
        for a in m.at[b]:
            for c in m.at[b]:
                if a == c or m.end(a, c) != "o":
                    continue
                into = m.at[a][b] == ">" and m.at[b][c] == ">"
                if into and "-" in (m.at[b][a], m.at[c][b]):
                    m.at[a][c] = ">"
                    changed = True
    return changed


def _double(m: _Marks) -> bool:
    """R3: a *→ b ←* c, a *-o d o-* c, a and c not adjacent, and d *-o b: d *→ b."""
    changed = False
    for a, b, c in m.triples():
        if m.at[a][b] != ">" or m.at[c][b] != ">":
            continue
        for d in m.at[b]:
            if d in (a, c) or m.at[d][b] != "o":
                continue
            if m.end(a, d) == "o" and m.end(c, d) == "o":
                m.at[d][b] = ">"
                changed = True
    return changed


def _discriminating(separating: Separating) -> Callable[[_Marks], bool]:
    """R4: the end of a path that discriminates is a tail or a collider, as what separates says."""

    def rule(m: _Marks) -> bool:
        for b in m.nodes:
            for c in m.at[b]:
                if m.at[c][b] != "o":
                    continue
                for a in m.at[b]:
                    if a == c or m.at[b][a] != ">" or not m.is_edge(a, c, "-", ">"):
                        continue
                    d = _discriminated(m, a, b, c)
                    if d is None:
                        continue
                    if b in separating.get(ordered(d, c), frozenset()):
                        m.at[c][b], m.at[b][c] = "-", ">"
                    else:
                        m.at[a][b] = m.at[c][b] = m.at[b][c] = ">"
                    return True
        return False

    return rule


def _discriminated(m: _Marks, a: int, b: int, c: int) -> int | None:
    """The first node d of a path d … a b c that discriminates for b, if there is one.

    Every node between d and b is a collider on it and a parent of c, and d is not adjacent to c.
    """
    waiting, seen = [a], {a, b, c}
    while waiting:
        node = waiting.pop(0)
        for d in sorted(m.at[node]):
            if d in seen or m.at[d][node] != ">":
                continue
            if d not in m.at[c]:
                return d
            if m.is_edge(d, node, ">", ">") and m.is_edge(d, c, "-", ">"):
                seen.add(d)
                waiting.append(d)
    return None


def _undirected(m: _Marks) -> None:
    """R5: an uncovered circle path that closes over a o-o b, ends not adjacent: all are tails."""
    for a in m.nodes:
        for b in list(m.at[a]):
            if a < b and m.is_edge(a, b, "o", "o"):
                for path in _uncovered(m, a, b, lambda i, j: m.is_edge(i, j, "o", "o")):
                    if len(path) > 3 and path[1] not in m.at[b] and path[-2] not in m.at[a]:
                        for i, j in [*pairwise(path), (a, b)]:
                            m.at[i][j] = m.at[j][i] = "-"
                        break


def _tails(m: _Marks) -> bool:
    """R6: a - b o-* c: a tail at b.  R7: a -o b o-* c, a and c not adjacent: a tail at b."""
    changed = False
    for b in m.nodes:
        for a in m.at[b]:
            for c in m.at[b]:
                if a == c or m.at[c][b] != "o":
                    continue
                six = m.is_edge(a, b, "-", "-")
                seven = m.is_edge(a, b, "-", "o") and c not in m.at[a]
                changed |= (six or seven) and m.put(c, b, "-")
    return changed


def _no_circle_cause(m: _Marks) -> bool:
    """R8: a → b → c or a -o b → c, and a o→ c: a → c."""
    changed = False
    for b in m.nodes:
        for a in m.at[b]:
            for c in m.at[b]:
                if a != c and m.is_edge(a, c, "o", ">") and m.is_edge(b, c, "-", ">"):
                    changed |= m.is_edge(a, b, "-", ">o") and m.put(c, a, "-")
    return changed


def _along_paths(m: _Marks) -> bool:
    """R9: a o→ c, and an uncovered path a b … c that may be directed, b, c not adjacent: a → c."""
    changed = False
    for a in m.nodes:
        for c in list(m.at[a]):
            if m.is_edge(a, c, "o", ">") and any(
                len(path) > 3 and path[1] not in m.at[c]
                for path in _uncovered(m, a, c, _may_point(m))
            ):
                changed |= m.put(c, a, "-")
    return changed


def _two_paths(m: _Marks) -> bool:
    """R10: a o→ c ← b, c ← d, and uncovered paths from a to b and to d that may be directed, whose
    first steps differ and are not adjacent: a → c."""
    changed = False
    for a in m.nodes:
        for c in list(m.at[a]):
            if not m.is_edge(a, c, "o", ">"):
                continue
            causes = [b for b in m.at[c] if b != a and m.is_edge(b, c, "-", ">")]
            steps = {
                b: {path[1] for path in _uncovered(m, a, b, _may_point(m)) if c not in path}
                for b in causes
            }
            for b, d in combinations(causes, 2):
                if any(one != two and two not in m.at[one] for one in steps[b] for two in steps[d]):
                    changed |= m.put(c, a, "-")
                    break
    return changed


def _may_point(m: _Marks) -> Callable[[int, int], bool]:
    """Whether an edge i *-* j may be directed from i to j: no arrowhead at i, no tail at j."""
    return lambda i, j: m.is_edge(i, j, "-o", ">o")


def _uncovered(
    m: _Marks, start: int, goal: int, step: Callable[[int, int], bool]
) -> Iterator[list[int]]:
    """Paths along such edges on which no node's two neighbours are adjacent; the edge alone too."""
    waiting = [[start, b] for b in m.at[start] if step(start, b)]
    while waiting:
        path = waiting.pop()
        if path[-1] == goal:
            yield path
            continue
        for c in m.at[path[-1]]:
            if c not in path and c not in m.at[path[-2]] and step(path[-1], c):
                waiting.append([*path, c])
