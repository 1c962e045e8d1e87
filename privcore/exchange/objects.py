"""Converts graphs to and from objects of networkx, causal-learn and pgmpy."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

import networkx as nx

from privcore.errors import DataError
from privcore.graphs.pdag import MARKS, PAG, PDAG, End, Kind, NamedEdge, build_graph, kind_of_ends
from privcore.text import short

# An edge whose two ends differ is stored in one direction.
_ONE_WAY = [kind for kind, mark in MARKS.items() if mark[0].replace("<", ">") != mark[-1]]


def to_networkx(graph: PDAG) -> nx.DiGraph:
    """A networkx `DiGraph` over the names, in which each arc has the attribute `kind`.

    An edge with the same mark at both ends becomes two arcs, one in each direction, as in pgmpy's
    `PDAG`.  For a PAG, the graph has the attribute `pag`, which is true, and an edge a o→ b or
    a o– b becomes one arc from a to b.

    Example:
        >>> chain = PDAG(("a", "b", "c"), frozenset({(0, 1)}), frozenset({(1, 2)}))
        >>> list(to_networkx(chain).edges(data="kind"))
        [('a', 'b', 'directed'), ('b', 'c', 'undirected'), ('c', 'b', 'undirected')]
        >>> from_networkx(to_networkx(chain)) == chain
        True
    """
    network = nx.DiGraph(pag=True) if isinstance(graph, PAG) else nx.DiGraph()
    network.add_nodes_from(graph.nodes)
    for a, b, kind in graph.named_edges():
        network.add_edge(a, b, kind=kind)
        if kind not in _ONE_WAY:
            network.add_edge(b, a, kind=kind)
    return network


def from_networkx(network: Any) -> PDAG:
    """Read a graph from a networkx `DiGraph` or `Graph`; each node is named by its text form.

    The attribute `kind` of an arc is used if the arc has one.  Otherwise the arc is directed, or
    undirected if there are arcs in both directions; the edges of a `Graph` are undirected.  The
    result is a `PAG` if an edge has a circle, or if the graph's attribute `pag` is true.
    """
    if not isinstance(network, nx.Graph):
        raise _stranger(network, "networkx Graph or DiGraph")
    if network.is_multigraph():
        raise DataError("no-multigraph")
    names = {node: str(node) for node in network}
    edges: dict[tuple[Any, Any], Kind] = {}
    for a, b, declared in network.edges(data="kind"):
        back = edges.get((b, a))
        usual: Kind = "directed" if network.is_directed() and back is None else "undirected"
        edges[a, b] = declared if isinstance(declared, str) and declared in MARKS else usual
        if back is None:
            continue
        if edges[a, b] == "directed":
            edges[a, b] = "undirected"
        # Two arcs with a circle at one end are two edges, which are refused.
        if edges[a, b] not in _ONE_WAY:
            del edges[b, a]
    named = [(names[a], names[b], kind) for (a, b), kind in edges.items()]
    return build_graph(names.values(), named, pag=network.graph.get("pag") is True)


def to_causal_learn(graph: PDAG) -> Any:
    """A `GeneralGraph` with the same marks at the ends of its edges; `is_pag` is true for a PAG.

    Example:
        >>> chain = PDAG(("a", "b", "c"), frozenset({(0, 1)}), frozenset({(1, 2)}))
        >>> print(str(to_causal_learn(chain)).strip())
        Graph Nodes:
        a;b;c
        <BLANKLINE>
        Graph Edges:
        1. a --> b
        2. b --- c
    """
    _library("causallearn", "causal-learn")
    from causallearn.graph.Edge import Edge
    from causallearn.graph.Endpoint import Endpoint
    from causallearn.graph.GeneralGraph import GeneralGraph
    from causallearn.graph.GraphNode import GraphNode

    nodes = {name: GraphNode(name) for name in graph.nodes}
    made = GeneralGraph(list(nodes.values()))
    made.set_pag(isinstance(graph, PAG))
    ends = {"-": Endpoint.TAIL, "<": Endpoint.ARROW, ">": Endpoint.ARROW, "o": Endpoint.CIRCLE}
    for a, b, kind in graph.named_edges():
        first, second = ends[MARKS[kind][0]], ends[MARKS[kind][-1]]
        if kind == "partially_undirected":
            # A GeneralGraph accepts this edge only from its tail to its circle.
            made.add_edge(Edge(nodes[b], nodes[a], second, first))
        else:
            made.add_edge(Edge(nodes[a], nodes[b], first, second))
    return made


def from_causal_learn(source: Any) -> PDAG:
    """Read a graph from a `GeneralGraph`, or from a result of causal-learn's `pc` or `fci`.

    The result is a `PAG` if an edge has a circle, or if `is_pag` is true, as causal-learn's `fci`
    sets it.
    """
    _library("causallearn", "causal-learn")
    from causallearn.graph.GeneralGraph import GeneralGraph

    first = source[0] if isinstance(source, tuple) and source else source
    general = getattr(first, "G", first)
    if not isinstance(general, GeneralGraph):
        raise _stranger(source, "causal-learn GeneralGraph")
    edges: list[NamedEdge] = []
    for edge in general.get_graph_edges():
        a, b = edge.get_node1().get_name(), edge.get_node2().get_name()
        ends = [_ENDS.get(end.name) for end in (edge.get_endpoint1(), edge.get_endpoint2())]
        if ends[0] is None or ends[1] is None:
            raise DataError("no-known-end", a=short(a), b=short(b))
        edges.append(edge_of_ends(a, b, ends[0], ends[1]))
    return build_graph(general.get_node_names(), edges, pag=general.is_pag())


def to_pgmpy(graph: PDAG) -> Any:
    """A `pgmpy.base.DAG`, or a `PDAG` if an edge has no direction."""
    _library("pgmpy", "pgmpy")
    from pgmpy import base

    made = base.PDAG(graph.named_directed(), graph.named_undirected())
    if not graph.undirected:
        made = base.DAG(graph.named_directed())
    made.add_nodes_from(graph.nodes)
    return made


def from_pgmpy(source: Any) -> PDAG:
    """Read a graph from a pgmpy `DAG`, Bayesian network, or `PDAG`."""
    _library("pgmpy", "pgmpy")
    from pgmpy import base

    if not isinstance(source, base.DAG | base.PDAG):
        raise _stranger(source, "pgmpy DAG or PDAG")
    undirected = getattr(source, "undirected_edges", ())
    directed = getattr(source, "directed_edges", None)
    arcs = source.edges() if directed is None else directed
    edges: list[NamedEdge] = [(str(a), str(b), "directed") for a, b in arcs]
    edges += [(str(a), str(b), "undirected") for a, b in undirected]
    return build_graph(map(str, source.nodes()), edges)


_ENDS: dict[str, End] = {"TAIL": "-", "ARROW": ">", "CIRCLE": "o"}


def edge_of_ends(a: str, b: str, end_a: End, end_b: End) -> NamedEdge:
    """The edge with these marks at a and at b, as (from, to, kind)."""
    kind, turned = kind_of_ends(end_a, end_b)
    return (b, a, kind) if turned else (a, b, kind)


def _library(module: str, package: str) -> ModuleType:
    try:
        return importlib.import_module(module)
    except ImportError:
        raise DataError("not-installed", package=package) from None


def _stranger(source: object, wanted: str) -> DataError:
    return DataError("object-of-other-format", name=type(source).__name__, wanted=wanted)
