"""Adjustment under causal sufficiency: possible parents and valid adjustment sets.

The graphs are maximally oriented: CPDAGs, or CPDAGs with background knowledge after Meek's rules
(MPDAGs; Meek 1995).  Such a graph represents the DAGs that have its skeleton, its arrows and no
further v-structures.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import combinations
from typing import NamedTuple

from privcore.errors import DataError, ParameterError
from privcore.graphs.constraints import apply_meek_rules
from privcore.graphs.pdag import PAG, PDAG, Edge, ordered
from privcore.text import short

# Each undirected neighbour of the cause doubles the number of possible parent sets.
MOST_NEIGHBOURS = 12


class Adjustment(NamedTuple):
    """Valid adjustment sets for the effect of one column on another.

    parents: parents of the cause.  efficient: the O-set, which has the smallest asymptotic variance
    of all valid sets in linear models (Henckel, Perković & Maathuis 2022).
    minimal: some of the minimal valid sets, the smallest first.
    affected: whether the outcome is a descendant of the cause.  If not, the effect is zero, and all
    sets are left empty.
    """

    parents: frozenset[int]
    efficient: frozenset[int]
    minimal: tuple[frozenset[int], ...]
    affected: bool


def possible_parents(graph: PDAG, cause: int) -> list[tuple[frozenset[int], PDAG]]:
    """Each parent set that the cause has in a DAG that the graph represents, with an MPDAG.

    The MPDAG represents the DAGs in which the cause has this parent set.  The result is sorted by
    the size of the parent set, then by indices (semi-local IDA: Maathuis, Kalisch & Bühlmann 2009;
    Perković, Kalisch & Maathuis 2017).
    A graph that is not maximally oriented is oriented first.  Raises ParameterError if more than
    `MOST_NEIGHBOURS` edges at the cause have no direction, and DataError if the graph represents no
    DAG.

    Example: in the chain a — b — c, the parents of b can be none, a or c, but never both a and c.

        >>> chain = PDAG.from_names("abc", undirected=["ab", "bc"])
        >>> [sorted(parents) for parents, _ in possible_parents(chain, 1)]
        [[], [0], [2]]
    """
    consistent_extension(graph)
    graph = apply_meek_rules(graph)
    known = {i for i, j in graph.directed if j == cause}
    open_ends = sorted(_neighbours(graph, graph.undirected)[cause])
    if len(open_ends) > MOST_NEIGHBOURS:
        raise ParameterError(
            "column-edges-without-direction-but-most",
            nodes=short(graph.nodes[cause]),
            number=len(open_ends),
            most_neighbours=MOST_NEIGHBOURS,
        )
    nonadjacent = set(combinations(sorted({*known, *open_ends}), 2)) - graph.skeleton
    possible = []
    for size in range(len(open_ends) + 1):
        for chosen in combinations(open_ends, size):
            # A v-structure is new unless the graph directs both of its arrows.  None arises at a
            # child: what points at an undirected neighbour is adjacent to the cause, by rule 1.
            pairs = (ordered(i, j) for i in chosen for j in {*known, *chosen} - {i})
            if not nonadjacent.isdisjoint(pairs):
                continue
            arrows = {(i, cause) if i in chosen else (cause, i) for i in open_ends}
            turned = _directed(graph, arrows)
            # With background knowledge, a cycle or a v-structure elsewhere is still possible.
            if _extension(turned) is not None:
                possible.append((frozenset(known.union(chosen)), apply_meek_rules(turned)))
    return possible


def descendants(graph: PDAG, node: int) -> set[int]:
    """The node and the columns reached from it along arrows: its descendants in every DAG."""
    return _reached(_effects(graph), [node])


def possible_descendants(graph: PDAG, node: int) -> set[int]:
    """The node and every column that is its descendant in a DAG that the graph represents.

    The result is exact if the graph is an MPDAG: a directed path exists in one of these DAGs if and
    only if the graph has an unshielded path without an arrow that points back (Perković, Kalisch &
    Maathuis 2017, Section 3).  Following all arrows and undirected edges would reach too many
    columns: in c → a — b — c, c is not a possible descendant of a.
    """
    skeleton = graph.skeleton
    lines = _neighbours(graph, graph.undirected)
    ahead = [own | other for own, other in zip(_effects(graph), lines, strict=True)]
    # Only the last two columns of a walk matter; the first column has no predecessor.
    walks, seen = [(-1, node)], {(-1, node)}
    while walks:
        before, here = walks.pop()
        for after in ahead[here]:
            shielded = after == before or ordered(before, after) in skeleton
            if not shielded and (here, after) not in seen:
                seen.add((here, after))
                walks.append((here, after))
    return {here for _, here in seen}


def adjustment_sets(graph: PDAG, cause: int, outcome: int) -> Adjustment:
    """Valid adjustment sets for the effect of the cause on the outcome.

    graph: an MPDAG in which every edge at the cause has a direction, such as a graph from
    `possible_parents`.  Raises ValueError if an edge at the cause has no direction or if cause and
    outcome are the same column, and DataError if the graph represents no DAG.

    Example: in a → c → e ← b the efficient set for the effect of c on e is {b}, because b explains
    much of the variance of e; no adjustment is needed for validity.

        >>> graph = PDAG.from_names("abce", directed=["ac", "ce", "be"])
        >>> sets = adjustment_sets(graph, 2, 3)
        >>> sorted(sets.parents), sorted(sets.efficient), sets.minimal
        ([0], [1], (frozenset(),))
    """
    if any(cause in edge for edge in graph.undirected | graph.bidirected):
        raise ValueError(f"an edge at column {cause} has no direction")
    # As in `valid`, one DAG represents them all; the DAGs have the same O-set, too (Henckel et al.
    # 2022), and the cause has the same descendants in all of them: by Meek's rules 1 and 2, an
    # undirected edge between a descendant and another column makes that column a descendant along
    # arrows as well.
    dag = consistent_extension(graph)
    paths = _Paths.of(dag, cause, outcome)
    if not paths.causal:
        return Adjustment(frozenset(), frozenset(), (), False)
    into = frozenset[int]().union(*(dag[node] for node in paths.causal))
    efficient, parents = into - paths.forbidden - {cause}, dag[cause]
    minimal = {
        _thinned(paths, cause, outcome, sorted(columns, reverse=reverse))
        for columns in (efficient, parents)
        for reverse in (True, False)
    }
    smallest = sorted(minimal, key=lambda columns: (len(columns), sorted(columns)))
    return Adjustment(parents, efficient, tuple(smallest), True)


def valid(graph: PDAG, cause: int, outcome: int, columns: Collection[int]) -> bool:
    """Whether adjustment for the columns identifies the effect in every DAG of the graph.

    The generalised adjustment criterion (Perković, Textor, Kalisch & Maathuis 2018; for MPDAGs
    Perković, Kalisch & Maathuis 2017) requires that every possibly causal path begins with an
    arrow, that none of the columns is forbidden, and that the columns block all other paths.  The
    columns must not contain the cause or the outcome.  A graph that is not maximally oriented is
    oriented first.  Raises DataError if the graph represents no DAG, and ValueError if cause and
    outcome are the same column.

    Example: the effect of a on b is identified only if the edge between them has a direction.

        >>> edge = PDAG.from_names("ab", undirected=["ab"])
        >>> valid(edge, 0, 1, ()), valid(PDAG.from_names("ab", directed=["ab"]), 0, 1, ())
        (False, True)
    """
    dag = consistent_extension(graph)
    paths = _Paths.of(dag, cause, outcome)
    # If the graph is amenable, one of its DAGs represents all: they have the same forbidden
    # columns, and a set that has none of these blocks the non-causal paths of all or of none
    # (Perković et al. 2017; Perković et al. 2018 for CPDAGs).
    return _blocks(paths, cause, outcome, columns) and _amenable(graph, cause, outcome)


def consistent_extension(graph: PDAG) -> tuple[frozenset[int], ...]:
    """The parents of each column in one of the DAGs that the graph represents (Dor & Tarsi 1992).

    The graph can be any partially directed graph.  Raises DataError for a PAG, and for a graph that
    represents no DAG: a graph with a bidirected edge or a directed cycle, or a graph in which every
    orientation of the undirected edges makes a cycle or a new v-structure.
    """
    if isinstance(graph, PAG):
        raise DataError("adjustment-for-dags")
    dag = _extension(graph)
    if dag is None:
        raise DataError("graph-contradicts-itself-no-dag-edges")
    return dag


def d_separated(
    parents: Sequence[Collection[int]], a: int, b: int, given_columns: Collection[int]
) -> bool:
    """Whether the columns block all paths between a and b in a DAG, in linear time.

    parents: the parents of each column.  The method follows active paths (Bayes ball, Shachter
    1998).  Raises ValueError if a and b are the same column, or if one of them is in
    `given_columns`.
    """
    blocked = set(given_columns)
    if a == b or a in blocked or b in blocked:
        raise ValueError(f"{a} and {b} must be two different columns outside {sorted(blocked)}")
    children = _children(parents)
    # Each step: a column, and whether an arrow led to it.
    steps, seen = [(a, False)], set[tuple[int, bool]]()
    while steps:
        step = steps.pop()
        if step in seen:
            continue
        seen.add(step)
        node, by_arrow = step
        if node == b:
            return False
        # A blocked column sends the ball back; a collider then lets it pass on its return.
        if by_arrow == (node in blocked):
            steps.extend((other, False) for other in parents[node])
        if node not in blocked:
            steps.extend((other, True) for other in children[node])
    return True


class _Paths(NamedTuple):
    """The paths from a cause to an outcome in a DAG, in the form that adjustment needs.

    causal: columns on directed paths, except the cause.  forbidden: causal columns and their
    descendants.  others: the parents of each column in the graph without the first arrows of these
    paths.  A set that d-separates cause and outcome in that graph blocks the non-causal paths (van
    der Zander, Liśkiewicz & Textor 2014).
    """

    causal: set[int]
    forbidden: set[int]
    others: tuple[frozenset[int], ...]

    @classmethod
    def of(cls, dag: Sequence[frozenset[int]], cause: int, outcome: int) -> _Paths:
        if cause == outcome:
            raise ValueError(f"column {cause} is both cause and outcome")
        children = _children(dag)
        causal = (_reached(children, [cause]) & _reached(dag, [outcome])) - {cause}
        others = (own - {cause} if node in causal else own for node, own in enumerate(dag))
        return cls(causal, _reached(children, causal), tuple(others))


def _blocks(paths: _Paths, cause: int, outcome: int, columns: Collection[int]) -> bool:
    """Whether the columns are a valid adjustment set in the DAG."""
    if not paths.forbidden.union((cause, outcome)).isdisjoint(columns):
        return False
    return d_separated(paths.others, cause, outcome, columns)


def _thinned(paths: _Paths, cause: int, outcome: int, columns: Sequence[int]) -> frozenset[int]:
    """A minimal valid set: columns are removed in turn as long as the others remain valid.

    columns: ancestors of cause or outcome.  Among ancestors, a superset of a valid set is valid, so
    a column that cannot be removed at one step cannot be removed later.
    """
    kept = frozenset(columns)
    for column in columns:
        if _blocks(paths, cause, outcome, kept - {column}):
            kept -= {column}
    return kept


def _amenable(graph: PDAG, cause: int, outcome: int) -> bool:
    """Whether every possibly causal path begins with an arrow.

    A path that begins with an undirected edge to a neighbour is causal in a DAG in which this edge
    points at the neighbour and the neighbour is an ancestor of the outcome.
    """
    graph = apply_meek_rules(graph)
    return not any(
        outcome in possible_descendants(apply_meek_rules(_directed(graph, {(cause, node)})), node)
        for node in _neighbours(graph, graph.undirected)[cause]
    )


def _directed(graph: PDAG, arrows: Collection[Edge]) -> PDAG:
    """The graph with arrows in place of undirected edges."""
    lines = graph.undirected.difference(ordered(i, j) for i, j in arrows)
    return PDAG(graph.nodes, graph.directed.union(arrows), lines, graph.bidirected)


def _extension(graph: PDAG) -> tuple[frozenset[int], ...] | None:
    """Like `consistent_extension`, but returns None if there is no such DAG."""
    if graph.bidirected:
        return None
    children = _effects(graph)
    parents = _children(children)
    lines, adjacent = (_neighbours(graph, pairs) for pairs in (graph.undirected, graph.skeleton))
    left = set(range(len(graph.nodes)))
    waiting = list(left)
    while waiting:
        node = waiting.pop()
        # A column can be last if no arrow leaves it and arrows into it from its undirected
        # neighbours make no v-structure.
        if (
            node not in left
            or children[node]
            or any(adjacent[node] - {other} - adjacent[other] for other in lines[node])
        ):
            continue
        left.remove(node)
        parents[node] |= lines[node]
        for other in adjacent[node]:
            for around in (adjacent[other], children[other], lines[other]):
                around.discard(node)
        # Of the columns that could not be last before, only its neighbours may be last now.
        waiting.extend(adjacent[node])
    return None if left else tuple(map(frozenset, parents))


def _effects(graph: PDAG) -> list[set[int]]:
    """For each column, the columns to which its arrows point."""
    effects: list[set[int]] = [set() for _ in graph.nodes]
    for i, j in graph.directed:
        effects[i].add(j)
    return effects


def _neighbours(graph: PDAG, pairs: Iterable[Edge]) -> list[set[int]]:
    """For each column, the other ends of the pairs that contain the column."""
    neighbours: list[set[int]] = [set() for _ in graph.nodes]
    for i, j in pairs:
        neighbours[i].add(j)
        neighbours[j].add(i)
    return neighbours


def _children(parents: Sequence[Collection[int]]) -> list[set[int]]:
    """The children of each column, from the parents of each column, or vice versa."""
    children: list[set[int]] = [set() for _ in parents]
    for node, own in enumerate(parents):
        for parent in own:
            children[parent].add(node)
    return children


def _reached(ahead: Sequence[Collection[int]], start: Iterable[int]) -> set[int]:
    """The columns in `start`, and all columns reachable from them."""
    reached = set(start)
    waiting = list(reached)
    while waiting:
        new = set(ahead[waiting.pop()]) - reached
        reached |= new
        waiting.extend(new)
    return reached
