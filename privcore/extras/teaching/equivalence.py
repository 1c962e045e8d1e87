"""The meaning of an undirected edge: all DAGs of a Markov equivalence class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from privcore.data import load_network
from privcore.display.layout import shared_layout
from privcore.errors import DataError, ParameterError
from privcore.extras.teaching.panel import Panel, by_name, choice
from privcore.graphs import PDAG, cpdag_of_dag, cpdag_of_names
from privcore.graphs.constraints import apply_meek_rules
from privcore.graphs.pdag import Edge, Positions

MOST = 200
_LETTERS = "ABCDE"
_SMALL: dict[str, tuple[Edge, ...]] = {
    "chain": ((0, 1), (1, 2)),
    "fork": ((1, 0), (1, 2)),
    "collider": ((0, 1), (2, 1)),
    "collider with an effect": ((0, 1), (2, 1), (1, 3)),
    "diamond": ((0, 1), (0, 2), (1, 3), (2, 3)),
    "triangle": ((0, 1), (0, 2), (1, 2)),
    "two triangles": ((0, 1), (0, 2), (1, 2), (1, 3), (2, 3)),
    "tree": ((0, 1), (1, 2), (1, 3), (3, 4)),
}
_NETWORKS = ("asia",)
STRUCTURES = (*_SMALL, *_NETWORKS)


@dataclass(frozen=True)
class EquivalenceClass:
    """A DAG, its CPDAG, and all DAGs that no data can distinguish from this DAG.

    members: the sorted edges (cause, effect) of each DAG. truth: index of the true DAG in members.
    positions: one (x, y) per node, for all drawings. undirected: number of undirected edges of the
    CPDAG.
    """

    cpdag: PDAG
    members: tuple[tuple[Edge, ...], ...]
    truth: int
    positions: Positions

    @property
    def count(self) -> int:
        return len(self.members)

    @property
    def undirected(self) -> int:
        return len(self.cpdag.undirected)


def markov_equivalents(cpdag: PDAG, most: int = MOST) -> list[tuple[Edge, ...]]:
    """The edges of every DAG with this CPDAG; both the edges and the DAGs are sorted.

    Orients one undirected edge either way, applies Meek's rules, and repeats: every choice leads to
    a different member (Meek 1995, Theorem 4). Raises ParameterError if there are more than `most`
    DAGs, or if the graph is not a CPDAG.
    """
    members: list[tuple[Edge, ...]] = []
    waiting = [cpdag]
    while waiting:
        graph = waiting.pop()
        if not graph.undirected:
            members.append(tuple(sorted(graph.directed)))
            if len(members) > most:
                raise ParameterError("too-many-dags", limit=most)
            continue
        i, j = min(graph.undirected)
        for arrow in ((i, j), (j, i)):
            graph_with = PDAG(graph.nodes, graph.directed | {arrow}, graph.undirected - {(i, j)})
            waiting.append(apply_meek_rules(graph_with))
    if any(not _is_member(edges, cpdag) for edges in members):
        raise ParameterError("no-cpdag")
    return sorted(members)


def _is_member(edges: tuple[Edge, ...], cpdag: PDAG) -> bool:
    try:
        return cpdag_of_dag(cpdag.nodes, edges) == cpdag
    except DataError:
        return False


def equivalence_class(structure: str) -> EquivalenceClass:
    """The equivalence class of a small example or a built-in network.

    Raises ParameterError for an unknown name.
    """
    if structure in _SMALL:
        dag = _SMALL[structure]
        nodes: tuple[str, ...] = tuple(_LETTERS[: 1 + max(max(edge) for edge in dag)])
        cpdag = cpdag_of_dag(nodes, dag)
    elif structure in _NETWORKS:
        network = load_network(structure)
        nodes = network.names
        cpdag = cpdag_of_names(nodes, network.edges)
        dag = tuple((nodes.index(a), nodes.index(b)) for a, b in network.edges)
    else:
        raise ParameterError("no-such-structure", name=structure, choices=", ".join(STRUCTURES))
    members = tuple(markov_equivalents(cpdag))
    return EquivalenceClass(
        cpdag=cpdag,
        members=members,
        truth=members.index(tuple(sorted(dag))),
        positions=shared_layout(nodes, dag=dag),
    )


def _code(values: Mapping[str, Any]) -> str:
    structure = values["structure"]
    if structure in _SMALL:
        nodes = tuple(_LETTERS[: 1 + max(max(edge) for edge in _SMALL[structure])])
        make = f"cpdag_of_dag({nodes!r}, {list(_SMALL[structure])!r})"
        imports = "from privcore.graphs import cpdag_of_dag"
    else:
        make = "cpdag_of_names(network.names, network.edges)"
        imports = (
            "from privcore.data import load_network\n"
            "from privcore.graphs import cpdag_of_names\n\n"
            f"network = load_network({structure!r})"
        )
    return f"""from privcore.extras.teaching.equivalence import markov_equivalents
{imports}

cpdag = {make}
members = markov_equivalents(cpdag)
count = len(members)
for edges in members:
    print([(cpdag.nodes[i], cpdag.nodes[j]) for i, j in edges])
"""


_SOURCE = "Verma & Pearl 1990; Meek 1995"

EQUIVALENCE = Panel(
    name="equivalence",
    title="Undirected edges",
    question="What does an edge without an arrow mean?",
    formula=r"G \sim G' \iff \text{same adjacencies and same } v\text{-structures }"
    r"(i \to k \leftarrow j,\; i, j \text{ not adjacent})",
    sentence="All these DAGs imply the same independences, so no data can distinguish them. An "
    "edge is undirected if the DAGs disagree on its direction.",
    source=f"{_SOURCE}; Andersson, Madigan & Perlman 1997",
    parameters=(
        choice(
            "structure",
            "True graph",
            "chain",
            STRUCTURES,
            "A small graph, or a built-in network.",
            _SOURCE,
        ),
    ),
    compute=by_name(equivalence_class),
    code=_code,
    reproduces=("members", "count"),
)
