"""Pairs of which a release cannot tell, and what it would cost to tell them."""

from dataclasses import replace
from functools import cache, partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privcore.algorithms import discover
from privcore.algorithms.engine import search_again
from privcore.algorithms.moment_search.parameters import MomentSearchParameters
from privcore.algorithms.moment_search.visible import PublicShape, visible_effects
from privcore.data import load_network
from privcore.extras.lab.planning.open_pairs import _price, open_pairs
from tests.releases.steps_of import LEVELS, SUMS, levels_table, mixed_table, numbers_table

FORMS = {
    "table": (partial(levels_table, rows=2_000), {}),
    "sums": (partial(levels_table, rows=2_000), SUMS),
    "numbers": (partial(numbers_table, rows=2_000), {}),
    "cut": (partial(mixed_table, rows=2_000), {}),
    "three rows": (partial(levels_table, rows=2_000), {"rows_per_unit": 3}),
    "rows hidden": (partial(levels_table, rows=2_000), {"neighbours": "added or removed"}),
}


@cache
def run_of(form, epsilon):
    build, parameters = FORMS[form]
    return discover(build(), "moment-search", {**parameters, "epsilon": epsilon}, seed=2)


@pytest.mark.parametrize("form", FORMS)
def test_the_pairs_are_those_with_that_verdict_and_cost_more_than_was_spent(form):
    result = run_of(form, 0.02)
    entries = open_pairs(result, result.released.statistics)
    expected = {p for p, f in result.findings.items() if f.verdict == "not enough budget"}
    assert expected
    assert {entry.pair for entry in entries} == expected
    for entry in entries:
        assert entry.visible == result.findings[entry.pair].visible
        assert entry.epsilon is None or entry.epsilon >= 0.02
    known = [entry.epsilon for entry in entries if entry.epsilon is not None]
    assert known == sorted(known)
    assert [e.epsilon is None for e in entries] == sorted(e.epsilon is None for e in entries)


def test_with_all_that_is_needed_nothing_is_left_open():
    asked = {"epsilon": 50.0, "reference_effect": 0.3}
    result = discover(levels_table(rows=20_000), "moment-search", asked, seed=2)
    assert open_pairs(result, result.released.statistics) == []


def test_it_costs_nothing_and_is_the_same_of_the_numbers_searched_again():
    result = run_of("sums", 0.02)
    kept = result.released.statistics
    again = search_again(
        *("moment-search", kept, result.graph.nodes, dict(result.parameters), result.guarantee)
    )
    assert open_pairs(again, kept) == open_pairs(result, kept)


def test_at_the_price_the_plan_sees_the_reference_size():
    """Where pairs show what the plan says, the price is where the plan reaches the size."""
    data = levels_table(rows=20_000)
    result = discover(data, "moment-search", {"epsilon": 0.004, **LEVELS}, seed=2)
    kept = result.released.statistics
    shape = PublicShape(kept.n, kept.levels, 3)

    def visible(epsilon):
        checked = MomentSearchParameters(**{**result.parameters, "epsilon": epsilon})
        return visible_effects(shape, checked, (2, 2)).alone

    def cheapest(least):
        findings = {p: f._replace(visible=least) for p, f in result.findings.items()}
        return open_pairs(replace(result, findings=findings), kept)[0]

    size, seen = result.parameters["reference_effect"], visible(0.004)
    first = cheapest(seen)
    assert visible(first.epsilon) <= size
    assert visible(first.epsilon / 1.02) is None or visible(first.epsilon / 1.02) > size
    # What sees less than the plan says has to pay more.
    dearer = cheapest(1.25 * seen)
    assert dearer.epsilon > 1.1 * first.epsilon
    assert visible(dearer.epsilon) <= 0.8 * size
    # Of what sees nothing at all, the least is known.
    assert cheapest(None).epsilon is None or cheapest(None).epsilon >= dearer.epsilon


@pytest.mark.long
@pytest.mark.parametrize("epsilon", [5_000.0, 1e6])
def test_no_price_is_beyond_what_a_run_takes(epsilon):
    """With few rows nothing is seen at any budget; the search ends at the largest ε there is."""
    result = discover(
        load_network("child").sample(30, 1), "moment-search", {"epsilon": epsilon}, seed=1
    )
    entries = open_pairs(result, result.released.statistics)
    assert entries
    assert {entry.epsilon for entry in entries} == {None}


@given(st.floats(0.1, 100), st.floats(1e-3, 10))
def test_a_price_is_the_least_up_to_a_percent(need, spent):
    """Where what is visible falls as 1/ε."""
    price = _price(lambda epsilon: need / epsilon, 0.1, spent)
    if price is None:
        assert need / 0.1 > 1_000 * spent * (1 - 1e-12)
        return
    least = max(need / 0.1, spent)
    assert least <= price * (1 + 1e-12)
    assert price <= least * 1.011
    assert price <= 1_000 * spent


def test_what_is_never_seen_has_no_price():
    assert _price(lambda epsilon: None, 0.1, 1.0) is None
    assert _price(lambda epsilon: 0.2, 0.1, 1.0) is None
    assert _price(lambda epsilon: None if epsilon < 4 else 0.05, 0.1, 1.0) == pytest.approx(
        4, 0.011
    )
