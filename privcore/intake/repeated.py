"""Columns of a raw table that repeat others, read from the rows for their owner alone."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from privcore.algorithms import discover
from privcore.algorithms.search.result import named_repeats
from privcore.errors import PrivcoreError
from privcore.intake.coding import build_dataset
from privcore.intake.reading import RawTable
from privcore.intake.schema import ColumnSchema

# Enough rows to tell one column from another, and as many columns as are looked at in a second.
_ROWS, _COLUMNS = 20_000, 100


def repeated_columns(raw: RawTable, schema: Sequence[ColumnSchema]) -> dict[str, str]:
    """The column that each column in use repeats, by name, as PC finds it.

    Looks at the first 20,000 rows.  Empty for more than 100 columns, and for a schema that does not
    fit the table.
    """
    if sum(column.include for column in schema) > _COLUMNS:
        return {}
    first = replace(raw, frame=raw.frame.head(_ROWS))
    with suppress(PrivcoreError):
        data = build_dataset(first, schema, name="rows", missing="level")
        result = discover(data, "pc", {"max_order": 0}, keep_trace=False)
        return named_repeats(result.graph, result.repeats)
    return {}
