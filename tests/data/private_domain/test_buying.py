"""A bought domain: what it costs on neighbours, and that it is valid whatever the rows say."""

import math
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from privcore.errors import DataError, ParameterError
from privcore.intake.bought_domain import (
    MOST_LEVELS,
    bought_numbers,
    buy_domain,
    level_counts,
    plan_domain,
    rows_off,
)
from privcore.intake.schema import OTHER_LEVEL, ColumnSchema
from privcore.privacy.accounting.accountants import side_by_side
from privcore.privacy.mechanisms import SecureNoise, SimulatedNoise
from tests.examples import examples
from tests.messages import says
from tests.transcripts import Recorder

COLUMNS = (
    ColumnSchema("town", "nominal"),
    ColumnSchema("grade", "ordinal"),
    ColumnSchema("age", "continuous", bins=4),
    ColumnSchema("dose", "continuous"),
)
NASTY = (
    *(None, "", "a", "b", "(other)", "(missing)", "inf", "-inf", "1e400", "1e-400", "-0", "0", "5"),
    *("5.0", "1e18", "-9e99", "nan", "\ud800", "\x00", "x" * 300),
)


def series(values):
    return pd.Series(list(values), dtype=object)


def table(rows):
    """Cells of each column, from rows of texts."""
    columns = zip(*rows, strict=True)
    return {column.name: series(cells) for column, cells in zip(COLUMNS, columns, strict=True)}


def loss(rows, others, plan):
    """ρ that the noise of a purchase is worth on two tables, beside values of one row.

    From the values that get noise, and its scale: Δ²/(2σ²) of Gaussian noise, ε²/8 of a selection.
    """
    calls, other_calls = Recorder(1), Recorder(2)
    one, other = table(rows), table(others)
    buy_domain(one, plan, calls)
    buy_domain(other, plan, other_calls)
    names = [column.name for column in plan.columns if column.kind != "continuous"]
    mine, theirs = histograms(calls, one, names), histograms(other_calls, other, names)
    whole = 0.0
    for name in names:
        (counts, sigma), (other_counts, other_sigma) = mine[name], theirs[name]
        assert sigma == other_sigma
        alone = set(counts) ^ set(other_counts)
        assert all({**counts, **other_counts}[value] == 1 for value in alone)
        moved = [counts[v] - other_counts[v] for v in set(counts) & set(other_counts)]
        whole += sum(d * d for d in moved) / (2 * sigma**2)
    for chosen, other_chosen in zip(selected(calls), selected(other_calls), strict=True):
        assert chosen[2] == other_chosen[2]
        whole += (2 * np.abs(chosen[1] - other_chosen[1]).max() / chosen[2]) ** 2 / 8
    return whole


def histograms(recorder, cells, names):
    """The counts that get noise, by value, of each column with levels, and σ."""
    calls = [call for call in recorder.calls if call[0] == "gaussian"]
    return {
        name: (dict(zip(sorted(level_counts(cells[name])), call[1], strict=True)), call[2])
        for name, call in zip(names, calls, strict=True)
    }


def selected(recorder):
    return [call for call in recorder.calls if call[0] == "gumbel"]


def some_row(rng):
    return (
        str(rng.choice(["a", "b", "c", f"one {rng.integers(9)}"])),
        str(rng.integers(5)),
        None if rng.random() < 0.1 else f"{rng.normal():.3g}",
        f"{rng.lognormal(0, 3):.3g}",
    )


@pytest.mark.parametrize("seed", range(6))
def test_a_purchase_is_worth_its_rho_on_neighbours(seed):
    rng = np.random.default_rng(seed)
    rows = [some_row(rng) for _ in range(40)]
    plan = plan_domain(COLUMNS, 40, 2.0, 1e-3)
    for _ in range(4):
        others = list(rows)
        others[rng.integers(40)] = some_row(rng)
        assert loss(rows, others, plan) <= plan.rho * len(COLUMNS)


def test_worst_neighbours_use_up_the_rho():
    """One row moves a count down and another up, and every utility by its sensitivity."""
    rows = [("a", "0", "-1e9", "-1e9")] * 10 + [("b", "1", "1e9", "1e9")] * 10
    others = [*rows[:-1], rows[0]]
    plan = plan_domain(COLUMNS, 20, 2.0, 1e-3)
    assert loss(rows, others, plan) == pytest.approx(plan.rho * len(COLUMNS), rel=1e-9)


@pytest.mark.parametrize("columns", [COLUMNS, COLUMNS[:2], COLUMNS[2:], COLUMNS[:1]])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.01, 1e-9), (0.2, 2e-7), (1.0, 0.01), (20, 1e-6)])
def test_the_plan_composes_to_its_epsilon(columns, epsilon, delta):
    plan = plan_domain(columns, 1000, epsilon, delta)
    accounts = {a.name: a.epsilon for a in side_by_side(plan.events, delta)}
    stated = accounts["zCDP, optimal conversion"]
    assert stated <= epsilon * (1 + 1e-9)
    assert stated == pytest.approx(epsilon, rel=1e-6)
    if plan.histogram is not None:
        # The events' noise is that which is drawn.
        assert plan.events[0].value == 1 / plan.histogram.sigma**2


def test_the_domain_is_a_function_of_the_noisy_outputs():
    """Other rows with the same values, and the noise outputs of the first: the same domain."""

    class Given(SimulatedNoise):
        def __init__(self, outputs):
            super().__init__(0)
            self._outputs = iter(outputs)

        def discrete_gaussian_array(self, values, sigma):
            return next(self._outputs)

        def noisy_max(self, scores, scale, perturbation):
            return next(self._outputs)

    rng = np.random.default_rng(3)
    rows = [("a", "1", "3", "4"), ("b", "2", "8", "-2")] * 200
    others = [row if rng.random() < 0.5 else rows[0] for row in rows[:-1]] + [rows[1]]
    plan = plan_domain(COLUMNS, len(rows), 1.0, 1e-3)
    recorder = Recorder(5)
    first = buy_domain(table(rows), plan, recorder)
    again = buy_domain(table(others), plan, Given([call[3] for call in recorder.calls]))
    assert first == again
    assert_valid(first)


def assert_valid(columns):
    for column in columns:
        assert column.declared
        if column.kind != "continuous":
            assert 2 <= len(column.levels) <= MOST_LEVELS + 2
            assert OTHER_LEVEL in column.levels
            assert len(set(column.levels)) == len(column.levels)
        elif column.cut_points:
            assert all(a < b for a, b in pairwise(column.cut_points))
            assert all(map(math.isfinite, column.cut_points))
            assert column.bins is None
        else:
            low, high = column.bounds
            assert low < high
            assert math.isfinite(high - low)


cells = st.one_of(st.sampled_from(NASTY), st.floats(allow_nan=True).map(str), st.text(max_size=3))


@settings(max_examples=examples(25), deadline=None)
@given(
    rows=st.lists(st.tuples(cells, cells, cells, cells), min_size=2, max_size=30),
    epsilon=st.sampled_from([1e-4, 0.2, 50.0, 1e4]),
    seed=st.integers(0, 10**6),
)
def test_no_table_fails(rows, epsilon, seed):
    plan = plan_domain(COLUMNS, len(rows), epsilon, 1e-3)
    assert_valid(buy_domain(table(rows), plan, SimulatedNoise(seed)))


@pytest.mark.unseeded
def test_no_table_fails_with_secure_noise():
    rows = [(cell, cell, cell, cell) for cell in NASTY]
    plan = plan_domain(COLUMNS, len(rows), 1.0, 1e-3)
    assert_valid(buy_domain(table(rows), plan, SecureNoise()))


def bought(column, values, epsilon=1.0, seed=1):
    values = list(values)
    plan = plan_domain([column], len(values), epsilon, 1e-6)
    return buy_domain({column.name: series(values)}, plan, SimulatedNoise(seed))[0]


def test_frequent_levels_are_shown_in_order_of_their_text_and_rare_ones_are_not():
    values = ["no"] * 700 + ["yes"] * 900 + ["may be"] * 3 + ["(other)"] * 400
    assert bought(ColumnSchema("v", "nominal"), values).levels == ("no", "yes", OTHER_LEVEL)


def test_ordinal_numbers_keep_their_order():
    values = ["10"] * 500 + ["9"] * 500 + ["-1"] * 500
    assert bought(ColumnSchema("v", "ordinal"), values).levels == ("-1", "9", "10", OTHER_LEVEL)
    assert bought(ColumnSchema("v", "nominal"), values).levels == ("-1", "10", "9", OTHER_LEVEL)


def test_the_most_frequent_of_too_many_levels_are_kept():
    values = [str(k) for k in range(60) for _ in range(200 + (k < MOST_LEVELS) * 1000)]
    kept = bought(ColumnSchema("v", "nominal"), values).levels
    assert set(kept) == {*map(str, range(MOST_LEVELS)), OTHER_LEVEL}


def test_where_nothing_is_shown_there_are_two_levels_all_the_same():
    values = [f"only {k}" for k in range(2000)]
    assert bought(ColumnSchema("v", "nominal"), values).levels == (OTHER_LEVEL, "(missing)")


def test_cut_points_part_the_rows_evenly():
    values = np.random.default_rng(1).normal(100, 15, 20_000)
    cuts = bought(ColumnSchema("v", "continuous", bins=4), map(str, values)).cut_points
    shares = np.diff([0, *np.searchsorted(np.sort(values), cuts), values.size]) / values.size
    assert shares == pytest.approx([0.25] * 4, abs=0.03)


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8])
def test_cut_points_tell_two_numbers_apart(share):
    """Where a quantile would be one of the two, and leave all rows on one side of it."""
    ones = round(20_000 * share)
    cells = ["1"] * ones + ["0"] * (20_000 - ones)
    cuts = bought(ColumnSchema("v", "continuous", bins=4), cells).cut_points
    assert any(0 < cut <= 1 for cut in cuts)


def test_bounds_leave_few_rows_outside():
    values = np.random.default_rng(2).normal(-50, 3, 50_000)
    low, high = bought(ColumnSchema("v", "continuous"), map(str, values)).bounds
    assert -62 < low < -55
    assert -45 < high < -38
    assert np.mean((values < low) | (values > high)) < 0.02


@pytest.mark.parametrize(
    ("columns", "epsilon", "delta", "error", "words"),
    [
        ([], 1.0, 0.1, DataError, says("nothing-to-buy")),
        ([ColumnSchema("v", "nominal", ("a", "b"))], 1.0, 0.1, DataError, says("has-its-domain")),
        (
            [ColumnSchema("v", "continuous", bounds=(0, 1))],
            1.0,
            0.1,
            DataError,
            says("has-its-domain"),
        ),
        (
            [ColumnSchema("v", "continuous", bins=1)],
            1.0,
            0.1,
            DataError,
            says("cut-from-to", low=2, high=100),
        ),
        (COLUMNS, 0.0, 0.1, ParameterError, says("domain-epsilon-not-positive")),
        (COLUMNS, math.nan, 0.1, ParameterError, says("domain-epsilon-not-positive")),
        (COLUMNS, 1.0, 0.0, ParameterError, says("raise-delta")),
        (COLUMNS, 1.0, 1.0, ParameterError, says("domain-delta-too-large", delta="1.0")),
        (COLUMNS, 1e-300, 1e-300, ParameterError, says("domain-too-poor")),
    ],
)
def test_impossible_purchases_are_refused(columns, epsilon, delta, error, words):
    with pytest.raises(error, match=words):
        plan_domain(columns, 100, epsilon, delta)


@pytest.mark.long
def test_a_cut_point_is_as_far_off_as_was_said():
    """In at least nine of ten purchases; fails by chance less than once in a million."""
    rows = 20_000
    column = ColumnSchema("x", "continuous", bins=4)
    plan = plan_domain([column], rows, 0.3, 1e-6)
    numbers = np.arange(1.0, rows + 1)
    off = rows_off(column, plan)
    assert off < rows
    near = 0
    for seed in range(100):
        cuts = bought_numbers(column, numbers, plan, SimulatedNoise(seed)).cut_points
        places = [int((numbers < cut).sum()) for cut in cuts]
        near += abs(places[0] - rows // 4) <= off
    assert binom.cdf(near, 100, 0.9) > 1e-6
