"""Rows of a sweep on disk: a journal while the sweep runs, and a file when it is finished."""

from __future__ import annotations

import io
import json
import os
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from privcore.errors import DataError, ParameterError
from privcore.extras.lab.sweeps.cells import METRICS, Row, columns
from privcore.extras.lab.sweeps.plan import SweepPlan
from privcore.strict_json import read_json
from privcore.text import csv_text, short
from privcore.version import __version__

ENDINGS = ("parquet", "csv", "json")
_METADATA = b"causalveil"
_SYNC_SECONDS = 1.0
_WHOLE = {
    "cell",
    "data_seed",
    "rows",
    "replicate",
    "seed",
    "tests_run",
    "orders_run",
    *(metric for metric in METRICS if metric.endswith("shd")),
}
_TEXT = {"data", "algorithm", "calibration", "stopped", "edges", "error"}


class SweepFile(NamedTuple):
    """The content of a sweep's file; plan: the output of `SweepPlan.describe`."""

    rows: list[Row]
    plan: dict[str, Any]
    version: str
    command: str


class Journal:
    """A journal of finished rows next to the final file: one line for the plan, then one per row.

    path: path of the final file; the journal's name is this path with ".journal" appended. Rows
    from an earlier, interrupted sweep are in `rows`; an incomplete last line is dropped. Raises
    ParameterError if the journal belongs to another plan or version, and DataError if the journal
    cannot be written.
    """

    def __init__(self, path: str | Path, plan: SweepPlan) -> None:
        self.path = Path(f"{path}.journal")
        self._header = json.dumps({"sweep": plan.digest, "plan": plan.describe()})
        self.rows: list[Row] = []
        try:
            self._file = self.path.open("a+b")
            self._synced = time.monotonic()
            self._resume()
        except OSError:
            raise DataError("sweep-file-unwritable", path=short(self.path)) from None

    def _resume(self) -> None:
        self._file.seek(0)
        lines = self._file.read().splitlines(keepends=True)
        good = 0
        if lines and lines[0].endswith(b"\n"):
            if lines[0].decode(errors="replace").rstrip("\n") != self._header:
                self._file.close()
                raise ParameterError("unfinished-sweep", path=short(self.path))
            good = len(lines[0])
            rows: dict[int, Row] = {}
            for line in lines[1:]:
                row = _read_line(line)
                if row is None:
                    break
                rows[row["cell"]] = row
                good += len(line)
            self.rows = list(rows.values())
        self._file.truncate(good)
        if not good:
            self._write(self._header)

    def add(self, row: Row) -> None:
        """Append one row; if the machine crashes, the rows of the last second may be lost."""
        self._write(json.dumps(row))

    def _write(self, line: str) -> None:
        self._file.write(line.encode() + b"\n")
        self._file.flush()
        if time.monotonic() - self._synced > _SYNC_SECONDS:
            os.fsync(self._file.fileno())
            self._synced = time.monotonic()

    def close(self) -> None:
        self._file.close()

    def remove(self) -> None:
        """Delete the journal, once the final file is written."""
        self.close()
        self.path.unlink()


def _read_line(line: bytes) -> Row | None:
    """The row, or None if the line is incomplete or damaged."""
    try:
        row = read_json(line)
    except ValueError:
        return None
    whole = line.endswith(b"\n") and isinstance(row, dict) and isinstance(row.get("cell"), int)
    return row if whole else None


def encode(rows: Iterable[Row], plan: SweepPlan, ending: str, command: str = "") -> bytes:
    """Return the content of a sweep's file, with rows sorted by `cell`.

    ending: "parquet" or "json", which include the plan, version and command, or "csv", which has
    only the rows. Raises ParameterError for another ending.
    """
    ordered = sorted(rows, key=lambda row: row["cell"])
    about = {"plan": plan.describe(), "version": __version__, "command": command}
    if ending == "json":
        text = json.dumps({**about, "rows": ordered}, ensure_ascii=False, indent=0)
        return text.encode()
    if ending == "csv":
        heads = columns(plan)
        return csv_text([heads, *([row[head] for head in heads] for row in ordered)]).encode()
    if ending == "parquet":
        return _parquet(ordered, plan, about)
    raise ParameterError("cannot-end-in", ending=short(ending), choices=", ".join(ENDINGS))


def write_rows(path: str | Path, rows: Iterable[Row], plan: SweepPlan, command: str = "") -> None:
    """Write a sweep's file, completely or not at all; the ending of `path` determines the format.

    Raises ParameterError for an unknown ending, and DataError if the file cannot be written.
    """
    path = Path(path)
    content = encode(rows, plan, ending_of(path), command)
    part = path.with_name(f"{path.name}.part")
    try:
        part.write_bytes(content)
        os.replace(part, path)
    except OSError:
        raise DataError("sweep-file-unwritable", path=short(path)) from None


def ending_of(path: str | Path) -> str:
    """The ending of a path: "parquet", "csv" or "json"; raises ParameterError for any other."""
    ending = Path(path).suffix.lower().lstrip(".")
    if ending not in ENDINGS:
        raise ParameterError("name-end-in-parquet-csv-json", path=short(path))
    return ending


def read_sweep(path: str | Path) -> SweepFile:
    """Read a finished sweep from Parquet or JSON; raises DataError if the file has no sweep."""
    refusal = DataError("no-sweep-file", path=short(path))
    try:
        if ending_of(path) == "json":
            about = read_json(Path(path).read_bytes())
            rows = about["rows"]
        else:
            table = pq.read_table(path)
            about = read_json(table.schema.metadata[_METADATA])
            rows = table.to_pylist()
        return SweepFile(rows, about["plan"], about["version"], about["command"])
    except (OSError, ValueError, TypeError, KeyError, pa.ArrowException):
        raise refusal from None


def _parquet(rows: list[Row], plan: SweepPlan, about: Mapping[str, Any]) -> bytes:
    fields = [pa.field(name, _type(name, plan)) for name in columns(plan)]
    schema = pa.schema(fields, metadata={_METADATA: json.dumps(about)})
    arrays = [
        pa.array([_typed(row[field.name], field.type) for row in rows], field.type)
        for field in schema
    ]
    out = io.BytesIO()
    pq.write_table(pa.Table.from_arrays(arrays, schema=schema), out, compression="zstd")
    return out.getvalue()


def _type(name: str, plan: SweepPlan) -> pa.DataType:
    if name in _WHOLE:
        return pa.int64()
    if name in _TEXT:
        return pa.string()
    kinds = {type(value) for value in plan.grids[name]} if name in plan.swept else {float}
    if kinds == {bool}:
        return pa.bool_()
    if kinds == {int}:
        return pa.int64()
    return pa.float64() if kinds <= {int, float} else pa.string()


def _typed(value: Any, kind: pa.DataType) -> Any:
    """Convert a value to text if its column can contain both numbers and the word "auto"."""
    return str(value) if kind == pa.string() and value is not None else value
