"""Graphs to and from pgmpy and DoWhy themselves.

They come with several hundred MB of other packages, so they have an environment of their own:
`make test-peers`.
"""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from dowhy import CausalModel
from dowhy.causal_graph import CausalGraph
from hypothesis import assume, given
from pgmpy.base import DAG
from pgmpy.base import PDAG as TheirPDAG
from pgmpy.models import DiscreteBayesianNetwork
from pgmpy.readwrite import BIFReader, BIFWriter

from privcore.errors import DataError
from privcore.exchange.formats import FORMATS, export_graph, import_graph
from privcore.graphs import PDAG
from tests.graphs.random_graphs import PLAIN_NAMES, cpdags, dags, pdags
from tests.messages import says


def same(one, other):
    def edges(graph):
        return set(graph.named_directed()), set(map(frozenset, graph.named_undirected()))

    return set(one.nodes) == set(other.nodes) and edges(one) == edges(other)


@given(graph=pdags() | dags() | cpdags())
def test_pgmpy_holds_what_has_no_edge_with_both_directions(graph):
    if graph.bidirected or FORMATS["pgmpy"].refusal(graph):
        with pytest.raises(
            DataError, match=f"{says('no-bidirected-in-format')}|{says('no-cycle-in-format')}"
        ):
            export_graph(graph, "pgmpy")
        return
    made = export_graph(graph, "pgmpy")
    assert isinstance(made, TheirPDAG if graph.undirected else DAG)
    assert same(import_graph(made, "pgmpy"), graph)


@given(graph=cpdags())
def test_pgmpy_reads_the_kinds_of_edges(graph):
    assume(graph.undirected)
    made = export_graph(graph, "pgmpy")
    assert all(made.has_directed_edge(a, b) for a, b in graph.named_directed())
    assert all(made.has_undirected_edge(a, b) for a, b in graph.named_undirected())


@given(graph=dags())
def test_pgmpy_finds_the_same_class(graph):
    """Their CPDAG of a DAG comes back as an equivalence class of the same skeleton."""
    theirs = import_graph(export_graph(graph, "pgmpy").to_pdag(), "pgmpy")
    assert {frozenset(graph.nodes[k] for k in pair) for pair in graph.skeleton} == {
        frozenset(theirs.nodes[k] for k in pair) for pair in theirs.skeleton
    }


def test_a_bayesian_network_of_pgmpy_is_read():
    network = DiscreteBayesianNetwork([("a", "b"), ("b", "c")])
    assert import_graph(network, "pgmpy").named_directed() == [("a", "b"), ("b", "c")]


@given(graph=dags())
def test_dowhy_reads_the_gml(graph):
    """Its parser gets the text as its models do, with the lines made one."""
    if FORMATS["gml"].refusal(graph):
        assert {"()", "[]"} & set(graph.nodes)
        return
    theirs = CausalGraph(
        [], [], graph=export_graph(graph, "gml"), observed_node_names=list(graph.nodes)
    )._graph
    plain = nx.DiGraph()
    plain.add_nodes_from(theirs.nodes)
    plain.add_edges_from(theirs.edges)
    assert same(import_graph(plain, "networkx"), graph)
    assert same(import_graph("".join(nx.generate_gml(plain)), "gml"), graph)


def test_dowhy_identifies_an_effect_on_the_graph():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(50, 3)), columns=["age", "dose", "outcome"])
    graph = PDAG.from_names(
        ["age", "dose", "outcome"], [("age", "dose"), ("age", "outcome"), ("dose", "outcome")]
    )
    model = CausalModel(frame, "dose", "outcome", graph=export_graph(graph, "gml"))
    found = model.identify_effect(proceed_when_unidentifiable=True)
    assert found.get_backdoor_variables() == ["age"]


@given(graph=dags())
def test_pgmpy_reads_the_bif(graph):
    refusal = FORMATS["bif"].refusal(graph)
    if refusal is not None:
        assert refusal.endswith(".")
        return
    reader = BIFReader(string=export_graph(graph, "bif"))
    model = reader.get_model()
    assert model.check_model()
    assert same(import_graph(model, "pgmpy"), graph)
    assert same(import_graph(str(BIFWriter(model)), "bif"), graph)


@given(graph=dags(PLAIN_NAMES.map(str.lower)))
def test_pgmpy_reads_ordinary_names_in_a_bif(graph):
    model = BIFReader(string=export_graph(graph, "bif")).get_model()
    assert same(import_graph(model, "pgmpy"), graph)


@given(graph=dags(PLAIN_NAMES))
def test_pgmpy_reads_and_writes_the_same_dagitty(graph):
    theirs = DAG.from_dagitty(export_graph(graph, "dagitty"))
    assert same(import_graph(theirs, "pgmpy"), graph)
    assert same(import_graph(theirs.to_dagitty(), "dagitty"), graph)
