"""A table in Parquet files has the columns, codes and refusals that reading it would give."""

import datetime
import decimal
import io
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privcore.errors import DataError, ParameterError, PrivcoreError
from privcore.intake import ColumnSchema, build_dataset, read_table
from privcore.intake.numbers_and_dates import DateReading
from privcore.intake.triage import choose, proposed_schema, triage
from privcore.storage import parquet as parquet_module
from privcore.storage.dask_frame import FramePartitions
from privcore.storage.parquet import ParquetRows, open_parquet, triage_parquet
from tests.examples import examples
from tests.messages import raises_code, says

dask = pytest.importorskip("dask")


def parquet(frame):
    content = io.BytesIO()
    pq.write_table(pa.Table.from_pandas(frame, preserve_index=False), content)
    return content.getvalue()


def in_memory(content, schema, missing):
    raw = read_table(content, "t.parquet")
    wanted = proposed_schema(raw) if schema is None else schema
    data = build_dataset(raw, wanted, name="t.parquet", missing=missing)
    return (data.columns, data.n, data.caveats, [v.tolist() for v in data.values])


def in_files(content, schema, missing):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.parquet"
        path.write_bytes(content)
        table = open_parquet(path, schema, missing=missing)
        codes = [np.concatenate(c).tolist() for c in zip(*batches(table))]  # noqa: B905
    return (table.columns, table.n, table.caveats, codes)


def in_partitions(content, schema, missing):
    import dask.dataframe as dd

    frame = pq.read_table(io.BytesIO(content)).to_pandas(types_mapper=pd.ArrowDtype)
    with dask.config.set(scheduler="synchronous"):
        parts = FramePartitions(dd.from_pandas(frame, npartitions=3), schema, missing)
        pieces = parts.map(lambda number, codes: codes)
        codes = [np.concatenate(column).tolist() for column in zip(*pieces, strict=True)]
    return (None, sum(parts.sizes), parts.caveats, codes)


def batches(table):
    return table.batches(range(len(table.columns)))


def outcome(make, *arguments, **named):
    try:
        return make(*arguments, **named)
    except PrivcoreError as error:
        return str(error)


def agree(got, expected):
    """Both refuse (where several things are wrong, not always for the same), or both are equal."""
    return got == expected or (isinstance(got, str) and isinstance(expected, str))


cells = st.sampled_from(["a", "b", " a", "it's", "", "NA", "?", None, "é ", "x\0y", "A"])
numbers = st.one_of(st.none(), st.integers(-3, 30))
reals = st.one_of(
    st.none(), st.sampled_from([0.1, -0.0, 1e16, 2.5, float("nan"), float("inf"), 1e-7])
)


def frames(rows=(2, 12)):
    return st.integers(*rows).flatmap(
        lambda n: st.fixed_dictionaries(
            {
                "t": st.lists(cells, min_size=n, max_size=n),
                "T": st.lists(st.sampled_from(["p", "q"]), min_size=n, max_size=n),
                "i": st.lists(numbers, min_size=n, max_size=n),
                "f": st.lists(reals, min_size=n, max_size=n),
                "b": st.lists(st.sampled_from([True, False, None]), min_size=n, max_size=n),
            }
        )
    )


def frame_of(columns):
    return pd.DataFrame(
        {
            "t": pd.Series(columns["t"], dtype=pd.ArrowDtype(pa.string())),
            "T": pd.Series(columns["T"], dtype=pd.ArrowDtype(pa.string())),
            "i": pd.Series(columns["i"], dtype=pd.ArrowDtype(pa.int32())),
            "f": pd.Series(pa.array(columns["f"], pa.float64()), dtype=pd.ArrowDtype(pa.float64())),
            "b": pd.Series(columns["b"], dtype=pd.ArrowDtype(pa.bool_())),
        }
    )


@settings(max_examples=examples(25))
@given(columns=frames(), missing=st.sampled_from(["refuse", "drop", "level"]))
def test_without_a_schema(columns, missing):
    content = parquet(frame_of(columns))
    expected = outcome(in_memory, content, None, missing)
    assert agree(outcome(in_files, content, None, missing), expected)


schemas = st.tuples(
    st.sampled_from([("a", "b"), ("a", "b", "it's", "é", "x\0y", "A"), ("a", "(missing)", "b")]),
    st.sampled_from(
        [
            ColumnSchema("i", "continuous", bounds=(0, 10), bins=3, declared=True),
            ColumnSchema("i", "continuous", cut_points=(2, 5.5), declared=False),
            ColumnSchema("i", "ordinal", tuple(map(str, range(-3, 31))), declared=True),
        ]
    ),
    st.sampled_from(
        [
            ColumnSchema("f", "continuous", cut_points=(0.1, 2.5), declared=True),
            ColumnSchema("f", "continuous", bounds=(0.0, 1.0), declared=True),
        ]
    ),
)


@settings(max_examples=examples(25))
@given(columns=frames(), missing=st.sampled_from(["refuse", "drop", "level"]), chosen=schemas)
def test_with_a_schema(columns, missing, chosen):
    content = parquet(frame_of(columns))
    levels, number, real = chosen
    schema = [
        ColumnSchema("t", "nominal", levels, declared=True),
        number,
        ColumnSchema("b", "nominal", ("False", "True"), declared=False),
        *([real] if real.cut_points else []),
    ]
    expected = outcome(in_memory, content, schema, missing)
    assert agree(outcome(in_files, content, schema, missing), expected)
    pieces = outcome(in_partitions, content, schema, missing)
    assert agree(pieces, expected) or pieces[1:] == expected[1:]


FAULTS = {
    "gaps": ({"t": ["a", None, "b"]}, "refuse"),
    "few left": ({"t": ["a", None, "NA"]}, "drop"),
    "outside": ({"t": ["a", "b", "c"]}, "refuse"),
    "outside, among complete rows": ({"t": ["a", "z", "c"], "i": [1, None, 9]}, "drop"),
    "not finite": ({"f": [0.5, float("inf"), 3.0]}, "refuse"),
    "constant": ({"b": [True, True, True]}, "refuse"),
    "constant, once rows are dropped": ({"b": [True, True, None]}, "drop"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_one_thing_wrong_has_one_sentence(fault):
    changed, missing = FAULTS[fault]
    good = {"t": ["a", "b", "a"], "i": [1, 5, 9], "f": [0.5, 3.0, 1.0], "b": [True, False, True]}
    content = parquet(frame_of({"T": ["p", "q", "p"]} | good | changed))
    schema = [
        ColumnSchema("t", "nominal", ("a", "b"), declared=True),
        ColumnSchema("i", "continuous", bounds=(0, 10), bins=3, declared=True),
        ColumnSchema("f", "continuous", cut_points=(1.0, 2.5), declared=True),
        ColumnSchema("b", "nominal", ("False", "True")),
    ]
    sentence = outcome(in_memory, content, schema, missing)
    assert isinstance(sentence, str)
    assert outcome(in_files, content, schema, missing) == sentence
    assert outcome(in_partitions, content, schema, missing) == sentence


def test_kinds_of_cells(tmp_path):
    frame = pa.table(
        {
            "day": [datetime.date(2020, 1, 2), datetime.date(2021, 3, 4)] * 3,
            "when": [datetime.datetime(2020, 1, 2, 3, 4, 5), None] * 3,
            "money": [decimal.Decimal("1.50"), decimal.Decimal("2.25")] * 3,
            "word": pa.array(["x", "y"] * 3).dictionary_encode(),
            "small": pa.array([0.1, 0.25] * 3, pa.float32()),
        }
    )
    content = io.BytesIO()
    pq.write_table(frame, content)
    got = in_files(content.getvalue(), None, "level")
    assert got == in_memory(content.getvalue(), None, "level")


@pytest.mark.long
def test_many_distinct_numbers_are_cut(tmp_path):
    generator = np.random.default_rng(1)
    frame = pd.DataFrame(
        {"x": generator.normal(size=30_000), "y": generator.integers(0, 2, 30_000)}
    )
    content = parquet(frame)
    assert in_files(content, None, "refuse") == in_memory(content, None, "refuse")


def messy(rows, seed=0):
    """A table with about everything in it that a table can have, of the types of Parquet."""
    generator = np.random.default_rng(seed)
    moments = pd.Timestamp("1960-03-01") + pd.to_timedelta(
        generator.integers(0, 60 * 365 * 24, rows), unit="h"
    )
    age = generator.normal(50, 18, rows).clip(0, 100).round(1)
    return pd.DataFrame(
        {
            "Unnamed: 0": np.arange(rows),
            "code": [f"n{k:x}" for k in generator.permutation(10 * rows)[:rows]],
            "born": moments,
            "day": moments.date,
            "seen": moments.strftime("%d.%m.%Y %H:%M"),
            "ward": generator.choice(["a", " b", "b", "c "], rows),
            "city": [f"city {k}" for k in np.minimum(generator.geometric(0.05, rows), 80)],
            "age": np.where(generator.random(rows) < 0.05, np.nan, age),
            "cost": generator.lognormal(5, 2, rows),
            "dose": np.where(generator.random(rows) < 0.01, "unknown", age.astype(str)),
            "smoker": pd.array(
                np.where(generator.random(rows) < 0.1, None, generator.random(rows) < 0.3),
                dtype="boolean",
            ),
            "remark": [f"patient {k} feels a little better" for k in range(rows)],
        }
    )


@pytest.mark.long
def test_a_messy_table_has_the_proposals_and_codes_of_reading_it(tmp_path):
    content = parquet(messy(6_000))
    (tmp_path / "t.parquet").write_bytes(content)
    proposals = triage_parquet(tmp_path / "t.parquet")
    assert proposals == triage(read_table(content, "t.parquet"))
    left_out = {p.name for p in proposals if not p.used}
    assert left_out == {"Unnamed: 0", "code", "remark"}
    dates = [p.name for p in proposals if p.problem == "date"]
    assert dates == ["born", "day", "seen"]
    assert in_files(content, None, "refuse") == in_memory(content, None, "refuse")


@pytest.mark.long
def test_a_larger_table_is_judged_by_some_of_its_rows(tmp_path, monkeypatch):
    frame = messy(6_000).assign(number=np.random.default_rng(2).permutation(6_000))
    (tmp_path / "t.parquet").write_bytes(parquet(frame))
    in_full = {p.name: p for p in triage_parquet(tmp_path / "t.parquet")}
    monkeypatch.setattr(parquet_module, "_SAMPLE", 2_000)
    sampled = triage_parquet(tmp_path / "t.parquet")
    assert sampled == triage_parquet(tmp_path / "t.parquet")
    for proposal in sampled:
        assert proposal.problem == in_full[proposal.name].problem, proposal.name
    used = [p.name for p in choose(sampled) if p.used]
    table = open_parquet(tmp_path / "t.parquet")
    assert list(table.names) == used
    cost = np.concatenate([codes[used.index("cost")] for codes in batches(table)])
    sizes = np.bincount(cost)
    assert len(sizes) > 2
    assert sizes.min() > 6_000 / len(sizes) / 2


WRITTEN = {
    "ISO8601": [
        "2024-05-31",
        "2023-05-31",
        " 2024-1-5 ",
        "2024/05/31",
        "20240531",
        "2024-05-31T23:30",
        "2024-05-31 10:00:00.123456",
        "2024-05-31T23:30:00-05:00",
        "2024-01-01T00:30+0200",
        "2024-02-30",
        "2024-05-31 24:00",
        "24-05-31",
        "infinity",
        "soon",
        "NA",
        None,
    ],
    "%d.%m.%Y": ["31.12.2023", "1.2.2024", "31.02.2024", "01.02.24", "1.2.2024 10:00", "?", None],
    "%d %b %Y": ["05 jan 2024", "5 Jan 2024", "7 Feb 2023", "5 January 2024", "5 2024", None],
    "%m/%d/%Y %H:%M": ["12/31/2023 23:59", "31/12/2023 10:00", "1/2/2024 9:05", "1/2/2024", None],
}


@pytest.mark.long
@pytest.mark.parametrize("part", ["month", "weekday", "quarter", "year"])
@pytest.mark.parametrize("form", WRITTEN)
@pytest.mark.parametrize("missing", ["refuse", "drop", "level"])
def test_dates_are_read_as_elsewhere(form, part, missing):
    days = 2 * WRITTEN[form]
    frame = pd.DataFrame({"day": pd.Series(days, dtype=object), "x": "p"})
    frame.loc[len(days) // 2 :, "x"] = "q"
    content = parquet(frame)
    reading = DateReading(form, part)
    cells = read_table(content, "t.parquet").frame["day"]
    levels = reading.levels or tuple(sorted(reading.read(cells).dropna().unique()))
    schema = [
        ColumnSchema("day", "nominal", levels, date=reading),
        ColumnSchema("x", "nominal", ("p", "q")),
    ]
    expected = outcome(in_memory, content, schema, missing)
    assert outcome(in_files, content, schema, missing) == expected
    assert isinstance(expected, str) == (missing == "refuse")


def test_moments_with_a_time_zone_count_as_they_are_written():
    zoned = pd.to_datetime(pd.Series(["2024-05-31 23:30", "2024-01-01 00:00"] * 2)).dt.tz_localize(
        "Asia/Tokyo"
    )
    content = parquet(pd.DataFrame({"day": zoned, "x": ["p", "q", "q", "p"]}))
    reading = DateReading("ISO8601", "weekday")
    schema = [
        ColumnSchema("day", "nominal", reading.levels, date=reading),
        ColumnSchema("x", "nominal", ("p", "q")),
    ]
    # Midnight on Monday in Tokyo is Monday, although it is Sunday in UTC.
    assert in_files(content, schema, "refuse")[3][0] == [4, 0, 4, 0]
    assert in_memory(content, schema, "refuse") == in_files(content, schema, "refuse")


def test_identifiers_are_left_out(tmp_path):
    frame = pd.DataFrame({"id": [f"n{i}" for i in range(20_000)], "y": [0, 1] * 10_000})
    (tmp_path / "t.parquet").write_bytes(parquet(frame))
    with pytest.raises(
        DataError, match=says("left-out-for-example", name="id", problem="identifier")
    ):
        open_parquet(tmp_path / "t.parquet")
    schema = [ColumnSchema("id", "nominal", ("n0",)), ColumnSchema("y", "nominal", ("0", "1"))]
    with raises_code(DataError, "column-rows-outside-levels", name="id", rows="19,999"):
        open_parquet(tmp_path / "t.parquet", schema)


def test_a_folder_is_read_in_the_order_of_its_names(tmp_path):
    for name, values in (("b", "yyx"), ("a", "xxy"), ("c/d", "zzz")):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        frame = pd.DataFrame({"t": list(values), "u": list("pqp")})
        (tmp_path / f"{name}.parquet").write_bytes(parquet(frame))
    table = open_parquet(tmp_path)
    codes = np.concatenate([batch[0] for batch in batches(table)])
    assert [table.columns[0].levels[code] for code in codes] == list("xxyyyxzzz")
    (tmp_path / "e.parquet").write_bytes(parquet(pd.DataFrame({"t": ["x"], "v": ["p"]})))
    with raises_code(DataError, "other-columns-in-file", file="e.parquet"):
        open_parquet(tmp_path)


def test_refusals(tmp_path):
    with pytest.raises(DataError, match=says("cannot-be-read")):
        open_parquet(tmp_path / "none.parquet")
    with raises_code(DataError, "no-parquet-in-folder"):
        open_parquet(tmp_path)
    (tmp_path / "a.parquet").write_text("a,b\n1,2\n")
    with pytest.raises(DataError, match=says("no-parquet-file")):
        open_parquet(tmp_path)
    frame = pd.DataFrame({"a": [1, 2], "b": [[1], [2]]})
    (tmp_path / "a.parquet").write_bytes(parquet(frame))
    with raises_code(DataError, "nested-cells"):
        open_parquet(tmp_path)
    good = pd.DataFrame({"a": [1, 2], "b": ["x", "y"]})
    (tmp_path / "a.parquet").write_bytes(parquet(good))
    with pytest.raises(DataError, match=says("no-such-column", name="c")):
        open_parquet(tmp_path, [ColumnSchema(n, "nominal", ("x", "y")) for n in "bc"])
    with pytest.raises(ParameterError, match=says("must-be-one-of", name="missing", value="skip")):
        open_parquet(tmp_path, [ColumnSchema(n, "nominal", ("x",)) for n in "ab"], missing="skip")
    numbers = [ColumnSchema(n, "continuous", bounds=(0, 3), bins=2) for n in "ab"]
    with raises_code(DataError, "column-rows-not-finite", name="b", rows=2):
        open_parquet(tmp_path, numbers)
    kept = [ColumnSchema("a", "continuous", bounds=(0, 1)), numbers[1]]
    with raises_code(DataError, "only-levels-counted", name="a"):
        open_parquet(tmp_path, kept)


def test_without_dask_it_says_how_to_get_it(monkeypatch):
    frame = pd.DataFrame({"a": ["x", "y"], "b": ["x", "y"]})
    monkeypatch.setitem(sys.modules, "dask", None)
    with pytest.raises(DataError, match=says("install-distributed")):
        FramePartitions(frame, [], "refuse")


def test_a_file_that_is_gone_is_one_sentence_and_no_traceback(tmp_path):
    frame = pd.DataFrame({"a": ["x", "y"], "b": ["secret", "y"]})
    (tmp_path / "t.parquet").write_bytes(parquet(frame))
    rows = ParquetRows(open_parquet(tmp_path / "t.parquet"))
    (tmp_path / "t.parquet").unlink()
    with pytest.raises(DataError, match=says("cannot-be-read")) as caught:
        rows.distinct([0, 1], 10)
    assert "secret" not in str(caught.value)
