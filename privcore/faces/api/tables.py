"""Tables from files, data frames and samples."""

from __future__ import annotations

import json
import warnings
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd

from privcore.algorithms.search.parameters import ROWS_PER_UNIT
from privcore.data import Dataset
from privcore.data.model import MISSING_LEVEL
from privcore.errors import DataError, ParameterError
from privcore.extras.lab.work import WIDE, wide_sentence
from privcore.intake import ColumnSchema, Missing, RawTable, build_dataset, reading
from privcore.intake.proposing import Proposal
from privcore.intake.samples import get_sample
from privcore.intake.schema import read_schema
from privcore.intake.triage import choose, left_out
from privcore.intake.triage import triage as proposals_for
from privcore.intake.units import bounded
from privcore.releases.release_file import ReleaseFile
from privcore.text import short
from privcore.unit import noun_of


def read_table(
    source: pd.DataFrame | Path | str,
    *,
    schema: Sequence[ColumnSchema] | Path | str | None = None,
    columns: Collection[str] | None = None,
    missing: Missing | None = None,
    unit: str | None = None,
    rows_per_unit: int | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    sheet: str | None = None,
    leave_last: int = 0,
    values: Collection[str] = (),
) -> Dataset:
    """Read a table as a data set.

    Args:
        source: a data frame, or the path of a file: text (CSV, TSV, or aligned by spaces), a
            workbook (.xlsx, .xls, .ods), Parquet, SPSS, Stata, SAS or R.
        schema: the public facts about each column (its kind, and its levels or bounds), as a list,
            or as the path of a JSON file that the owner has confirmed (`causalveil schema`).
            Without a schema, `triage` proposes one from the rows.  No guarantee covers such a
            proposal, and every guarantee states this; a warning names each column left out.
        columns: the columns to use, as names or patterns such as "q*"; None for all columns that
            can be used.  A file with more than 450 columns requires `columns` or `schema`.
        missing: how to treat missing cells.  "level" makes them a level of their own, "drop"
            leaves their rows out, "refuse" raises an error, and "available" takes them as missing
            at random: each test of PC and LapMech then uses the rows in which its columns have
            values.  None means "level" without a schema and "refuse" with a schema.
        unit: the column that identifies the unit of privacy, such as the person of each row.
        rows_per_unit: the maximum number of rows kept for one unit.  Without `unit`, 1 states that
            each row is a different person.
        encoding: the encoding of a text file, such as "gb18030"; None to detect it.
        header: whether the first row holds the names of the columns; None to detect it.  If that
            row looks like values, a release requires True or False.
        sheet: the name of the sheet to read from a workbook; None for the first sheet.
        leave_last: number of rows at the end to leave out, such as a row of totals.
        values: without a schema, cells that hold values although they look like codes for missing
            values, such as "99".

    Returns:
        The data set: n rows of coded levels and of numbers within their bounds.

    Raises:
        DataError: for a file that is not a table, an unknown column, a value that the schema does
            not allow, missing cells that are refused, or rows without a unit.
        ParameterError: for a unit without rows_per_unit, or rows_per_unit above 1 without a unit.

    Example:
        >>> import pandas as pd
        >>> frame = pd.DataFrame({"smokes": ["no", "yes", "no"], "age": [31.5, 64.0, 47.2]})
        >>> data = read_table(frame)
        >>> data.n, data.names
        (3, ('smokes', 'age'))
        >>> frame["patient_id"] = ["p1", "p2", "p2"]
        >>> data = read_table(frame, unit="patient_id", rows_per_unit=2)
        >>> data.unit.words, data.names
        ('one patient with at most 2 rows', ('smokes', 'age'))
    """
    name = "table" if isinstance(source, pd.DataFrame) else Path(source).stem
    raw = _raw(source, reading.ReadingOptions(encoding, header, sheet, leave_last))
    if rows_per_unit is not None:
        raw = raw.answered("persons")
    if unit is None and rows_per_unit not in (None, 1):
        raise ParameterError("rows-per-unit-needs-unit-column")
    for sentence in raw.sentences:
        warnings.warn(sentence, UserWarning, stacklevel=2)
    if unit is not None:
        if rows_per_unit is None:
            raise ParameterError("maximum-number-of-rows-per-not", noun_of=short(noun_of(unit)))
        raw = bounded(raw, unit, ROWS_PER_UNIT.parse(rows_per_unit)).table
    if schema is None:
        # The author of a data frame has already chosen its columns.
        if columns is None and len(raw.names) > WIDE and not isinstance(source, pd.DataFrame):
            raise DataError(wide_sentence(len(raw.names), "choose by name (columns=['q*'])"))
        proposals = choose(proposals_for(raw, values=values), columns)
        for column, reason in left_out(proposals).items():
            warnings.warn(f"Left out: {short(column)} ({reason})", UserWarning, stacklevel=2)
        proposed = [proposal.schema for proposal in proposals]
        if missing in ("drop", "refuse"):
            proposed = [replace(column, missing=False) for column in proposed]
        return build_dataset(raw, proposed, name=name, missing=missing or "refuse")
    wanted = list(read_schema(_bytes_of(schema)) if isinstance(schema, Path | str) else schema)
    if columns is not None:
        absent = [column for column in columns if column not in raw.names]
        if absent:
            raise DataError(
                "no-such-column-in-table",
                absent=short(absent[0]),
                choices=", ".join(short(column, 20) for column in raw.names),
            )
        wanted = [column for column in wanted if column.name in columns]
    return build_dataset(raw, wanted, name=name, missing=missing or "refuse")


def load_sample(name: str) -> Dataset:
    """Load a sample table with `read_table`, and add its true graph.

    Args:
        name: a name in `privcore.SAMPLES`, which also holds the story and path of each sample.

    Returns:
        The data set, with the true edges.

    Raises:
        ParameterError: for an unknown name.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")  # Identifiers and free text are left out.
        ...     data = load_sample("clinic")
        >>> data.n, len(data.names), len(data.true_edges)
        (12000, 9, 11)
    """
    sample = get_sample(name)
    dataset = read_table(sample.path)
    return replace(dataset, true_edges=sample.true_edges(dataset.names))


def triage(source: pd.DataFrame | Path | str) -> list[Proposal]:
    """Propose how to use each column of a table, with the reason and the alternatives.

    Args:
        source: a data frame, or the path of a file, as for `read_table`.

    Returns:
        One proposal for each column.  `Proposal.ways` lists possible schemas of the column;
        `read_table` uses the first one by default.

    Raises:
        DataError: for a file that is not a table.

    Example:
        >>> import pandas as pd
        >>> frame = pd.DataFrame({"day": ["2024-01-31", "2024-02-01"] * 9, "ward": ["a", "b"] * 9})
        >>> for proposal in triage(frame):
        ...     print(proposal.name, proposal.problem or "fine", proposal.ways[0].label, sep=": ")
        day: date: calendar month
        ward: fine: levels
    """
    return proposals_for(_raw(source))


def _raw(
    source: pd.DataFrame | Path | str, options: reading.ReadingOptions | None = None
) -> RawTable:
    if isinstance(source, pd.DataFrame):
        return reading.read_frame(source)
    return reading.read_table(_bytes_of(source), Path(source).name, options)


def public_schema(file: ReleaseFile) -> list[ColumnSchema]:
    """The levels, bounds and cut points that a release took as public, as a schema.

    Raises DataError if they are no schema.
    """
    entries = []
    for column in file.columns:
        entry = {key: value for key, value in column.items() if value}
        if column["cut_points"]:
            # The levels are intervals, which follow from the cut points.
            missing = MISSING_LEVEL in entry.pop("levels", ())
            entry |= {"kind": "continuous", "missing": missing}
        entries.append(entry)
    schema = read_schema(json.dumps(entries).encode())
    return [replace(column, declared=True) for column in schema]


def _bytes_of(path: Path | str) -> bytes:
    try:
        with open(path, "rb") as stream:
            return stream.read(reading.MAX_BYTES + 1)
    except OSError as error:
        reason = error.strerror or "unknown cause"
        raise DataError("path-unreadable", path=short(path), reason_=reason) from None
