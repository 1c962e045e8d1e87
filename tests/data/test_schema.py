"""Schemas: overriding kinds, public levels and bounds, cutting, and true graphs."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privcore.data import Column, Dataset
from privcore.data.discretise import cut, interval_labels
from privcore.errors import DataError
from privcore.intake import build_dataset, read_table
from tests.data.guess import guessed_schema
from tests.messages import raises_code, says

TEXT = "sex,age,score\n" + "".join(f"{'fm'[i % 2]},{20 + i},{i % 4}\n" for i in range(40))


@pytest.fixture
def raw():
    return read_table(TEXT.encode(), "t.csv")


def with_column(schema, name, **changes):
    return [replace(c, **changes) if c.name == name else c for c in schema]


def test_equal_width_bins_over_public_bounds(raw):
    schema = with_column(guessed_schema(raw), "age", bounds=(0.0, 100.0), bins=5, declared=True)
    dataset = build_dataset(raw, schema, name="t")
    assert dataset.columns[1].levels == ("< 20", "20 – 40", "40 – 60", "60 – 80", "≥ 80")
    assert dataset.columns[1].declared
    assert list(np.bincount(dataset.values[1], minlength=5)) == [0, 20, 20, 0, 0]


def test_public_cut_points(raw):
    schema = with_column(guessed_schema(raw), "age", cut_points=(30.0, 50.0), declared=True)
    dataset = build_dataset(raw, schema, name="t")
    assert list(np.bincount(dataset.values[1])) == [10, 20, 10]


def test_uncut_columns_stay_continuous_and_are_clipped_to_public_bounds(raw):
    schema = with_column(guessed_schema(raw), "age", bounds=(25.0, 50.0), bins=None, declared=True)
    dataset = build_dataset(raw, schema, name="t")
    assert dataset.columns[1].kind == "continuous"
    assert (dataset.values[1].min(), dataset.values[1].max()) == (25.0, 50.0)
    with pytest.raises(DataError, match=says("column-is-continuous", name="age")):
        _ = dataset.levels


def test_declared_levels_must_cover_the_data(raw):
    schema = with_column(guessed_schema(raw), "sex", levels=("f",), declared=True)
    with raises_code(DataError, "column-rows-outside-levels", rows=20):
        build_dataset(raw, schema, name="t")


def test_levels_that_do_not_occur_are_kept(raw):
    schema = with_column(guessed_schema(raw), "sex", levels=("m", "f", "x"), declared=True)
    dataset = build_dataset(raw, schema, name="t")
    assert dataset.levels[0] == 3
    assert dataset.values[0][0] == 1


def test_columns_can_be_left_out(raw):
    schema = with_column(guessed_schema(raw), "age", include=False)
    assert build_dataset(raw, schema, name="t").names == ("sex", "score")


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"bounds": (5.0, 5.0)}, says("bounds-crossed")),
        ({"bounds": (9.0, 5.0)}, says("bounds-crossed")),
        ({"bounds": (float("nan"), 5.0)}, says("bounds-crossed")),
        ({"bounds": None}, says("bounds-crossed")),
        ({"bins": 1}, says("cut-from-to", low=2, high=100)),
        ({"bins": 1000}, says("cut-from-to", low=2, high=100)),
        ({"cut_points": (3.0, 2.0)}, says("cut-points-fall")),
        ({"cut_points": (3.0, float("inf"))}, says("cut-points-not-finite")),
    ],
)
def test_bad_cuts(raw, changes, sentence):
    with pytest.raises(DataError, match=sentence):
        build_dataset(raw, with_column(guessed_schema(raw), "age", **changes), name="t")


@given(
    numbers=st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=50),
    cuts=st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=8, unique=True).map(sorted),
)
def test_cutting_agrees_with_its_definition(numbers, cuts):
    codes = cut(np.array(numbers), cuts, "x")
    assert list(codes) == [sum(c <= v for c in cuts) for v in numbers]
    assert len(set(interval_labels(cuts))) == len(cuts) + 1


def column(name, levels=("a", "b")):
    return Column(name, "nominal", levels, declared=True)


@pytest.mark.parametrize(
    ("columns", "codes", "sentence"),
    [
        (["a"], [[0, 1]], says("one-column")),
        (["a", "a"], [[0, 1], [0, 1]], says("column-twice")),
        (["a", " "], [[0, 1], [0, 1]], says("no-column-name")),
        (["a", "b"], [[0], [1]], says("too-few-rows-in-data", rows="1 row")),
    ],
)
def test_impossible_data_sets(columns, codes, sentence):
    values = tuple(np.array(c, dtype=np.uint8) for c in codes)
    with pytest.raises(DataError, match=sentence):
        Dataset("t", tuple(column(c) for c in columns), values)


def test_codes_outside_the_levels_are_a_programming_error():
    values = (np.array([0, 2], dtype=np.uint8), np.array([0, 1], dtype=np.uint8))
    with pytest.raises(ValueError, match=says("code-outside-levels")):
        Dataset("t", (column("a"), column("b")), values)
