"""Reads a user's file into a raw table of text, before the kinds of columns are decided.

One function reads every kind of file.  Nothing is written to disk and nothing is logged; errors
never quote a value.
"""

from __future__ import annotations

import csv
import io
import re
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, time
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd

from privcore.data.model import (
    MAX_COLUMNS,
    MAX_NAME,
    SAMPLE,
    UPLOADED,
    OpenQuestion,
    ReadingOptions,
    Topic,
    check_names,
)
from privcore.errors import DataError
from privcore.intake import arrow
from privcore.intake.cells import (
    AT_ONCE,
    MAX_CELLS,
    MEMORY,
    OF_CELL,
    WHERE_IT_IS,
    Memory,
    Texts,
    means_missing,
    names_persons,
    whose_rows,
)
from privcore.intake.decoding import ENCODINGS, decode
from privcore.intake.layout import (
    DELIMITERS,
    Ends,
    Layout,
    find_delimiter,
    last_rows,
    layout_of,
    rows_of,
    skipped_lines,
    tabbed,
)
from privcore.intake.numbers_and_dates import each
from privcore.intake.samples import is_sample
from privcore.intake.schema import ColumnSchema
from privcore.intake.spreadsheets import is_spreadsheet, read_sheet, text_columns
from privcore.intake.statistics_files import is_statistics_file, read_statistics
from privcore.naming import shortened
from privcore.text import counted, short
from privcore.unit import RECORD, Unit

__all__ = [
    "ENCODINGS",
    "MAX_BYTES",
    "MAX_CELLS",
    "MEMORY",
    "RawTable",
    "ReadingOptions",
    "read_table",
]

MAX_BYTES = 100_000_000
# Characters at the start and bytes at the end that are searched for the first and last rows.
_HEAD, _TAIL = 400_000, 20_000
_ROWS_OF_HEAD, _LAST_ROWS = 200, 40
# Most bytes of a row: first a typical limit, then the absolute one.
_USUAL_ROW, _MAX_ROW = 1 << 20, 10_000_000

# Beginnings of web pages, XML and JSON, which are text but no tables.
_MARKED_UP = re.compile(
    r"\s*(<(!doctype|\?xml|html|head|body|table|div)\b|\{\s*\"|\[\s*[{\[])", re.I
)

# The standard reader, which reads the first rows, refuses fields above 128 kB.  The setting is the
# process's, so it is made once.
csv.field_size_limit(MAX_BYTES)
# File name extensions that are read.
ENDINGS = (
    *("csv", "tsv", "tab", "txt", "dat", "parquet", "pq", "xlsx", "xlsm", "xlsb", "xls", "ods"),
    *("sav", "zsav", "por", "dta", "sas7bdat", "xpt", "rds", "rdata", "rda"),
)


@dataclass(frozen=True, eq=False)
class RawTable:
    """A table as read: every cell a string, missing cells NaN.

    frame: one column per column of the file.  A column is categorical, so that a repeated cell
        takes memory only once, or text if nearly every row has a different cell.
    encoding, delimiter: as detected in a text file; empty for other files.
    unit: the unit whose rows are protected together, if rows beyond the bound per unit were left
        out (`units`).
    notes: what the reader left out or reinterpreted, one sentence each.
    totals: number of last rows that look like sums or means rather than records.
    questions: facts that only the owner knows and must state before a release.
    readings: other encodings that fit the file, each with samples of the text it gives.
    sheets: names of a workbook's sheets that hold cells.
    reading_options: the owner's options for reading the file.
    labels: levels, in order, of the columns for which the file lists them.  codes: for columns with
        labels, the code that each label stands for.  ordered: names of columns that the file
        declares ordered.
    source: whether the file is a sample of the package, as for a `Dataset`.
    """

    frame: pd.DataFrame
    encoding: str
    delimiter: str
    unit: Unit = RECORD
    notes: tuple[str, ...] = ()
    totals: int = 0
    questions: tuple[OpenQuestion, ...] = ()
    readings: tuple[tuple[str, tuple[str, ...]], ...] = ()
    sheets: tuple[str, ...] = ()
    reading_options: ReadingOptions = ReadingOptions()
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    codes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    ordered: frozenset[str] = frozenset()
    source: str = UPLOADED

    @property
    def names(self) -> list[str]:
        return [str(name) for name in self.frame.columns]

    @property
    def missing(self) -> dict[str, int]:
        """Number of missing cells of each column that has any."""
        counts = self.frame.isna().sum()
        return {str(name): int(count) for name, count in counts.items() if count}

    @property
    def sentences(self) -> tuple[str, ...]:
        """All notes on how the file was read, including questions."""
        open_questions = (
            f"{each.sentence} To settle it, {each.answer}." for each in self.questions
        )
        total = (
            "row looks like a total rather than a record"
            if self.totals == 1
            else f"{self.totals} rows look like totals rather than records"
        )
        last = (
            f"The last {total}; to leave out totals, give --leave-last {self.totals} (in Python "
            f"leave_last={self.totals})."
        )
        return (*self.notes, *([last] if self.totals else []), *open_questions)

    def cells(self, column: ColumnSchema) -> pd.Series[Any]:
        """The cells of a column, with a code in place of a label where the schema asks for it.

        A label is read as its code in a column of numbers, and if the schema lists the code and not
        the label as a level.
        """
        codes = self.codes.get(column.name, {})
        known = {*column.levels, *column.writing.missing_codes}
        numbers = column.kind == "continuous"
        return self._coded(
            column.name,
            {t for t, code in codes.items() if t not in known and (numbers or code in known)},
        )

    def numbers(self, name: str) -> pd.Series[Any]:
        """The cells of a column, with codes in place of labels that do not mean "missing"."""
        return self._coded(name, {t for t in self.codes.get(name, {}) if not means_missing(t)})

    def _coded(self, name: str, labels: Collection[str]) -> pd.Series[Any]:
        codes = self.codes.get(name, {})
        cells = self.frame[name]
        if not labels:
            return cells
        return each(cells, lambda text: codes[text] if text in labels else text).astype("category")

    def answered(self, topic: Topic) -> RawTable:
        """The table without its questions on `topic`, which the owner has answered."""
        open_ones = tuple(question for question in self.questions if question.topic != topic)
        return replace(self, questions=open_ones)


def read_table(
    content: bytes, filename: str, options: ReadingOptions | None = None, *, memory: int = MEMORY
) -> RawTable:
    """Read the bytes of a text file, a workbook, a Parquet file or a statistics program's file.

    filename: the extension decides the kind of file if the bytes are ambiguous.  options: the
    owner's options.
    memory: limit on the bytes that the table takes, including the decoded text of a text file.
    Empty cells, and NA, N/A, #N/A, NaN, null, ?, * and . are missing.  If semicolons separate
    cells, 1.234,5 is read as 1234.5; each cell is read on its own.
    Raises DataError if the file is empty, too large or not a table, or has bad column names.
    """
    options = options or ReadingOptions()
    if len(content) > MAX_BYTES:
        raise DataError("too-many-bytes", max_bytes=MAX_BYTES / 1000000.0)
    if not content.strip():
        raise _empty()
    held = Memory(memory)
    if filename.lower().endswith((".parquet", ".pq")) or content[:4] == b"PAR1":
        table = RawTable(_read_parquet(content, held), "", "")
    elif is_statistics_file(content, filename):
        labelled = read_statistics(content, filename)
        check_names([str(name) for name in labelled.frame.columns])
        table = RawTable(
            labelled.frame,
            "",
            "",
            notes=labelled.notes,
            labels=labelled.levels,
            codes=labelled.codes,
            ordered=labelled.ordered,
        )
    elif is_spreadsheet(content):
        table = _read_sheet(content, options, held)
    else:
        table = _read_text(content, filename, options, held)
    if options.leave_last:
        table = _shortened(table, options.leave_last)
    _check(table)
    table = _with_short_names(table)
    return replace(
        table,
        reading_options=options,
        questions=(*table.questions, *_persons(table.frame)),
        source=SAMPLE if is_sample(content) else UPLOADED,
    )


def read_frame(frame: pd.DataFrame) -> RawTable:
    """A data frame as a raw table; each cell becomes text by itself.

    Raises DataError as `read_table` does.
    """
    memory = Memory(MEMORY)
    columns = []
    for place in range(frame.shape[1]):
        cells = frame.iloc[:, place]
        if cells.dtype == object:
            # 1, 1.0 and True are equal, but not the same texts.
            cells = cells.map(_frame_text, na_action="ignore")
        elif pd.api.types.is_float_dtype(cells.dtype):
            cells = cells + 0.0
        owner, distinct = pd.factorize(cells)
        columns.append(Texts(memory))
        texts = [*map(_frame_text, distinct), None]
        columns[-1].add_some(texts, np.where(owner < 0, len(distinct), owner))
    names, columns, notes = _named([str(name).strip() for name in frame.columns], columns)
    check_names(names)
    table = _framed(names, columns)
    last = table.tail(_LAST_ROWS).astype(object)
    totals = last_rows(last.where(last.notna(), "").to_numpy().tolist(), len(names)).totals
    raw = RawTable(table, "", "", notes=tuple(notes), totals=totals)
    _check(raw)
    raw = _with_short_names(raw)
    return replace(raw, questions=tuple(_persons(raw.frame)))


def _with_short_names(table: RawTable) -> RawTable:
    """The table with names of at most `MAX_NAME` characters, which are used from then on."""
    names = shortened(table.names, MAX_NAME)
    cut = {old: new for old, new in zip(table.names, names, strict=True) if old != new}
    if not cut:
        return table
    listed = "; ".join(
        f"column {names.index(new) + 1}, {short(old, 1000)!r}, is called {new!r}"
        for old, new in islice(cut.items(), 3)
    )
    more = f"; and {len(cut) - 3} more" if len(cut) > 3 else ""
    note = f"Names of more than {MAX_NAME} characters are shortened: {listed}{more}."
    return replace(
        table,
        frame=table.frame.rename(columns=cut),
        notes=(*table.notes, note),
        labels={cut.get(name, name): levels for name, levels in table.labels.items()},
        codes={cut.get(name, name): codes for name, codes in table.codes.items()},
        ordered=frozenset(cut.get(name, name) for name in table.ordered),
    )


def _frame_text(value: object) -> str:
    if isinstance(value, datetime) and value.time() == time():
        value = value.date()
    # A lone surrogate cannot be encoded.
    return str(value).encode("utf-8", "replace").decode()


def _empty() -> DataError:
    return DataError("file-empty")


def _shortened(table: RawTable, rows: int) -> RawTable:
    """The table without its last rows, and without values that occur only in them."""
    frame = table.frame.iloc[: max(0, len(table.frame) - rows)].copy()
    for name in frame.columns:
        if hasattr(frame[name], "cat"):
            frame[name] = frame[name].cat.remove_unused_categories()
    notes = (*table.notes, f"Number of rows left out at the end: {rows:,}.")
    return replace(table, frame=frame, notes=notes, totals=max(0, table.totals - rows))


def _check(table: RawTable) -> None:
    rows = len(table.frame)
    if rows == 0:
        raise DataError("header-alone")
    if rows == 1:
        raise DataError("one-row")


def _persons(frame: pd.DataFrame) -> list[OpenQuestion]:
    """The question about the column that may identify people; none if there is no such column.

    If there are several such columns, the question is about the column with the most distinct
    values: pupils rather than schools, for example.
    """
    units: dict[str, int] = {}
    for name, cells in frame.items():
        # Not converted to a list: for a million texts that takes seconds.
        distinct = cells.cat.categories if hasattr(cells, "cat") else cells.dropna().unique()
        if names_persons(str(name), distinct, int(cells.notna().sum())):
            units[str(name)] = len(distinct)
    return [whose_rows(max(units, key=lambda name: units[name]))] if units else []


def _read_parquet(content: bytes, memory: Memory) -> pd.DataFrame:
    import pyarrow.parquet as pq

    with arrow.reading():
        about = pq.ParquetFile(io.BytesIO(content))
        names, rows = arrow.column_names(about.schema_arrow), about.metadata.num_rows
        cells = rows * len(names)
        if cells > MAX_CELLS:
            raise DataError(
                "file-cells-more-than", cells=cells, max_cells=MAX_CELLS, where_it_is=WHERE_IT_IS
            )
        memory.take(OF_CELL * cells)
        columns = [Texts(memory) for _ in names]
        for batch in arrow.batches(content, names, memory):
            for column, values in zip(columns, batch, strict=True):
                column.add_some(*arrow.distinct_cells(values))
    return _framed(names, columns)


def _framed(names: Sequence[str], columns: Sequence[Texts]) -> pd.DataFrame:
    return pd.DataFrame({name: column.cells() for name, column in zip(names, columns, strict=True)})


def _named(
    names: Sequence[str], columns: Sequence[Texts]
) -> tuple[list[str], list[Texts], list[str]]:
    """Names and columns as they are used, and notes on them.

    A column without a name is left out if it is empty, and is numbered otherwise.
    """
    notes, kept = [], []
    for place, (name, column) in enumerate(zip(names, columns, strict=True), start=1):
        if name:
            kept.append((name, column))
        elif place == 1 and not column.is_empty:
            # pandas writes its index without a name, and reads it back under this name.
            kept.append(("Unnamed: 0", column))
        elif column.is_empty:
            notes.append(f"Column {place} has no name and no values, and is left out.")
        else:
            notes.append(f"Column {place} has no name, and is called col_{place}.")
            kept.append((f"col_{place}", column))
    if len(notes) > 3:
        notes = [
            f"{len(notes)} columns have no name; those without values are left out, and the "
            "others are numbered."
        ]
    return [name for name, _ in kept], [column for _, column in kept], notes


def _read_sheet(content: bytes, options: ReadingOptions, memory: Memory) -> RawTable:
    sheet = read_sheet(content, options.sheet)
    head = list(islice(sheet.rows, _ROWS_OF_HEAD))
    layout = layout_of(head, options.header)
    memory.take(OF_CELL * sheet.cells)
    columns = [Texts(memory) for _ in range(layout.width)]
    _add_rows(columns, head[layout.start : -_LAST_ROWS])
    head = head[layout.start :][-_LAST_ROWS:]
    last: list[list[Any]] = []
    at_once = max(1, AT_ONCE // max(1, layout.width))
    # The last rows are held back until the end of the file is reached.
    while piece := list(islice(sheet.values, at_once)):
        last += piece
        if len(last) >= _LAST_ROWS:
            _add_rows(columns, head)
            head = []
        for column, cells in zip(columns, text_columns(last[:-_LAST_ROWS]), strict=False):
            column.add(cells)
        last = last[-_LAST_ROWS:]
    end = [*head, *replace(sheet, values=iter(last)).rows]
    _add_rows(columns, end[:-_LAST_ROWS])
    end = end[-_LAST_ROWS:]
    left, notes, totals = last_rows(end, layout.width)
    _add_rows(columns, end[: len(end) - left])
    names, columns, name_notes = _named(layout.names, columns)
    check_names(names)
    if len(sheet.names) > 1:
        notes = (*notes, f"Only sheet {short(sheet.name)!r} of {len(sheet.names)} is read.")
    return RawTable(
        _framed(names, columns),
        "",
        "",
        notes=(*layout.notes, *name_notes, *notes),
        totals=totals,
        questions=() if layout.question is None else (layout.question,),
        sheets=sheet.names,
    )


def _add_rows(columns: Sequence[Texts], rows: Sequence[Sequence[str]]) -> None:
    """Add rows to columns, without blank rows and cells beyond the last column."""
    import pyarrow as pa

    filled = [row for row in rows if any(row)]
    for column, cells in zip(columns, zip(*filled, strict=True), strict=False):
        column.add(pa.array(cells, pa.string()))


def _read_text(content: bytes, filename: str, options: ReadingOptions, memory: Memory) -> RawTable:
    decoded = decode(content, options.encoding)
    text, encoding = decoded.text, decoded.encoding
    if not text.strip():
        raise _empty()
    if _MARKED_UP.match(text):
        raise DataError("no-table")
    memory.take(sys.getsizeof(text))
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    lines = text[:_HEAD].splitlines(keepends=True)
    if len(text) > _HEAD and len(lines) > 1:
        lines.pop()
    skipped, delimiter = skipped_lines(lines)
    above = lines[skipped - 1].strip() if skipped else ""
    lines = lines[skipped:]
    if delimiter is None:
        tab = filename.lower().endswith((".tsv", ".tab")) and "\t" in text[:_HEAD]
        delimiter = "\t" if tab else find_delimiter(lines)
    head = list(islice(_head(lines, delimiter), _ROWS_OF_HEAD))
    layout = layout_of([row for row, _ in head], options.header, above)
    start = 0 if layout.start == 0 else head[layout.start - 1][1]
    offset = sum(map(len, _first_lines(text, skipped + start)))
    body, end = _without_last(text[offset:], delimiter, layout.width)
    del text
    if delimiter == " ":
        body = tabbed(body)
    if layout.width > MAX_COLUMNS:
        check_names(list(layout.names))
    columns = _parsed(body, delimiter, layout, skipped + start, memory)
    names, columns, name_notes = _named(layout.names, columns)
    check_names(names)
    notes = (*(("Cells are separated by blanks.",) if delimiter == " " else ()), *end.notes)
    return RawTable(
        _framed(names, columns),
        encoding,
        delimiter,
        notes=(*layout.notes, *name_notes, *notes),
        totals=end.totals,
        questions=() if layout.question is None else (layout.question,),
        readings=decoded.readings,
    )


def _head(lines: Sequence[str], delimiter: str) -> Iterator[tuple[list[str], int]]:
    try:
        yield from rows_of(lines, delimiter)
    except csv.Error:
        raise DataError("file-not-readable-table") from None


def _first_lines(text: str, count: int) -> list[str]:
    matches = islice(re.finditer(r"[^\n]*\n|[^\n]+$", text), count)
    return [match.group() for match in matches]


def _without_last(body: str, delimiter: str, width: int) -> tuple[str, Ends]:
    """The rows without trailing lines that do not belong to the table, and what these lines are."""
    tail = body[-_TAIL:].splitlines(keepends=True)
    if len(body) > _TAIL:
        tail = tail[1:]
    if any(line.count('"') % 2 for line in tail):
        # A row may continue over several lines.
        return body, Ends(0, (), 0)
    rows = [row for row, _ in rows_of(tail, delimiter)]
    end = last_rows(rows, width)
    return body[: len(body) - sum(map(len, tail[len(tail) - end.left :]))], end


def _parsed(body: str, delimiter: str, layout: Layout, before: int, memory: Memory) -> list[Texts]:
    """The cells of each column; before: number of lines of the file above the cells.

    Raises DataError for a row with a different number of cells.
    """
    # If the comma is the decimal mark, spreadsheets separate cells by semicolons.
    comma = delimiter == ";"
    separator = "\t" if delimiter == " " else delimiter
    content = body.encode()
    if not body.strip():
        return [Texts(memory) for _ in range(layout.width)]
    for longest in (_USUAL_ROW, _MAX_ROW):
        columns = [Texts(memory, decimal_comma=comma) for _ in range(layout.width)]
        try:
            for batch in arrow.text_batches(content, layout.width, separator, longest):
                memory.take(OF_CELL * batch.num_rows * layout.width)
                for column, cells in zip(columns, batch.columns, strict=True):
                    column.add(cells)
        except arrow.TooLongError:
            continue
        except arrow.UnevenError:
            raise DataError(_uneven(body, delimiter, layout, before)) from None
        return columns
    raise DataError("row-too-long", characters=_MAX_ROW)


def _uneven(body: str, delimiter: str, layout: Layout, before: int) -> str:
    """The error message that names the first line with a wrong number of cells, and the remedy."""
    separator = "\t" if delimiter == " " else delimiter
    reader = csv.reader(io.StringIO(body, newline=""), delimiter=separator)
    with suppress(csv.Error):
        for row in reader:
            if row and len(row) != layout.width:
                return (
                    f"Line {before + reader.line_num} has {counted(len(row), 'cell')} where the "
                    f"table has {layout.width}; give every row the same number of cells, and put "
                    "quotes around cells that contain the delimiter "
                    f"({DELIMITERS.get(delimiter, delimiter)})."
                )
    return "The file is not a readable table; save it as CSV with a header."
