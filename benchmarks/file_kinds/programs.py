"""Workbooks, Parquet, and files of SPSS, Stata and R."""

from __future__ import annotations

import datetime
import io
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import numpy as np
import pandas as pd

from benchmarks.file_kinds.model import PEOPLE, USUAL, Columns, Kind, Taken, people

Generator = np.random.Generator
_OFFICE = "urn:oasis:names:tc:opendocument"
_DAY = datetime.date(2024, 1, 1)


def _rows(columns: Columns) -> list[list[Any]]:
    """Names and rows, numbers as such."""
    return [
        list(columns),
        *([_value(c) for c in row] for row in zip(*columns.values(), strict=True)),
    ]


def _value(cell: object) -> object:
    if not isinstance(cell, str):
        return cell
    number = cell.replace(".", "", 1).lstrip("-")
    return float(cell) if number.isdigit() else cell


def _book(fill: Callable[[Any, Any], None]) -> bytes:
    """The .xlsx whose first sheet a function fills; it also gets the book."""
    import xlsxwriter

    content = io.BytesIO()
    book = xlsxwriter.Workbook(content, {"in_memory": True})
    fill(book, book.add_worksheet("Table"))
    book.close()
    return content.getvalue()


def _fill(sheet: Any, rows: Sequence[Sequence[Any]], first: int = 0, form: Any = None) -> None:
    for at, row in enumerate(rows, first):
        for place, cell in enumerate(row):
            if isinstance(cell, datetime.date):
                sheet.write_datetime(at, place, cell, form)
            elif cell != "":
                sheet.write(at, place, cell)


def _plain(generator: Generator) -> bytes:
    return _book(lambda _, sheet: _fill(sheet, _rows(people(generator))))


def _notes(generator: Generator) -> bytes:
    def fill(book: Any, sheet: Any) -> None:
        _fill(sheet, _rows(people(generator)))
        _fill(book.add_worksheet("Notes"), [["What the columns mean"], ["sex", "as stated"]])

    return _book(fill)


def _notes_first(generator: Generator) -> bytes:
    def fill(book: Any, sheet: Any) -> None:
        _fill(sheet, [["What the columns mean", ""], ["sex", "as stated"], ["age", "in years"]])
        _fill(book.add_worksheet("Data"), _rows(people(generator)))

    return _book(fill)


def _title(generator: Generator) -> bytes:
    def fill(_: Any, sheet: Any) -> None:
        _fill(sheet, [["Patients of 2024"], ["All wards"], []])
        _fill(sheet, _rows(people(generator)), 3)

    return _book(fill)


def _dates(generator: Generator) -> bytes:
    days = [_DAY + datetime.timedelta(days=int(d)) for d in generator.integers(0, 366, 200)]

    def fill(book: Any, sheet: Any) -> None:
        form = book.add_format({"num_format": "dd.mm.yyyy"})
        _fill(sheet, _rows({"day": days, **people(generator)}), form=form)

    return _book(fill)


def _xls(generator: Generator) -> bytes:
    import xlwt

    book = xlwt.Workbook()
    sheet = book.add_sheet("Table")
    for at, row in enumerate(_rows(people(generator))):
        for place, cell in enumerate(row):
            sheet.write(at, place, cell)
    content = io.BytesIO()
    book.save(content)
    return content.getvalue()


def _ods(generator: Generator) -> bytes:
    def cell(value: object) -> str:
        if isinstance(value, float):
            return f'<table:table-cell office:value-type="float" office:value="{value:g}"/>'
        words = f"<text:p>{escape(str(value))}</text:p>"
        return f'<table:table-cell office:value-type="string">{words}</table:table-cell>'

    head = " ".join(f'xmlns:{k}="{_OFFICE}:xmlns:{k}:1.0"' for k in ("office", "table", "text"))
    rows = ("".join(map(cell, row)) for row in _rows(people(generator)))
    body = "".join(f"<table:table-row>{row}</table:table-row>" for row in rows)
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as parts:
        parts.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        parts.writestr(
            "content.xml",
            f"<office:document-content {head}><office:body><office:spreadsheet>"
            f'<table:table table:name="Table">{body}</table:table>'
            "</office:spreadsheet></office:body></office:document-content>",
        )
        parts.writestr(
            "META-INF/manifest.xml",
            f'<manifest:manifest xmlns:manifest="{_OFFICE}:xmlns:manifest:1.0"/>',
        )
    return content.getvalue()


def _typed(generator: Generator) -> pd.DataFrame:
    columns = people(generator)
    numbers = {name: pd.to_numeric(pd.Series(columns[name])) for name in ("age", "weight", "ill")}
    return pd.DataFrame({**columns, **numbers})


def _parquet(generator: Generator) -> bytes:
    content = io.BytesIO()
    _typed(generator).to_parquet(content)
    return content.getvalue()


def _labelled(generator: Generator) -> pd.DataFrame:
    frame = _typed(generator)
    mood = generator.integers(1, 6, 200).astype(float)
    mood[::25] = 9
    return frame.assign(mood=mood, sex=(frame["sex"] == "f") + 1.0)[["sex", "age", "mood"]]


_SEX = {1: "man", 2: "woman"}
_MOOD = {1: "very bad", 2: "bad", 3: "neither", 4: "good", 5: "very good", 9: "refused"}
_MOODS = tuple(_MOOD.values())[:5]
_LABELLED = ("sex", "age", "mood")


def _written(write: Callable[..., Any], *arguments: Any, **options: Any) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        write(*arguments, str(path), **options)
        return path.read_bytes()


def _spss(generator: Generator) -> bytes:
    import pyreadstat

    return _written(
        pyreadstat.write_sav,
        _labelled(generator),
        variable_value_labels={"sex": _SEX, "mood": _MOOD},
        missing_ranges={"mood": [9]},
        variable_measure={"sex": "nominal", "age": "scale", "mood": "ordinal"},
    )


def _stata(generator: Generator) -> bytes:
    frame = _labelled(generator)
    mood = {code: label for code, label in _MOOD.items() if code != 9}
    frame.loc[frame["mood"] == 9, "mood"] = np.nan
    content = io.BytesIO()
    frame.to_stata(content, write_index=False, value_labels={"sex": _SEX, "mood": mood})
    return content.getvalue()


def _r(generator: Generator) -> bytes:
    """A data frame with an ordered factor, which the library writes as a plain one."""
    import rdata
    from rdata.conversion import to_r

    def factor(data: pd.Categorical, converter: Any) -> Any:
        codes = converter.convert_to_r_object((data.codes + 1).astype(np.int32))
        kept = {"levels": data.categories.to_numpy(), "class": np.array(["ordered", "factor"])}
        attributes = converter.convert_to_r_attributes(kept)
        return to_r.build_r_object(
            codes.info.type, value=codes.value, is_object=True, attributes=attributes
        )

    frame = _typed(generator)[["sex", "age", "ill"]]
    frame["sex"] = frame["sex"].astype(pd.StringDtype("python"))
    frame["mood"] = pd.Categorical.from_codes(
        generator.integers(0, 5, 200), pd.Index(_MOODS, dtype=object), ordered=True
    )
    classes = {**to_r.DEFAULT_CLASS_MAP, pd.Categorical: factor}
    return _written(lambda path: rdata.write_rds(Path(path), frame, constructor_dict=classes))


def _kind(name: str, filename: str, make: Any, **options: Any) -> Kind:
    usual: dict[str, Any] = {"names": PEOPLE, "rows": 200, "taken": USUAL}
    return Kind(name, filename, make, **{**usual, **options})


_TAKEN = {
    "sex": Taken("levels", levels=("man", "woman")),
    "age": Taken("intervals"),
    "mood": Taken("levels in order", levels=_MOODS),
}
PROGRAMS = (
    _kind("Excel", "table.xlsx", _plain),
    _kind("Excel with a sheet of notes", "table.xlsx", _notes, note="of 2 is read"),
    _kind(
        "Excel with notes on the first sheet",
        "table.xlsx",
        _notes_first,
        note="of 2 is read",
    ),
    _kind("Excel with title rows above", "table.xlsx", _title, note="before the names"),
    _kind(
        "Excel with dates",
        "table.xlsx",
        _dates,
        names=("day", *PEOPLE),
        taken={**USUAL, "day": Taken("calendar month")},
    ),
    _kind("old Excel (.xls)", "table.xls", _xls, child=True),
    _kind("OpenDocument (.ods)", "table.ods", _ods),
    _kind("Parquet", "table.parquet", _parquet),
    _kind(
        "SPSS with labels and declared missing values",
        "survey.sav",
        _spss,
        names=_LABELLED,
        taken=_TAKEN,
        note="Values declared missing",
        child=True,
    ),
    _kind("Stata with labels", "survey.dta", _stata, names=_LABELLED, taken=_TAKEN),
    _kind(
        "R's .rds with factors",
        "table.rds",
        _r,
        names=("sex", "age", "ill", "mood"),
        taken={"mood": _TAKEN["mood"]},
    ),
)
