"""Equivalence classes: every family of every DAG in them, and no other, against enumeration."""

from itertools import product

import numpy as np
import pytest

from privcore.errors import DataError
from privcore.graphs import EquivalenceClass, cpdag_of_dag, topological_order
from tests.graphs.random_dags import names, random_dag


def members(p, edges):
    """All DAGs of the class, by trying every direction of every edge."""
    wanted = cpdag_of_dag(names(p), edges)
    pairs = sorted(edges)
    for turned in product((False, True), repeat=len(pairs)):
        arrows = {(b, a) if turn else (a, b) for (a, b), turn in zip(pairs, turned, strict=True)}
        try:
            topological_order(p, arrows)
        except DataError:
            continue
        if cpdag_of_dag(names(p), arrows) == wanted:
            yield tuple(frozenset(i for i, j in arrows if j == k) for k in range(p))


def families_of(dag):
    return {(column, causes) for column, causes in enumerate(dag) if causes}


@pytest.mark.parametrize("seed", range(40))
def test_its_families_are_those_of_its_dags_and_each_has_a_dag(seed):
    generator = np.random.default_rng(seed)
    p = int(generator.integers(2, 7))
    edges = random_dag(generator, p, generator.uniform(0.2, 0.8))
    if len(edges) > 11:
        edges = set(sorted(edges)[:11])
    every = set(members(p, edges))
    same = EquivalenceClass(cpdag_of_dag(names(p), edges))
    found = list(same.families())
    assert len(found) == len(set(found))
    assert set(found) == set().union(*map(families_of, every))
    for column, causes in found:
        dag = same.member((column, causes))
        assert dag in every
        assert dag[column] == causes


def test_arrows_are_in_every_family_and_every_clique_of_neighbours_may_be():
    complete = EquivalenceClass(
        cpdag_of_dag(names(5), {(i, j) for j in range(5) for i in range(j)})
    )
    assert len(list(complete.families())) == 5 * (2**4 - 1)
    collider = EquivalenceClass(cpdag_of_dag(names(4), {(0, 3), (1, 3), (2, 3)}))
    assert list(collider.families()) == [(3, frozenset({0, 1, 2}))]


def test_a_graph_without_edges_has_no_families():
    assert list(EquivalenceClass(cpdag_of_dag(names(3), ())).families()) == []
