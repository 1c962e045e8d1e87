"""Small files that claim to be large: what they take is bounded before it is decoded."""

import io
from contextlib import contextmanager
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from privcore.errors import DataError
from privcore.intake import read_table
from privcore.intake import reading as reading_module
from privcore.storage.parquet import open_parquet
from tests.messages import raises_code, says

MEGABYTE = 1 << 20
LONG = 20_000
POOLS = []  # Arrays may outlive the test that made them, and their pool must outlive them.


@contextmanager
def counted():
    """What the Parquet reader takes meanwhile, on its own."""
    usual = pa.default_memory_pool()
    pool = pa.proxy_memory_pool(usual)
    POOLS.append(pool)
    pa.set_memory_pool(pool)
    try:
        yield pool
    finally:
        pa.set_memory_pool(usual)


def written(columns, **options):
    out = io.BytesIO()
    pq.write_table(pa.table(columns), out, compression="zstd", **options)
    return out.getvalue()


def texts(rows):
    """A column of two long texts, in turn."""
    values = pa.array(["x" * LONG, "y" * LONG])
    return pa.DictionaryArray.from_arrays(pa.array(np.arange(rows, dtype=np.int32) % 2), values)


@pytest.mark.parametrize("store_schema", [False, True])
def test_long_texts_stay_in_their_dictionary(store_schema):
    rows = 300_000
    content = written({"a": texts(rows), "b": texts(rows)}, store_schema=store_schema)
    assert len(content) < 20_000
    with counted() as pool:
        table = read_table(content, "t.parquet", memory=64 * MEGABYTE)
    assert pool.max_memory() < 16 * MEGABYTE  # 12 GB without dictionaries
    assert len(table.frame) == rows
    assert list(table.frame["b"][:3]) == ["x" * LONG, "y" * LONG, "x" * LONG]


def test_pages_that_decompress_to_more_than_there_is_are_refused():
    same = pa.array(["x" * LONG] * 5_000)
    content = written({"a": same, "b": same}, use_dictionary=False)
    assert len(content) < 100_000
    refused = pytest.raises(DataError, match=says("needs-memory-to-read", size="0.0625"))
    with counted() as pool, refused:
        read_table(content, "t.parquet", memory=64 * MEGABYTE)
    assert pool.max_memory() < MEGABYTE


def test_texts_stored_by_what_changes_are_read_a_few_at_a_time():
    same = pa.array(["x" * LONG] * 5_000 + ["y"])
    coded = dict.fromkeys("ab", "DELTA_BYTE_ARRAY")
    content = written({"a": same, "b": same}, use_dictionary=False, column_encoding=coded)
    assert len(content) < 3_000
    with counted() as pool:
        table = read_table(content, "t.parquet", memory=64 * MEGABYTE)
    assert pool.max_memory() < 64 * MEGABYTE  # 200 MB at a time
    assert table.frame["a"].value_counts().to_dict() == {"x" * LONG: 5_000, "y": 1}


def test_few_bytes_for_many_cells():
    """300 kB, and 4.3 GiB when every cell is a text of its own."""
    columns = {f"c{i}": pa.array(np.zeros(3_000_000, np.int8)) for i in range(10)}
    content = written(columns)
    with raises_code(DataError, "needs-memory", size="0.25"):
        read_table(content, "t.parquet", memory=256 * MEGABYTE)


def test_the_kinds_of_cells_are_read_as_text():
    columns = {
        "whole": pa.array([1, None, 2, 1]),
        "real": pa.array([0.0, -0.0, float("nan"), 1.5]),
        "text": pa.array([" x ", "x", None, "NA"]),
        "truth": pa.array([True, False, None, True]),
        "date": pa.array([0, 1, None, 0], pa.date32()),
        "exact": pa.array([Decimal(1), Decimal(2), None, Decimal(1)], pa.decimal128(5, 2)),
        "nothing": pa.nulls(4),
        "coded": pa.array(["a", None, "b", "a"]).dictionary_encode(),
    }
    frame = read_table(written(columns), "t.parquet").frame
    assert {
        name: list(frame[name].astype(object).where(frame[name].notna(), None)) for name in frame
    } == {
        "whole": ["1", None, "2", "1"],
        "real": ["0.0", "-0.0", None, "1.5"],
        "text": ["x", "x", None, None],
        "truth": ["True", "False", None, "True"],
        "date": ["1970-01-01", "1970-01-02", None, "1970-01-01"],
        "exact": ["1.00", "2.00", None, "1.00"],
        "nothing": [None] * 4,
        "coded": ["a", None, "b", "a"],
    }


@pytest.mark.long
def test_a_text_file_counts_as_it_is_read():
    content = b"a,b\n" + b"".join(f"{i},{i + 1}\n".encode() for i in range(20_000))
    assert len(read_table(content, "t.csv").frame) == 20_000
    with raises_code(DataError, "needs-memory"):
        read_table(content, "t.csv", memory=4 * MEGABYTE)


def test_one_line_and_a_million_columns(monkeypatch):
    wide = ",".join(f"c{i}" for i in range(10_001)) + "\n"
    with raises_code(DataError, "columns-above-limit", number="10,001", max_columns="10,000"):
        read_table(wide.encode(), "t.csv")
    monkeypatch.setattr(reading_module, "_USUAL_ROW", 500)
    monkeypatch.setattr(reading_module, "_MAX_ROW", 1_000)
    with raises_code(DataError, "row-too-long", characters="1,000"):
        read_table(b"a,b\n1,2\n1," + b"x" * 2_000 + b"\n", "t.csv")


def test_counting_a_file_where_it_is_may_need_more_than_it_may_take(tmp_path):
    same = pa.array(["x" * LONG] * 10_000)
    path = tmp_path / "t.parquet"
    path.write_bytes(written({"a": same, "b": same}, use_dictionary=False))
    with pytest.raises(DataError, match=says("needs-memory-to-count")):
        open_parquet(path, memory=100 * MEGABYTE)
