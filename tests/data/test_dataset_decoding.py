"""Bytes that are hard to read: encodings, byte-order marks, sizes, and Parquet types."""

import io
import random

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privcore.errors import DataError
from privcore.intake import build_dataset, read_table
from privcore.intake import reading as reading_module
from tests.data.guess import guessed_schema
from tests.messages import raises_code, says


def parquet(table: pa.Table) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(table, buffer)
    return buffer.getvalue()


def is_one_sentence(error: DataError) -> bool:
    return str(error).endswith(".") and "\n" not in str(error)


@pytest.mark.parametrize(
    "content", [b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf\n \n", b"\xff\xfe\n\x00"]
)
def test_a_byte_order_mark_alone_is_an_empty_file(content):
    with raises_code(DataError, "file-empty"):
        read_table(content, "t.csv")


@pytest.mark.long
@pytest.mark.parametrize("shift", range(4))
def test_a_long_file_is_not_judged_by_half_a_character(shift):
    text = "x" * shift + "都市,名前\n" + "東京a,太郎\n大阪,花子b\n" * 10_000
    raw = read_table(text.encode("shift_jis"), "t.csv")
    assert raw.encoding == "shift_jis"
    assert set(raw.frame[raw.names[0]]) == {"東京a", "大阪"}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "shift_jis"])
def test_wide_spaces_are_text(encoding):
    text = "名前,都市\n" + "山　田　太　郎,東　京\n川　本　花　子,大　阪\n" * 20
    assert read_table(text.encode(encoding), "t.csv").frame.iloc[0, 1] == "東　京"


def test_control_characters_are_junk():
    with pytest.raises(DataError, match=says("no-text-file")):
        read_table(b"a,b\n\x01\x02,\x03\n\x04,\x05\n", "t.csv")
    with pytest.raises(DataError, match=says("no-text-file")):
        read_table(b"a,b\n" + b"1,2\n" * 50_000 + b"\x00,1\n", "t.csv")


def test_a_byte_order_mark_is_never_part_of_a_name():
    content = "a,b\n1,2\n2,1\n".encode("utf-8-sig")
    assert read_table(content, "t.csv", reading_module.ReadingOptions("utf-8")).names == ["a", "b"]


def test_the_ending_tsv_does_not_overrule_the_content():
    assert read_table(b"a,b\n1,2\n2,1\n", "t.tsv").delimiter == ","
    assert read_table(b"a,x\tb\n1\t2\n2\t1\n", "t.tsv").names == ["a,x", "b"]


def test_rows_are_numbered_as_in_the_file():
    with pytest.raises(DataError, match=says("wrong-cells-in-line", line=5, cells=1)):
        read_table(b"a,b\n\n\n1,2\n2\n", "t.csv")


def test_cells_may_be_longer_than_the_standard_limit():
    raw = read_table(("a,b\n" + "x" * 300_000 + ",1\ny,2\n").encode(), "t.csv")
    assert len(raw.frame["a"][0]) == 300_000


@given(st.binary(max_size=300), st.sampled_from(["t.csv", "t.tsv", "t.parquet"]))
def test_any_bytes_give_a_table_or_one_sentence(content, filename):
    try:
        raw = read_table(content, filename)
        proper = min(raw.frame.shape) >= 2
    except DataError as error:
        proper = is_one_sentence(error)
    assert proper


@given(
    st.text(alphabet="ab1,;\t|\"' \n\r\ufeff-.é", max_size=60),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "cp1252"]),
    st.sampled_from(["refuse", "drop", "level"]),
)
def test_any_text_gives_a_data_set_or_one_sentence(text, encoding, missing):
    try:
        raw = read_table(text.encode(encoding, "replace"), "t.csv")
        dataset = build_dataset(raw, guessed_schema(raw), name="t", missing=missing)
        proper = dataset.n >= 2
    except DataError as error:
        proper = is_one_sentence(error)
    assert proper


BYTES = [b"x", b"y", b"x"]


@pytest.mark.parametrize(
    "unfit",
    [
        pa.array(BYTES, pa.binary()),
        pa.array(BYTES, pa.large_binary()),
        pa.array(BYTES, pa.binary(1)),
        pa.array(BYTES, pa.binary()).dictionary_encode(),
        pa.array([{"k": 1}, {"k": 2}, {"k": 1}]),
    ],
    ids=["binary", "large", "fixed", "dictionary", "struct"],
)
def test_parquet_bytes_and_structures_are_refused(unfit):
    with raises_code(DataError, "nested-cells"):
        read_table(parquet(pa.table({"a": unfit, "b": [1, 2, 3]})), "t.parquet")


def test_parquet_text_as_a_dictionary_is_read():
    table = pa.table({"a": pa.array(["x", "y", "x"]).dictionary_encode(), "b": [1, 2, 2]})
    assert list(read_table(parquet(table), "t.parquet").frame["a"]) == ["x", "y", "x"]


def test_parquet_with_a_repeated_name_says_so():
    table = pa.Table.from_arrays([pa.array([1, 2])] * 2, names=["a", "a"])
    with raises_code(DataError, "column-twice"):
        read_table(parquet(table), "t.parquet")


def test_a_small_parquet_file_with_too_many_cells_is_refused(monkeypatch):
    content = parquet(pa.table({"a": [1] * 1000, "b": [2] * 1000}))
    monkeypatch.setattr(reading_module, "MAX_CELLS", 1999)
    with pytest.raises(DataError, match=says("too-many-cells", cells="2,000")):
        read_table(content, "t.parquet")


def test_damaged_parquet_gives_one_sentence():
    content = parquet(pa.table({"a": [1, 2] * 50, "b": ["x", "y"] * 50}))
    chance = random.Random(5)
    refused = 0
    for _ in range(200):
        damaged = bytearray(content)
        for _ in range(3):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        try:
            read_table(bytes(damaged), "t.parquet")
        except DataError:
            refused += 1
    assert refused > 100


@pytest.mark.parametrize("part", [0.1, 0.5, 0.9])
def test_truncated_parquet_is_refused(part):
    content = parquet(pa.table({"a": [1, 2] * 50, "b": ["x", "y"] * 50}))
    with pytest.raises(DataError, match=says("cannot-be-read")):
        read_table(content[: int(len(content) * part)], "t.parquet")


def test_a_quoted_first_row_reads_back_from_every_delimiter_and_encoding():
    frame = pd.DataFrame({"é, ü": ["x;y", "a|b"] * 10, 'q"t': ["p\tq", "r,s"] * 10})
    for delimiter in ",;\t|":
        for encoding in ("utf-8", "utf-8-sig", "utf-16", "cp1252"):
            content = frame.to_csv(index=False, sep=delimiter, quoting=1).encode(encoding)
            raw = read_table(content, "t.csv")
            assert raw.delimiter == delimiter
            assert raw.names == list(frame.columns)
            assert raw.frame.to_numpy().tolist() == frame.to_numpy().tolist()
