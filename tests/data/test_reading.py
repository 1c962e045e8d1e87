"""Reading users' tables, the good and the bad."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privcore.errors import DataError
from privcore.intake import build_dataset, read_table
from privcore.intake import reading as reading_module
from privcore.intake.cells import MISSING_TEXTS
from privcore.intake.coding import DROPPED
from privcore.intake.reading import ReadingOptions, read_frame
from tests.data.guess import guessed_schema
from tests.messages import raises_code, says

ROWS = "a,b\nx,1\ny,2\nx,2\n"


def load(content, filename="t.csv", **options):
    raw = read_table(content if isinstance(content, bytes) else content.encode(), filename)
    return build_dataset(raw, guessed_schema(raw), name="t", **options)


@pytest.mark.parametrize(
    "content",
    [
        ROWS.encode(),
        ROWS.replace("\n", "\r\n").encode(),
        ROWS.replace(",", ";").encode(),
        ROWS.replace(",", "\t").encode(),
        ROWS.replace(",", "|").encode(),
        ROWS.encode("utf-8-sig"),
        ROWS.encode("utf-16"),
    ],
)
def test_delimiters_and_encodings(content):
    dataset = load(content)
    assert dataset.names == ("a", "b")
    assert [list(v) for v in dataset.values] == [[0, 1, 0], [0, 1, 1]]


cells = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), min_size=1, max_size=6
).filter(lambda t: t == t.strip() and t.lower() not in MISSING_TEXTS)


@given(
    rows=st.lists(st.tuples(cells, cells, cells), min_size=3, max_size=12),
    delimiter=st.sampled_from(",;\t|"),
)
def test_written_tables_are_read_back(rows, delimiter):
    frame = pd.DataFrame(rows, columns=["first", "second one", 'thi"rd'])
    text = frame.to_csv(index=False, sep=delimiter, quoting=1)
    raw = read_table(text.encode(), "t.tsv" if delimiter == "\t" else "t.csv")
    assert raw.names == list(frame.columns)
    assert raw.frame.to_numpy().tolist() == frame.to_numpy().tolist()


def test_quoted_cells_may_hold_the_delimiter_and_line_ends():
    dataset = load('a,b\n"x,1\n2",p\ny,q\n"x,1\n2",q\n')
    assert dataset.columns[0].levels == ("x,1\n2", "y")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", says("file-empty")),
        (b"  \n \n", says("file-empty")),
        (b"a,b\n", says("header-alone")),
        (b"a,b\n1,2\n", says("one-row")),
        (b"a\n1\n2\n", says("one-column")),
        (b"a,a\n1,2\n2,1\n", says("column-twice")),
        (b"a,b\n1,2\n2\n", says("wrong-cells-in-line", line=3, cells=1)),
        (b"a,b\n1,2\n2,1,3\n", says("wrong-cells-in-line", line=3, cells=3)),
        (b"\x89PNG\r\n\x1a\n\x00\x00", says("no-text-file")),
        (bytes(range(256)) * 20, says("no-text-file")),
        (b"\xff\xfea", says("no-text-file")),
        (b"PAR1 nonsense PAR1", says("cannot-be-read")),
    ],
)
def test_bad_files_get_one_clear_sentence(content, sentence):
    with pytest.raises(DataError, match=sentence) as caught:
        read_table(content, "t.csv")
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 250
    assert message.endswith(".")


def test_long_names_are_shortened_and_stay_distinct():
    """By the names alone, and a name that is short already stays as it is."""
    long, taken = "n" * 10_000, "n" * 199 + "…"
    table = read_table(f"{long}a,b,{taken},{long}b\n1,2,3,4\n2,1,4,3\n".encode(), "t.csv")
    assert table.names == ["n" * 197 + "… 2", "b", taken, "n" * 197 + "… 3"]
    assert table.frame[table.names[3]].tolist() == ["4", "3"]
    (note,) = table.notes
    assert all(name in note for name in (table.names[0], table.names[3]))
    frame = pd.DataFrame({long: ["x", "y", "x"], "b": ["1", "2", "2"]})
    assert read_frame(frame).names == ["n" * 199 + "…", "b"]


def test_a_huge_file_is_refused_before_it_is_parsed(monkeypatch):
    monkeypatch.setattr(reading_module, "MAX_BYTES", 10)
    with raises_code(DataError, "too-many-bytes"):
        read_table(ROWS.encode(), "t.csv")


@pytest.mark.parametrize("name", ['quo"te', "</script><img src=x onerror=alert(1)>", "🙂", "ünï"])
def test_strange_names_are_kept_verbatim(name):
    frame = pd.DataFrame({name: ["x", "y", "x"], "b": ["1", "2", "2"]})
    assert load(frame.to_csv(index=False)).names == (name, "b")


def test_infinite_numbers_are_refused_with_their_count():
    text = "a,b\n" + "".join(f"{i}.5,{i % 2}\n" for i in range(40)) + "inf,1\n-inf,0\n"
    with raises_code(DataError, "column-rows-not-finite", rows=2):
        load(text)


def test_ten_thousand_levels_are_refused():
    text = "id,b\n" + "".join(f"r{i},{i % 2}\n" for i in range(10_000))
    with raises_code(DataError, "levels-beyond-limit", most="1,000"):
        load(text)


def test_constant_columns_are_refused():
    with pytest.raises(DataError, match=says("constant-column", name="b")):
        load("a,b\n1,2\n2,2\n")


def test_missing_values_are_refused_with_the_count_per_column():
    with raises_code(DataError, "values-missing", columns="b (2), a (1)"):
        load("a,b\n1,NA\n,2\n2,?\n1,1\n")


def test_missing_values_dropped():
    dataset = load("a,b\n1,NA\n,2\n2,2\n1,1\n", missing="drop")
    assert dataset.n == 2
    assert any("left out" in caveat for caveat in dataset.caveats)


def test_that_rows_are_left_out_is_said_by_the_setting_alone():
    """A neighbour without gaps has the same notes, so that they tell of no record."""
    texts = "a,b\n1,1\n,2\n2,2\n1,1\n", "a,b\n1,1\n2,2\n2,2\n1,1\n"
    gaps, none = (load(text, missing="drop") for text in texts)
    assert gaps.notes == none.notes == (DROPPED,)
    assert not load(texts[1], missing="level").notes


def test_missing_values_as_a_level():
    dataset = load("a,b\n1,NA\n2,2\n2,2\n1,1\n", missing="level")
    assert dataset.columns[1].levels == ("1", "2", "(missing)")
    assert list(dataset.values[1]) == [2, 1, 1, 0]


def test_dropping_everything_is_refused():
    with raises_code(DataError, "all-rows-dropped", rows=0):
        load("a,b\n1,NA\n,2\n", missing="drop")


def test_errors_never_quote_a_cell():
    secret = "patient-4711"
    for text in (f"a,b\n1,{secret}\n2\n", f"a,b\n{secret},1\n"):
        with pytest.raises(DataError) as caught:
            load(text)
        assert secret not in str(caught.value)


def test_what_is_read_from_the_data_is_not_declared():
    dataset = load(ROWS)
    assert dataset.undeclared == ("a", "b")
    assert all(not np.asarray(v).flags.writeable for v in dataset.values)


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("имя,город\n" + "Иван,Москва\nОльга,Киев\n" * 10, "cp1251"),
        ("名前,都市\n" + "太郎,東京\n花子,大阪\n" * 10, "shift_jis"),
        ("姓名,城市\n" + "张三,北京\n李四,上海\n" * 10, "gb18030"),
    ],
)
def test_other_encodings_are_detected(text, encoding):
    raw = read_table(text.encode(encoding), "t.csv")
    assert raw.encoding == encoding
    assert raw.names == text.splitlines()[0].split(",")


def test_a_comma_between_semicolons_is_a_decimal_point():
    """Cell by cell, so that no other record decides how one is read."""
    rows = ("1,5;+1.234.567,80;a,b", "-0,25;12 345,5;1,2,3", "7;1.234;1,5 %")
    cells = read_table("\n".join(("x;y;z", *rows)).encode(), "t.csv").frame
    assert list(cells["x"]) == ["1.5", "-0.25", "7"]
    assert list(cells["y"]) == ["+1234567.80", "12345.5", "1.234"]
    assert list(cells["z"]) == ["a,b", "1,2,3", "1,5 %"]
    tabs = read_table(b"x\ty\n1,5\t2\n1,234\t3\n", "t.tsv").frame
    assert list(tabs["x"]) == ["1,5", "1,234"]


def test_an_encoding_can_be_chosen():
    text = "jméno,město\n" + "Řehoř,Plzeň\nŽofie,Brno\n" * 10
    assert read_table(text.encode("cp1250"), "t.csv", ReadingOptions("cp1250")).names == [
        "jméno",
        "město",
    ]
    with pytest.raises(DataError, match=says("no-text-file")):
        read_table(text.encode("cp1250"), "t.csv", ReadingOptions("utf-8"))
