"""Layouts: by layers of a DAG or of a graph that a run gave, nodes apart, never a line."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privcore.data import load_network
from privcore.display.layout import _acyclic, _layered, shared_layout
from privcore.graphs import PDAG, cpdag_of_dag
from tests.graphs.random_dags import names, random_dag
from tests.graphs.random_graphs import pdags

NODES = names(12)
GRAPHS = {
    "no edges": PDAG(NODES),
    "one edge": PDAG(NODES, frozenset({(3, 1)})),
    "a chain without arrows": PDAG(NODES, undirected=frozenset((i, i + 1) for i in range(11))),
    "a star without arrows": PDAG(NODES, undirected=frozenset((0, i) for i in range(1, 12))),
    "pairs": PDAG(NODES, frozenset((i + 1, i) for i in range(0, 12, 2))),
    "a cycle": PDAG(NODES, frozenset((i, (i + 1) % 12) for i in range(12))),
    "arrows both ways": PDAG(NODES, frozenset({(0, 1)}), bidirected=frozenset({(1, 2), (4, 9)})),
}


def nearest(places):
    return min(max(abs(a - c), abs(b - d)) for (a, b), (c, d) in combinations(places, 2))


def assert_in_frame(places, graph):
    """Joined nodes are in the frame, others below it."""
    joined = {node for pair in graph.skeleton for node in pair} or set(range(len(places)))
    for i, (x, y) in enumerate(places):
        assert max(abs(x), abs(y)) <= 1 if i in joined else y > 1


@pytest.mark.parametrize("name", GRAPHS)
def test_a_table_of_twelve_columns_is_no_line(name):
    places = shared_layout(NODES, graph=GRAPHS[name])
    assert places == shared_layout(NODES, graph=GRAPHS[name])
    assert_in_frame(places, GRAPHS[name])
    assert nearest(places) > 0.05
    assert np.linalg.svd(np.array(places) - np.mean(places, axis=0))[1].min() > 0.4
    if GRAPHS[name].skeleton:
        assert all(places[i][1] != places[j][1] for i, j in GRAPHS[name].skeleton)


def test_arrows_point_down_and_nodes_without_edges_stand_below():
    graph = PDAG(NODES, frozenset({(5, 2), (2, 7)}), frozenset({(7, 9), (1, 9)}))
    places = shared_layout(NODES, graph=graph)
    assert places[5][1] < places[2][1] < places[7][1]
    joined = {5, 2, 7, 9, 1}
    below = max(places[i][1] for i in joined)
    assert all(places[i][1] > below for i in set(range(12)) - joined)


def test_a_known_dag_decides_and_one_without_edges_does_not():
    graph, dag = PDAG(NODES, frozenset({(0, 1)})), {(1, 0)}
    assert shared_layout(NODES, dag=dag, graph=graph) == shared_layout(NODES, dag=dag)
    assert shared_layout(NODES, dag=(), graph=graph) == shared_layout(NODES, graph=graph)


def clique_tree(generator, p):
    """A DAG without v-structures: the parents of every node are a clique."""
    parents = {0: set()}
    for node in range(1, p):
        first = int(generator.integers(node))
        parents[node] = {first} | {i for i in parents[first] if generator.random() < 0.5}
    place = generator.permutation(p)
    return {(int(place[i]), int(place[j])) for j, found in parents.items() for i in found}


@pytest.mark.parametrize("seed", range(20))
def test_the_layers_of_a_cpdag_are_those_of_one_of_its_dags(seed):
    """An order that adds v-structures would stand for another equivalence class."""
    generator, nodes = np.random.default_rng(seed), names(12)
    for dag in (random_dag(generator, 12, 0.3), clique_tree(generator, 12)):
        graph = cpdag_of_dag(nodes, dag)
        assert cpdag_of_dag(nodes, _acyclic(graph)) == graph


@given(graph=pdags())
def test_any_graph_has_a_layout(graph):
    places = shared_layout(graph.nodes, graph=graph)
    assert len(places) == len(graph.nodes)
    assert len(set(places)) == len(places)
    assert_in_frame(places, graph)


@given(st.integers(1, 60))
def test_before_any_run_the_names_alone_stand_in_a_circle(p):
    places = np.array(shared_layout(names(p)))
    assert np.allclose(np.hypot(*places.T), 1)


def crossings(places, edges):
    """Pairs of straight edges without a common end that cross."""
    at = np.array(places)

    def side(a, b, c):
        (x, y), (u, v) = at[b] - at[a], at[c] - at[a]
        return x * v - y * u

    return sum(
        side(a, b, c) * side(a, b, d) < 0 and side(c, d, a) * side(c, d, b) < 0
        for (a, b), (c, d) in combinations(sorted(edges), 2)
        if len({a, b, c, d}) == 4
    )


@pytest.mark.parametrize(("name", "most"), [("alarm", 10), ("hailfinder", 13), ("win95pts", 110)])
def test_large_networks_cross_far_less_than_in_layers(name, most):
    network = load_network(name)
    dag = PDAG.from_names(network.names, network.edges).directed
    places = shared_layout(network.names, dag=dag)
    assert crossings(places, dag) <= most
    assert crossings(_layered(len(network.names), dag), dag) > 3 * most
    # On the whole arrows point down.
    assert np.mean([places[j][1] > places[i][1] for i, j in dag]) > 0.5


def test_parts_that_nothing_joins_stand_beside_each_other():
    chains = {(i, i + 1) for i in range(29) if i != 14}
    places = np.array(shared_layout(names(30), dag=chains))
    assert np.abs(places).max() <= 1
    gap = min(np.hypot(*(places[i] - places[j])) for i in range(15) for j in range(15, 30))
    assert gap < 1


@given(st.integers(2, 30), st.integers(0, 10_000))
def test_time_runs_downwards_whatever_the_edges(p, seed):
    generator = np.random.default_rng(seed)
    dag = random_dag(generator, p, generator.uniform(0, 0.4))
    tiers = [None if t == 4 else int(t) for t in generator.integers(0, 5, p)]
    places = shared_layout(names(p), dag=dag, tiers=tiers)
    assert len(set(places)) == p
    for i, j in combinations(range(p), 2):
        if None not in (tiers[i], tiers[j]) and tiers[i] != tiers[j]:
            assert (places[i][1] < places[j][1]) == (tiers[i] < tiers[j])
    assert shared_layout(names(p), dag=dag) == shared_layout(names(p), dag=dag, tiers=[None] * p)
