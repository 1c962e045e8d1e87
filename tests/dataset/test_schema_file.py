"""A schema file says what `ColumnSchema` says, and is refused in one sentence otherwise."""

import json

import pytest

from privcore.dataset import ColumnSchema
from privcore.dataset.schema_file import read_schema, schema_json
from privcore.errors import DataError

SCHEMA = [
    ColumnSchema("smoke", "nominal", ("no", "yes"), declared=True),
    ColumnSchema("stage", "ordinal", ("I", "II", "III"), declared=False),
    ColumnSchema("age", "continuous", bounds=(0.0, 120.0), bins=4, declared=True),
    ColumnSchema("dose", "continuous", cut_points=(10.0, 50.0), declared=True),
]


def test_round_trip():
    assert read_schema(schema_json(SCHEMA).encode()) == SCHEMA
    left_out = [*SCHEMA, ColumnSchema("id", "nominal", ("x",), include=False)]
    assert read_schema(schema_json(left_out).encode()) == SCHEMA


def test_short_forms():
    content = '[{"name": "a", "levels": [0, 1, true]}, {"name": "b", "bounds": [0, 1], "bins": 2}]'
    first, second = read_schema(content.encode())
    assert (first.kind, first.levels, first.declared) == ("nominal", ("0", "1", "True"), True)
    assert (second.kind, second.bounds, second.bins) == ("continuous", (0.0, 1.0), 2)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"\xff\xfe", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"{}", "lists no columns"),
        (b"[3]", "Column 1 of the schema has no name"),
        (b'[{"name": "a", "level": ["x"]}]', "'level', which means nothing"),
        (b'[{"name": "a"}]', "needs levels, or bounds"),
        (b'[{"name": "a", "kind": "continuous", "levels": ["x"]}]', "needs levels, or bounds"),
        (b'[{"name": "a", "kind": "text", "levels": ["x"]}]', "the kind 'text'"),
        (b'[{"name": "a", "levels": "xy"}]', "needs a list of levels"),
        (b'[{"name": "a", "levels": [["x"]]}]', "needs a list of levels"),
        (b'[{"name": "a", "bounds": [1]}]', "needs two bounds"),
        (b'[{"name": "a", "bounds": [1, NaN]}]', "finite numbers as bounds"),
        (b'[{"name": "a", "cut_points": ["x"]}]', "finite numbers as cut_points"),
        (b'[{"name": "a", "bounds": [0, 1], "bins": 2.5}]', "whole number of bins"),
        (b'[{"name": "a", "levels": ["x"], "public": "yes"}]', "neither true nor false"),
    ],
)
def test_refusals(content, sentence):
    with pytest.raises(DataError, match=sentence) as caught:
        read_schema(content)
    assert "\n" not in str(caught.value)


def test_all_of_it_is_written_down():
    assert json.loads(schema_json(SCHEMA))["columns"][1] == {
        "name": "stage", "kind": "ordinal", "levels": ["I", "II", "III"], "public": False,
    }  # fmt: skip
