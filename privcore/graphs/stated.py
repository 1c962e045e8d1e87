"""A causal graph that someone states, and what it implies about the observed columns.

Unobserved causes are projected out: the graph has arrows and double arrows over observed columns
only, and it implies the same independences and the same effects (latent projection: Verma & Pearl
1990; Richardson & Spirtes 2002).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from math import comb
from typing import Any

import networkx as nx

from privcore.errors import DataError
from privcore.graphs.adjustment import consistent_extension, d_separated, descendants, valid
from privcore.graphs.pdag import PAG, PDAG, Edge, Kind, NamedEdge, build_graph, ordered
from privcore.naming import quoted
from privcore.text import nearest, short

# Most sets of columns that are tried as adjustment sets.
_MOST_SETS = 5_000


@dataclass(frozen=True)
class StatedGraph:
    """An acyclic graph of arrows and double arrows (unobserved common causes).

    names: the observed columns. directed: (cause, effect); bidirected: (i, j) with i < j; both are
    indices into `names`, and a pair can have an edge of each. exposure, outcome: the columns of the
    effect of interest, if stated. adjusted: the columns that the author adjusts for.
    """

    names: tuple[str, ...]
    directed: frozenset[Edge] = frozenset()
    bidirected: frozenset[Edge] = frozenset()
    exposure: str | None = None
    outcome: str | None = None
    adjusted: tuple[str, ...] = ()

    @classmethod
    def of_edges(
        cls, nodes: Iterable[str], edges: Iterable[NamedEdge], unobserved: Collection[str] = ()
    ) -> StatedGraph:
        """A graph from named edges; edges of no direction get the directions of one DAG.

        All DAGs that a CPDAG represents imply the same independences. unobserved: nodes that are no
        columns. Raises DataError for edges that end in a circle, a cycle, or fewer than two
        columns.
        """
        edges = list(edges)
        circle = next((edge for edge in edges if edge[2].startswith(("partially", "non"))), None)
        if circle is not None:
            raise DataError("stated-graph-has-circles", a=short(circle[0]), b=short(circle[1]))
        both = [ordered_names(a, b) for a, b, kind in edges if kind == "bidirected"]
        named = dict.fromkeys([*nodes, *(end for edge in edges for end in edge[:2])])
        graph = build_graph(named, (edge for edge in edges if edge[2] != "bidirected"))
        _check_acyclic(graph)
        arrows = graph.directed
        if graph.undirected:
            parents = consistent_extension(graph)
            arrows = frozenset((i, j) for j, causes in enumerate(parents) for i in causes)
        seen = [name for name in graph.nodes if name not in unobserved]
        if len(seen) < 2:
            raise DataError("graph-of-one-column")
        place = {name: k for k, name in enumerate(graph.nodes)}
        double = {ordered(place[a], place[b]) for a, b in both}
        made = _projected(arrows, double, [place[name] for name in graph.nodes if name not in seen])
        new = {place[name]: k for k, name in enumerate(seen)}
        return cls(
            tuple(seen),
            frozenset((new[i], new[j]) for i, j in made[0]),
            frozenset(ordered(new[i], new[j]) for i, j in made[1]),
        )

    @classmethod
    def of_graph(cls, graph: PDAG) -> StatedGraph:
        """A graph without circles; raises what `of_edges` raises.

        In a PAG, an edge of no direction stands for selected rows, which is refused too.
        """
        lines = graph.named_undirected() if isinstance(graph, PAG) else ()
        for a, b in lines:
            raise DataError("stated-graph-has-circles", a=short(a), b=short(b))
        return cls.of_edges(graph.nodes, graph.named_edges())

    def asking(self, exposure: str | None, outcome: str | None) -> StatedGraph:
        """The graph with these columns as the effect of interest, if they are given.

        Raises DataError if one is given and the other one is neither given nor in the graph.
        """
        made = replace(self, exposure=exposure or self.exposure, outcome=outcome or self.outcome)
        named = exposure or outcome
        if named and not (made.exposure and made.outcome):
            raise DataError("effect-of-graph-needs-both", named=short(named))
        return made

    def places(self, columns: Sequence[str]) -> tuple[int, ...]:
        """The index of each column of the graph among `columns`.

        Raises DataError for a column that is not among them, with the nearest name.
        """
        for name in (*self.names, *filter(None, (self.exposure, self.outcome))):
            if name not in columns or name not in self.names:
                known = columns if name not in columns else self.names
                like = short(nearest(name, known))
                raise DataError("no-column-of-graph", name=short(name), nearest=like)
        return tuple(columns.index(name) for name in self.names)

    @property
    def graph(self) -> PDAG:
        """The graph for drawing; an arrow hides a double arrow of the same pair."""
        hidden = {ordered(*edge) for edge in self.directed}
        return PDAG(self.names, self.directed, frozenset(), self.bidirected - hidden)

    def lines(self) -> list[str]:
        """A line of text for each edge, and for each column without an edge."""
        edges = [(edge, "->") for edge in sorted(self.directed)]
        edges += [(edge, "<->") for edge in sorted(self.bidirected)]
        joined = {end for edge, _ in edges for end in edge}
        names = [quoted(name) for name in self.names]
        lines = [f"{names[i]} {mark} {names[j]}" for (i, j), mark in edges]
        return [*lines, *(name for k, name in enumerate(names) if k not in joined)]

    @classmethod
    def of(cls, described: Mapping[str, Any]) -> StatedGraph:
        """The graph that `as_dict` described."""
        nodes = described["nodes"]
        kinds: tuple[Kind, ...] = ("directed", "bidirected")
        edges = [(a, b, kind) for kind in kinds for a, b in described[kind]]
        return replace(
            cls.of_edges(nodes, edges),
            exposure=described.get("exposure"),
            outcome=described.get("outcome"),
            adjusted=tuple(described.get("adjusted", ())),
        )

    def as_dict(self) -> dict[str, Any]:
        """The graph as a dictionary that `json` can write."""
        named: dict[str, Any] = {"nodes": list(self.names)}
        for kind, edges in (("directed", self.directed), ("bidirected", self.bidirected)):
            named[kind] = [[self.names[i], self.names[j]] for i, j in sorted(edges)]
        roles = {"exposure": self.exposure, "outcome": self.outcome}
        named |= {role: name for role, name in roles.items() if name}
        return named | ({"adjusted": list(self.adjusted)} if self.adjusted else {})

    def with_link(self, x: int, y: int) -> list[StatedGraph]:
        """The graph with one more arrow between x and y, in each direction without a cycle."""
        return [
            replace(self, directed=self.directed | {(cause, effect)})
            for cause, effect in ((x, y), (y, x))
            if not self.affects(effect, cause)
        ]

    def independences(self) -> dict[Edge, frozenset[int] | None]:
        """For each pair (i, j) without an edge, a set of columns given which it is independent.

        The set holds the parents of the later column if they separate the pair, otherwise it is the
        smallest separating set; None if no set of observed columns separates the pair.
        """
        edges = {ordered(*edge) for edge in self.directed} | self.bidirected
        every = combinations(range(len(self.names)), 2)
        return {pair: self._separating(*pair) for pair in every if pair not in edges}

    def arrows(self) -> dict[Edge, frozenset[int] | None]:
        """For each arrow, a set given which cause and effect are dependent by the arrow alone.

        The set is the one that would separate them without the arrow; None if there is none.
        """
        return {
            arrow: replace(self, directed=self.directed - {arrow})._separating(*arrow)
            for arrow in sorted(self.directed)
        }

    def adjustments(self, cause: int, outcome: int) -> list[frozenset[int]]:
        """All minimal valid adjustment sets, the smallest first; empty if there is none.

        Sets are tried by size, at most `_MOST_SETS`, so that only large sets can be missing.
        A minimal set holds ancestors of cause or outcome (van der Zander, Liśkiewicz & Textor
        2014), and none of the columns that the cause affects.
        """
        dag = self._with_causes()
        above = _above(self._parents, (cause, outcome)) - descendants(dag, cause)
        candidates = sorted((above & set(range(len(self.names)))) - {outcome})
        found, left = list[frozenset[int]](), _MOST_SETS
        for size in range(len(candidates) + 1):
            left -= comb(len(candidates), size)
            if left < 0:
                break
            for columns in map(frozenset, combinations(candidates, size)):
                if not any(known <= columns for known in found) and valid(
                    dag, cause, outcome, columns
                ):
                    found.append(columns)
        return found

    def valid(self, cause: int, outcome: int, columns: Collection[int]) -> bool:
        """Whether adjustment for the columns identifies the effect of the cause on the outcome."""
        return valid(self._with_causes(), cause, outcome, columns)

    def affects(self, cause: int, outcome: int) -> bool:
        """Whether arrows lead from the cause to the outcome."""
        return outcome in descendants(self.graph, cause)

    @cached_property
    def _parents(self) -> tuple[frozenset[int], ...]:
        """The parents of each column and, after the columns, of a cause for each double arrow."""
        parents: list[set[int]] = [set() for _ in self.names]
        for cause, effect in self.directed:
            parents[effect].add(cause)
        for number, pair in enumerate(sorted(self.bidirected), len(parents)):
            for end in pair:
                parents[end].add(number)
        return (*map(frozenset, parents), *(frozenset[int]() for _ in self.bidirected))

    def _with_causes(self) -> PDAG:
        """The DAG of `_parents`."""
        arrows = frozenset((i, j) for j, causes in enumerate(self._parents) for i in causes)
        return PDAG(tuple(map(str, range(len(self._parents)))), arrows)

    def _separating(self, x: int, y: int) -> frozenset[int] | None:
        parents, seen = self._parents, frozenset(range(len(self.names)))
        for later, earlier in sorted(((x, y), (y, x)), key=lambda two: len(parents[two[0]])):
            own = parents[later] & seen - {earlier}
            if d_separated(parents, x, y, own):
                return own
        return _smallest_separator(parents, seen, x, y)


def ordered_names(a: str, b: str) -> tuple[str, str]:
    """The pair in a fixed order; raises DataError for an edge from a node to itself."""
    if a == b:
        raise DataError("edge-to-itself", node=short(a))
    return min(a, b), max(a, b)


def _check_acyclic(graph: PDAG) -> None:
    try:
        cycle = nx.find_cycle(nx.DiGraph(sorted(graph.directed)))
    except nx.NetworkXNoCycle:
        return
    nodes = [*(i for i, _ in cycle), cycle[0][0]]
    raise DataError(
        "stated-graph-cycle", cycle=" -> ".join(short(graph.nodes[k], 30) for k in nodes)
    )


def _projected(
    arrows: Iterable[Edge], double: Iterable[Edge], unobserved: Iterable[int]
) -> tuple[set[Edge], set[Edge]]:
    """Arrows and double arrows without the unobserved nodes, which are taken out one by one."""
    arrows, double = set(arrows), set(double)
    for node in unobserved:
        causes = {i for i, j in arrows if j == node}
        effects = {j for i, j in arrows if i == node}
        others = {sum(pair) - node for pair in double if node in pair}
        arrows |= {(cause, effect) for cause in causes for effect in effects}
        double |= {ordered(*pair) for pair in combinations(sorted(effects), 2)}
        double |= {ordered(a, b) for a in others for b in effects if a != b}
        arrows = {edge for edge in arrows if node not in edge}
        double = {edge for edge in double if node not in edge}
    return arrows, double


def _above(parents: Sequence[Collection[int]], nodes: Iterable[int]) -> set[int]:
    """These nodes and their ancestors."""
    found, waiting = set[int](), list(nodes)
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.add(node)
            waiting.extend(parents[node])
    return found


def _smallest_separator(
    parents: Sequence[Collection[int]], seen: Collection[int], x: int, y: int
) -> frozenset[int] | None:
    """A smallest set of nodes in `seen` that d-separates x and y; None if there is none.

    It is a smallest cut in the moral graph of the ancestors of x and y (Tian, Paz & Pearl 1998).
    Each node is an edge from (node, 0) to (node, 1); an edge without a capacity cannot be cut.
    """
    above, network = sorted(_above(parents, (x, y))), nx.DiGraph()
    for node in above:
        free = node in seen and node not in (x, y)
        network.add_edge((node, 0), (node, 1), **({"capacity": 1} if free else {}))
        for a, b in _pairs_of({node, *parents[node]}):
            network.add_edge((a, 1), (b, 0))
    try:
        _, (reached, _) = nx.minimum_cut(network, (x, 1), (y, 0))
    except nx.NetworkXUnbounded:
        return None
    return frozenset(k for k in above if (k, 0) in reached and (k, 1) not in reached)


def _pairs_of(nodes: Collection[int]) -> Iterator[Edge]:
    for a, b in combinations(sorted(nodes), 2):
        yield a, b
        yield b, a
