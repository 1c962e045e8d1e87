"""Graphs to and from the objects of networkx, causal-learn and pgmpy."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

import networkx as nx

from privcore.errors import DataError
from privcore.graphs.building import NamedEdge, build_graph
from privcore.graphs.pdag import PDAG, Kind

_KINDS: tuple[Kind, ...] = ("directed", "undirected", "bidirected")


def to_networkx(graph: PDAG) -> nx.DiGraph:
    """A `DiGraph` over the names, each arc with its `kind`.

    An edge without one direction is two arcs, one each way, as in pgmpy's `PDAG`.

    Example:
        >>> chain = PDAG(("a", "b", "c"), frozenset({(0, 1)}), frozenset({(1, 2)}))
        >>> list(to_networkx(chain).edges(data="kind"))
        [('a', 'b', 'directed'), ('b', 'c', 'undirected'), ('c', 'b', 'undirected')]
        >>> from_networkx(to_networkx(chain)) == chain
        True
    """
    network = nx.DiGraph()
    network.add_nodes_from(graph.nodes)
    for a, b, kind in graph.named_edges():
        network.add_edge(a, b, kind=kind)
        if kind != "directed":
            network.add_edge(b, a, kind=kind)
    return network


def from_networkx(network: Any) -> PDAG:
    """A `DiGraph` or a `Graph`, whose nodes are named by their text.

    An arc is of its `kind`, where it has one.  Without one it is directed, or undirected where
    there are arcs both ways; the edges of a `Graph` are undirected.
    """
    if not isinstance(network, nx.Graph):
        raise _stranger(network, "networkx Graph or DiGraph")
    if network.is_multigraph():
        raise DataError("A pair of nodes may have one edge; make the multigraph a DiGraph.")
    names = {node: str(node) for node in network}
    edges: dict[tuple[Any, Any], Kind] = {}
    for a, b, said in network.edges(data="kind"):
        back = edges.pop((b, a), None)
        usual: Kind = "directed" if network.is_directed() and back is None else "undirected"
        edges[a, b] = said if said in _KINDS else usual
        if back is not None and edges[a, b] == "directed":
            edges[a, b] = "undirected"
    return build_graph(names.values(), ((names[a], names[b], k) for (a, b), k in edges.items()))


def to_causal_learn(graph: PDAG) -> Any:
    """A `GeneralGraph`: tails at both ends of an undirected edge, arrows at those of a bidirected.

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
    tail, arrow = Endpoint.TAIL, Endpoint.ARROW
    ends = {"directed": (tail, arrow), "undirected": (tail, tail), "bidirected": (arrow, arrow)}
    for a, b, kind in graph.named_edges():
        made.add_edge(Edge(nodes[a], nodes[b], *ends[kind]))
    return made


def from_causal_learn(source: Any) -> PDAG:
    """A `GeneralGraph`, or the result of causal-learn's `pc`, whose `G` is one."""
    _library("causallearn", "causal-learn")
    from causallearn.graph.Endpoint import Endpoint
    from causallearn.graph.GeneralGraph import GeneralGraph

    general = getattr(source, "G", source)
    if not isinstance(general, GeneralGraph):
        raise _stranger(source, "causal-learn GeneralGraph")
    edges: list[NamedEdge] = []
    for edge in general.get_graph_edges():
        a, b = edge.get_node1().get_name(), edge.get_node2().get_name()
        ends = [edge.get_endpoint1().name, edge.get_endpoint2().name]
        if not set(ends) <= {Endpoint.TAIL.name, Endpoint.ARROW.name}:
            raise circles("The GeneralGraph")
        edges.append(edge_of_ends(a, b, *(end == "ARROW" for end in ends)))
    return build_graph(general.get_node_names(), edges)


def to_pgmpy(graph: PDAG) -> Any:
    """A `pgmpy.base.DAG`, or a `PDAG` where an edge has no direction."""
    _library("pgmpy", "pgmpy")
    from pgmpy import base

    made = base.PDAG(graph.named_directed(), graph.named_undirected())
    if not graph.undirected:
        made = base.DAG(graph.named_directed())
    made.add_nodes_from(graph.nodes)
    return made


def from_pgmpy(source: Any) -> PDAG:
    """A `DAG`, a Bayesian network over one, or a `PDAG`."""
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


def edge_of_ends(a: str, b: str, arrow_at_a: bool, arrow_at_b: bool) -> NamedEdge:
    """The edge with arrowheads at those of its ends."""
    if arrow_at_a and not arrow_at_b:
        return b, a, "directed"
    if arrow_at_a:
        return a, b, "bidirected"
    return a, b, "directed" if arrow_at_b else "undirected"


def circles(what: str) -> DataError:
    """The refusal of a partial ancestral graph."""
    return DataError(f"{what} has edges that end in a circle; decide on a tail or an arrow there.")


def _library(module: str, package: str) -> ModuleType:
    try:
        return importlib.import_module(module)
    except ImportError:
        raise DataError(f"{package} is not installed; run pip install {package}.") from None


def _stranger(source: object, wanted: str) -> DataError:
    return DataError(f"A {type(source).__name__} is no {wanted}; choose the format that it has.")
