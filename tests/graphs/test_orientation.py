"""Orientation: exact with a perfect oracle, sound with a contradictory one."""

from itertools import combinations, permutations

import networkx as nx
import numpy as np
import pytest
from causallearn.graph.Dag import Dag
from causallearn.graph.GraphNode import GraphNode
from causallearn.utils.DAG2CPDAG import dag2cpdag
from hypothesis import given, settings
from hypothesis import strategies as st

from privcore.discovery.skeleton import Decision, search_skeleton
from privcore.errors import DataError
from privcore.graphs import PDAG, cpdag_of_dag, orient, topological_order
from privcore.graphs.pdag import ordered
from tests.graphs.random_dags import names, random_dag


class Oracle(Decision):
    """Decides by d-separation in the true DAG, through networkx."""

    def __init__(self, p, edges):
        self.graph = nx.DiGraph(list(edges))
        self.graph.add_nodes_from(range(p))

    def independent(self, x, y, given):
        return nx.is_d_separator(self.graph, {x}, {y}, set(given))


@pytest.mark.parametrize("stable", [True, False])
@pytest.mark.parametrize("chunk", range(10))
def test_a_perfect_oracle_gives_the_true_cpdag_always(stable, chunk):
    generator = np.random.default_rng(1000 + chunk)
    for _ in range(30):
        p = int(generator.integers(2, 11))
        edges = random_dag(generator, p, generator.uniform(0.1, 0.6))
        found = search_skeleton(names(p), Oracle(p, edges), stable=stable)
        assert found.graph.skeleton == {ordered(*e) for e in edges}
        assert orient(found.graph, found.separating_sets) == cpdag_of_dag(names(p), edges)


def brute_force_cpdag(p, edges):
    """By enumerating every acyclic orientation with the same v-structures."""

    def colliders(arrows):
        skeleton = {ordered(*a) for a in arrows}
        return {
            (*ordered(a, b), c)
            for a, c in arrows
            for b, d in arrows
            if c == d and a < b and (a, b) not in skeleton
        }

    skeleton = sorted({ordered(*e) for e in edges})
    wanted = colliders(edges)
    members = []
    for bits in range(2 ** len(skeleton)):
        arrows = {(i, j) if bits >> k & 1 else (j, i) for k, (i, j) in enumerate(skeleton)}
        if nx.is_directed_acyclic_graph(nx.DiGraph(list(arrows))) and colliders(arrows) == wanted:
            members.append(arrows)
    compelled = set.intersection(*members) if members else set()
    lines = {pair for pair in skeleton if pair not in {ordered(*a) for a in compelled}}
    return PDAG(names(p), frozenset(compelled), frozenset(lines))


def test_cpdags_by_enumeration_of_the_class():
    generator = np.random.default_rng(7)
    for _ in range(60):
        p = int(generator.integers(2, 6))
        edges = random_dag(generator, p, 0.5)
        assert cpdag_of_dag(names(p), edges) == brute_force_cpdag(p, edges)


def test_every_dag_on_four_nodes():
    pairs = list(combinations(range(4), 2))
    for choice in range(3 ** len(pairs)):
        edges = set()
        for i, j in pairs:
            choice, state = divmod(choice, 3)
            if state:
                edges.add((i, j) if state == 1 else (j, i))
        if nx.is_directed_acyclic_graph(nx.DiGraph(list(edges))):
            assert cpdag_of_dag(names(4), edges) == brute_force_cpdag(4, edges)


def test_agreement_with_causal_learn():
    generator = np.random.default_rng(3)
    for _ in range(40):
        p = int(generator.integers(3, 9))
        edges = random_dag(generator, p, 0.4)
        nodes = [GraphNode(name) for name in names(p)]
        dag = Dag(nodes)
        for i, j in edges:
            dag.add_directed_edge(nodes[i], nodes[j])
        marks = dag2cpdag(dag).graph  # marks[j, i] == 1 and marks[i, j] == -1: i → j
        directed = {
            (i, j) for i, j in permutations(range(p), 2) if marks[j, i] == 1 and marks[i, j] == -1
        }
        undirected = {
            (i, j) for i, j in combinations(range(p), 2) if marks[i, j] == marks[j, i] == -1
        }
        assert cpdag_of_dag(names(p), edges) == PDAG(
            names(p), frozenset(directed), frozenset(undirected)
        )


def colliders_of(graph):
    return {
        (*ordered(a, b), c)
        for a, c in graph.directed
        for b, d in graph.directed
        if c == d and a < b and ordered(a, b) not in graph.skeleton
    }


@st.composite
def contradictory(draw):
    """Any skeleton with any separating sets: what noisy decisions can produce."""
    p = draw(st.integers(2, 7))
    pairs = list(combinations(range(p), 2))
    kept = draw(st.sets(st.sampled_from(pairs)))
    sets = {
        pair: frozenset(
            draw(st.sets(st.integers(0, p - 1).filter(lambda v, q=pair: v not in q)))
            if p > 2
            else ()
        )
        for pair in pairs
        if pair not in kept and draw(st.booleans())
    }
    return PDAG(names(p), undirected=frozenset(kept)), sets


@settings(max_examples=300)
@given(case=contradictory(), data=st.data())
def test_contradictory_decisions_give_no_cycle_and_no_unasked_collider(case, data):
    skeleton, sets = case
    oriented = orient(skeleton, sets)
    assert oriented.skeleton == skeleton.skeleton
    assert nx.is_directed_acyclic_graph(nx.DiGraph(list(oriented.directed)))
    asked = {
        (i, z)
        for (x, y), separating in sets.items()
        for z in skeleton.adjacent(x) & skeleton.adjacent(y) - separating
        for i in (x, y)
    }
    for x, y, z in colliders_of(oriented):
        assert {(x, z), (y, z)} <= asked
    shuffled = data.draw(st.permutations(list(sets.items())))
    assert orient(skeleton, dict(shuffled)) == oriented


def test_a_contested_edge_drops_its_v_structures():
    # 0 → 1 ← 2 and 1 → 2 ← 3 ask for 1 — 2 in both directions.
    skeleton = PDAG(names(4), undirected=frozenset({(0, 1), (1, 2), (2, 3)}))
    sets = {(0, 2): frozenset(), (1, 3): frozenset(), (0, 3): frozenset()}
    assert orient(skeleton, sets) == skeleton


def test_pairs_without_a_separating_set_make_no_v_structure():
    skeleton = PDAG(names(3), undirected=frozenset({(0, 2), (1, 2)}))
    assert orient(skeleton, {}).directed == frozenset()
    assert orient(skeleton, {(0, 1): frozenset()}).directed == {(0, 2), (1, 2)}
    assert orient(skeleton, {(0, 1): frozenset({2})}).directed == frozenset()


def test_cycles_are_refused():
    with pytest.raises(DataError, match="cycle"):
        cpdag_of_dag(names(3), {(0, 1), (1, 2), (2, 0)})
    assert topological_order(3, {(2, 1), (1, 0)}) == [2, 1, 0]


@pytest.mark.parametrize(
    ("directed", "undirected"),
    [({(0, 0)}, ()), ({(0, 3)}, ()), ({(0, 1), (1, 0)}, ()), ({(0, 1)}, {(0, 1)}), ((), {(1, 0)})],
)
def test_impossible_graphs(directed, undirected):
    with pytest.raises(ValueError, match=r"pair|index|edge"):
        PDAG(names(3), frozenset(directed), frozenset(undirected))
