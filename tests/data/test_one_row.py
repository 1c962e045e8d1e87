"""One row changes nothing but its own row: reading A and a further row gives, for A, what A gives.

Holds for every kind of file and every form of a schema.  What looks at the whole file is left out,
and listed in docs/guarantees.md: the encoding and the header are stated here, the further row is
neither among the first nor among the last rows, and a program that stores types stores the same
types for both tables.
"""

import csv
import datetime
import io
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pyreadstat
import pytest
import rdata
import xlsxwriter
import xlwt

from privcore.intake import spreadsheets, statistics_files
from privcore.intake.coding import Coding
from privcore.intake.numbers_and_dates import FORMATS, DateReading, Writing
from privcore.intake.reading import ReadingOptions, read_frame, read_table
from privcore.intake.schema import MISSING_LEVEL, OTHER_LEVEL, ColumnSchema

NAMES = ("word", "number", "day")
WORDS = ("a", "b", "B ", "1", "2", "3", "", "unknown", "5 mg", "c")
NUMBERS = ("1", "2", "3", "4", "2.5", "1e5", "-7", "", "99", "10")
DAYS = ("9999-12-31", "1500-06-30", "2024-03-01 08:30:00", "31.12.2024", "2024-02-30", "", "x")
TEXTS = [tuple(cells[k % len(cells)] for cells in (WORDS, NUMBERS, DAYS)) for k in range(70)]
HOSTILE = (
    *("2024-03-01 00:00:00.0000000", "9999-12-31 23:59:59.9999999", "2024-03-01T10:00:00.123456Z"),
    *("0001-01-01", "1677-09-20", "12024-01-01", "-0044-03-15", "2024-03-01 23:00:00-11:00"),
    *("now", "today", "NaT", "None", "nan", "inf", "-Infinity", "NA", ".", "?", "", "  a  "),
    *("1e999", "-1e308", "1e-400", "18446744073709551616", "-1", "9" * 40, "0." + "3" * 40),
    *("1_0", "0x1F", "１２", "١٢", "−5", "1,5", "1.234,5", "1 234", "1.0", "-0.0", "01", "+1"),
    *("true", "TRUE", "T", "7", "a (no label)", OTHER_LEVEL, MISSING_LEVEL, "99", "$5", "5 mg"),
    *("12/31/2024", "2024", "=1+1", "'", "x" * 5_000, "é", "日本", "UNKNOWN"),
    *('say "x"', '"', "a\nb", "a,b", "a;b|c\td"),
)
# A label, a number and a day of SPSS, Stata and SAS: seconds or days.
CODES = [(k % 4 + 1.0, k % 7 / 2, 86_400.0 * (k % 5)) for k in range(70)]
FIGURES = (
    *(7.0, 1e308, -1e308, 1e-300, 0.1 + 0.2, -0.0, 2.0**53 + 2, 1e15, 99.0, 9.0, 3e9, -3e11),
    None,
)
MOMENT = datetime.datetime(2024, 3, 1, 8, 30)
# What workbooks store.
CELLS = [("ab"[k % 2], k / 4, MOMENT + datetime.timedelta(k)) for k in range(70)]
STORED = (
    *(7.0, 1e300, 0.1 + 0.2, 2.0**53 + 2, True, False, "now", "1.0", "", "1e999", MOMENT),
    *(datetime.datetime(9999, 12, 31, 23, 59, 59), datetime.date(1900, 3, 1), datetime.time(10)),
)

# All forms of a schema; each reads every column.
FORMS = {
    "levels": ColumnSchema("", "nominal", ("a", "b", "1", "2")),
    "others": ColumnSchema("", "ordinal", ("1", "2.0", "5 mg", OTHER_LEVEL), missing=True),
    "missing listed": ColumnSchema("", "nominal", (MISSING_LEVEL, "a", "7", OTHER_LEVEL)),
    "any case": ColumnSchema("", "nominal", ("A", "true"), writing=Writing(ignore_case=True)),
    "codes": ColumnSchema(
        "", "nominal", ("a", "b"), writing=Writing(missing_codes=("99", "unknown", "7"))
    ),
    "number": ColumnSchema("", "continuous", bounds=(0.0, 1e6)),
    "cut": ColumnSchema("", "continuous", cut_points=(0.0, 1.0, 3.0, 1e15)),
    "text is missing": ColumnSchema("", "continuous", bounds=(-10.0, 10.0), bins=4, missing=True),
    "unit": ColumnSchema("", "continuous", cut_points=(3.0,), writing=Writing(".", "mg")),
    "comma": ColumnSchema("", "continuous", cut_points=(3.0,), writing=Writing(",", "$")),
    **{
        form: ColumnSchema("", "ordinal", ("1500", "2024", "9999", OTHER_LEVEL), date=reading)
        for form in FORMATS
        for reading in [DateReading(form, "year")]
    },
    **{
        part: ColumnSchema("", "ordinal", (*reading.levels, OTHER_LEVEL), date=reading)
        for part in ("month", "weekday", "calendar month", "quarter")
        for reading in [DateReading("ISO8601", part)]
    },
    "%d.%m.%Y %H:%M:%S.%f": ColumnSchema(
        "", "nominal", ("2024",), date=DateReading("%d.%m.%Y %H:%M:%S.%f", "year")
    ),
}


def delimited(delimiter, ending):
    def read(rows):
        content = io.StringIO()
        csv.writer(content, delimiter=delimiter, lineterminator="\n").writerows([NAMES, *rows])
        options = ReadingOptions(encoding="utf-8", header=True)
        return read_table(content.getvalue().encode(), f"a.{ending}", options)

    return read


def aligned(rows):
    lines = [" ".join(cell.ljust(12) for cell in row) for row in [NAMES, *rows]]
    return read_table("\n".join(lines).encode(), "a.txt", ReadingOptions("utf-8", header=True))


def workbook(rows):
    content = io.BytesIO()
    book = xlsxwriter.Workbook(content, {"default_date_format": "yyyy-mm-dd hh:mm:ss"})
    sheet = book.add_worksheet()
    for k, row in enumerate([NAMES, *rows]):
        for j, cell in enumerate(row):
            (sheet.write_string if isinstance(cell, str) else sheet.write)(k, j, cell)
    book.close()
    return read_table(content.getvalue(), "a.xlsx", ReadingOptions(header=True))


def old_workbook(rows):
    book, style = xlwt.Workbook(), xlwt.easyxf(num_format_str="yyyy-mm-dd hh:mm:ss")
    sheet = book.add_sheet("s")
    for k, row in enumerate([NAMES, *rows]):
        for j, cell in enumerate(row):
            dated = isinstance(cell, datetime.date | datetime.time)
            sheet.write(k, j, cell, *([style] if dated else []))
    content = io.BytesIO()
    book.save(content)
    return read_table(content.getvalue(), "a.xls", ReadingOptions(header=True))


def parquet(*types):
    def read(rows):
        columns = zip(*rows, strict=True)
        arrays = [pa.array(cells, kind) for cells, kind in zip(columns, types, strict=True)]
        content = io.BytesIO()
        pq.write_table(pa.table(dict(zip(NAMES, arrays, strict=True))), content)
        return read_table(content.getvalue(), "a.parquet")

    return read


def moments(unit):
    """Numbers, whole numbers, and moments in this unit, many of them outside any calendar."""
    read = parquet(pa.float64(), pa.int64(), pa.timestamp(unit))

    def whole(number):
        return None if number is None else int(min(max(number, -9e18), 9e18))

    return lambda rows: read([(a, whole(b), whole(c)) for a, b, c in rows])


def frame(*types):
    def read(rows):
        columns = dict(zip(NAMES, zip(*rows, strict=True), strict=True))
        return read_frame(
            pd.DataFrame(
                {
                    name: pd.Series(cells, dtype=kind)
                    for (name, cells), kind in zip(columns.items(), types, strict=True)
                }
            )
        )

    return read


def statistics(name, write, **options):
    """A file of a statistics program, with whatever its dictionary says."""

    def read(rows):
        table = pd.DataFrame(rows, columns=list(NAMES), dtype=float)
        with tempfile.TemporaryDirectory() as folder:
            write(table, str(Path(folder, "file")), **options)
            raw = read_table(Path(folder, "file").read_bytes(), name)
        # Portable files have names in capitals.
        return replace(raw, frame=raw.frame.rename(columns=str.lower))

    return read


def write_r(table, path):
    rdata.write_rds(path, table)


LABELS = {"word": {1: "a", 2: "b"}, "number": {0: "none", 1: "1 mg", 3: "1"}}
KINDS = {
    "comma": (delimited(",", "csv"), TEXTS, HOSTILE),
    "semicolon": (delimited(";", "csv"), TEXTS, HOSTILE),
    "tab": (delimited("\t", "tsv"), TEXTS, HOSTILE),
    "bar": (delimited("|", "txt"), TEXTS, HOSTILE),
    "blanks": (
        aligned,
        [tuple(cell.replace(" ", "T") or "." for cell in row) for row in TEXTS],
        tuple(
            cell
            for cell in HOSTILE
            if len(cell.split()) == 1 and len(cell) < 100 and '"' not in cell
        ),
    ),
    "workbook of texts": (workbook, TEXTS, HOSTILE),
    "workbook": (workbook, CELLS, STORED),
    "old workbook": (old_workbook, CELLS, STORED),
    "parquet of texts": (parquet(*[pa.string()] * 3), TEXTS, HOSTILE),
    "parquet in ms": (moments("ms"), CODES, FIGURES),
    "parquet in us": (moments("us"), CODES, FIGURES),
    "frame of texts": (frame("str", "category", object), TEXTS, HOSTILE),
    "frame": (frame(object, object, object), CELLS, STORED),
    "frame of days": (
        frame(*["datetime64[us]"] * 3),
        [3 * (datetime.datetime(1900 + k, 1, 1),) for k in range(70)],
        (MOMENT, datetime.datetime(9999, 12, 31, 23, 59, 59), datetime.datetime(1, 1, 1), None),
    ),
    "frame of numbers": (frame("float64", "Float64", "float64"), CODES, FIGURES),
    "SPSS": (
        statistics(
            "a.sav",
            pyreadstat.write_sav,
            variable_value_labels=LABELS,
            missing_ranges={"word": [9], "number": [{"lo": 90, "hi": 100}]},
            variable_format={"day": "DATE11"},
        ),
        CODES,
        FIGURES,
    ),
    "SPSS, moments": (
        statistics("a.sav", pyreadstat.write_sav, variable_format={"day": "DATETIME20"}),
        CODES,
        FIGURES,
    ),
    "SPSS, portable": (statistics("a.por", pyreadstat.write_por), CODES, FIGURES[3:-1]),
    "Stata": (
        statistics(
            "a.dta",
            pyreadstat.write_dta,
            variable_value_labels={"word": LABELS["word"]},
            variable_format={"day": "%tc"},
        ),
        CODES,
        tuple(figure for figure in FIGURES if figure is None or abs(figure) < 1e300),
    ),
    "Stata, days": (
        statistics("a.dta", pyreadstat.write_dta, variable_format={"day": "%td"}),
        [(a, b, c / 86_400) for a, b, c in CODES],
        tuple(figure for figure in FIGURES if figure is None or abs(figure) < 1e300),
    ),
    "SAS": (
        statistics("a.xpt", pyreadstat.write_xport, variable_format={"day": "DATE9"}),
        [(a, b, c / 86_400) for a, b, c in CODES],
        FIGURES[4:],
    ),
    "R": (statistics("a.rds", write_r), CODES, FIGURES),
}
AT = 35


@pytest.fixture(autouse=True)
def without_looks(monkeypatch):
    """Looks in processes of their own take half a second."""
    monkeypatch.setattr(statistics_files, "survives", lambda *_: True)
    monkeypatch.setattr(spreadsheets, "survives", lambda *_: True)


def read_in_all_forms(raw):
    """The cells of each column as text, and their codes in each form of a schema."""
    found = {}
    for name in NAMES:
        found[name] = raw.frame[name].astype(object)
        for form, schema in FORMS.items():
            wanted = replace(schema, name=name)
            found[name, form] = pd.Series(Coding.of(wanted).of_cells(raw.cells(wanted)))
    return found


def further_rows(hostile):
    """Rows in which each hostile cell is once in each column."""
    return [tuple(hostile[(k + j) % len(hostile)] for j in range(3)) for k in range(len(hostile))]


@pytest.mark.parametrize("kind", KINDS)
def test_a_row_changes_nothing_but_its_own_row(kind):
    read, rows, hostile = KINDS[kind]
    alone = read_in_all_forms(read(rows))
    assert len(alone["word"]) == len(rows)
    for further in further_rows(hostile):
        raw = read([*rows[:AT], further, *rows[AT:]])
        # A row without a value is no row.
        others = np.arange(len(raw.frame)) != AT if len(raw.frame) > len(rows) else slice(None)
        for what, cells in read_in_all_forms(raw).items():
            kept = cells[others].reset_index(drop=True)
            assert kept.equals(alone[what]), (what, further)
