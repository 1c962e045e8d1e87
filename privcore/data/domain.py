"""What is public of a data set, and its rows, as bytes that can be compared.

The public domain of a data set: all facts about its columns that a guarantee takes as public.

A data set as bytes that do not depend on the order of its rows or columns.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privcore.data.model import Column, Dataset, Described


def domain_of(columns: Sequence[Column]) -> list[dict[str, Any]]:
    """Name, kind, levels, bounds and cut points of every column, ready for JSON."""
    return [
        {
            "name": column.name,
            "kind": column.kind,
            "levels": list(column.levels),
            "bounds": None if column.bounds is None else list(map(float, column.bounds)),
            "cut_points": list(map(float, column.cut_points)),
        }
        for column in columns
    ]


def domain_sha256(domain: Sequence[Mapping[str, Any]]) -> str:
    """SHA-256, in hexadecimal, of `domain_of` as JSON with sorted keys and without spaces."""
    text = json.dumps(
        list(domain), sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def domain_lines(domain: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """For each column, its name and a text with its kind and every level, bound and cut point."""
    lines = []
    for column in domain:
        parts = [str(column["kind"])]
        if column["bounds"]:
            parts.append("from {!r} to {!r}".format(*column["bounds"]))
        if column["cut_points"]:
            parts.append("cut at " + " | ".join(map(repr, column["cut_points"])))
            # Intervals follow from the cut points; the level of missing values does not.
            listed = column["levels"][len(column["cut_points"]) + 1 :]
        else:
            listed = column["levels"]
        if listed:
            # Quoted, so that one level cannot look like two.
            quoted = (json.dumps(level, ensure_ascii=False) for level in listed)
            parts.append("levels " + " | ".join(quoted))
        lines.append((str(column["name"]), ", ".join(parts)))
    return lines


_BLOCK = 1 << 20


def canonical_bytes(dataset: Dataset) -> Iterator[bytes]:
    """Yields the columns' names, kinds, levels and bounds, sorted by name, then the sorted rows.

    Used for fingerprints: the same table gives the same bytes in any order of rows and columns, and
    a different table gives different bytes.  The name of the data set is left out.
    """
    yield _header(dataset)
    ordered = np.sort(_records(dataset.columns, dataset.values))
    for start in range(0, len(ordered), _BLOCK):
        yield ordered[start : start + _BLOCK].tobytes()


def canonical_bytes_of_unique(
    described: Described, configurations: Sequence[NDArray[Any]], multiplicities: NDArray[np.int64]
) -> Iterator[bytes]:
    """The bytes that `canonical_bytes` would give, from the unique configurations of the rows.

    configurations: per column, the codes of the unique rows, shape (u,).  multiplicities: number of
    rows with each configuration, shape (u,).
    """
    yield _header(described)
    records = _records(described.columns, configurations)
    order = np.argsort(records)
    ends = np.cumsum(multiplicities[order])
    for start in range(0, described.n, _BLOCK):
        rows = np.arange(start, min(start + _BLOCK, described.n))
        yield records[order[np.searchsorted(ends, rows, side="right")]].tobytes()


def _order(columns: Sequence[Column]) -> list[int]:
    return sorted(range(len(columns)), key=lambda i: columns[i].name)


def _header(described: Described) -> bytes:
    columns = [described.columns[i] for i in _order(described.columns)]
    listed = [[c.name, c.kind, list(c.levels), c.bounds] for c in columns]
    return json.dumps([described.n, listed]).encode()


def _records(columns: Sequence[Column], values: Sequence[NDArray[Any]]) -> NDArray[np.void]:
    """One bytes item for each row, such that sorting the items sorts the rows."""
    cells = []
    for i in _order(columns):
        # Adding 0 turns −0.0 into 0.0, the same number.
        wide = values[i].astype(">u2") if columns[i].is_categorical else values[i] + 0.0
        cells.append(wide.astype(wide.dtype.newbyteorder(">"))[:, None])
    rows = np.concatenate([np.ascontiguousarray(cell).view(np.uint8) for cell in cells], axis=1)
    rows = np.ascontiguousarray(rows)
    return rows.view(np.dtype((np.void, rows.shape[1]))).ravel()
