"""Stated graphs: what they imply, against every set of columns in the graph with its causes."""

import json
from itertools import combinations

import networkx as nx
import numpy as np
import pytest

from privcore.errors import DataError
from privcore.exchange.formats import export_graph
from privcore.exchange.stated import read_graph
from privcore.graphs import PDAG
from privcore.graphs.adjustment import valid
from privcore.graphs.pdag import PAG
from privcore.graphs.stated import StatedGraph, _smallest_separator
from tests.graphs.random_dags import names, random_dag
from tests.graphs.test_generalised_adjustment import subsets, with_latents
from tests.messages import says


def drawn(seed):
    """A DAG of up to eleven nodes with its unobserved nodes last, and the graph that states it."""
    rng = np.random.default_rng(seed)
    p, unseen = int(rng.integers(3, 8)), int(rng.integers(0, 5))
    edges = random_dag(rng, p + unseen, rng.uniform(0.15, 0.45))
    every = names(p + unseen)
    stated = StatedGraph.of_edges(
        every, [(every[i], every[j], "directed") for i, j in edges], every[p:]
    )
    dag = nx.DiGraph(edges)
    dag.add_nodes_from(range(p + unseen))
    return p, dag, stated


def separating(p, dag, x, y):
    return [
        set(held)
        for held in subsets(set(range(p)) - {x, y})
        if nx.is_d_separator(dag, {x}, {y}, set(held))
    ]


@pytest.mark.parametrize("first", range(0, 240, 60))
def test_independences_are_those_of_the_graph_with_its_unobserved_nodes(first):
    separated = inseparable = 0
    for seed in range(first, first + 60):
        p, dag, stated = drawn(seed)
        assert stated.names == names(p)
        claims = stated.independences()
        for x, y in combinations(range(p), 2):
            possible = separating(p, dag, x, y)
            if (x, y) not in claims:
                assert not possible
                continue
            held = claims[x, y]
            assert (held is None) == (not possible)
            separated, inseparable = separated + bool(possible), inseparable + (not possible)
            if held is None:
                continue
            assert set(held) in possible
            parents = [{i for i, j in stated.directed if j == end} for end in (x, y)]
            assert set(held) in parents or len(held) == min(map(len, possible))
    assert separated > 100
    assert inseparable > 3


def test_a_smallest_separating_set_is_a_smallest_one_of_all():
    sizes = set()
    for seed in range(150):
        p, dag, _ = drawn(seed)
        parents = [frozenset(dag.predecessors(node)) for node in range(len(dag))]
        for x, y in combinations(range(p), 2):
            possible = separating(p, dag, x, y)
            held = _smallest_separator(parents, range(p), x, y)
            assert (held is None) == (not possible)
            if held is not None:
                assert set(held) in possible
                assert len(held) == min(map(len, possible))
                sizes.add(len(held))
    assert sizes >= {0, 1, 2}


def test_an_arrow_is_tested_given_what_separates_its_ends_without_it():
    tested, untested = 0, 0
    for seed in range(150):
        p, _, stated = drawn(seed)
        for arrow, held in stated.arrows().items():
            others = with_latents(p, stated.directed - {arrow}, stated.bidirected)
            possible = separating(p, others, *arrow)
            assert (held is None) == (not possible)
            tested, untested = tested + (held is not None), untested + (held is None)
            assert held is None or set(held) in possible
    assert min(tested, untested) > 20


def test_adjustment_sets_are_all_minimal_ones_of_the_graph_with_its_unobserved_nodes():
    many = 0
    for seed in range(120):
        p, dag, stated = drawn(seed)
        whole = PDAG(names(len(dag)), frozenset(dag.edges))
        for cause in range(p):
            for outcome in set(range(p)) & nx.descendants(dag, cause):
                assert stated.affects(cause, outcome)
                fitting = [
                    frozenset(held)
                    for held in subsets(set(range(p)) - {cause, outcome})
                    if valid(whole, cause, outcome, held)
                ]
                minimal = {s for s in fitting if not any(other < s for other in fitting)}
                assert set(stated.adjustments(cause, outcome)) == minimal
                many += len(minimal) > 1
                for held in fitting:
                    assert stated.valid(cause, outcome, held)
    assert many >= 10


CHAIN = StatedGraph(("a", "b", "c"), frozenset({(0, 1), (1, 2)}))


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("a -> b; b -> c", ["a -> b", "b -> c"]),
        ("a → b ← c\nd", ["a -> b", "c -> b", "d"]),
        ('a b -> "c; d" <-> e;', ['a b -> "c; d"', '"c; d" <-> e']),
        ("b -> a; a <-> b", ["b -> a", "b <-> a"]),
        ("graph -> b", ["graph -> b"]),
        ('dag "my model" { bb="0,0,1,1" a [e,pos="-1,2"]; a -> {b c} }', ["a -> b", "a -> c"]),
        ("dag { u [latent,pos=\"1,1\"] u -> {a b}; a <-> c }", ["a <-> b", "a <-> c"]),
        ("dag { a -> m; m [unobserved]; m -> b }", ["a -> b"]),
        ("mag { a <-> b -> c }", ["b -> c", "a <-> b"]),
        ("pdag { a -- b -> c; a -> c }", ["a -> b", "a -> c", "b -> c"]),
        ('{"nodes": ["a", "b"], "directed": [["b", "a"]]}', ["b -> a"]),
        ("Graph Nodes:\na;b;c\n\nGraph Edges:\n1. a --> b\n2. b <-> c\n", ["a -> b", "b <-> c"]),
        (nx.DiGraph([("a", "b")]), ["a -> b"]),
        (PDAG.from_names("ab", directed=["ba"]), ["b -> a"]),
    ],
)  # fmt: skip
def test_a_graph_is_read_from_what_people_have(source, lines):
    read = read_graph(source)
    assert read.lines() == lines
    again = read_graph("\n".join(read.lines()))
    assert {(frozenset(e[:2]), e[2]) for e in again.graph.named_edges()} == {
        (frozenset(e[:2]), e[2]) for e in read.graph.named_edges()
    }
    assert StatedGraph.of(json.loads(json.dumps(read.as_dict()))) == read


@pytest.mark.parametrize("form", ["dagitty", "tetrad", "gml", "json"])
def test_a_graph_comes_back_from_every_format_and_from_a_file(form, tmp_path):
    text = export_graph(CHAIN.graph, form)
    file = tmp_path / "graph.txt"
    file.write_text(f"\ufeff{text}", encoding="utf-8")
    assert read_graph(text) == read_graph(file) == read_graph(str(file)) == CHAIN


def test_roles_of_dagitty_are_read():
    read = read_graph(
        "dag { x [exposure]; y [outcome]; z [adjusted]; u [latent, adjusted]; x -> y <- z; u -> z }"
    )
    assert (read.exposure, read.outcome, read.adjusted) == ("x", "y", ("z",))
    assert StatedGraph.of(read.as_dict()) == read
    assert read.asking("z", None).exposure == "z"
    both = read_graph("dag { x [exposure]; z [e]; y [o]; x -> y <- z }")
    assert (both.exposure, both.outcome) == (None, "y")


@pytest.mark.parametrize(
    ("source", "code", "values"),
    [
        ("a -> b -> c -> a", "stated-graph-cycle", {"cycle": "a -> b -> c -> a"}),
        ("dag { a }", "graph-of-one-column", {}),
        ("a", "graph-of-one-column", {}),
        ("dag { a -> b; b [latent] }", "graph-of-one-column", {}),
        ("nowhere/graph.txt", "is-no-readable-file", {"name": "nowhere/graph.txt"}),
        ("a -> ", "stated-graph-unreadable", {"line": "a ->"}),
        ("a -> a", "edge-to-itself", {"node": "a"}),
        ("a <-> a", "edge-to-itself", {"node": "a"}),
        ("a -> b; b -> a", "two-edges-between", {}),
        ("pag { a @-> b }", "stated-graph-has-circles", {"a": "a", "b": "b"}),
        ("mag { a -- b }", "stated-graph-has-circles", {"a": "a", "b": "b"}),
        (PAG(("a", "b"), undirected=frozenset({(0, 1)})), "stated-graph-has-circles", {}),
        ("dag { a -> ", "text-cannot-read", {"title": "DAGitty"}),
        ("dag { {} [latent] ", "text-cannot-read", {"title": "DAGitty"}),
        (3, "object-of-other-format", {}),
    ],
)
def test_what_is_no_graph_is_refused_in_one_sentence(source, code, values):
    with pytest.raises(DataError, match=says(code, **values)):
        read_graph(source)


def test_an_unknown_column_is_named_with_the_nearest_one():
    with pytest.raises(DataError, match=says("no-column-of-graph", name="c", nearest="cc")):
        CHAIN.places(["a", "b", "cc", "x"])
    asked = CHAIN.asking("a", "bb")
    with pytest.raises(DataError, match=says("no-column-of-graph", name="bb", nearest="b")):
        asked.places(["a", "b", "c", "bb"])
    assert CHAIN.places(["c", "x", "a", "b"]) == (2, 3, 0)


def test_a_link_is_added_in_the_directions_that_make_no_cycle():
    assert [made.lines()[-1] for made in CHAIN.with_link(2, 0)] == ["b -> c"]
    assert len(CHAIN.with_link(0, 2)) == 1
    assert len(StatedGraph(("a", "b")).with_link(0, 1)) == 2
