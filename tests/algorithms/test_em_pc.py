"""EM-PC: its limit, its rounds, its separating sets, and the published greedy distance."""

import math
from itertools import combinations

import pytest

from privcore.algorithms import count, discover
from privcore.data import load_network
from privcore.independence import get_score, z_threshold
from tests.messages import shows


def node_by_node(source, level, max_order):
    """The limit without noise: each column in turn loses all neighbours that look independent."""
    score, bound = get_score("z-star"), z_threshold(level)
    p = len(source.names)
    adjacent = [set(range(p)) - {i} for i in range(p)]
    best_sets = {}
    for order in range(max_order + 1):
        for node in range(p):
            neighbours = sorted(adjacent[node])
            if len(neighbours) <= order:
                continue
            gone = {}
            for other in neighbours:
                sets = combinations([k for k in neighbours if k != other], order)
                values = {g: abs(score.value(source, node, other, g)) for g in sets}
                best = min(values, key=values.get)
                if values[best] <= bound:
                    gone[other] = best
            for other, best in gone.items():
                adjacent[node].discard(other)
                adjacent[other].discard(node)
                best_sets[min(node, other), max(node, other)] = frozenset(best)
    return {(i, j) for i in range(p) for j in adjacent[i] if i < j}, best_sets


@pytest.mark.parametrize("network", ["survey", "asia", "sachs"])
@pytest.mark.parametrize("selection", ["exponential", "permute-and-flip"])
def test_the_limit_is_pc_column_by_column(network, selection):
    """Wang, Pang & Song 2020, Section 4.2: it does not converge to PC."""
    source = count(load_network(network).sample(20_000, 3))
    given = {"epsilon": 1e6, "threshold": 0.01, "selection": selection}
    result = discover(source, "em-pc", given, seed=1)
    pairs, sets = node_by_node(source, 0.01, 2)
    assert result.graph.skeleton == pairs
    for pair, separating in result.separating_sets.items():
        assert sets[pair] == separating


def test_rounds_are_one_for_each_column_and_order(asia):
    result = discover(asia, "em-pc", {"epsilon": 1.0, "max_order": 1}, seed=2)
    rounds = [step for step in result.trace if step.phase == "how many"]
    assert result.spent.rounds == len(rounds) <= result.spent.planned_rounds == 8 * 2
    order_zero = [step.x for step in rounds if step.order == 0]
    assert order_zero == sorted(set(order_zero))
    assert all(step.charge > 0 for step in rounds)


def test_a_round_s_parts_are_those_planned(asia):
    given = {"epsilon": 8.0, "delta": 0.0, "max_order": 0, "number_share": 0.25}
    result = discover(asia, "em-pc", {**given, "direction_share": 0.5}, seed=2)
    step = 8.0 * 0.5 / 8
    for taken in result.trace:
        if taken.phase == "how many":
            assert taken.charge == pytest.approx(step / 4)
            assert taken.noise_scale == pytest.approx(2 / (step / 4))
    by_round = {}
    for taken in result.trace:
        if taken.phase == "which":
            by_round.setdefault(taken.round, []).append(taken)
    for taken in by_round.values():
        assert math.fsum(t.charge for t in taken) == pytest.approx(3 * step / 4)
        assert taken[0].noise_scale == pytest.approx(2 * len(taken) / (3 * step / 4))


def test_separating_sets_are_bought_only_where_they_can_give_a_direction():
    source = count(load_network("sachs").sample(20_000, 3))
    result = discover(source, "em-pc", {"epsilon": 5.0}, seed=1)
    bought = {(s.x, s.y) for s in result.trace if s.phase == "separating set"}
    assert bought
    for i, j in bought:
        assert result.graph.adjacent(i) & result.graph.adjacent(j)
    for pair, given in result.separating_sets.items():
        assert pair in bought or given == frozenset()


def test_the_published_form_stops_when_its_fifteen_rounds_are_used(asia):
    result = discover(asia, "em-pc", {"calibration": "published", "max_order": "auto"}, seed=1)
    assert result.spent.rounds == result.spent.planned_rounds == 15
    assert result.spent.used == pytest.approx(1.0)
    assert result.stopped == "budget"
    assert (result.guarantee.epsilon, result.guarantee.calibration) == (1.0, "published")
    assert shows(result.guarantee.caveats[0], "change-by", amount=8)
