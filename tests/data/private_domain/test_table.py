"""Stating a table: what is refused before anything is charged, and that nothing is afterwards."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privcore.algorithms import discover
from privcore.errors import DataError, ParameterError
from privcore.intake import RawTable
from privcore.intake.bought_domain import MOST_LEVELS, StatedTable, buy_domain, level_counts
from privcore.intake.schema import ColumnSchema
from privcore.privacy.mechanisms import SimulatedNoise
from privcore.releases.private_domain import Purchase, split, with_purchase
from tests.data.private_domain.test_buying import NASTY
from tests.examples import examples
from tests.messages import begins, raises_code, says, shows

KINDS = (
    ColumnSchema("a", "nominal", declared=True),
    ColumnSchema("b", "ordinal", declared=True),
    ColumnSchema("x", "continuous", bins=3, declared=True),
)
HALF = Purchase(0.5)


def raw(**columns):
    return RawTable(
        pd.DataFrame({k: pd.Series(v, dtype=object) for k, v in columns.items()}), "", ""
    )


def stated(schema=KINDS, purchase=HALF, missing="refuse", **columns):
    return StatedTable.state(raw(**columns), schema, name="t", purchase=purchase, missing=missing)


def rows(n=400):
    return {
        "a": ["u", "v"] * (n // 2),
        "b": ["1", "2", "3", "4"] * (n // 4),
        "x": [str(k % 10) for k in range(n)],
    }


# What files hold can be written in UTF-8.
UTF8 = st.text(st.characters(codec="utf-8"), max_size=2)
cells = st.one_of(st.sampled_from([c for c in NASTY if c and c != "\ud800"]), UTF8)


@settings(max_examples=examples(25), deadline=None)
@given(
    table=st.lists(st.tuples(cells, cells, cells), min_size=2, max_size=20),
    seed=st.integers(0, 10**6),
)
def test_once_it_is_stated_no_row_makes_a_purchase_fail(table, seed):
    a, b, x = zip(*table, strict=True)
    made = stated(missing="level", a=a, b=b, x=x)
    wanted = split(made, "laplace-pc", {"epsilon": 5.0, "delta": 1e-3})
    dataset = made.buy(wanted.plan, SimulatedNoise(seed))
    assert dataset.n == len(table)
    assert dataset.undeclared == ()
    assert "(missing)" in dataset.columns[2].levels
    discover(dataset, "laplace-pc", wanted.parameters | {"max_order": 0}, seed=seed)


def test_what_is_not_shown_falls_to_other():
    table = rows()
    table["a"] = ["only one", *table["a"][1:]]
    made = stated(**table)
    dataset = made.with_domain(
        [
            ColumnSchema("a", "nominal", ("u", "v", "(other)"), declared=True),
            ColumnSchema("b", "ordinal", ("1", "2", "(other)"), declared=True),
            ColumnSchema("x", "continuous", cut_points=(5.0,), declared=True),
        ]
    )
    assert dataset.values[0][:3].tolist() == [2, 1, 0]
    assert dataset.values[1][:5].tolist() == [0, 1, 2, 2, 0]
    assert dataset.values[2][3:7].tolist() == [0, 0, 1, 1]
    assert begins(dataset.basis, "released-from-rows")


@settings(max_examples=examples(25), deadline=None)
@given(cell=st.tuples(cells, cells, cells), place=st.integers(0, 19), seed=st.integers(0, 99))
def test_neighbours_are_neighbours_under_every_domain(cell, place, seed):
    """So that the run's guarantee holds on rows that are coded by what was bought."""
    one = stated(missing="level", **rows(20))
    table = rows(20)
    for name, value in zip("abx", cell, strict=True):
        table[name][place] = value
    other = stated(missing="level", **table)
    plan = split(one, "laplace-pc", {"epsilon": 50.0, "delta": 0.1}).plan
    for made in (one, other):
        domain = buy_domain(made.bought_cells, plan, SimulatedNoise(seed))
        coded, other_coded = one.with_domain(domain), other.with_domain(domain)
        assert coded.columns == other_coded.columns
        assert coded.n == other_coded.n
        for values, other_values in zip(coded.values, other_coded.values, strict=True):
            assert set(np.flatnonzero(values != other_values)) <= {place}


@pytest.mark.parametrize("missing", ["refuse", "drop", "level"])
def test_text_in_a_column_of_numbers_is_missing(missing):
    table = rows()
    table["x"] = ["low", "inf", *table["x"][2:]]
    if missing == "refuse":
        with raises_code(DataError, "values-missing", columns="x (2)"):
            stated(missing=missing, **table)
        return
    made = stated(missing=missing, **table)
    assert made.n == (398 if missing == "drop" else 400)
    # By the setting, whether there are any gaps or not.
    assert bool(made.notes) == (missing == "drop") == bool(stated(missing=missing, **rows()).notes)
    dataset = made.with_domain(
        buy_domain(made.bought_cells, split(made, "moment-search", {}).plan, SimulatedNoise(1))
    )
    levels = dataset.columns[2].levels
    assert ("(missing)" in levels) == (missing == "level")


def test_categorical_cells_are_read_as_text_is():
    """A category that no row has left is no value that occurs."""
    table = rows()
    table["a"][0], table["x"][1] = "gone", None
    text = raw(**table)
    coded = RawTable(text.frame.astype("category"), "", "")
    made = [
        StatedTable.state(given, KINDS, name="t", purchase=HALF, missing="drop")
        for given in (text, coded)
    ]
    made = [replace(t, cells=t.cells.iloc[1:].reset_index(drop=True)) for t in made]
    plan = split(made[0], "moment-search", {}).plan
    assert "gone" not in level_counts(made[1].bought_cells["a"])
    one, other = (buy_domain(t.bought_cells, plan, SimulatedNoise(1)) for t in made)
    assert one == other
    assert [*made[0].canonical()] == [*made[1].canonical()]
    one, other = (t.with_domain(one) for t in made)
    assert [v.tolist() for v in one.values] == [v.tolist() for v in other.values]


def test_levels_for_missing_values_do_not_follow_from_the_rows():
    made = stated(missing="level", **rows())
    assert all("(missing)" in column.levels for column in made.largest().columns)


def test_gaps_in_a_column_that_is_not_cut_are_refused_before_the_purchase():
    schema = (*KINDS[:2], ColumnSchema("x", "continuous"))
    table = rows()
    table["x"] = [None, *table["x"][1:]]
    with raises_code(DataError, "continuous-with-missing"):
        stated(schema, missing="level", **table)


def test_columns_with_levels_keep_them_and_refuse_other_values_at_once():
    schema = (ColumnSchema("a", "nominal", ("u", "v"), declared=True), *KINDS[1:])
    made = stated(schema, **rows())
    assert [column.name for column in made.bought] == ["b", "x"]
    assert made.largest().columns[0].levels == ("u", "v")
    table = rows()
    table["a"][0] = "w"
    with raises_code(DataError, "column-rows-outside-levels"):
        stated(schema, **table)
    known = (schema[0], *(ColumnSchema(n, "nominal", ("1",)) for n in "bx"))
    with pytest.raises(DataError, match=says("nothing-to-buy")):
        stated(known, **rows())


def test_the_largest_domain_does_not_depend_on_what_rows_say():
    one, other = stated(**rows()).largest(), stated(**dict.fromkeys("abx", ["7"] * 400)).largest()
    assert one.columns == other.columns
    assert [column.tolist() for column in one.values] == [c.tolist() for c in other.values]
    assert one.levels == (MOST_LEVELS + 1, MOST_LEVELS + 1, 3)


def test_the_same_rows_are_known_in_any_order():
    table = rows()
    turned = {name: values[::-1] for name, values in reversed(table.items())}
    one = b"".join(stated(**table).canonical())
    assert one == b"".join(stated(KINDS[::-1], **turned).canonical())
    table["a"][0] = "v"
    assert one != b"".join(stated(**table).canonical())


@pytest.mark.parametrize("share", [0.1, 0.2, 1 / 3, 0.7])
@pytest.mark.parametrize("epsilon", [0.1, 0.7, 1.0, 3.3])
def test_both_parts_add_up_to_no_more_than_the_whole(share, epsilon):
    made = stated(purchase=Purchase(share), **rows())
    wanted = split(made, "laplace-pc", {"epsilon": epsilon, "delta": 1e-6})
    for name in ("epsilon", "delta"):
        parts = Fraction(getattr(wanted.plan, name)) + Fraction(wanted.parameters[name])
        assert parts <= Fraction(getattr(wanted, name))
        assert float(parts) == pytest.approx(getattr(wanted, name), rel=1e-12)
    assert wanted.plan.epsilon == share * epsilon


def test_a_run_without_delta_needs_one_for_the_domain():
    made = stated(**rows())
    for name, parameters in (("lapmech", {}), ("laplace-pc", {"delta": 0})):
        with raises_code(ParameterError, "domain-needs-delta"):
            split(made, name, parameters)
    own = stated(purchase=Purchase(0.5, 1e-5), **rows())
    wanted = split(own, "lapmech", {})
    assert (wanted.delta, wanted.plan.delta) == (1e-5, 1e-5)
    assert split(own, "laplace-pc", {"delta": 0}).parameters["delta"] == 0
    with raises_code(ParameterError, "domain-takes-its-delta"):
        split(own, "laplace-pc", {"delta": 1e-6})
    with raises_code(ParameterError, "domain-of-no-privacy"):
        split(made, "pc", {})


@pytest.mark.parametrize("purchase", [(0.0,), (1.0,), (math.nan,), (0.5, 0.0), (0.5, 1.0)])
def test_impossible_shares_are_refused(purchase):
    with pytest.raises(ParameterError):
        Purchase(*purchase)


def test_the_promise_is_that_of_both():
    made = stated(**rows())
    wanted = split(made, "moment-search", {"epsilon": 1.0, "delta": 1e-6})
    dataset = made.buy(wanted.plan, SimulatedNoise(1))
    alone = discover(dataset, "moment-search", wanted.parameters, seed=1)
    promise = with_purchase(alone, wanted).guarantee
    assert alone.guarantee.epsilon == 0.5
    assert (promise.epsilon, promise.delta) == (1.0, 1e-6)
    assert "docs/proofs/bought_domain.md" in promise.proof
    assert not any(shows(fact, "levels-in-order-public") for fact in promise.public)
    assert promise.holds
