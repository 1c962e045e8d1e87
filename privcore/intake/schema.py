"""Schemas: how each column is read, and the file that states it.

Schemas: how the columns of a raw table are read.

Reads and writes a schema as a JSON file: the public facts about a table, stated by its owner.

    {"columns": [
        {"name": "smoke", "levels": ["no", "yes"]},
        {"name": "stage", "kind": "ordinal", "levels": ["I", "II", "III", "(other)"]},
        {"name": "age", "bounds": [0, 120], "bins": 4, "missing": true},
        {"name": "dose", "cut_points": [10, 50]},
        {"name": "visit", "date": "ISO8601", "part": "weekday"}
     ],
     "confirmed": "… SHA-256 of the columns …"}

For a column with a kind but without levels, bounds or cut points, such as {"name": "age", "kind":
"continuous", "bins": 4}, levels, bounds or cut points are bought from the rows (see
`bought_domain`).  A column with a date format and a part (month, weekday, calendar month, quarter
or year) is read as that part of a date; months and weekdays need no levels.  These keys describe
how cells are written: "decimal" (the mark, "." or ","), "unit" ("mg", "%"), "missing_codes"
(["99"]: cells that mean a missing value) and "ignore_case" (true: levels that differ only in case
and spaces are merged).

Columns of the table that are not listed are left out.  The file may also contain only the list of
columns.  `confirmed` records the owner's confirmation: it is a hash of the values, so any change of
a value requires a new confirmation.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privcore.data.model import MISSING_LEVEL as MISSING_LEVEL
from privcore.data.model import OTHER_LEVEL as OTHER_LEVEL
from privcore.data.model import Kind
from privcore.errors import DataError
from privcore.intake.numbers_and_dates import PLAIN, DateReading, Writing
from privcore.strict_json import JsonFault, read_json
from privcore.text import short


@dataclass(frozen=True)
class ColumnSchema:
    """How one column of a raw table is read.

    A schema without levels, bounds or cut points states only the kind; see `bought_domain`.
    kind: "continuous" columns are cut into levels if `cut_points` or `bins` is given.
    levels: levels of a categorical column, in order.  bounds: bounds of a numeric column.
    cut_points: inner boundaries, increasing.  bins: number of equal-width intervals in the bounds.
    missing: whether missing values are a level of the column, `(missing)`; a categorical column may
        list this level among its levels instead.
    date: for a date column, which part of each date is used; levels are then levels of this part.
    writing: how cells are written, such as numbers with a unit, and which of them are codes for a
        missing value.
    declared: whether the levels, or the bounds and cuts, are public.
    """

    name: str
    kind: Kind
    levels: tuple[str, ...] = ()
    bounds: tuple[float, float] | None = None
    cut_points: tuple[float, ...] = ()
    bins: int | None = None
    missing: bool = False
    date: DateReading | None = None
    writing: Writing = PLAIN
    declared: bool = False
    include: bool = True

    @property
    def has_domain(self) -> bool:
        """Whether levels, bounds or cut points are stated, not just the kind."""
        return bool(self.levels or self.bounds or self.cut_points)

    @property
    def has_missing_level(self) -> bool:
        """Whether missing values are a level, so that rows with them are accepted."""
        return self.missing or MISSING_LEVEL in self.levels

    def read(self, cells: pd.Series[Any]) -> pd.Series[Any]:
        """Converts cells to parts of dates, to numbers, or to levels as the schema spells them.

        If missing values are a level, a non-numeric cell in a column of numbers is missing.
        """
        cells = self.writing.present(cells)
        if self.date is not None:
            return self.date.read(cells)
        if self.kind != "continuous":
            return self.writing.levels(cells, self.levels)
        cells = self.writing.numbers(cells)
        if self.has_missing_level:
            owner, distinct = pd.factorize(cells)
            known = np.append(np.isfinite(parse_numbers(pd.Series(distinct, dtype=object))), False)
            return cells.where(known[owner])
        return cells


def parse_numbers(cells: pd.Series[Any]) -> NDArray[np.float64]:
    """The cells as floats, NaN where a cell is not a number; each cell is read by itself."""
    return np.fromiter(map(_number, cells), np.float64, len(cells))


def _number(cell: object) -> float:
    # Python also reads 1_0 as 10, and digits of other scripts.
    if not isinstance(cell, str) or not cell.isascii() or "_" in cell:
        return math.nan
    try:
        return float(cell)
    except ValueError:
        return math.nan


_KEYS = {
    *("name", "kind", "levels", "bounds", "bins", "cut_points", "missing", "date", "part"),
    *("decimal", "unit", "missing_codes", "ignore_case"),
}


def read_schema(content: bytes) -> list[ColumnSchema]:
    """Reads a schema from a JSON file; the columns are declared public if they are confirmed.

    Raises DataError, naming the column, if the file holds no valid schema.
    """
    document = _parsed(content)
    listed = document.get("columns")
    if not isinstance(listed, list) or not listed:
        raise DataError("schema-without-columns")
    schema = [_column(entry, position) for position, entry in enumerate(listed, start=1)]
    confirmed = document.get("confirmed") == confirmation(schema)
    return [replace(column, declared=confirmed) for column in schema]


def schema_json(
    schema: Sequence[ColumnSchema],
    *,
    confirmed: bool = False,
    left_out: Mapping[str, str] | None = None,
) -> str:
    """A schema as JSON for `read_schema`; columns with include=False are left out.

    confirmed: whether the owner has confirmed every value.
    left_out: for a reviewer, the reason why each column was left out, by column name.
    """
    document: dict[str, Any] = {"columns": _entries(schema)}
    if left_out:
        document["left_out"] = [{"name": name, "reason": why} for name, why in left_out.items()]
    if confirmed:
        document["confirmed"] = confirmation(schema)
    return json.dumps(document, indent=1, ensure_ascii=False)


def confirmation(schema: Sequence[ColumnSchema]) -> str:
    """SHA-256, in hexadecimal, of all values of the columns in use, whatever the column order."""
    entries = sorted(_entries(schema), key=lambda entry: str(entry["name"]))
    text = json.dumps(entries, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _entries(schema: Sequence[ColumnSchema]) -> list[dict[str, Any]]:
    entries = []
    for column in schema:
        if column.include:
            entry: dict[str, Any] = {"name": column.name, "kind": column.kind}
            entry |= {"levels": list(column.levels)} if column.levels else {}
            entry |= {"bounds": list(map(float, column.bounds))} if column.bounds else {}
            entry |= {"bins": column.bins} if column.bins else {}
            entry |= {"cut_points": list(column.cut_points)} if column.cut_points else {}
            entry |= {"missing": True} if column.missing else {}
            if column.date is not None:
                entry |= {"date": column.date.format, "part": column.date.part}
            written = {k: v for k, v in asdict(column.writing).items() if v}
            entry |= {k: list(v) if isinstance(v, tuple) else v for k, v in written.items()}
            entries.append(entry)
    return entries


def _parsed(content: bytes) -> Mapping[str, Any]:
    try:
        document = read_json(content)
    except JsonFault as fault:
        raise DataError("schema-damaged", fault=fault) from None
    return document if isinstance(document, dict) else {"columns": document}


def _column(entry: Any, position: int) -> ColumnSchema:
    if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
        raise DataError("schema-column-without-name", column=position)
    name = short(entry["name"])
    unknown = sorted(set(entry) - _KEYS)
    if unknown:
        raise DataError(
            "column-of-schema-unknown-key",
            name=name,
            unknown=short(unknown[0]),
            choices=", ".join(sorted(_KEYS)),
        )
    date = _date(entry, name)
    levels = _levels(entry, name) or (date.levels if date else ())
    kind = entry.get("kind", "nominal" if levels else "continuous")
    if kind not in ("nominal", "ordinal", "continuous"):
        raise DataError("schema-unknown-kind", name=name, kind=short(kind))
    numeric = bool(entry.get("bounds") or entry.get("cut_points"))
    stated = "kind" in entry and not levels and not numeric
    if not stated and (bool(levels), numeric) != (kind != "continuous", kind == "continuous"):
        raise DataError("schema-needs-levels-or-bounds", name=name)
    bounds = _numbers(entry, "bounds", name)
    if bounds and len(bounds) != 2:
        raise DataError("schema-needs-bounds", name=name)
    bins, missing = entry.get("bins"), entry.get("missing", False)
    if not isinstance(missing, bool):
        raise DataError("column-of-schema-needs-true-false", name=name)
    if bins is not None and (not isinstance(bins, int) or isinstance(bins, bool)):
        raise DataError("schema-needs-bins", name=name)
    return ColumnSchema(
        entry["name"],
        kind,
        levels,
        bounds=(bounds[0], bounds[1]) if bounds else None,
        cut_points=_numbers(entry, "cut_points", name),
        bins=bins,
        missing=missing,
        date=date,
        writing=_writing(entry, name),
    )


def _writing(entry: Mapping[str, Any], name: str) -> Writing:
    decimal, unit = entry.get("decimal", ""), entry.get("unit", "")
    codes, alike = entry.get("missing_codes") or [], entry.get("ignore_case", False)
    if not isinstance(decimal, str) or not isinstance(unit, str):
        raise DataError("column-of-schema-needs-texts-keys", name=name)
    if not isinstance(codes, list) or any(isinstance(code, (list, dict)) for code in codes):
        raise DataError("column-of-schema-needs-list-key", name=name)
    if not isinstance(alike, bool):
        raise DataError("column-of-schema-needs-true-false-key-ignore", name=name)
    # A unit requires a known decimal mark.
    decimal = decimal or ("." if unit else "")
    return Writing(decimal, unit, tuple(str(code).strip() for code in codes), alike)  # type: ignore[arg-type]  # It checks the mark itself.


def _date(entry: Mapping[str, Any], name: str) -> DateReading | None:
    form, part = entry.get("date"), entry.get("part")
    if form is None and part is None:
        return None
    if not isinstance(form, str) or not isinstance(part, str):
        raise DataError("column-of-schema-needs-both-date", name=name)
    return DateReading(form, part)  # type: ignore[arg-type]  # It checks the part itself.


def _levels(entry: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """The levels as text, as the cells of a table are read."""
    levels = entry.get("levels") or []
    if not isinstance(levels, list) or any(isinstance(v, (list, dict)) for v in levels):
        raise DataError("schema-needs-levels", name=name)
    return tuple(str(level).strip() for level in levels)


def _numbers(entry: Mapping[str, Any], key: str, name: str) -> tuple[float, ...]:
    values = entry.get(key) or []
    if not isinstance(values, list) or not all(
        isinstance(v, (int, float)) and not isinstance(v, bool) for v in values
    ):
        raise DataError("column-of-schema-needs-list-of", name=name, key=key)
    return tuple(float(v) for v in values)
