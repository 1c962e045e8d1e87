"""Equivalence classes: every family of every DAG in them, and no other, against enumeration."""

import numpy as np
import pytest

from privcore.graphs import EquivalenceClass, cpdag_of_dag
from tests.graphs.random_dags import members, names, random_dag


def families_of(dag):
    return {(column, causes) for column, causes in enumerate(dag) if causes}


@pytest.mark.parametrize("seed", range(40))
def test_its_families_are_those_of_its_dags_and_each_has_a_dag(seed):
    generator = np.random.default_rng(seed)
    p = int(generator.integers(2, 7))
    edges = random_dag(generator, p, generator.uniform(0.2, 0.8))
    if len(edges) > 11:
        edges = set(sorted(edges)[:11])
    graph = cpdag_of_dag(names(p), edges)
    every = {
        tuple(frozenset(i for i, j in arrows if j == k) for k in range(p))
        for arrows in members(graph)
    }
    same = EquivalenceClass(graph)
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
