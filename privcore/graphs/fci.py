"""Fast causal inference (FCI): from independences to a partial ancestral graph.

P. Spirtes, C. Glymour and R. Scheines, Causation, Prediction, and Search, 2000, chapter 6; the
orientation rules R1 to R10 are from J. Zhang, On the completeness of orientation rules for
causal discovery in the presence of latent confounders and selection bias, Artificial Intelligence
172, 1873-1896, 2008.  The skeleton is found with conditioning sets of increasing size and does not
depend on the order of the columns (Colombo & Maathuis 2014).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import combinations, pairwise
from math import comb

from privcore.graphs.constraints import Constraints
from privcore.graphs.meek import Triple
from privcore.graphs.orientation import ColliderRule, Triples, read_triples
from privcore.graphs.pag import PAG, End
from privcore.graphs.pdag import PDAG, Edge, ordered

# Whether x and y are independent given a set of columns.
Independent = Callable[[int, int, tuple[int, ...]], bool]
Separating = Mapping[Edge, frozenset[int]]
Neighbours = list[set[int]]
# Most paths that a rule searches; after that a circle remains where a tail might be proven.
_MOST_PATHS = 20_000


def fci(
    nodes: tuple[str, ...],
    independent: Independent,
    *,
    max_order: int | None = None,
) -> PAG:
    """The PAG that FCI finds from conditional independences.

    independent: whether columns x and y are independent given a tuple of columns.
    max_order: the largest size of conditioning sets; None for no limit.

    Example: a and b cause c, and no unobserved confounder affects both a and b.

        >>> graph = fci(("a", "b", "c"), lambda x, y, held: {x, y} == {0, 1} and not held)
        >>> graph.mark(0, 2), graph.mark(1, 2), graph.mark(0, 1)
        ('o->', 'o->', None)
    """
    neighbours: Neighbours = [set(range(len(nodes))) - {node} for node in range(len(nodes))]
    separating: dict[Edge, frozenset[int]] = {}
    _separate(neighbours, separating, independent, max_order)
    separate_along_paths(
        neighbours, separating, independent, triples_of(neighbours, separating), max_order
    )
    return orient_pag(nodes, neighbours, separating, triples_of(neighbours, separating))


def triples_of(
    neighbours: Neighbours, separating: Separating, rule: ColliderRule = "first"
) -> Triples:
    """The unshielded triples that are colliders or ambiguous, from the separating sets."""
    skeleton = PDAG(
        tuple(map(str, range(len(neighbours)))),
        undirected=frozenset(
            (i, j) for i, around in enumerate(neighbours) for j in around if i < j
        ),
    )
    return read_triples(skeleton, {pair: {held} for pair, held in separating.items()}, rule)


def possible_d_sep(neighbours: Neighbours, triples: Triples) -> list[set[int]]:
    """For each column, the columns that may be needed to separate it from a neighbour.

    This possible d-sep set contains the last column of every path that starts at the given column
    and on which each inner column is a collider or forms a triangle with its two neighbours on the
    path (Spirtes, Glymour & Scheines 2000, Section 6.7).
    """
    marks = _Marks(neighbours)
    marks.point(triples.colliders)
    return [_reached(marks, node) for node in marks.nodes]


def count_path_tests(neighbours: Neighbours, triples: Triples, max_order: int | None) -> int:
    """Number of tests that `separate_along_paths` makes if no test finds an independence."""
    reach = possible_d_sep(neighbours, triples)
    total = 0
    for x, around in enumerate(neighbours):
        for y in around:
            pool = len(reach[x] - {x, y})
            most = pool if max_order is None else min(pool, max_order)
            total += sum(comb(pool, order) for order in range(1, most + 1))
    return total


def separate_along_paths(
    neighbours: Neighbours,
    separating: dict[Edge, frozenset[int]],
    independent: Independent,
    triples: Triples,
    max_order: int | None,
    held: Collection[Edge] = (),
) -> None:
    """Remove edges whose ends are independent given a set of columns from `possible_d_sep`.

    With unobserved confounders, two columns can be dependent given every set of their neighbours,
    but independent given a set that contains other columns.  held: pairs that are not tested.
    """
    reach = possible_d_sep(neighbours, triples)
    for x, y in [(a, b) for a, around in enumerate(neighbours) for b in sorted(around) if a < b]:
        if (x, y) in held:
            continue
        pools = reach[x] - {x, y}, reach[y] - {x, y}
        separator = _separated(x, y, pools, independent, max_order)
        if separator is not None:
            cut(neighbours, separating, x, y, separator)


def cut(
    neighbours: Neighbours,
    separating: dict[Edge, frozenset[int]],
    x: int,
    y: int,
    held: Collection[int],
) -> None:
    """Remove the edge between x and y, and record `held` as their separating set."""
    separating[ordered(x, y)] = frozenset(held)
    neighbours[x].discard(y)
    neighbours[y].discard(x)


def confirm_triples(
    neighbours: Neighbours,
    separating: dict[Edge, frozenset[int]],
    independent: Independent,
    held: Collection[Edge] = (),
) -> None:
    """Test the edges of unshielded triples given the separating set of the triple's ends.

    An edge is removed if its ends are independent.  RFCI (Colombo, Maathuis, Kalisch & Richardson
    2012, Lemma 3.1) makes these tests in place of `separate_along_paths`.  Afterwards the colliders
    among these triples are correct, but edges may remain whose ends are independent only given more
    distant columns.  held: pairs that are not tested.
    """
    changed = True
    while changed:
        changed = False
        for z in range(len(neighbours)):
            for x, y in combinations(sorted(neighbours[z]), 2):
                if y in neighbours[x] or ordered(x, y) not in separating:
                    continue
                between = separating[ordered(x, y)] - {z}
                for end in (x, y):
                    pool = between - {end}
                    if z not in neighbours[end] or ordered(end, z) in held:
                        continue
                    if independent(*ordered(end, z), tuple(sorted(pool))):
                        smaller = _separated(*ordered(end, z), (pool, set()), independent, None, 0)
                        cut(neighbours, separating, end, z, pool if smaller is None else smaller)
                        changed = True


def _separate(
    neighbours: Neighbours,
    separating: dict[Edge, frozenset[int]],
    independent: Independent,
    max_order: int | None,
) -> None:
    """Remove edges by tests given sets of increasing size; neighbours are fixed for each size."""
    order = 0
    while max_order is None or order <= max_order:
        held = [set(others) for others in neighbours]
        pairs = [(x, y) for x in range(len(neighbours)) for y in held[x] if x < y]
        if all(max(len(held[x]), len(held[y])) - 1 < order for x, y in pairs):
            return
        for x, y in pairs:
            for pool in (held[x] - {y}, held[y] - {x}):
                sets = combinations(sorted(pool), order)
                separator = next((s for s in sets if independent(x, y, s)), None)
                if separator is not None:
                    cut(neighbours, separating, x, y, separator)
                    break
        order += 1


def _separated(
    x: int,
    y: int,
    pools: tuple[Collection[int], Collection[int]],
    independent: Independent,
    max_order: int | None,
    first: int = 1,
) -> frozenset[int] | None:
    """The smallest separating set with at least `first` columns from one pool, or None."""
    most = max(map(len, pools))
    most = most if max_order is None else min(most, max_order)
    for order in range(first, most + 1):
        for pool in pools:
            for held in combinations(sorted(pool), order):
                if independent(x, y, held):
                    return frozenset(held)
    return None


def orient_pag(
    nodes: tuple[str, ...],
    neighbours: Neighbours,
    separating: Separating,
    triples: Triples,
    *,
    known: Constraints | None = None,
    discriminating: bool = True,
) -> PAG:
    """Orient a skeleton by background knowledge, by colliders, and by rules R1 to R10.

    neighbours: the neighbours of each column.  separating: the separating set of each pair (i, j),
    i < j, that is not adjacent.  triples: the colliders and the ambiguous triples; no rule treats
    the middle of an ambiguous triple as a non-collider.  known: background knowledge.  As in
    Tetrad, an arrow i → j that is ruled out puts an arrowhead at i, and a required arrow i → j puts
    a tail at i.  discriminating: whether to use R4, which RFCI allows only after further tests.
    """
    marks = _Marks(neighbours, triples.ambiguous)
    if known is not None:
        marks.obey(known)
    marks.point(triples.colliders)
    rules: list[Callable[[_Marks], bool]] = [_away, _transitive, _double]
    if discriminating:
        rules.append(_discriminating(separating))
    while any(rule(marks) for rule in rules):
        pass
    _undirected(marks)
    while any(rule(marks) for rule in (_tails, _no_circle_cause, _along_paths, _two_paths)):
        pass
    return marks.graph(nodes)


class _Marks:
    """Marks during orientation: at[i][j] is the mark at j of the edge between i and j."""

    def __init__(self, neighbours: Neighbours, ambiguous: Collection[Triple] = ()) -> None:
        self.at: list[dict[int, End]] = [
            dict.fromkeys(sorted(others), "o") for others in neighbours
        ]
        self._ambiguous = frozenset(ambiguous)

    @property
    def nodes(self) -> range:
        return range(len(self.at))

    def end(self, i: int, j: int) -> End | None:
        return self.at[i].get(j)

    def is_edge(self, i: int, j: int, here: str, there: str) -> bool:
        """Whether i and j are adjacent, with a mark in `here` at i and a mark in `there` at j.

        "*" stands for any mark.
        """
        first, second = self.at[j].get(i), self.at[i].get(j)
        if first is None or second is None:
            return False
        return (here == "*" or first in here) and (there == "*" or second in there)

    def put(self, i: int, j: int, mark: End) -> bool:
        """Replace a circle at j by the mark; returns whether there was a circle."""
        if self.at[i][j] != "o":
            return False
        self.at[i][j] = mark
        return True

    def obey(self, known: Constraints) -> None:
        for i in self.nodes:
            for j in self.at[i]:
                if not known.allowed[j, i]:
                    self.at[i][j] = ">"
                    if ordered(i, j) in known.required:
                        self.at[j][i] = "-"

    def point(self, colliders: Collection[Triple]) -> None:
        """Put arrowheads at the middle of colliders, except where a tail is required."""
        for x, z, y in colliders:
            if "-" not in (self.at[x][z], self.at[y][z]):
                self.at[x][z] = self.at[y][z] = ">"

    def passes(self, a: int, b: int, c: int) -> bool:
        """Whether the triple a, b, c is unshielded and not ambiguous."""
        return c not in self.at[a] and (min(a, c), b, max(a, c)) not in self._ambiguous

    def triples(self) -> Iterator[tuple[int, int, int]]:
        """Every (a, b, c) in which a and c are neighbours of b but not of each other."""
        for b in self.nodes:
            for a in self.at[b]:
                for c in self.at[b]:
                    if a != c and c not in self.at[a]:
                        yield a, b, c

    def graph(self, nodes: tuple[str, ...]) -> PAG:
        pairs = [(i, j) for i in self.nodes for j in self.at[i] if i < j]
        return PAG.from_ends(nodes, {(i, j): (self.at[j][i], self.at[i][j]) for i, j in pairs})


def _reached(marks: _Marks, x: int) -> set[int]:
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
        if m.at[a][b] == ">" and m.at[c][b] == "o" and m.passes(a, b, c):
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
            if m.end(a, d) == "o" and m.end(c, d) == "o" and m.passes(a, d, c):
                m.at[d][b] = ">"
                changed = True
    return changed


def _discriminating(separating: Separating) -> Callable[[_Marks], bool]:
    """R4: on a discriminating path, the separating set decides between a tail and a collider."""

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
    """The first node d of a discriminating path d … a b c for b, if there is one.

    Every node between d and b is a collider on the path and a parent of c.  d and c are not
    adjacent.
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
    """R5: a o-o b, and an uncovered circle path from a to b: all marks become tails."""
    for a in m.nodes:
        for b in list(m.at[a]):
            if a < b and m.is_edge(a, b, "o", "o"):
                for path in _uncovered(m, a, b, lambda i, j: m.is_edge(i, j, "o", "o")):
                    ends = m.passes(path[1], a, b) and m.passes(path[-2], b, a)
                    if len(path) > 3 and ends:
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
                seven = m.is_edge(a, b, "-", "o") and m.passes(a, b, c)
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
                len(path) > 3 and m.passes(path[1], a, c)
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
                if any(
                    one != two and m.passes(one, a, two) for one in steps[b] for two in steps[d]
                ):
                    changed |= m.put(c, a, "-")
                    break
    return changed


def _may_point(m: _Marks) -> Callable[[int, int], bool]:
    """Whether an edge i *-* j may be directed from i to j: no arrowhead at i, no tail at j."""
    return lambda i, j: m.is_edge(i, j, "-o", ">o")


def _uncovered(
    m: _Marks, start: int, goal: int, step: Callable[[int, int], bool]
) -> Iterator[list[int]]:
    """Uncovered paths from start to goal along edges that `step` allows, single edges included."""
    waiting, looked = [[start, b] for b in m.at[start] if step(start, b)], 0
    while waiting and looked < _MOST_PATHS:
        path, looked = waiting.pop(), looked + 1
        if path[-1] == goal:
            yield path
            continue
        for c in m.at[path[-1]]:
            if c not in path and m.passes(path[-2], path[-1], c) and step(path[-1], c):
                waiting.append([*path, c])
