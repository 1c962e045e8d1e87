"""Background knowledge: contradictions are named, and graphs that obey are oriented as far as can
be."""

from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privcore.algorithms.search.model import NoHooks
from privcore.algorithms.search.parameters import OrientedParameters
from privcore.algorithms.search.skeleton import Skeleton, count_tests, search_skeleton
from privcore.algorithms.search.v_structures import with_v_structures
from privcore.errors import ParameterError
from privcore.graphs import PDAG, cpdag_of_dag, orient
from privcore.graphs.knowledge import Knowledge, Statement, statements
from privcore.graphs.orientation import overruled
from tests.examples import few
from tests.graphs.random_dags import Oracle, agreed, members, names, random_dag
from tests.graphs.random_knowledge import any_knowledge, true_knowledge
from tests.messages import says


def maximal(nodes, edges, known):
    """The MPDAG by trial of all directions: what the DAGs of the class that obey agree on."""
    cpdag = cpdag_of_dag(nodes, edges)
    obeying = [dag for dag in members(cpdag) if all(known.allowed[edge] for edge in dag)]
    return agreed(cpdag, obeying)


class FakeRun:
    """What orientation asks of a run."""

    class source:
        @staticmethod
        def prepare(families):
            pass

    hooks, test_limit = NoHooks(), None

    def __init__(self, known, rule):
        self.known = known
        self.parameters = OrientedParameters(collider_rule=rule, max_order=None)


@pytest.mark.long
@pytest.mark.parametrize("rule", ["majority", "conservative", "union", "first"])
@pytest.mark.parametrize("stable", [True, False])
@pytest.mark.parametrize("chunk", few(range(6), 2))
def test_with_d_separation_the_result_is_the_maximally_oriented_graph(rule, stable, chunk):
    generator = np.random.default_rng(7100 + chunk)
    for _ in range(40):
        p = int(generator.integers(2, 7))
        edges = random_dag(generator, p, generator.uniform(0.2, 0.7))
        known = true_knowledge(generator, names(p), edges).on(names(p))
        oracle = Oracle(p, edges)
        skeleton = search_skeleton(names(p), oracle, stable=stable, known=known)
        result = with_v_structures(FakeRun(known, rule), skeleton, oracle)
        assert result.graph == maximal(names(p), edges, known)
        assert not result.overruled
        decided = known.ruled_out | known.required
        assert not {(x, y) for x, y, _ in oracle.tested} & decided
        for x, y, others in oracle.tested:
            of_x, of_y = (all(known.allowed[z, end] for z in others) for end in (x, y))
            assert of_x or of_y


@pytest.mark.long
@pytest.mark.parametrize("chunk", few(range(6), 2))
def test_a_class_is_completed_to_what_all_its_dags_that_obey_say(chunk):
    generator = np.random.default_rng(7200 + chunk)
    for _ in range(60):
        p = int(generator.integers(2, 8))
        edges = random_dag(generator, p, generator.uniform(0.2, 0.7))
        known = true_knowledge(generator, names(p), edges).on(names(p))
        assert known.completed(cpdag_of_dag(names(p), edges)) == maximal(names(p), edges, known)


@pytest.mark.long
@pytest.mark.parametrize(
    "conflicts", ["strength", "drop", "bi-directed", "keep first", "overwrite"]
)
@pytest.mark.parametrize("chunk", few(range(6), 2))
def test_whatever_the_data_say_the_graph_obeys(conflicts, chunk):
    generator = np.random.default_rng(7300 + chunk)
    met = 0
    for _ in range(80):
        p = int(generator.integers(3, 8))
        nodes = names(p)
        known = any_knowledge(generator, nodes).on(nodes)
        pairs = set(combinations(range(p), 2))
        adjacent = {e for e in pairs - known.ruled_out if generator.random() < 0.6}
        skeleton = PDAG(nodes, undirected=frozenset(adjacent | known.required))
        sets = {
            pair: [frozenset(k for k in range(p) if k not in pair and generator.random() < 0.3)]
            for pair in sorted(pairs - skeleton.skeleton)
        }
        graph = orient(skeleton, sets, conflicts=conflicts, known=known)
        assert known.violation(graph) is None
        assert graph.skeleton == skeleton.skeleton - known.impossible(skeleton.skeleton)
        if conflicts in ("strength", "drop"):
            assert nx.is_directed_acyclic_graph(nx.DiGraph(list(graph.directed)))
        met += len(overruled(skeleton, sets, "first", known))
    assert met > 0


def test_a_v_structure_against_the_order_of_time_is_overruled_and_told():
    known = Knowledge.of(tiers="b; a, c").on(("a", "b", "c"))
    chain = PDAG(("a", "b", "c"), undirected=frozenset({(0, 1), (1, 2)}))
    sets = {(0, 2): [frozenset()]}
    assert orient(chain, sets, known=known).directed == {(1, 0), (1, 2)}
    assert overruled(chain, sets, "first", known) == {(0, 1, 2)}
    assert orient(chain, sets).directed == {(0, 1), (2, 1)}


def test_edges_that_leave_only_a_cycle_go_but_not_required_ones():
    nodes = ("a", "b", "c")
    # a → b, b → c and c → a are the only arrows left of three edges.
    known = Knowledge.of(forbid="b->a; c->b; a->c", require="a->b").on(nodes)
    graph = orient(PDAG.complete(nodes), {}, known=known)
    assert graph == PDAG(nodes, frozenset({(0, 1)}))


def test_a_pair_that_nobody_asked_about_says_nothing_of_a_v_structure():
    known = Knowledge.of(forbid="a--c").on(("a", "b", "c", "d"))
    # d → b by its v-structure with a; of c – b – a nothing is known, so c – b stays open.
    skeleton = PDAG(("a", "b", "c", "d"), undirected=frozenset({(0, 1), (1, 2), (1, 3)}))
    graph = orient(skeleton, {(0, 3): [frozenset()], (2, 3): [frozenset({1})]}, known=known)
    assert graph.directed == {(0, 1), (3, 1), (1, 2)}
    without = orient(skeleton, {(0, 3): [frozenset({1})], (2, 3): [frozenset({1})]}, known=known)
    assert not without.directed


@pytest.mark.parametrize(
    ("said", "named"),
    [
        ({"tiers": "a; b, a"}, says("tier-twice", name="a", tier=1, other=2)),
        (
            {"tiers": "a; b", "require": "b->a"},
            says("required-against-tiers", cause="b", outcome="a", later="a"),
        ),
        (
            {"forbid": "b--a", "require": "a->b"},
            says("required-but-forbidden", edge="a → b", other="a – b"),
        ),
        (
            {"forbid": "a->b", "require": "a->b"},
            says("required-but-forbidden", edge="a → b", other="a → b"),
        ),
        ({"require": "a->b; b->a"}, says("required-both-ways", edge="a → b", other="b → a")),
        (
            {"tiers": "a; b", "forbid": "a->b", "require": "a--b"},
            says("forbidden-and-earlier", edge="a → b", cause="a", outcome="b"),
        ),
        ({"require": "a->b; b->c; c->a"}, says("cycle-required", cycle="a → b → c → a")),
        (
            {"forbid": "b->a", "require": "a--b; b->c; c->a"},
            says("cycle-required", cycle="a → b → c → a"),
        ),
        ({"forbid": "a->a"}, says("one-column-twice", statement="a -> a")),
        ({"forbid": "smoke"}, says("no-edge-in-statement", statement="smoke")),
        ({"forbid": "a->b->c"}, says("no-edge-in-statement", statement="a -> b -> c")),
    ],
)
def test_contradictions_are_named(said, named):
    with pytest.raises(ParameterError, match=named):
        Knowledge.of(**said)


def test_groups_and_turned_arrows_are_read():
    assert statements("a, b -> c; d <- e; f -- e") == {
        Statement("a", "->", "c"),
        Statement("b", "->", "c"),
        Statement("e", "->", "d"),
        Statement("e", "--", "f"),
    }


@given(st.integers(0, 10**6))
def test_the_text_of_knowledge_is_read_back_and_is_the_same_for_the_same(seed):
    generator = np.random.default_rng(seed)
    nodes = names(int(generator.integers(2, 7)))
    known = any_knowledge(generator, nodes)
    again = Knowledge.read(known.text)
    assert again.on(nodes).required == known.on(nodes).required
    assert (again.on(nodes).allowed == known.on(nodes).allowed).all()
    assert again.text == known.text
    assert known.among(nodes) == known


@pytest.mark.parametrize(
    "text",
    [
        "tiers",
        "[]",
        "3",
        '{"tiers": 3}',
        '{"tiers": [[3]]}',
        '{"forbidden": [["a", "b"]]}',
        '{"forbidden": [["a", "~", "b"]]}',
        '{"order": []}',
        "{" * 10_000,
        "[" * 100_000,
    ],
)
def test_other_texts_are_refused_in_a_sentence(text):
    with pytest.raises(ParameterError, match=says("bad-knowledge-json")):
        Knowledge.read(text)


def test_a_name_that_is_no_column_is_told():
    with pytest.raises(
        ParameterError, match=says("knowledge-of-no-column", name="smok", columns="a, b")
    ):
        Knowledge.of(tiers="smok; a").on(("a", "b"))
    assert Knowledge.of(tiers="smok; a", forbid="a--smok").among(("a", "b")).words == ()


def test_an_experts_graph_requires_its_edges_and_leaves_the_rest_open():
    graph = PDAG(("a", "b", "c", "d"), frozenset({(0, 1)}), frozenset({(1, 2)}))
    known = Knowledge.of_graph(graph)
    assert known.words == ("a → b required", "b – c required")
    assert known.on(graph.nodes).open_pairs == 4


def test_counted_tests_are_those_of_a_search_that_deletes_nothing():
    class Never(Oracle):
        def independent(self, x, y, given):
            return False

    generator = np.random.default_rng(3)
    for _ in range(20):
        p = int(generator.integers(2, 7))
        known = any_knowledge(generator, names(p)).on(names(p))
        for orders in (1, 2, 3):
            found = search_skeleton(names(p), Never(p, ()), max_order=orders - 1, known=known)
            assert isinstance(found, Skeleton)
            assert found.tests_run == count_tests(known, orders)
