"""A schema file says what `ColumnSchema` says, and is refused in one sentence otherwise."""

import json
from dataclasses import replace

import pytest

from privcore.errors import DataError
from privcore.intake import ColumnSchema
from privcore.intake.schema import read_schema, schema_json
from tests.data.guess import declare
from tests.messages import says

SCHEMA = [
    ColumnSchema("smoke", "nominal", ("no", "yes")),
    ColumnSchema("stage", "ordinal", ("I", "II", "III"), missing=True),
    ColumnSchema("age", "continuous", bounds=(0.0, 120.0), bins=4),
    ColumnSchema("dose", "continuous", cut_points=(10.0, 50.0)),
]


def test_round_trip():
    assert read_schema(schema_json(SCHEMA).encode()) == SCHEMA
    assert read_schema(schema_json(SCHEMA, confirmed=True).encode()) == declare(SCHEMA)
    left_out = [*SCHEMA, ColumnSchema("id", "nominal", ("x",), include=False)]
    assert read_schema(schema_json(left_out).encode()) == SCHEMA


def changes():
    """Every value of the schema changed by itself, and columns left out, added or moved."""
    first, second, third, fourth = SCHEMA
    yield [replace(first, name="smoker"), *SCHEMA[1:]]
    yield [replace(first, kind="ordinal"), *SCHEMA[1:]]
    yield [replace(first, levels=("yes", "no")), *SCHEMA[1:]]
    yield [first, replace(second, missing=False), third, fourth]
    yield [*SCHEMA[:2], replace(third, bounds=(0.0, 120.00000000000001)), fourth]
    yield [*SCHEMA[:2], replace(third, bins=5), fourth]
    yield [*SCHEMA[:3], replace(fourth, cut_points=(10.0, 50.00000000000001))]
    yield SCHEMA[:3]


@pytest.mark.parametrize("changed", list(changes()))
def test_a_value_that_is_changed_is_not_confirmed(changed):
    document = json.loads(schema_json(SCHEMA, confirmed=True))
    document["columns"] = json.loads(schema_json(changed))["columns"]
    assert not any(column.declared for column in read_schema(json.dumps(document).encode()))


def test_the_order_of_columns_is_no_value():
    document = json.loads(schema_json(SCHEMA, confirmed=True))
    document["columns"].reverse()
    assert all(column.declared for column in read_schema(json.dumps(document).encode()))


@pytest.mark.parametrize("confirmed", [True, "yes", "", None, 1, ["x"]])
def test_a_flag_is_no_confirmation(confirmed):
    document = json.loads(schema_json(SCHEMA)) | {"confirmed": confirmed}
    assert not any(column.declared for column in read_schema(json.dumps(document).encode()))


def test_short_forms():
    content = '[{"name": "a", "levels": [0, 1, true]}, {"name": "b", "bounds": [0, 1], "bins": 2}]'
    first, second = read_schema(content.encode())
    assert (first.kind, first.levels, first.declared) == ("nominal", ("0", "1", "True"), False)
    assert (second.kind, second.bounds, second.bins) == ("continuous", (0.0, 1.0), 2)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"\xff\xfe", says("not-json")),
        (b"[" * 100_000, says("json-too-deep")),
        (
            b'[{"name": "a", "bounds": [0, 120], "bounds": [0, 40], "bins": 4}]',
            says("json-key-twice", name="bounds"),
        ),
        (b"{}", says("schema-without-columns")),
        (b"[3]", says("schema-column-without-name", column=1)),
        (b'[{"name": "a", "level": ["x"]}]', says("schema-unknown-field", field="level")),
        (b'[{"name": "a"}]', says("schema-needs-levels-or-bounds")),
        (
            b'[{"name": "a", "kind": "continuous", "levels": ["x"]}]',
            says("schema-needs-levels-or-bounds"),
        ),
        (
            b'[{"name": "a", "kind": "text", "levels": ["x"]}]',
            says("schema-unknown-kind", kind="text"),
        ),
        (b'[{"name": "a", "levels": "xy"}]', says("schema-needs-levels")),
        (b'[{"name": "a", "levels": [["x"]]}]', says("schema-needs-levels")),
        (b'[{"name": "a", "bounds": [1]}]', says("schema-needs-bounds")),
        (b'[{"name": "a", "bounds": [1, NaN]}]', says("json-not-finite", value="NaN")),
        (b'[{"name": "a", "bounds": [1, "2"]}]', says("schema-needs-finite", field="bounds")),
        (b'[{"name": "a", "cut_points": ["x"]}]', says("schema-needs-finite", field="cut_points")),
        (b'[{"name": "a", "bounds": [0, 1], "bins": 2.5}]', says("schema-needs-bins")),
        (
            b'[{"name": "a", "levels": ["x"], "missing": "yes"}]',
            says("schema-missing-is-no-switch"),
        ),
    ],
)
def test_refusals(content, sentence):
    with pytest.raises(DataError, match=sentence) as caught:
        read_schema(content)
    assert "\n" not in str(caught.value)
