"""Adjustment against enumeration: all DAGs that a graph represents, networkx, and linear models."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from functools import cache
from itertools import combinations, pairwise, permutations
from typing import Any

import networkx as nx
import numpy as np
import pytest
from numpy.typing import NDArray

from privcore.errors import DataError, ParameterError
from privcore.graphs import PDAG, cpdag_of_dag
from privcore.graphs.adjustment import (
    MOST_NEIGHBOURS,
    adjustment_sets,
    consistent_extension,
    d_separated,
    descendants,
    possible_descendants,
    possible_parents,
    valid,
)
from privcore.graphs.pdag import Edge, ordered
from tests.graphs.random_dags import agreed, members, names, random_dag
from tests.graphs.random_knowledge import true_knowledge
from tests.messages import says

Arrows = frozenset[Edge]
Matrix = NDArray[np.floating[Any]]


def drawn(nodes: str, directed: str = "", undirected: str = "", bidirected: str = "") -> PDAG:
    """The graph with edges such as "ab bc", each between two letters."""
    kinds = (
        [(edge[0], edge[1]) for edge in edges.split()]
        for edges in (directed, undirected, bidirected)
    )
    return PDAG.from_names(nodes, *kinds)


def network(p: int, arrows: Collection[Edge]) -> Any:
    graph = nx.DiGraph(list(arrows))
    graph.add_nodes_from(range(p))
    return graph


def parents_in(dag: Arrows, node: int) -> frozenset[int]:
    return frozenset(i for i, j in dag if j == node)


@cache
def cases() -> tuple[tuple[PDAG, tuple[Arrows, ...]], ...]:
    """CPDAGs and MPDAGs over four to six columns, with the DAGs that they represent."""
    generator = np.random.default_rng(4100)
    every: list[tuple[PDAG, tuple[Arrows, ...]]] = []
    while len(every) < 60:
        p = int(generator.integers(4, 7))
        edges = random_dag(generator, p, generator.uniform(0.4, 0.9))
        graph = cpdag_of_dag(names(p), edges)
        # Also graphs in which much stays open, which tiers seldom leave.
        if len(every) % 3 == 1:
            graph = true_knowledge(generator, names(p), edges).on(names(p)).completed(graph)
        if len(every) % 3 == 2:
            graph = partly_turned(generator, graph, edges)
        if len(graph.undirected) <= 10:
            every.append((graph, tuple(members(graph))))
    return tuple(every)


def partly_turned(generator: np.random.Generator, graph: PDAG, edges: set[Edge]) -> PDAG:
    """With the true direction of up to two edges, and what all its DAGs then agree on."""
    lines = sorted(graph.undirected)
    chosen = generator.permutation(len(lines))[:2]
    told = {edge for edge in edges if ordered(*edge) in {lines[k] for k in chosen}}
    return agreed(graph, [dag for dag in members(graph) if told <= dag])


def subsets(columns: Collection[int]) -> Iterator[frozenset[int]]:
    for size in range(len(columns) + 1):
        yield from map(frozenset, combinations(sorted(columns), size))


def forbidden_in(dag: Any, cause: int, outcome: int) -> tuple[set[int], set[int]]:
    """Columns on directed paths, without the cause; and these with their descendants."""
    paths = nx.all_simple_paths(dag, cause, outcome)
    causal = {node for path in paths for node in path} - {cause}
    return causal, causal.union(*(nx.descendants(dag, node) for node in causal))


def valid_in(dag: Any, cause: int, outcome: int) -> set[frozenset[int]]:
    """All sets that block every non-causal path and have no forbidden column, path by path."""
    _, forbidden = forbidden_in(dag, cause, outcome)
    after = {node: {node, *nx.descendants(dag, node)} for node in dag}
    paths = [
        path
        for path in nx.all_simple_paths(dag.to_undirected(as_view=True), cause, outcome)
        if not all(dag.has_edge(a, b) for a, b in pairwise(path))
    ]

    def open_path(path: list[int], columns: frozenset[int]) -> bool:
        return all(
            bool(after[b] & columns)
            if dag.has_edge(a, b) and dag.has_edge(c, b)
            else b not in columns
            for a, b, c in zip(path, path[1:], path[2:], strict=False)
        )

    others = set(dag) - forbidden - {cause, outcome}
    return {
        columns
        for columns in subsets(others)
        if not any(open_path(path, columns) for path in paths)
    }


def linear_model(generator: np.random.Generator, p: int, dag: Arrows) -> tuple[Matrix, Matrix]:
    """Total effects, and covariances, of a linear model with random weights."""
    weights = np.zeros((p, p))
    for i, j in sorted(dag):
        weights[j, i] = generator.uniform(0.4, 1.4) * generator.choice((-1, 1))
    effects = np.linalg.inv(np.eye(p) - weights)
    roots: Matrix = effects * np.sqrt(generator.uniform(0.5, 2.0, p))
    return effects, roots @ roots.T


def regression(covariances: Matrix, outcome: int, on: list[int]) -> tuple[Matrix, float]:
    """Coefficients, and the variance of what is left, in the population."""
    cross = covariances[on, outcome]
    weights = np.linalg.solve(covariances[np.ix_(on, on)], cross)
    return weights, float(covariances[outcome, outcome] - cross @ weights)


def asymptotic_variance(
    covariances: Matrix, cause: int, outcome: int, columns: Collection[int]
) -> float:
    _, of_outcome = regression(covariances, outcome, [cause, *sorted(columns)])
    _, of_cause = regression(covariances, cause, sorted(columns))
    return of_outcome / of_cause


def test_the_cases_are_not_all_easy() -> None:
    every = cases()
    assert sum(len(dags) > 8 for _, dags in every) > 10
    cpdags = [graph == cpdag_of_dag(graph.nodes, dags[0]) for graph, dags in every]
    assert 20 <= sum(cpdags) <= 45
    # In some, a clique of neighbours does not give a parent set: knowledge rules it out.
    assert any(
        len(possible_parents(graph, cause)) < len(possible_parents(whole, cause))
        for graph, dags in every
        for whole in [cpdag_of_dag(graph.nodes, dags[0])]
        for cause in range(len(graph.nodes))
        if not any(cause in edge for edge in graph.directed)
    )


def test_possible_parents_are_those_of_the_dags_and_the_graphs_say_what_follows() -> None:
    for graph, dags in cases():
        for cause in range(len(graph.nodes)):
            possible = possible_parents(graph, cause)
            order = [(len(parents), sorted(parents)) for parents, _ in possible]
            assert order == sorted(order)
            assert len(possible) == len({parents for parents, _ in possible})
            assert {parents for parents, _ in possible} == {parents_in(d, cause) for d in dags}
            for parents, turned in possible:
                those = [dag for dag in dags if parents_in(dag, cause) == parents]
                assert set(members(turned)) == set(those)
                assert turned.directed == frozenset.intersection(*those)


def test_a_parent_set_that_only_closes_a_cycle_is_none() -> None:
    graph = drawn("abc", directed="ca", undirected="ab bc")
    assert [sorted(parents) for parents, _ in possible_parents(graph, 1)] == [[], [2], [0, 2]]


def test_a_graph_that_is_not_closed_is_closed_first() -> None:
    graph = drawn("abc", directed="ab", undirected="bc")
    assert possible_parents(graph, 2) == [(frozenset({1}), drawn("abc", directed="ab bc"))]
    assert valid(graph, 1, 2, ())


def test_descendants_are_those_of_networkx_and_possible_ones_those_in_any_dag() -> None:
    more = 0
    for graph, dags in cases():
        p = len(graph.nodes)
        networks = [network(p, dag) for dag in dags]
        arrows = network(p, graph.directed)
        both = network(p, graph.directed | graph.undirected | {(j, i) for i, j in graph.undirected})
        for node in range(p):
            assert descendants(graph, node) == {node, *nx.descendants(arrows, node)}
            possible = possible_descendants(graph, node)
            assert possible == {node}.union(*(nx.descendants(dag, node) for dag in networks))
            more += possible < {node, *nx.descendants(both, node)}
    assert more > 5


def test_an_extension_is_one_of_the_dags() -> None:
    for graph, dags in cases():
        extension = consistent_extension(graph)
        assert frozenset((i, j) for j, own in enumerate(extension) for i in own) in dags


def test_there_is_an_extension_of_any_graph_if_and_only_if_it_represents_a_dag() -> None:
    generator = np.random.default_rng(4101)
    without = 0
    for _ in range(400):
        p = int(generator.integers(3, 6))
        kinds: tuple[set[Edge], set[Edge]] = (set(), set())
        for i, j in combinations(range(p), 2):
            chance = generator.random()
            if chance < 0.4:
                kinds[0].add((i, j) if generator.random() < 0.5 else (j, i))
            elif chance < 0.8:
                kinds[1].add((i, j))
        graph = PDAG(names(p), *map(frozenset, kinds))
        dags = members(graph)
        if dags:
            extension = consistent_extension(graph)
            assert frozenset((i, j) for j, own in enumerate(extension) for i in own) in dags
        else:
            without += 1
            with pytest.raises(DataError, match=says("graph-contradicts-itself")):
                consistent_extension(graph)
    assert 50 < without < 350


def test_d_separation_is_that_of_networkx() -> None:
    generator = np.random.default_rng(4102)
    apart = []
    for _ in range(40):
        p = int(generator.integers(3, 7))
        dag = frozenset(random_dag(generator, p, generator.uniform(0.2, 0.7)))
        parents = [parents_in(dag, node) for node in range(p)]
        for a, b in combinations(range(p), 2):
            for columns in subsets(set(range(p)) - {a, b}):
                wanted = nx.is_d_separator(network(p, dag), {a}, {b}, set(columns))
                assert d_separated(parents, a, b, columns) == wanted
                assert d_separated(parents, b, a, sorted(columns)) == wanted
                apart.append(wanted)
    assert 0.2 < np.mean(apart) < 0.8


@pytest.mark.parametrize(("a", "b", "columns"), [(0, 0, ()), (0, 1, (0,)), (0, 1, (2, 1))])
def test_d_separation_is_between_two_columns_outside(a: int, b: int, columns: list[int]) -> None:
    with pytest.raises(ValueError, match=says("not-two-columns-outside")):
        d_separated([(), (0,), (1,)], a, b, columns)


def test_a_set_is_valid_if_and_only_if_it_is_in_every_dag() -> None:
    some = 0
    for graph, dags in cases():
        p = len(graph.nodes)
        networks = [network(p, dag) for dag in dags]
        for cause, outcome in permutations(range(p), 2):
            those = set.intersection(*(valid_in(dag, cause, outcome) for dag in networks))
            some += 0 < len(those) < 2 ** (p - 2)
            for columns in subsets(set(range(p)) - {cause, outcome}):
                assert valid(graph, cause, outcome, columns) == (columns in those)
    assert some > 100


def test_a_set_is_valid_if_and_only_if_regression_gives_the_effect_in_every_dag() -> None:
    generator = np.random.default_rng(4103)
    rights = []
    for graph, dags in cases():
        p = len(graph.nodes)
        models = [linear_model(generator, p, dag) for dag in dags]
        pairs = list(permutations(range(p), 2))
        for k in generator.permutation(len(pairs))[:6]:
            cause, outcome = pairs[k]
            for columns in subsets(set(range(p)) - {cause, outcome}):
                on = [cause, *sorted(columns)]
                right = all(
                    abs(regression(covariances, outcome, on)[0][0] - effects[outcome, cause]) < 1e-8
                    for effects, covariances in models
                )
                assert valid(graph, cause, outcome, columns) == right
                rights.append(right)
    assert 0.1 < np.mean(rights) < 0.9


@pytest.mark.long
def test_sets_are_valid_minimal_and_efficient_in_every_dag() -> None:
    generator = np.random.default_rng(4104)
    better = thinner = 0
    for graph, dags in cases()[::2]:
        p = len(graph.nodes)
        for cause in range(p):
            for parents, turned in possible_parents(graph, cause):
                those = [dag for dag in dags if parents_in(dag, cause) == parents][:6]
                networks = [network(p, dag) for dag in those]
                models = [linear_model(generator, p, dag)[1] for dag in those]
                for outcome in set(range(p)) - {cause}:
                    sets = adjustment_sets(turned, cause, outcome)
                    affected = {outcome in nx.descendants(dag, cause) for dag in networks}
                    assert affected == {sets.affected}
                    if not sets.affected:
                        assert sets == (frozenset(), frozenset(), (), False)
                        continue
                    assert sets.parents == parents
                    for dag in networks:
                        causal, forbidden = forbidden_in(dag, cause, outcome)
                        into = {i for node in causal for i in dag.predecessors(node)}
                        assert sets.efficient == into - forbidden - {cause}
                    right = valid_in(networks[0], cause, outcome)
                    assert {sets.parents, sets.efficient, *sets.minimal} <= right
                    assert len(set(sets.minimal)) == len(sets.minimal) > 0
                    for columns in sets.minimal:
                        assert not any(fewer < columns for fewer in right)
                        assert columns <= sets.parents or columns <= sets.efficient
                    thinner += sets.efficient not in sets.minimal
                    for covariances in models:
                        variance = {
                            columns: asymptotic_variance(covariances, cause, outcome, columns)
                            for columns in right
                        }
                        least = variance[sets.efficient]
                        assert least <= min(variance.values()) * (1 + 1e-9)
                        better += least < variance[sets.parents] * (1 - 1e-6)
    assert better > 100
    assert thinner > 20


@pytest.mark.parametrize(
    ("arrows", "efficient", "minimal", "wrong"),
    [
        # A confounder; a mediator; M-bias; an instrument; a back-door path through two columns.
        ("zx zy xy", "z", ["z"], ["", "m"]),
        ("xm my", "", [""], ["m"]),
        ("az bz ax by xy", "b", [""], ["z"]),
        ("ix zx zy xy", "z", ["z"], ["i", ""]),
        ("ax ab by xy", "b", ["a", "b"], [""]),
    ],
)
def test_textbook_examples(
    arrows: str, efficient: str, minimal: list[str], wrong: list[str]
) -> None:
    nodes = "abimxyz"
    graph = drawn(nodes, directed=arrows)
    cause, outcome = nodes.index("x"), nodes.index("y")

    def columns(text: str) -> frozenset[int]:
        return frozenset(map(nodes.index, text))

    sets = adjustment_sets(graph, cause, outcome)
    assert sets.efficient == columns(efficient)
    assert sets.minimal == tuple(map(columns, minimal))
    assert sets.parents == columns("".join(arrow[0] for arrow in arrows.split() if arrow[1] == "x"))
    for text in wrong:
        assert not valid(graph, cause, outcome, columns(text))
    assert not adjustment_sets(graph, outcome, cause).affected


def test_a_neighbour_that_leads_nowhere_leaves_the_effect_identified() -> None:
    graph = drawn("uxyv", directed="xy vy", undirected="ux")
    assert valid(graph, 1, 2, ())
    assert valid(graph, 1, 2, {0, 3})
    assert not valid(graph, 1, 0, ())
    with pytest.raises(ValueError, match=says("no-direction-at", column=1)):
        adjustment_sets(graph, 1, 2)


def test_the_cause_is_never_its_own_outcome_or_adjusted_for() -> None:
    graph = drawn("ab", directed="ab")
    assert not valid(graph, 0, 1, {0})
    assert not valid(graph, 0, 1, {1})
    assert not valid(graph, 1, 0, {0})
    for call in (lambda: valid(graph, 0, 0, ()), lambda: adjustment_sets(graph, 0, 0)):
        with pytest.raises(ValueError, match=says("cause-is-outcome")):
            call()


def test_with_too_many_open_edges_the_message_says_what_to_do() -> None:
    def star(leaves: int) -> PDAG:
        pairs = frozenset((0, leaf) for leaf in range(1, leaves + 1))
        return PDAG(names(leaves + 1), undirected=pairs)

    assert len(possible_parents(star(MOST_NEIGHBOURS), 0)) == MOST_NEIGHBOURS + 1
    with pytest.raises(ParameterError, match=says("too-many-undirected", name="v0", edges=13)):
        possible_parents(star(MOST_NEIGHBOURS + 1), 0)
    assert len(possible_parents(star(MOST_NEIGHBOURS + 1), 1)) == 2


@pytest.mark.parametrize(
    "graph",
    [
        drawn("abcd", directed="ab bc ca", undirected="cd"),
        drawn("abcd", undirected="ab bc cd ad"),
        drawn("abc", directed="ab", bidirected="bc"),
        drawn("abcd", directed="ab dc", undirected="bc"),
    ],
)
def test_a_graph_that_contradicts_itself_is_an_error(graph: PDAG) -> None:
    alone = len(graph.nodes)
    more = replace(graph, nodes=(*graph.nodes, "x"))
    for call in (
        lambda: consistent_extension(graph),
        lambda: possible_parents(graph, 0),
        lambda: valid(graph, 0, 2, ()),
        lambda: adjustment_sets(more, alone, 0),
    ):
        with pytest.raises(DataError, match=says("graph-contradicts-itself")):
            call()
