"""What counts as a number, what counts as public, and cutting a data set."""

from dataclasses import replace

import numpy as np
import pytest

from privcore.data import Column, Dataset, discretise, load_network
from privcore.errors import DataError, ParameterError
from privcore.intake import build_dataset, read_table
from tests.data.guess import declare, guessed_schema
from tests.messages import outside, raises_code, says


def read(text):
    return read_table(text.encode(), "t.csv")


def column_of(values):
    return read("a,b\n" + "".join(f"{v},{i % 2}\n" for i, v in enumerate(values)))


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([f"{i}_000" for i in range(1, 40)], "nominal"),
        (["2020-01-01", "2020-02-01"], "nominal"),
        ([10**20 + i for i in range(40)], "nominal"),
        (["x", "1", "2"], "nominal"),
        (range(20), "ordinal"),
        (["1e3", "-2.5", "7"], "ordinal"),
        (range(21), "continuous"),
    ],
    ids=["underscores", "dates", "long numbers", "mixed", "few", "written oddly", "many"],
)
def test_inferred_kinds_can_always_be_built(values, kind):
    raw = column_of(values)
    schema = guessed_schema(raw)
    assert schema[0].kind == kind
    assert build_dataset(raw, schema, name="t").n == len(values)


@pytest.mark.parametrize("values", [[10**400 + i for i in range(40)], ["inf", *range(40)]])
def test_numbers_beyond_floats_are_counted_and_refused(values):
    raw = column_of(values)
    schema = [replace(guessed_schema(raw)[0], bounds=(0.0, 1.0)), guessed_schema(raw)[1]]
    with raises_code(DataError, "column-rows-not-finite", name="a"):
        build_dataset(raw, schema, name="t")


def test_bounds_too_far_apart_for_floats_are_refused():
    raw = column_of([1.7e308, -1.7e308, *range(40)])
    with raises_code(DataError, "bounds-too-far-apart"):
        build_dataset(raw, guessed_schema(raw), name="t")


GAPS = "a,b\nx,1\n,2\ny,1\n"


def test_gaps_are_read_from_the_data_even_in_declared_columns():
    raw = read(GAPS)
    dataset = build_dataset(raw, declare(guessed_schema(raw)), name="t", missing="level")
    assert dataset.columns[0].levels == ("x", "y", "(missing)")
    assert dataset.undeclared == ("a",)


def test_a_missing_level_that_is_listed_is_public_and_keeps_its_place():
    raw = read(GAPS)
    levels = ("(missing)", "x", "y")
    schema = [replace(c, declared=True) for c in guessed_schema(raw)]
    schema[0] = replace(schema[0], levels=levels)
    dataset = build_dataset(raw, schema, name="t", missing="level")
    assert dataset.undeclared == ()
    assert dataset.columns[0].levels == levels
    assert list(dataset.values[0]) == [1, 0, 2]


def test_gaps_in_a_cut_column_are_its_last_level_and_not_public():
    raw = column_of(["", *range(30)])
    schema = declare(guessed_schema(raw))
    column = build_dataset(raw, schema, name="t", missing="level").columns[0]
    assert column.levels[-1] == "(missing)"
    assert not column.declared


def test_gaps_in_an_uncut_column_are_refused():
    raw = column_of(["", *range(30)])
    schema = [replace(c, bins=None) for c in guessed_schema(raw)]
    with raises_code(DataError, "continuous-with-missing"):
        build_dataset(raw, schema, name="t", missing="level")


def test_a_schema_with_one_column_left_is_refused():
    raw = read("a,b\n1,2\n2,1\n")
    first, second = guessed_schema(raw)
    with pytest.raises(DataError, match=says("one-column")):
        build_dataset(raw, [first, replace(second, include=False)], name="t")
    with raises_code(DataError, "column-twice"):
        build_dataset(raw, [first, first], name="t")


def test_an_unknown_way_with_gaps_is_refused():
    raw = read("a,b\n1,2\n2,1\n")
    with pytest.raises(
        ParameterError, match=says("must-be-one-of", name="missing", choices="refuse, drop, level")
    ):
        build_dataset(raw, guessed_schema(raw), name="t", missing="guess")


@pytest.fixture
def measured():
    return Dataset(
        "t",
        (
            Column("x", "continuous", bounds=(0.0, 10.0), declared=True),
            Column("y", "continuous", bounds=(0.0, 1.0)),
            Column("z", "nominal", ("a", "b"), declared=True),
        ),
        (
            np.array([0.0, 2.5, 5.0, 10.0]),
            np.array([0.1, 0.2, 0.3, 0.9]),
            np.array([0, 1, 0, 1], dtype=np.uint8),
        ),
        true_edges=(("x", "y"),),
    )


def test_cutting_into_equal_intervals_is_as_public_as_the_bounds(measured):
    cut = discretise(measured, {"x": 4, "y": 2})
    assert [list(v) for v in cut.values] == [[0, 1, 2, 3], [0, 0, 0, 1], [0, 1, 0, 1]]
    assert cut.columns[0] == Column(
        "x",
        "ordinal",
        ("< 2.5", "2.5 – 5", "5 – 7.5", "≥ 7.5"),
        cut_points=(2.5, 5.0, 7.5),
        declared=True,
    )
    assert cut.undeclared == ("y",)
    assert cut.levels == (4, 2, 2)
    assert cut.true_edges == measured.true_edges


def test_cutting_at_given_points_is_public(measured):
    cut = discretise(measured, {"y": (0.2, 0.5)})
    assert list(cut.values[1]) == [0, 1, 1, 2]
    assert cut.undeclared == ()
    assert cut.columns[0].kind == "continuous"


@pytest.mark.parametrize(
    ("cuts", "sentence"),
    [
        ({"w": 3}, says("no-such-column", name="w")),
        ({"z": 3}, says("levels-already")),
        ({"x": 1}, says("cut-from-to", low=2, high=100)),
        ({"x": ()}, says("no-cut-points")),
        ({"x": (2, 1)}, says("cut-points-fall")),
        ({"x": (1, float("nan"))}, says("cut-points-not-finite")),
    ],
)
def test_impossible_cuts_of_a_data_set(measured, cuts, sentence):
    with pytest.raises(DataError, match=sentence):
        discretise(measured, cuts)


def test_true_edges_are_between_columns(measured):
    with pytest.raises(DataError, match=says("not-a-column", name="w")):
        replace(measured, true_edges=(("x", "w"),))


@pytest.mark.parametrize("rows", [None, "x", "10", True, float("nan"), float("inf")])
def test_row_counts_that_are_no_whole_number(rows):
    with pytest.raises(ParameterError, match=outside("rows")):
        load_network("asia").sample(rows, 0)


@pytest.mark.parametrize("seed", [None, "x", -1, 1.5, True, float("nan")])
def test_impossible_seeds(seed):
    with pytest.raises(ParameterError, match=outside("seed")):
        load_network("asia").sample(10, seed)


def test_a_generator_in_place_of_a_seed_is_used_up():
    network = load_network("asia")
    generator = np.random.default_rng(7)
    first, second = network.sample(200, generator), network.sample(200, generator)
    seeded = network.sample(200, 7)
    assert all((a == b).all() for a, b in zip(first.values, seeded.values, strict=True))
    assert any((a != b).any() for a, b in zip(first.values, second.values, strict=True))
