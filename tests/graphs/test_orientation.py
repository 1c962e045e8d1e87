"""Orientation: exact with a perfect oracle, sound with a contradictory one, whatever the order."""

from itertools import combinations, permutations
from typing import get_args

import networkx as nx
import numpy as np
import pytest
from causallearn.graph.Dag import Dag
from causallearn.graph.GraphNode import GraphNode
from causallearn.utils.DAG2CPDAG import dag2cpdag
from hypothesis import given, settings
from hypothesis import strategies as st

from privcore.algorithms.search.skeleton import search_skeleton
from privcore.errors import DataError
from privcore.graphs import PDAG, cpdag_of_dag, orient, topological_order
from privcore.graphs.constraints import apply_meek_rules, apply_meek_rules_in_turn
from privcore.graphs.orientation import ColliderRule, ConflictRule, read_triples
from privcore.graphs.pdag import ordered
from tests.examples import examples, few
from tests.graphs.random_dags import Oracle, acyclic, cpdag_by_trial, names, random_dag
from tests.messages import says

RULES = get_args(ColliderRule)
IN_TURN = ("keep first", "overwrite")
SYMMETRIC = tuple(rule for rule in get_args(ConflictRule) if rule not in IN_TURN)


@pytest.mark.parametrize("stable", [True, False])
@pytest.mark.parametrize("chunk", few(range(10), 2))
def test_a_perfect_oracle_gives_the_true_cpdag_always(stable, chunk):
    generator = np.random.default_rng(1000 + chunk)
    for _ in range(30):
        p = int(generator.integers(2, 11))
        edges = random_dag(generator, p, generator.uniform(0.1, 0.6))
        found = search_skeleton(names(p), Oracle(p, edges), stable=stable)
        assert found.graph.skeleton == {ordered(*e) for e in edges}
        assert orient(found.graph, firsts(found)) == cpdag_of_dag(names(p), edges)


def firsts(found):
    return {pair: [given] for pair, given in found.separating_sets.items()}


def test_every_dag_on_four_nodes():
    pairs = list(combinations(range(4), 2))
    for choice in range(3 ** len(pairs)):
        edges = set()
        for i, j in pairs:
            choice, state = divmod(choice, 3)
            if state:
                edges.add((i, j) if state == 1 else (j, i))
        if acyclic(edges):
            assert cpdag_of_dag(names(4), edges) == cpdag_by_trial(4, edges)


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
    others = {pair: [v for v in range(p) if v not in pair] for pair in pairs}
    sets = {
        pair: draw(st.lists(st.frozensets(st.sampled_from(others[pair])), max_size=4, unique=True))
        if p > 2
        else [frozenset()]
        for pair in pairs
        if pair not in kept and draw(st.booleans())
    }
    return PDAG(names(p), undirected=frozenset(kept)), sets


@settings(max_examples=examples(300))
@given(
    case=contradictory(),
    rule=st.sampled_from(RULES),
    conflicts=st.sampled_from(SYMMETRIC),
    data=st.data(),
)
def test_contradictions_make_no_cycle_no_unasked_collider_and_no_order_matter(
    case, rule, conflicts, data
):
    skeleton, sets = case
    oriented = orient(skeleton, sets, rule, conflicts)
    assert oriented.skeleton == skeleton.skeleton
    assert nx.is_directed_acyclic_graph(nx.DiGraph(list(oriented.directed)))
    found = read_triples(skeleton, sets, rule)
    asked = {arrow for x, z, y in found.colliders for arrow in ((x, z), (y, z))}
    for x, y, z in colliders_of(oriented):
        assert {(x, z), (y, z)} <= asked or (x, z, y) in found.ambiguous
    assert not oriented.bidirected or conflicts == "bi-directed"

    place = data.draw(st.permutations(range(len(skeleton.nodes))))
    moved = orient(
        renamed(skeleton, place),
        {
            ordered(place[i], place[j]): [frozenset(place[v] for v in given) for given in each]
            for (i, j), each in sets.items()
        },
        rule,
        conflicts,
    )
    assert moved == renamed(oriented, place)


def renamed(graph, place):
    """The same graph with node i at place[i]."""
    lines, both = (
        frozenset(ordered(place[i], place[j]) for i, j in edges)
        for edges in (graph.undirected, graph.bidirected)
    )
    arrows = frozenset((place[i], place[j]) for i, j in graph.directed)
    return PDAG(graph.nodes, arrows, lines, both)


# 0 → 1 ← 2 and 1 → 2 ← 3 require 1 — 2 in both directions.
PATH = PDAG(names(4), undirected=frozenset({(0, 1), (1, 2), (2, 3)}))
CONTESTED = {(0, 2): [frozenset()], (1, 3): [frozenset()], (0, 3): [frozenset()]}


@pytest.mark.parametrize(
    ("conflicts", "directed", "bidirected"),
    [
        ("strength", (), ()),
        ("drop", (), ()),
        ("bi-directed", {(0, 1), (3, 2)}, {(1, 2)}),
        ("keep first", {(0, 1), (2, 1)}, ()),
        ("overwrite", {(0, 1), (1, 2), (3, 2)}, ()),
    ],
)
def test_what_becomes_of_a_contested_edge(conflicts, directed, bidirected):
    oriented = orient(PATH, CONTESTED, conflicts=conflicts)
    assert (oriented.directed, oriented.bidirected) == (frozenset(directed), frozenset(bidirected))


def test_the_stronger_v_structure_stays():
    fewer = CONTESTED | {(1, 3): [frozenset({0})]}
    for sets, strength in (
        (fewer, None),
        (CONTESTED, {(0, 1, 2): 2.0, (1, 2, 3): 1.0}.__getitem__),
    ):
        kept = orient(PATH, sets, strength=strength)
        assert kept.directed == {(0, 1), (2, 1)}
    turned = orient(PATH, fewer, strength={(0, 1, 2): 1.0, (1, 2, 3): 2.0}.__getitem__)
    assert turned.directed == {(1, 2), (3, 2)}


def test_how_sets_are_counted():
    triangle = PDAG(names(4), undirected=frozenset({(0, 2), (1, 2), (0, 3), (1, 3)}))
    without, with_, both = frozenset(), frozenset({2}), frozenset({2, 3})

    def verdict(rule, *sets):
        found = read_triples(triangle, {(0, 1): sets}, rule)
        return ["open" if (0, 2, 1) in found.ambiguous else (0, 2, 1) in found.colliders]

    for rule, expected in (
        ("first", [True, False, False, False, False]),
        ("union", [True, False, False, False, False]),
        ("conservative", [True, False, "open", "open", "open"]),
        ("majority", [True, False, "open", False, "open"]),
    ):
        cases = [(without,), (with_,), (without, with_), (without, with_, both), ()]
        assert [verdict(rule, *sets)[0] for sets in cases] == expected


def test_meek_s_rules_make_no_use_of_an_ambiguous_triple():
    graph = PDAG(names(3), frozenset({(0, 1)}), frozenset({(1, 2)}))
    assert apply_meek_rules(graph).directed == {(0, 1), (1, 2)}
    assert apply_meek_rules(graph, {(0, 1, 2)}) == graph


def test_meek_s_rules_take_no_side_where_two_arrows_meet():
    # 0 → 1 — 2 — 3 ← 4: either end would make the middle a new v-structure.
    graph = PDAG(names(5), frozenset({(0, 1), (4, 3)}), frozenset({(1, 2), (2, 3)}))
    assert apply_meek_rules(graph) == graph
    assert apply_meek_rules_in_turn(graph).directed != graph.directed


def test_pairs_without_a_separating_set_make_no_v_structure():
    skeleton = PDAG(names(3), undirected=frozenset({(0, 2), (1, 2)}))
    assert orient(skeleton, {}).directed == frozenset()
    assert orient(skeleton, {(0, 1): [frozenset()]}).directed == {(0, 2), (1, 2)}
    assert orient(skeleton, {(0, 1): [frozenset({2})]}).directed == frozenset()


def test_cycles_are_refused():
    with pytest.raises(DataError, match=says("directed-cycle")):
        cpdag_of_dag(names(3), {(0, 1), (1, 2), (2, 0)})
    assert topological_order(3, {(2, 1), (1, 0)}) == [2, 1, 0]


IMPOSSIBLE = "|".join(map(says, ("no-pair", "pair-stored-wrongly", "two-edges-of-a-pair")))


@pytest.mark.parametrize(
    ("directed", "undirected"),
    [({(0, 0)}, ()), ({(0, 3)}, ()), ({(0, 1), (1, 0)}, ()), ({(0, 1)}, {(0, 1)}), ((), {(1, 0)})],
)
def test_impossible_graphs(directed, undirected):
    for both in (frozenset(), frozenset({(1, 2)})):
        with pytest.raises(ValueError, match=IMPOSSIBLE):
            PDAG(names(3), frozenset(directed), frozenset(undirected), both)
    with pytest.raises(ValueError, match=says("two-edges-of-a-pair")):
        PDAG(names(3), frozenset({(2, 1)}), frozenset(), frozenset({(1, 2)}))
