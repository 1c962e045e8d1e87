"""Files of SPSS, Stata, SAS and R: labels, declared missing values, dates and damage."""

import datetime
import io
import random
import subprocess
import sys
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import pyreadstat
import pytest
import rdata
from rdata.conversion import to_r

from privcore.errors import DataError
from privcore.intake import ColumnSchema, statistics_files
from privcore.intake.reading import read_table
from privcore.intake.statistics_files import is_statistics_file, read_statistics
from privcore.intake.triage import triage
from tests.messages import label, raises_code, says

DAY = datetime.date(2024, 5, 31)
NOON = datetime.datetime(2024, 5, 31, 10, 0, 0)


@dataclass
class Classed:
    """A value of R with attributes."""

    value: object
    attributes: dict


def r_classed(data, converter):
    plain = converter.convert_to_r_object(data.value)
    attributes = converter.convert_to_r_attributes(data.attributes)
    return to_r.build_r_object(
        plain.info.type, value=plain.value, is_object=True, attributes=attributes
    )


def r_factor(data, converter):
    """As R writes it, which the library does not: NA as such, and ordered ones."""
    codes = np.where(data.codes < 0, np.iinfo(np.int32).min, data.codes + 1).astype(np.int32)
    kind = np.array(["ordered", "factor"] if data.ordered else ["factor"])
    levels = data.categories.to_numpy()
    return r_classed(Classed(codes, {"levels": levels, "class": kind}), converter)


@pytest.fixture(autouse=True)
def only_some_looks(request, monkeypatch):
    """Looks in processes of their own take half a second, so most tests do without."""
    if request.node.originalname not in {"test_spss", "test_a_crash_of_the_library_is_a_sentence"}:
        monkeypatch.setattr(statistics_files, "survives", lambda *_: True)


@pytest.fixture
def written(tmp_path):
    """The bytes that a function writes to a file."""

    def write(function, *arguments, **options):
        path = tmp_path / "file"
        if function in {rdata.write_rds, rdata.write_rda}:
            classes = {**to_r.DEFAULT_CLASS_MAP, pd.Categorical: r_factor, Classed: r_classed}
            function(path, *arguments, constructor_dict=classes, **options)
        else:
            function(*arguments, str(path), **options)
        return path.read_bytes()

    return write


def cells(labelled, name):
    """The cells of a column, None for missing ones."""
    return [None if pd.isna(cell) else cell for cell in labelled.frame[name]]


def survey():
    return pd.DataFrame(
        {
            "q": [1.0, 2.0, 9.0, 5.0, None],
            "age": [20.0, 33.5, 999.0, 41.0, 50.0],
            "place": ["a", "b", "", "a", "zz"],
            "day": [DAY, DAY, None, DAY, DAY],
            "moment": [NOON, NOON, NOON, NOON, NOON],
            "hour": [NOON.time()] * 5,
        }
    )


def spss(written, **options):
    options = {
        "variable_value_labels": {
            "q": {1: "yes", 2: "no", 3: "no answer", 9: "refused"},
            "age": {999: "refused"},
            "place": {"b": "Beta", "a": "Alpha"},
        },
        "missing_ranges": {"q": [9], "age": [{"lo": 900, "hi": 1000}], "place": ["zz"]},
        "variable_measure": {"q": "ordinal", "age": "scale"},
        **options,
    }
    return written(pyreadstat.write_sav, survey(), **options)


@pytest.mark.parametrize("compress", [False, True])
def test_spss(written, compress):
    content = spss(written, compress=compress)
    assert is_statistics_file(content, "survey")
    read = read_statistics(content, "survey.sav")
    assert cells(read, "q") == ["yes", "no", None, "5", None]
    assert cells(read, "age") == ["20", "33.5", None, "41", "50"]
    assert cells(read, "place") == ["Alpha", "Beta", None, "Alpha", None]
    assert cells(read, "day") == ["2024-05-31", "2024-05-31", None, "2024-05-31", "2024-05-31"]
    assert cells(read, "moment") == ["2024-05-31 10:00:00"] * 5
    assert cells(read, "hour") == ["10:00:00"] * 5
    assert read.levels == {"q": ("yes", "no", "no answer"), "place": ("Alpha", "Beta")}
    assert read.ordered == {"q"}
    assert read.notes == (
        label("declared-missing", count=3, columns="columns", names="q, age, place"),
    )
    assert all(isinstance(dtype, pd.CategoricalDtype) for dtype in read.frame.dtypes)


def test_labels_of_special_codes_leave_numbers(written):
    """Although none of them is declared missing."""
    frame = pd.DataFrame({"age": [*map(float, 3 * [*range(20, 60)]), 0.0, 998.0, 999.0], "x": 1.0})
    labels = {"age": {0: "newborn", 998: "do not know", 999: "refused"}}
    content = written(pyreadstat.write_sav, frame, variable_value_labels=labels)
    raw = read_table(content, "a.sav")
    assert list(raw.frame["age"][-3:]) == ["newborn", "do not know", "refused"]
    assert list(raw.numbers("age")[-3:]) == ["0", "do not know", "refused"]
    age, _ = triage(raw)
    assert age.schema.kind == "continuous"
    assert age.schema.writing.missing_codes == ("do not know", "refused")
    numbers = ColumnSchema("age", "continuous", bounds=(0.0, 1000.0))
    assert list(raw.cells(numbers)[-3:]) == ["0", "998", "999"]
    assert list(raw.cells(age.schema)[-3:]) == ["0", "do not know", "refused"]
    labelled = replace(numbers, kind="nominal", levels=("newborn", "999"))
    assert list(raw.cells(labelled)[-3:]) == ["newborn", "do not know", "999"]
    few = written(pyreadstat.write_sav, frame[119:], variable_value_labels=labels)
    assert triage(read_table(few, "a.sav"))[0].schema.levels == (*labels["age"].values(), "59")
    one = written(pyreadstat.write_sav, frame, variable_value_labels={"age": {999: "refused"}})
    assert not read_statistics(one, "a.sav").levels


def test_labels_are_distinct(written):
    frame = pd.DataFrame({"q": [1.0, 7.0, 8.0, 2.0]})
    labels = {"q": {1: "other", 7: "other", 8: "other (7)", 9: "2"}}
    content = written(pyreadstat.write_sav, frame, variable_value_labels=labels)
    read = read_statistics(content, "a.sav")
    levels = read.levels["q"]
    assert len(set(levels)) == 4
    assert levels[0] == "other (1)"
    assert levels[2:] == ("other (7)", "2")
    assert cells(read, "q") == [*levels[:3], "2 (no label)"]


def test_stata(written):
    frame = pd.DataFrame({"q": pd.Series([1, 2, "a", 2], dtype=object), "day": [DAY] * 4})
    content = written(
        pyreadstat.write_dta,
        frame,
        variable_value_labels={"q": {2: "no", 1: "yes", 3: "maybe", "a": "refused"}},
        missing_user_values={"q": ["a"]},
    )
    assert is_statistics_file(content, "survey")
    read = read_statistics(content, "survey.dta")
    assert cells(read, "q") == ["yes", "no", None, "no"]
    assert cells(read, "day") == ["2024-05-31"] * 4
    assert read.levels == {"q": ("yes", "no", "maybe")}
    assert read.notes == (label("declared-missing", count=1, columns="column", names="q"),)


def test_old_stata_and_numbers_of_single_precision():
    frame = pd.DataFrame({"x": np.array([0.1, 2, np.nan, 3], dtype=np.float32)})
    stream = io.BytesIO()
    frame.to_stata(stream, version=114, write_index=False)
    old = stream.getvalue()
    assert is_statistics_file(old, "old.dta")
    assert not is_statistics_file(old, "old.csv")
    assert cells(read_statistics(old, "old.DTA"), "x") == ["0.1", "2", None, "3"]


@pytest.mark.parametrize("kind", ["xport", "por"])
def test_sas_transport_and_spss_portable(written, kind):
    frame = survey()[["q", "place", "day"]].set_axis(["Q", "PLACE", "DAY"], axis=1)
    content = written(getattr(pyreadstat, f"write_{kind}"), frame)
    assert is_statistics_file(content, "survey")
    read = read_statistics(content, "survey")
    assert cells(read, "Q") == ["1", "2", "9", "5", None]
    assert cells(read, "PLACE") == ["a", "b", None, "a", "zz"]
    assert cells(read, "DAY") == ["2024-05-31", "2024-05-31", None, "2024-05-31", "2024-05-31"]
    assert not read.levels


def r_frame():
    return pd.DataFrame(
        {
            "f": pd.Categorical(["b", None, "a", "b"], ["b", "never", "a"]),
            "o": pd.Categorical(["low", "high", "low", "low"], ["low", "high"], ordered=True),
            "n": [1.0, 2.5, np.nan, 1e20],
            "i": pd.array([1, None, 3, 1], dtype="Int32"),
            "t": pd.array([True, False, None, True], dtype="boolean"),
            "s": pd.array(["x", "é", None, ""], dtype=pd.StringDtype("python")),
        }
    )


def check_r(read):
    assert cells(read, "f") == ["b", None, "a", "b"]
    assert cells(read, "o") == ["low", "high", "low", "low"]
    assert cells(read, "n") == ["1", "2.5", None, "1e+20"]
    assert cells(read, "i") == ["1", None, "3", "1"]
    assert cells(read, "t") == ["true", "false", None, "true"]
    assert cells(read, "s") == ["x", "é", None, None]
    assert read.levels == {"f": ("b", "never", "a"), "o": ("low", "high")}
    assert read.ordered == {"o"}


@pytest.mark.parametrize("compression", ["gzip", "bzip2", "xz", None])
def test_r(written, compression):
    content = written(rdata.write_rds, r_frame(), compression=compression)
    assert is_statistics_file(content, "table.RDS")
    check_r(read_statistics(content, "table.rds"))
    assert not is_statistics_file(content, "table.csv")
    content = written(
        rdata.write_rda, {"other": [1, 2], "table": r_frame()}, compression=compression
    )
    check_r(read_statistics(content, "table.RData"))


def test_classes_of_r(written):
    large = np.array([2**60 + 1, np.iinfo(np.int64).min, 3]).view(np.float64)
    columns = {
        "day": Classed(np.array([19874.0, np.nan, 1e12]), {"class": "Date"}),
        "moment": Classed(
            np.array([1717149600.9, 1717113600, np.nan]), {"class": np.array(["POSIXct", "POSIXt"])}
        ),
        "large": Classed(large, {"class": "integer64"}),
        "named": Classed(np.array([1.0, 2.0, 3.0]), {"names": np.array(["a", "b", "c"])}),
    }
    table = Classed(
        list(columns.values()),
        {
            "names": np.array(list(columns)),
            "class": np.array(["tbl_df", "tbl", "data.frame"]),
            "row.names": np.arange(1, 4, dtype=np.int32),
        },
    )
    read = read_statistics(written(rdata.write_rds, table), "a.rds")
    assert cells(read, "day") == ["2024-05-31", None, None]
    assert cells(read, "moment") == ["2024-05-31 10:00:00", "2024-05-31", None]
    assert cells(read, "large") == [str(2**60 + 1), None, "3"]
    assert cells(read, "named") == ["1", "2", "3"]
    table.attributes["names"] = np.array(["a", "b", "c", "a"])
    with raises_code(DataError, "columns-of-one-name"):
        read_statistics(written(rdata.write_rds, table), "a.rds")


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ([1, 2], says("no-data-frames")),
        ({"a": r_frame(), "b": r_frame()}, says("data-frames", frames=2)),
    ],
)
def test_r_without_one_table(written, value, sentence):
    write = rdata.write_rda if isinstance(value, dict) else rdata.write_rds
    with pytest.raises(DataError, match=sentence):
        read_statistics(written(write, value), "x.rda")


def test_other_bytes_are_none():
    for content in (b"", b"a,b\n1,2\n", b"PK\x03\x04", b"\x1f\x8b"):
        assert not is_statistics_file(content, "table.csv")
    with raises_code(DataError, "no-statistics-file"):
        read_statistics(b"a,b\n1,2\n", "table.csv")


def test_sizes_are_bounded(written, monkeypatch):
    content = spss(written)
    monkeypatch.setattr(statistics_files, "MAX_CELLS", 5 * 6)
    assert len(read_statistics(content, "a.sav").frame) == 5
    monkeypatch.setattr(statistics_files, "MAX_CELLS", 5 * 6 - 1)
    with pytest.raises(DataError, match=says("more-than-cells", limit=29)):
        read_statistics(content, "a.sav")
    packed = written(rdata.write_rds, r_frame())
    monkeypatch.setattr(statistics_files, "MAX_CELLS", 23)
    with pytest.raises(DataError, match=says("more-than-cells", limit=23)):
        read_statistics(packed, "a.rds")
    monkeypatch.setattr(statistics_files, "MAX_CELLS", 24)
    assert len(read_statistics(packed, "a.rds").frame) == 4
    monkeypatch.setattr(statistics_files, "MAX_UNPACKED", 200)
    with pytest.raises(DataError, match=says("more-than-cells")):
        read_statistics(packed, "a.rds")


def test_a_crash_of_the_library_is_a_sentence(written):
    """A variable as wide as several, which are not there, ends the process that reads it."""
    damaged = bytearray(spss(written))
    damaged[180] = 127
    with pytest.raises(DataError, match=says("statistics-file-damaged", program="SPSS")):
        read_statistics(bytes(damaged), "a.sav")


@pytest.mark.parametrize("kind", ["sav", "dta", "xport", "por", "rds", "plain rds"])
def test_damaged_files_are_tables_or_sentences(written, kind):
    frame = survey()[["q", "age", "place"]].set_axis(["Q", "AGE", "PLACE"], axis=1)
    name = "file.dta" if kind == "dta" else "file.rds"
    if "rds" in kind:
        compression = None if "plain" in kind else "gzip"
        content = written(rdata.write_rds, r_frame(), compression=compression)
    else:
        content = written(getattr(pyreadstat, f"write_{kind}"), frame)
    # Of SPSS only the rows: its damaged dictionary ends the process, as tested above.
    start = content.rindex((999).to_bytes(4, "little") + bytes(4)) if kind == "sav" else 0
    dice = random.Random(1)
    sentences = set()
    for number in range(200):
        damaged = bytearray(content)
        if number % 4:
            for _ in range(dice.randint(1, 8)):
                damaged[dice.randrange(start, len(damaged))] = dice.randrange(256)
        else:
            del damaged[dice.randrange(start, len(damaged)) :]
        try:
            table = read_statistics(bytes(damaged), name).frame
        except DataError as error:
            sentences.add(str(error))
        else:
            assert all(isinstance(kind, pd.CategoricalDtype) for kind in table.dtypes)
    assert sentences
    assert all(sentence.endswith(".") for sentence in sentences)


def test_nothing_is_loaded_before_it_is_needed():
    code = (
        "import sys, privcore.intake.statistics_files, privcore.intake.spreadsheets\n"
        "wrong = {'pyreadstat', 'rdata', 'xarray', 'python_calamine'} & set(sys.modules)\n"
        "sys.exit(str(wrong) if wrong else 0)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
