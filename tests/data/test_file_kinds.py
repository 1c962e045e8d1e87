"""Every kind of file that the manual lists, on every surface but the page, and in a release."""

import csv
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.file_kinds import KINDS
from benchmarks.file_kinds.__main__ import MANUAL
from benchmarks.file_kinds.surfaces import in_engine, in_python, on_command_line
from privcore.errors import ReleaseError
from privcore.intake import build_dataset, read_table
from privcore.intake.reading import ReadingOptions
from privcore.intake.schema import read_schema, schema_json
from privcore.intake.triage import proposed_schema
from privcore.intake.units import bounded
from privcore.releases.release_check import check_release
from tests.data.guess import declare
from tests.messages import label, raises_code

READ = [kind for kind in KINDS if not kind.refusal]
# Schemas of thousands of columns are those of a few, and take seconds.
NARROW = [kind for kind in READ if len(kind.names) < 1_000]


def named(kinds):
    """Kinds as parameters; those with many columns take seconds."""
    return [
        pytest.param(kind, id=kind.name, marks=[pytest.mark.long] * (len(kind.names) > 1_000))
        for kind in kinds
    ]


def drafted(kind, **changes):
    """A table and the schema that is drafted of it."""
    raw = read_table(kind.content(), kind.filename, replace(kind.stated.reading_options, **changes))
    return raw, [column for column in proposed_schema(raw) if column.include]


@pytest.mark.parametrize("kind", named(KINDS))
def test_every_kind_is_read_as_expected(kind):
    assert in_engine(kind) == []


@pytest.mark.parametrize("kind", named(KINDS[::3]))
def test_the_command_line_and_python_say_the_same(kind):
    assert on_command_line(kind) == []
    assert in_python(kind) == []


def test_a_kind_that_is_read_otherwise_is_told():
    """What the tests above rest on: an expectation that is wrong is a fault."""
    kind = next(kind for kind in KINDS if kind.name == "units (5 mg)")
    refused = next(kind for kind in KINDS if kind.name == "an empty file")
    asks = next(kind for kind in KINDS if kind.topics == ("header",))
    wrong = [
        replace(kind, names=("sex", "y", "age")),
        replace(kind, rows=kind.rows + 1),
        replace(kind, taken={"x": replace(kind.taken["x"], unit="kg")}),
        replace(kind, taken={"x": replace(kind.taken["x"], codes=("99",))}),
        replace(kind, note="nobody says this"),
        replace(kind, refusal="is empty"),
        replace(refused, refusal=""),
        replace(asks, topics=()),
    ]
    for each in wrong:
        assert in_engine(each)
    for each in (*wrong[:2], *wrong[4:7]):
        assert on_command_line(each)
        assert in_python(each)


def test_the_manual_lists_these_kinds():
    with MANUAL.open(encoding="utf-8", newline="") as file:
        assert [row["kind"] for row in csv.DictReader(file)] == [kind.name for kind in KINDS]


@pytest.mark.parametrize("kind", named(kind for kind in READ if kind.topics))
def test_a_release_waits_for_the_answer(kind):
    raw = read_table(kind.content(), kind.filename)
    schema = declare([column for column in proposed_schema(raw) if column.include])
    parameters = {"epsilon": 1.0}
    open_one = build_dataset(raw, schema, name="t")
    with raises_code(ReleaseError, "answer-before-release"):
        check_release(open_one, "moment-search", parameters)
    if kind.topics == ("header",):
        raw = read_table(kind.content(), kind.filename, ReadingOptions(header=False))
        check_release(build_dataset(raw, schema, name="t"), "moment-search", parameters)
        return
    check_release(open_one, "moment-search", {**parameters, "rows_per_unit": 1})
    kept = bounded(raw.answered("persons"), kind.names[0], 8).table
    schema = declare([column for column in proposed_schema(kept) if column.include])
    check_release(build_dataset(kept, schema, name="t"), "moment-search", parameters)


@pytest.mark.parametrize("kind", named(NARROW))
def test_a_drafted_schema_goes_through_a_file(kind):
    raw, schema = drafted(kind)
    if len(schema) < 2:
        pytest.skip(label("fewer-than-two-columns"))
    again = read_schema(schema_json(schema).encode())
    assert again == schema
    first, second = (build_dataset(raw, each, name="t") for each in (schema, again))
    assert first.columns == second.columns
    assert np.array_equal(np.array(first.values), np.array(second.values))


@pytest.mark.parametrize("kind", named(kind for kind in NARROW if kind.rows > 2))
def test_a_row_is_read_without_the_others(kind):
    """A replaced row changes its own codes alone, once the schema is fixed."""
    raw, schema = drafted(kind)
    codes = np.array(build_dataset(raw, schema, name="t").values)
    frame = raw.frame.astype(object)
    for place, other in ((7, 8), (0, len(frame) - 1)):
        changed = frame.copy()
        changed.iloc[place] = frame.iloc[other]
        after = build_dataset(replace(raw, frame=changed), schema, name="t")
        after = np.array(after.values)
        assert np.array_equal(np.delete(codes, place, 1), np.delete(after, place, 1))
        assert np.array_equal(after[:, place], codes[:, other])


@pytest.mark.parametrize(
    ("name", "code"),
    [("99 beside answers", "99"), ("999 beside ages", "999"), ("units (5 mg)", "1e9 kg")],
)
def test_a_cell_outside_the_schema_is_missing_or_refused_alone(name, code):
    kind = next(kind for kind in READ if kind.name == name)
    raw, schema = drafted(kind)
    schema = [replace(column, missing=True) for column in schema]
    codes = np.array(build_dataset(raw, schema, name="t").values)
    frame = raw.frame.astype(object)
    frame.iloc[7, list(frame).index("x")] = code
    after = build_dataset(replace(raw, frame=frame), schema, name="t")
    values = np.array(after.values)
    assert np.array_equal(np.delete(codes, 7, 1), np.delete(values, 7, 1))
    place = after.names.index("x")
    assert after.columns[place].levels[values[place, 7]] == "(missing)"
