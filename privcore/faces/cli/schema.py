"""`schema`: draft the public schema of a table, and confirm it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from privcore.data.discretise import proposed_intervals
from privcore.data.domain import domain_lines, domain_of
from privcore.errors import DataError, ParameterError
from privcore.faces.cli.data import (
    add_reading_options,
    add_unit_options,
    file_bytes,
    raw_table,
    take_sample,
)
from privcore.intake.coding import column_of
from privcore.intake.schema import ColumnSchema, read_schema, schema_json
from privcore.intake.triage import left_out, triage
from privcore.text import short

_DRAFT = (
    "This draft was read from the rows, and no guarantee covers the values in it. Correct every "
    "level, bound and cut point to what is known without the rows, then run `python -m privcore "
    "schema --confirm FILE`."
)
_QUESTION = "Is all of this known without looking at the rows? Type yes to confirm: "


def add_options(command: argparse.ArgumentParser) -> None:
    what = command.add_mutually_exclusive_group(required=True)
    what.add_argument(
        "--csv", metavar="FILE", help="draft a schema for a file that `discover` can read"
    )
    what.add_argument(
        "--sample", metavar="NAME", help="draft a schema for a sample file (see `samples`)"
    )
    what.add_argument(
        "--confirm",
        metavar="FILE",
        help="show every level, bound and cut point of a schema, and confirm them as public",
    )
    add_reading_options(command)
    command.add_argument("--out", metavar="FILE", help="file for the draft (standard output)")
    command.add_argument(
        "--kinds",
        action="store_true",
        help="draft only the kinds of columns; levels, bounds and cut points can then be bought "
        "with --buy-domain",
    )
    command.add_argument(
        "--yes", action="store_true", help="confirm without prompting, for scripts"
    )
    add_unit_options(command, "the draft takes its levels and bounds from the rows that are kept")
    command.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> None:
    if options.confirm is not None:
        if options.out is not None or options.kinds:
            raise ParameterError("out-kinds-drafting-schema-from-csv")
        if options.unit is not None or options.rows_per_unit is not None:
            raise ParameterError("unit-rows-per-unit-drafting-schema-from-csv")
        _confirm(Path(options.confirm), ask_first=not options.yes)
        return
    if options.yes:
        raise ParameterError("draft-to-be-reviewed")
    if options.unit is None and options.rows_per_unit is not None:
        raise ParameterError("rows-per-unit-needs-unit")
    take_sample(options)
    raw = raw_table(options)
    proposals = triage(raw)
    schema, unused = [p.schema for p in proposals if p.used], left_out(proposals)
    if options.kinds:
        bins = proposed_intervals(len(raw.frame), max(len(schema), 1))
        schema = [_kind_alone(column, bins) for column in schema]
    text = schema_json(schema, left_out=unused)
    if options.out is None:
        print(text)
        print(_DRAFT, file=sys.stderr)
        return
    _write(Path(options.out), text)
    print("\n".join(values_of(schema)))
    for name, reason in unused.items():
        print(f"left out: {short(name)}: {reason}")
    print(_DRAFT)


def _confirm(path: Path, *, ask_first: bool) -> None:
    schema = read_schema(file_bytes(path))
    print("\n".join(values_of(schema)))
    if ask_first and not _agreed():
        raise ParameterError("nothing-confirmed")
    _write(path, schema_json(schema, confirmed=True))
    print(f"Confirmed: {short(path, 200)} can be given as --schema.")


def _agreed() -> bool:
    if not sys.stdin.isatty():
        raise ParameterError("nobody-to-ask")
    return input(_QUESTION).strip().lower() == "yes"


def _kind_alone(column: ColumnSchema, bins: int) -> ColumnSchema:
    """The column without the values read from the rows; only numeric columns get `bins`."""
    numeric = column.kind == "continuous"
    return replace(column, levels=(), bounds=None, cut_points=(), bins=bins if numeric else None)


def values_of(schema: Sequence[ColumnSchema]) -> list[str]:
    """Everything that a schema states, one line for each column."""
    return [_value(column) for column in schema]


def _value(column: ColumnSchema) -> str:
    """Everything that a schema states about a column, in one line."""
    if column.has_domain:
        (line,) = domain_lines(domain_of([column_of(column)]))
        return f"{short(column.name)}: {line[1]}"
    what = "levels" if column.kind != "continuous" else "bounds"
    if column.kind == "continuous" and column.bins is not None:
        what = f"cut points of {column.bins} intervals"
    gaps = ", a level for missing values" if column.missing else ""
    return f"{short(column.name)}: {column.kind}{gaps}, {what} to be bought"


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text + "\n", "utf-8", "surrogatepass")
    except (OSError, ValueError):
        raise DataError("schema-unwritable", path=short(path)) from None
