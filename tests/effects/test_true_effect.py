"""Exact effects against enumeration of all records, a textbook example and sampling."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from privcore.data import Column, load_network
from privcore.data.network import BayesianNetwork, Variable
from privcore.effects import Question, true_effect
from privcore.effects.question import set_probabilities
from privcore.graphs import PDAG
from privcore.graphs.adjustment import descendants
from tests.examples import examples


def network_of(*variables: tuple[str, int, tuple[int, ...], object]) -> BayesianNetwork:
    """Each: name, number of levels, parents by position, table."""
    return BayesianNetwork(
        "made",
        "",
        "",
        "",
        tuple(
            Variable(
                Column(name, "nominal", tuple(map(str, range(levels))), declared=True),
                parents,
                np.array(table, dtype=float),
            )
            for name, levels, parents, table in variables
        ),
    )


def random_network(seed: int, nodes: int) -> BayesianNetwork:
    """Columns in any order of position, 2 to 4 levels, up to three parents."""
    random = np.random.default_rng(seed)
    order = random.permutation(nodes)
    levels = random.integers(2, 5, nodes)
    parents: dict[int, tuple[int, ...]] = {}
    for place, node in enumerate(order):
        many = int(random.integers(0, min(place, 3) + 1))
        parents[int(node)] = tuple(int(p) for p in random.permutation(order[:place])[:many])
    return network_of(
        *(
            (
                f"c{node}",
                int(levels[node]),
                parents[node],
                random.dirichlet(
                    np.full(levels[node], 0.7), math.prod(int(levels[p]) for p in parents[node])
                ),
            )
            for node in range(nodes)
        )
    )


def enumerated(
    network: BayesianNetwork, cause: int, value: int, outcome: int
) -> NDArray[np.float64]:
    """The truncated factorisation, record by record."""
    sizes = [len(variable.column.levels) for variable in network.variables]
    result = np.zeros(sizes[outcome])
    for record in itertools.product(*map(range, sizes)):
        if record[cause] != value:
            continue
        chance = 1.0
        for node, variable in enumerate(network.variables):
            if node == cause:
                continue
            row = 0
            for parent in variable.parents:
                row = row * sizes[parent] + record[parent]
            chance *= variable.probabilities[row, record[node]]
        result[record[outcome]] += chance
    return result


@settings(max_examples=examples(100), deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 6))
def test_agrees_with_enumeration(seed: int, nodes: int) -> None:
    network = random_network(seed, nodes)
    random = np.random.default_rng(seed)
    cause, outcome = (int(k) for k in random.permutation(nodes)[:2])
    for value in range(len(network.variables[cause].column.levels)):
        chances = set_probabilities(network, cause, value, outcome)
        assert chances == pytest.approx(enumerated(network, cause, value, outcome), abs=1e-12)
        assert chances.sum() == pytest.approx(1)
    asked = Question(f"c{cause}", f"c{outcome}").on([v.column for v in network.variables])
    low, high = (enumerated(network, cause, v, outcome) for v in (asked.compared, asked.to))
    effect = true_effect(network, asked)
    assert effect == pytest.approx(high[asked.level] - low[asked.level], abs=1e-12)


@pytest.mark.parametrize("name", ["asia", "survey", "sachs", "alarm"])
def test_what_does_not_come_after_the_cause_does_not_change(name: str) -> None:
    network = load_network(name)
    names = network.names
    graph = PDAG.from_names(names, network.edges)
    random = np.random.default_rng(3)
    changed = 0
    for _ in range(40):
        cause, outcome = (int(k) for k in random.permutation(len(names))[:2])
        asked = Question(names[cause], names[outcome]).on([v.column for v in network.variables])
        effect = true_effect(network, asked)
        if outcome not in descendants(graph, cause):
            assert effect == pytest.approx(0, abs=1e-12)
        changed += abs(effect) > 1e-6
    assert changed > 3


def confounded() -> BayesianNetwork:
    """z points at x and y, x at y."""
    return network_of(
        ("z", 2, (), [[0.6, 0.4]]),
        ("x", 2, (0,), [[0.9, 0.1], [0.2, 0.8]]),
        ("y", 2, (1, 0), [[0.9, 0.1], [0.5, 0.5], [0.8, 0.2], [0.3, 0.7]]),
    )


def test_setting_is_not_seeing_where_there_is_a_confounder() -> None:
    """P(y | do(x)) = Σ P(z) P(y | x, z), by hand; rows of y: x slowest, z faster."""
    network = confounded()
    asked = Question("x", "y").on([variable.column for variable in network.variables])
    set_one, set_none = 0.6 * 0.2 + 0.4 * 0.7, 0.6 * 0.1 + 0.4 * 0.5
    assert true_effect(network, asked) == pytest.approx(set_one - set_none)
    seen_one = (0.06 * 0.2 + 0.32 * 0.7) / 0.38
    seen_none = (0.54 * 0.1 + 0.08 * 0.5) / 0.62
    assert abs(seen_one - seen_none - (set_one - set_none)) > 0.1


def test_tables_that_were_rounded_add_up_to_1() -> None:
    network = network_of(
        ("x", 2, (), [[0.5, 0.5]]), ("y", 3, (0,), [[0.3, 0.3, 0.3], [0.2, 0.2, 0.5]])
    )
    assert set_probabilities(network, 0, 0, 1) == pytest.approx([1 / 3] * 3)
    assert set_probabilities(network, 0, 1, 1) == pytest.approx([2 / 9, 2 / 9, 5 / 9])


def test_large_networks_take_no_large_tables() -> None:
    """Hailfinder has 10^30 records; the effect of a root on the last column is exact."""
    network = load_network("hailfinder")
    graph = PDAG.from_names(network.names, network.edges)
    roots = [k for k, v in enumerate(network.variables) if not v.parents]
    cause = max(roots, key=lambda k: len(descendants(graph, k)))
    for outcome in sorted(descendants(graph, cause) - {cause}):
        assert set_probabilities(network, cause, 0, outcome).sum() == pytest.approx(1)
