"""Fast causal inference (FCI): from independences to a partial ancestral graph.

P. Spirtes, C. Glymour and R. Scheines, Causation, Prediction, and Search, 2000, chapter 6; the
orientation rules R1 to R10 are from J. Zhang, On the completeness of orientation rules for
causal discovery in the presence of latent confounders and selection bias, Artificial Intelligence
172, 1873-1896, 2008.

The result does not depend on the order of the columns.  The skeleton is found with conditioning
sets of increasing size (Colombo & Maathuis 2014), and all separating sets of the smallest size
count.  Each rule is applied everywhere at once, and where its applications contradict one another,
circles remain (`_Marks.settle`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cache
from itertools import combinations
from math import comb
from typing import Literal

from privcore.graphs.constraints import Constraints, Triple
from privcore.graphs.orientation import ColliderRule, Sets, Triples, is_collider, read_triples
from privcore.graphs.pdag import PAG, PDAG, Edge, End, ordered

# Whether x and y are independent given a set of columns.
Independent = Callable[[int, int, tuple[int, ...]], bool]
Neighbours = list[set[int]]
# The separating sets of each pair without an edge that decide on its triples.
Separating = dict[Edge, Collection[Collection[int]]]


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
    separating: Separating = {}
    _separate(neighbours, separating, independent, max_order)
    separate_along_paths(
        neighbours, separating, independent, triples_of(neighbours, separating), max_order
    )
    return orient_pag(nodes, neighbours, separating, triples_of(neighbours, separating))


def triples_of(neighbours: Neighbours, separating: Sets) -> Triples:
    """The unshielded triples that are colliders or ambiguous, from the separating sets."""
    skeleton = PDAG(
        tuple(map(str, range(len(neighbours)))),
        undirected=frozenset(
            (i, j) for i, around in enumerate(neighbours) for j in around if i < j
        ),
    )
    return read_triples(skeleton, separating, "conservative")


def possible_d_sep(neighbours: Neighbours, triples: Triples) -> list[set[int]]:
    """For each column, the columns that may be needed to separate it from a neighbour.

    This possible d-sep set contains the last column of every path that starts at the given column
    and on which each inner column is a collider or forms a triangle with its two neighbours on the
    path (Spirtes, Glymour & Scheines 2000, Section 6.7).
    """
    marks = _Marks(neighbours)
    marks.settle(_pointed(triples.colliders))
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
    separating: Separating,
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
        most = max(map(len, pools)) if max_order is None else max_order
        sets = _smallest(x, y, pools, independent, range(1, most + 1))
        if sets:
            cut(neighbours, separating, x, y, sets)


def cut(
    neighbours: Neighbours,
    separating: Separating,
    x: int,
    y: int,
    sets: Collection[Collection[int]],
) -> None:
    """Remove the edge between x and y, and record their separating sets."""
    separating[ordered(x, y)] = sets
    neighbours[x].discard(y)
    neighbours[y].discard(x)


def confirm_triples(
    neighbours: Neighbours,
    separating: Separating,
    independent: Independent,
    held: Collection[Edge] = (),
) -> None:
    """Test the edges of unshielded triples given the smallest separating sets of the triple's ends.

    An edge is removed if its ends are independent.  RFCI (Colombo, Maathuis, Kalisch & Richardson
    2012, Lemma 3.1) makes these tests in place of `separate_along_paths`.  Afterwards the colliders
    among these triples are correct, but edges may remain whose ends are independent only given more
    distant columns.  All triples are tested before an edge is removed.  held: pairs that are not
    tested.
    """
    independent = cache(independent)
    while True:
        cuts: dict[Edge, set[frozenset[int]]] = {}
        for z, around in enumerate(neighbours):
            for x, y in combinations(sorted(around), 2):
                sets = () if y in neighbours[x] else separating.get((x, y), ())
                for between in smallest(sets):
                    pool = between - {z}
                    for pair in {ordered(x, z), ordered(y, z)}.difference(held):
                        if independent(*pair, tuple(sorted(pool))):
                            orders = range(len(pool) + 1)
                            found = _smallest(*pair, (pool,), independent, orders)
                            cuts.setdefault(pair, set()).update(found)
        if not cuts:
            return
        for pair, found in cuts.items():
            cut(neighbours, separating, *pair, smallest(found))


def smallest(sets: Collection[Collection[int]]) -> set[frozenset[int]]:
    """The sets with the fewest columns."""
    fewest = min(map(len, sets), default=0)
    return {frozenset(each) for each in sets if len(each) == fewest}


def _separate(
    neighbours: Neighbours, separating: Separating, independent: Independent, max_order: int | None
) -> None:
    """Remove edges by tests given sets of increasing size; neighbours are fixed for each size."""
    order = 0
    while max_order is None or order <= max_order:
        held = [set(others) for others in neighbours]
        pairs = [(x, y) for x in range(len(neighbours)) for y in held[x] if x < y]
        if all(max(len(held[x]), len(held[y])) - 1 < order for x, y in pairs):
            return
        for x, y in pairs:
            sets = _smallest(x, y, (held[x] - {y}, held[y] - {x}), independent, [order])
            if sets:
                cut(neighbours, separating, x, y, sets)
        order += 1


def _smallest(
    x: int,
    y: int,
    pools: Iterable[Collection[int]],
    independent: Independent,
    orders: Iterable[int],
) -> set[frozenset[int]]:
    """All separating sets from one pool that have the first size of which there are any."""
    for order in orders:
        tried = {held for pool in pools for held in combinations(sorted(pool), order)}
        if found := {frozenset(held) for held in tried if independent(x, y, held)}:
            return found
    return set()


def orient_pag(
    nodes: tuple[str, ...],
    neighbours: Neighbours,
    separating: Sets,
    triples: Triples,
    rule: ColliderRule = "conservative",
    *,
    known: Constraints | None = None,
    discriminating: bool = True,
) -> PAG:
    """Orient a skeleton by background knowledge, by colliders, and by rules R1 to R10.

    neighbours: the neighbours of each column.  separating: the separating sets of each pair (i, j),
    i < j, that is not adjacent, which R4 reads by the given rule (see `read_triples`).  triples:
    the colliders and the ambiguous triples; no rule treats the middle of an ambiguous triple as a
    non-collider.  known: background knowledge.  As in Tetrad, an arrow i → j that is ruled out puts
    an arrowhead at i, and a required arrow i → j puts a tail at i.  No rule changes these marks.
    discriminating: whether to use R4, which RFCI allows only after further tests.
    """
    marks = _Marks(neighbours, triples.ambiguous)
    if known is not None:
        marks.settle(_fixed(marks, known))
    marks.settle(_pointed(triples.colliders))
    rules: list[_Rule] = [_away, _transitive, _double]
    if discriminating:
        rules.append(lambda m: _discriminating(m, separating, rule))
    while any(marks.settle(each(marks)) for each in rules):
        pass
    marks.settle(_undirected(marks))
    while any(marks.settle(each(marks)) for each in (_tails, _no_circle_cause, _along_walks)):
        pass
    return marks.graph(nodes)


# What one application of a rule concludes: (i, j, mark) for a mark at j of the edge i *-* j.
_Application = tuple[tuple[int, int, End], ...]


class _Marks:
    """Marks during orientation: at[i][j] is the mark at j of the edge between i and j.

    "?" is a circle on which applications of a rule disagree; no rule uses or changes it.
    """

    def __init__(self, neighbours: Neighbours, ambiguous: Collection[Triple] = ()) -> None:
        self.at: list[dict[int, End | Literal["?"]]] = [
            dict.fromkeys(sorted(others), "o") for others in neighbours
        ]
        self._ambiguous = frozenset(ambiguous)

    @property
    def nodes(self) -> range:
        return range(len(self.at))

    def is_edge(self, i: int, j: int, here: str, there: str) -> bool:
        """Whether i and j are adjacent, with a mark in `here` at i and a mark in `there` at j."""
        return j in self.at[i] and self.at[j][i] in here and self.at[i][j] in there

    def settle(self, applications: Iterable[_Application]) -> bool:
        """Replace circles by the marks of all applications at once; whether any was replaced.

        This is the only place that writes marks.  An application that contradicts a mark is void.
        If two applications disagree on an end, this end stays a circle for good, and neither of the
        two has any effect.  The result does not depend on the order of the applications.
        """
        valid = [
            each for each in applications if all(self.at[i][j] in ("o", to) for i, j, to in each)
        ]
        wanted: dict[Edge, set[End]] = {}
        for i, j, to in (conclusion for each in valid for conclusion in each):
            wanted.setdefault((i, j), set()).add(to)
        contested = {end for end, marks in wanted.items() if len(marks) > 1}
        changed = bool(contested)
        for each in valid:
            if all((i, j) not in contested for i, j, _ in each):
                for i, j, to in each:
                    changed |= self.at[i][j] != to
                    self.at[i][j] = to
        for i, j in contested:
            self.at[i][j] = "?"
        return changed

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

    def corners(self) -> Iterator[tuple[int, int, int]]:
        """Every (a, b, c) in which a and c are neighbours of b and of each other."""
        for b in self.nodes:
            for a in self.at[b]:
                for c in self.at[b]:
                    if c in self.at[a]:
                        yield a, b, c

    def walks(self, a: int, b: int, here: str, there: str) -> set[Edge]:
        """The steps of all uncovered walks that begin with a, b.

        Every edge i *-* j of a walk has a mark in `here` at i and in `there` at j, and every three
        columns in a row are unshielded and not ambiguous.  A walk may repeat columns: the proofs of
        R5, R9 and R10 hold for walks as for paths, and walks are quick to search.
        """
        if not self.is_edge(a, b, here, there):
            return set()
        seen, waiting = {(a, b)}, [(a, b)]
        while waiting:
            i, j = waiting.pop()
            for k in self.at[j]:
                new = k != i and (j, k) not in seen and self.passes(i, j, k)
                if new and self.is_edge(j, k, here, there):
                    seen.add((j, k))
                    waiting.append((j, k))
        return seen

    def graph(self, nodes: tuple[str, ...]) -> PAG:
        def end(i: int, j: int) -> End:
            mark = self.at[i][j]
            return "o" if mark == "?" else mark

        pairs = [(i, j) for i in self.nodes for j in self.at[i] if i < j]
        return PAG.from_ends(nodes, {(i, j): (end(j, i), end(i, j)) for i, j in pairs})


_Rule = Callable[[_Marks], Iterable[_Application]]


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


def _fixed(m: _Marks, known: Constraints) -> Iterator[_Application]:
    """The marks that background knowledge fixes."""
    for i in m.nodes:
        for j in m.at[i]:
            if not known.allowed[j, i]:
                yield ((i, j, ">"),)
                if ordered(i, j) in known.required:
                    yield ((j, i, "-"),)


def _pointed(colliders: Iterable[Triple]) -> Iterator[_Application]:
    """R0: arrowheads at the middle of colliders."""
    for x, z, y in colliders:
        yield (x, z, ">"), (y, z, ">")


def _away(m: _Marks) -> Iterator[_Application]:
    """R1: a *→ b o-* c, and a and c are not adjacent: b → c."""
    for a, b, c in m.triples():
        if m.at[a][b] == ">" and m.at[c][b] == "o" and m.passes(a, b, c):
            yield (c, b, "-"), (b, c, ">")


def _transitive(m: _Marks) -> Iterator[_Application]:
    """R2: a → b *→ c or a *→ b → c, and a *-o c: a *→ c."""
    for a, b, c in m.corners():
        into = m.at[a][c] == "o" and m.at[a][b] == ">" and m.at[b][c] == ">"
        if into and "-" in (m.at[b][a], m.at[c][b]):
            yield ((a, c, ">"),)


def _double(m: _Marks) -> Iterator[_Application]:
    """R3: a *→ b ←* c, a *-o d o-* c, a and c not adjacent, and d *-o b: d *→ b."""
    for a, b, c in m.triples():
        if m.at[a][b] != ">" or m.at[c][b] != ">":
            continue
        for d in m.at[b]:
            circles = m.at[d][b] == m.at[a].get(d) == m.at[c].get(d) == "o"
            if circles and m.passes(a, d, c):
                yield ((d, b, ">"),)


def _discriminating(m: _Marks, separating: Sets, rule: ColliderRule) -> Iterator[_Application]:
    """R4: on a discriminating path, the separating sets decide between a tail and a collider."""
    for a, b, c in m.corners():
        if not (m.is_edge(b, c, "o", ">") and m.is_edge(a, c, "-", ">") and m.at[b][a] == ">"):
            continue
        for d in _discriminated(m, a, b, c):
            sets = separating.get(ordered(d, c))
            collides = is_collider(b, sets, rule) if sets else None
            if collides:
                yield (a, b, ">"), (c, b, ">")
            elif collides is not None:
                yield ((c, b, "-"),)


def _discriminated(m: _Marks, a: int, b: int, c: int) -> set[int]:
    """The first node d of every discriminating path d … a b c for b.

    Every node between d and b is a collider on the path and a parent of c.  d and c are not
    adjacent.
    """
    waiting, seen, ends = [a], {a, b, c}, set()
    while waiting:
        node = waiting.pop()
        for d in m.at[node]:
            if d in seen or m.at[d][node] != ">":
                continue
            if d not in m.at[c]:
                ends.add(d)
            elif m.at[node][d] == ">" and m.is_edge(d, c, "-", ">"):
                seen.add(d)
                waiting.append(d)
    return ends


def _undirected(m: _Marks) -> Iterator[_Application]:
    """R5: a o-o b on an uncovered cycle of circles: tails at a and b."""
    for a in m.nodes:
        for c in m.at[a]:
            walk = m.walks(a, c, "o", "o")
            for b in m.at[a]:
                if b != c and (b, a) in walk and m.passes(b, a, c):
                    yield (a, b, "-"), (b, a, "-")


def _tails(m: _Marks) -> Iterator[_Application]:
    """R6: a - b o-* c: a tail at b.  R7: a -o b o-* c, a and c not adjacent: a tail at b."""
    for b in m.nodes:
        for a in m.at[b]:
            for c in m.at[b]:
                if a == c or m.at[c][b] != "o" or m.at[b][a] != "-":
                    continue
                if m.at[a][b] == "-" or (m.at[a][b] == "o" and m.passes(a, b, c)):
                    yield ((c, b, "-"),)


def _no_circle_cause(m: _Marks) -> Iterator[_Application]:
    """R8: a → b → c or a -o b → c, and a o→ c: a → c."""
    for a, b, c in m.corners():
        if m.is_edge(a, c, "o", ">") and m.is_edge(b, c, "-", ">") and m.is_edge(a, b, "-", ">o"):
            yield ((c, a, "-"),)


def _along_walks(m: _Marks) -> Iterator[_Application]:
    """R9 and R10, for a o→ c: a → c.

    An edge of a walk may be directed along it: it has no arrowhead at its start and no tail at its
    end.  R9: such an uncovered walk leads from a through b to c, and b and c are not adjacent.
    R10: b → c ← d, and two such uncovered walks from a lead to b and to d, whose first steps differ
    and are not adjacent.
    """

    @cache
    def reached(a: int, first: int) -> set[int]:
        return {last for _, last in m.walks(a, first, "-o", ">o")}

    for a in m.nodes:
        for c in m.at[a]:
            if not m.is_edge(a, c, "o", ">"):
                continue
            firsts = [b for b in m.at[a] if b != c]
            if any(m.passes(b, a, c) and c in reached(a, b) for b in firsts):
                yield ((c, a, "-"),)
                continue
            causes = {b for b in m.at[c] if b != a and m.is_edge(b, c, "-", ">")}
            for one, two in combinations(firsts, 2):
                ends = causes & reached(a, one), causes & reached(a, two)
                if all(ends) and len(ends[0] | ends[1]) > 1 and m.passes(one, a, two):
                    yield ((c, a, "-"),)
                    break
