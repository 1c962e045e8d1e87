"""The public domain of a data set: all facts about its columns that a guarantee takes as public."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from privcore.data.model import Column


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
