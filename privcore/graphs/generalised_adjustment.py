"""Adjustment in PAGs, which allow unobserved confounders.

E. Perković, J. Textor, M. Kalisch and M. Maathuis, Complete graphical characterization and
construction of adjustment sets in Markov equivalence classes of ancestral graphs, Journal of
Machine Learning Research 18 (220), 2018.  Visible edges, and the construction of a member of a
PAG's class, follow J. Zhang, Causal reasoning with ancestral graphs, Journal of Machine Learning
Research 9, 1437-1474, 2008.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

from privcore.errors import DataError
from privcore.graphs.adjustment import consistent_extension
from privcore.graphs.pdag import PAG, PDAG
from privcore.text import short


class Identification(NamedTuple):
    """Whether adjustment identifies an effect in every graph that a PAG stands for.

    set: a minimal valid adjustment set; None if there is none.
    affected: False if the cause has no effect on the outcome in any of the graphs.
    reason: the reason why there is no set, in a sentence; empty if there is a set.
    """

    set: frozenset[int] | None
    affected: bool
    reason: str


def identify(graph: PAG, cause: int, outcome: int) -> Identification:
    """Find a valid adjustment set for the effect of the cause on the outcome, if there is one.

    The generalised adjustment criterion is sound and complete for PAGs without selection variables.
    If an edge of the PAG stands for selection, no effect is identified.  Raises DataError if the
    graph is not the PAG of any causal graph, and ValueError if cause and outcome are the same
    column.

    Example: b and d share no unobserved confounder, because a o→ b, and a is not adjacent to d.

        >>> ends = {(0, 1): ("o", ">"), (2, 1): ("o", ">"), (1, 3): ("-", ">")}
        >>> graph = PAG.from_ends(("a", "b", "c", "d"), ends)
        >>> identify(graph, 1, 3)
        Identification(set=frozenset(), affected=True, reason='')
        >>> identify(graph, 0, 3).reason
        'Not identified: an unobserved confounder of a and b cannot be ruled out.'
        >>> identify(graph, 3, 0).reason
        'd does not cause a.'
    """
    if cause == outcome:
        raise ValueError(f"column {cause} is both cause and outcome")
    names = [short(name, 30) for name in graph.nodes]
    selected = next(iter(sorted(graph.undirected | graph.partially_undirected)), None)
    if selected is not None:
        a, b = (names[end] for end in selected)
        return Identification(
            None,
            True,
            f"Not identified: the edge between {a} and {b} shows that these columns affect which "
            "rows were selected.",
        )
    member = _Member.of(graph)
    ways = _Ways.of(graph, cause, outcome)
    if not ways.first:
        return Identification(None, False, f"{names[cause]} does not cause {names[outcome]}.")
    for step in sorted(ways.first):
        if not visible(graph, cause, step):
            why = (
                f"it is open whether {names[cause]} causes {names[step]} or {names[step]} causes "
                f"{names[cause]}"
                if graph.mark(cause, step) == "o-o"
                else f"an unobserved confounder of {names[cause]} and {names[step]} cannot be "
                "ruled out"
            )
            return Identification(None, True, f"Not identified: {why}.")
    # If any set is valid, this one is.
    columns = ways.ancestors - ways.forbidden - {cause, outcome}
    paths = member.without_causal_paths(cause, outcome)
    if not paths.separated(cause, outcome, columns):
        return Identification(
            None,
            True,
            f"Not identified: no set of columns blocks every non-causal path between "
            f"{names[cause]} and {names[outcome]}.",
        )
    return Identification(_thinned(paths, cause, outcome, columns), True, "")


def valid_in_class(graph: PAG, cause: int, outcome: int, columns: Collection[int]) -> bool:
    """Whether adjustment for the columns identifies the effect in every graph of the PAG's class.

    The criterion is the same as in `identify`.  If the cause has no effect on the outcome, a set is
    valid if it m-separates cause and outcome.

    Example:
        >>> ends = {(0, 1): ("o", ">"), (1, 2): ("-", ">")}
        >>> graph = PAG.from_ends(("a", "b", "c"), ends)
        >>> valid_in_class(graph, 1, 2, ()), valid_in_class(graph, 1, 2, (0,))
        (True, True)
    """
    if cause == outcome:
        raise ValueError(f"column {cause} is both cause and outcome")
    if graph.undirected or graph.partially_undirected:
        return False
    paths = _Member.of(graph).without_causal_paths(cause, outcome)
    ways = _Ways.of(graph, cause, outcome)
    return (
        all(visible(graph, cause, step) for step in ways.first)
        and ways.forbidden.union((cause, outcome)).isdisjoint(columns)
        and paths.separated(cause, outcome, columns)
    )


def visible(graph: PDAG, a: int, b: int) -> bool:
    """Whether a → b is an arrow, and no graph of the class has an unobserved confounder of a and b.

    The arrow is visible if a column that is not adjacent to b has an edge into a, or a path into a
    on which every inner column is a collider and a parent of b (Zhang 2008, Definition 8).

    Example:
        >>> graph = PAG.from_ends(("a", "b", "c"), {(0, 1): ("o", ">"), (1, 2): ("-", ">")})
        >>> visible(graph, 1, 2), visible(graph, 0, 1)
        (True, False)
    """
    if (a, b) not in graph.directed:
        return False
    waiting, seen = [a], {a}
    while waiting:
        node = waiting.pop()
        for other in graph.adjacent(node) - seen - {b}:
            mark = graph.mark(other, node)
            if mark is None or mark[-1] != ">":
                continue
            if graph.mark(other, b) is None:
                return True
            if mark == "<->" and (other, b) in graph.directed:
                seen.add(other)
                waiting.append(other)
    return False


class _Ways(NamedTuple):
    """Possibly causal paths in a PAG.

    first: the columns next to the cause on possibly causal paths.
    forbidden: columns on possibly causal paths, except the cause, and their possible descendants.
    ancestors: possible ancestors of cause and outcome.
    """

    first: frozenset[int]
    forbidden: frozenset[int]
    ancestors: frozenset[int]

    @classmethod
    def of(cls, graph: PAG, cause: int, outcome: int) -> _Ways:
        ahead: list[set[int]] = [set() for _ in graph.nodes]
        behind: list[set[int]] = [set() for _ in graph.nodes]
        for pairs, both in (
            (graph.directed, False),
            (graph.partially_directed, False),
            (graph.nondirected, True),
        ):
            for i, j in pairs:
                for a, b in ((i, j), (j, i)) if both else ((i, j),):
                    ahead[a].add(b)
                    behind[b].add(a)
        # Without the cause, so that no path returns to it.
        to_outcome = _reached(behind, outcome, {cause})
        first = ahead[cause] & to_outcome
        # All other columns on such paths are possible descendants of the first ones.
        forbidden = _reached_from(ahead, first, set())
        ancestors = _reached(behind, cause, set()) | _reached(behind, outcome, set())
        return cls(frozenset(first), frozenset(forbidden), frozenset(ancestors))


class _Member(NamedTuple):
    """A graph of directed and bidirected edges: the parents and siblings of each column."""

    parents: tuple[frozenset[int], ...]
    siblings: tuple[frozenset[int], ...]

    @classmethod
    def of(cls, graph: PAG) -> _Member:
        """One of the ancestral graphs that the PAG stands for; raises DataError if there is none.

        Each o→ becomes →, and the edges with two circles become a DAG without new v-structures
        (Zhang 2008, Theorem 2).
        """
        contradiction = DataError("graph-contradicts-itself-no-graph-unobserved")
        try:
            circles = consistent_extension(PDAG(graph.nodes, undirected=graph.nondirected))
        except DataError:
            raise contradiction from None
        parents = list(map(set, circles))
        siblings: list[set[int]] = [set() for _ in graph.nodes]
        for i, j in graph.directed | graph.partially_directed:
            parents[j].add(i)
        for i, j in graph.bidirected:
            siblings[i].add(j)
            siblings[j].add(i)
        made = cls(tuple(map(frozenset, parents)), tuple(map(frozenset, siblings)))
        for node, others in enumerate(siblings):
            above = made.ancestors(parents[node])
            if node in above or others & above:
                raise contradiction
        return made

    def ancestors(self, nodes: Collection[int]) -> set[int]:
        """These columns and their ancestors."""
        return _reached_from(self.parents, nodes, set())

    def without_causal_paths(self, cause: int, outcome: int) -> _Member:
        """The graph without the first arrows of directed paths from the cause to the outcome."""
        causal = _reached(self.parents, outcome, {cause})
        kept = (own - {cause} if node in causal else own for node, own in enumerate(self.parents))
        return _Member(tuple(kept), self.siblings)

    def separated(self, a: int, b: int, held: Collection[int]) -> bool:
        """Whether the columns m-separate a and b: no path between them is open."""
        blocked, opened = set(held), self.ancestors(held)
        children: list[set[int]] = [set() for _ in self.parents]
        for node, own in enumerate(self.parents):
            for parent in own:
                children[parent].add(node)

        def steps(node: int) -> Iterator[tuple[int, bool, bool]]:
            """Each neighbour; whether an arrowhead is at the node; and whether at the neighbour."""
            yield from ((other, True, False) for other in self.parents[node])
            yield from ((other, False, True) for other in children[node])
            yield from ((other, True, True) for other in self.siblings[node])

        waiting = [(other, into) for other, _, into in steps(a)]
        seen = set(waiting)
        while waiting:
            node, into = waiting.pop()
            if node == b:
                return False
            for other, here, there in steps(node):
                passes = node in opened if into and here else node not in blocked
                if passes and (other, there) not in seen and other != a:
                    seen.add((other, there))
                    waiting.append((other, there))
        return True


def _thinned(paths: _Member, cause: int, outcome: int, columns: frozenset[int]) -> frozenset[int]:
    """A minimal valid set: columns are removed from the last on, while the others are valid."""
    # Columns that are not ancestors of cause or outcome can only open paths.
    kept = columns & paths.ancestors([cause, outcome])
    if not paths.separated(cause, outcome, kept):
        kept = columns
    changed = True
    while changed:
        changed = False
        for column in sorted(kept, reverse=True):
            if paths.separated(cause, outcome, kept - {column}):
                kept, changed = kept - {column}, True
    return kept


def _reached(
    ahead: list[set[int]] | tuple[frozenset[int], ...], start: int, out: Collection[int]
) -> set[int]:
    return _reached_from(ahead, [start], out)


def _reached_from(
    ahead: list[set[int]] | tuple[frozenset[int], ...],
    start: Collection[int],
    out: Collection[int],
) -> set[int]:
    """The columns in `start`, and all columns reachable from them without those in `out`."""
    reached = set(start)
    waiting = list(reached)
    while waiting:
        new = set(ahead[waiting.pop()]) - reached - set(out)
        reached |= new
        waiting.extend(new)
    return reached
