"""Which edges stay: by Benjamini and Hochberg's procedure, and beside every DAG of the class."""

import networkx as nx
import numpy as np
import pytest
from scipy.stats import chi2

from privcore.algorithms.moment_search.edges import kept_edges
from privcore.algorithms.moment_search.search import edges_of
from privcore.algorithms.moment_search.statistic import Statistic
from privcore.graphs import cpdag_of_dag
from tests.examples import few
from tests.graphs.random_dags import names, random_dag

NONE = frozenset()


def with_p_value(p, **more):
    return Statistic(float(chi2.isf(p, 1)), 1.0, 1.0, **more)


class Given:
    """Evidence whose p-values are given, by pair of columns."""

    def __init__(self, p_values):
        self.p_values = p_values

    def edge(self, dag, cause, effect):
        return with_p_value(self.p_values[tuple(sorted((cause, effect)))])


class Oracle:
    """Tests that are never wrong: d-separation in a true DAG, through networkx."""

    def __init__(self, true):
        self.true = nx.DiGraph(list(edges_of(true)))
        self.true.add_nodes_from(range(len(true)))

    def edge(self, dag, cause, effect):
        apart = nx.is_d_separator(self.true, {cause}, {effect}, set(dag[effect] - {cause}))
        return with_p_value(0.5 if apart else 1e-9)


def drawn(generator, p, density):
    """A random DAG, as the parents of each column."""
    edges = random_dag(generator, p, density)
    return tuple(frozenset(i for i, j in edges if j == column) for column in range(p))


def class_of(dag):
    return cpdag_of_dag(names(len(dag)), edges_of(dag))


def test_edges_go_by_benjamini_and_hochberg():
    dag = (NONE, frozenset({0}), frozenset({0, 1}), frozenset({2}))
    p_values = {(0, 1): 1e-9, (0, 2): 0.0096, (1, 2): 0.3, (2, 3): 1e-4}
    # Six pairs at level .024: the third smallest may be .012.
    kept = kept_edges(Given(p_values), dag, 0.024)
    assert kept == (NONE, frozenset({0}), frozenset({0}), frozenset({2}))
    kept = kept_edges(Given(p_values), dag, 0.016)
    assert kept == (NONE, frozenset({0}), NONE, frozenset({2}))


@pytest.mark.parametrize("seed", few(range(60), 15))
def test_with_tests_that_are_never_wrong_the_true_class_is_what_stays(seed):
    """From DAGs that leave nothing unexplained: complete ones, in any order of the columns."""
    generator = np.random.default_rng(seed)
    p = int(generator.integers(3, 7))
    true = drawn(generator, p, generator.uniform(0.2, 0.7))
    found = kept_edges(Oracle(true), drawn(generator, p, 1.1), 0.03)
    assert class_of(found) == class_of(true)


def test_an_edge_that_makes_up_for_a_wrong_direction_goes():
    """1 → 0 ← 2 found as 0 → 1, 0 → 2, 1 → 2: the last is needed given 0, but not given nothing."""
    collider = (frozenset({1, 2}), NONE, NONE)
    found = (NONE, frozenset({0}), frozenset({0, 1}))
    assert kept_edges(Oracle(collider), found, 0.03) == collider


def test_no_other_dag_asks_for_more_than_the_level_does():
    """An edge of two columns has the same test in both directions."""
    dag = (NONE, frozenset({0}))
    for level, stays in ((0.5, True), (0.1, False)):
        assert (kept_edges(Given({(0, 1): 0.2}), dag, level) == dag) is stays


class Elsewhere(Given):
    """The last edge of a triangle, in other DAGs than the one found: as a test says."""

    def __init__(self, found, statistic):
        super().__init__({(0, 1): 1e-9, (0, 2): 1e-9, (1, 2): 1e-9})
        self.found, self.statistic = found, statistic

    def edge(self, dag, cause, effect):
        if {cause, effect} == {1, 2} and dag[effect] != self.found[effect]:
            return self.statistic
        return super().edge(dag, cause, effect)


def test_other_dags_have_a_say_only_where_they_say_something():
    found = (NONE, frozenset({0}), frozenset({0, 1}))
    for statistic, goes in (
        (with_p_value(0.04), True),
        (with_p_value(0.005), False),
        # Nothing is left of a column that could show a dependence.
        (with_p_value(0.5, residual_share=0.01), False),
    ):
        kept = kept_edges(Elsewhere(found, statistic), found, 0.03)
        assert (len(edges_of(kept)) == 2) is goes
        assert goes or kept == found
