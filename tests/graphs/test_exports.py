"""Exports are read back by the readers of their formats; layouts keep nodes apart."""

import csv
import io
import json
from itertools import combinations

import networkx as nx
import pydot
import pytest

from privcore.data import NETWORKS, load_network
from privcore.display.layout import shared_layout
from privcore.exchange.formats import to_dot, to_edge_csv, to_graphml
from privcore.graphs import PDAG, cpdag_of_dag
from privcore.graphs.pdag import to_json_dict

NASTY = ("a", 'quo"te\\', "</script><b>", "🙂 ünï", "=1+1", "x" * 200)
GRAPH = PDAG(NASTY, frozenset({(0, 1), (2, 1)}), frozenset({(3, 4), (4, 5)}), frozenset({(0, 2)}))
PLACES = shared_layout(NASTY)


def test_json():
    described = json.loads(json.dumps(to_json_dict(GRAPH, PLACES)))
    assert described["nodes"] == list(NASTY)
    kinds = ("directed", "undirected", "bidirected")
    assert PDAG.from_names(described["nodes"], *(described[kind] for kind in kinds)) == GRAPH
    assert "bidirected" not in to_json_dict(PDAG(NASTY, GRAPH.directed))
    assert described["positions"].keys() == set(NASTY)


def test_graphml():
    read = nx.parse_graphml(to_graphml(GRAPH))
    label = nx.get_node_attributes(read, "label")
    edges = {(label[a], label[b], d["kind"]) for a, b, d in read.edges(data=True)}
    assert edges == {(a, b, "directed") for a, b in GRAPH.named_directed()} | {
        (a, b, "undirected") for a, b in GRAPH.named_undirected()
    } | {(GRAPH.nodes[a], GRAPH.nodes[b], "bidirected") for a, b in GRAPH.bidirected}


def test_dot():
    (read,) = pydot.graph_from_dot_data(to_dot(GRAPH))
    edges = [(e.get_source(), e.get_destination(), e.get("dir")) for e in read.get_edge_list()]
    assert [direction for *_, direction in edges] == [None, None, "none", "none", "both"]
    assert '"</script><b>"' in {source for source, *_ in edges}


def test_csv_guards_formulas():
    rows = list(csv.DictReader(io.StringIO(to_edge_csv(GRAPH))))
    assert [r["kind"] for r in rows] == ["directed"] * 2 + ["undirected"] * 2 + ["bidirected"]
    assert rows[2] == {"source": "🙂 ünï", "target": "'=1+1", "kind": "undirected"}


@pytest.mark.long
@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("with_dag", [True, False])
def test_layouts_keep_nodes_apart_and_inside(name, with_dag):
    network = load_network(name)
    edges = PDAG.from_names(network.names, network.edges).directed
    known = {"dag": edges} if with_dag else {"graph": cpdag_of_dag(network.names, edges)}
    places = shared_layout(network.names, **known)
    assert places == shared_layout(network.names, **known)
    assert all(-1 <= x <= 1 and -1 <= y <= 1 for x, y in places)
    nearest = min(abs(a[0] - b[0]) + abs(a[1] - b[1]) for a, b in combinations(places, 2))
    assert nearest > 0.08
    if with_dag and len(places) <= 20:
        assert all(places[i][1] < places[j][1] for i, j in edges)
