"""Reads background knowledge from Tetrad, causal-learn, CSV, or an expert's graph."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterator, Sequence
from itertools import combinations, product
from pathlib import Path
from typing import Any

from privcore.errors import DataError, ParameterError
from privcore.exchange.formats import import_graph
from privcore.exchange.texts import TETRAD_HEAD
from privcore.graphs.knowledge import (
    Knowledge,
    Statement,
    limit_statements,
    statement,
    statements,
)
from privcore.text import number_of, short

MAX_BYTES = 5_000_000
_TETRAD = "/knowledge"
# Marks after a tier's number: no edges within the tier; edges only into the next tier.
_TETRAD_TIER = re.compile(r"(\d{1,9})([*-]*)", re.ASCII)
_GRAPHS = {"bif": "bif", "gml": "gml", "dagitty.txt": "dagitty", "tetrad.txt": "tetrad"}


def read_knowledge(source: Path | str | Any, names: Sequence[str] = ()) -> Knowledge:
    """Background knowledge from a file or from causal-learn.

    Args:
        source: the path of a file, or causal-learn's `BackgroundKnowledge`.  A file contains JSON
            (as in `Knowledge.text`), Tetrad's knowledge, CSV, or an expert's graph in the format of
            Tetrad, DAGitty, GML or BIF.  All edges of a graph are required.  The columns of CSV are
            `column` and `tier`, or `from`, `to` and `rule`; a rule is forbid, require, "forbid
            edge" or "require edge".
        names: the names of all columns, to which the patterns of causal-learn are applied.

    Raises:
        DataError: for a file in none of these formats.
        ParameterError: for statements that contradict each other.
    """
    if isinstance(source, Path | str):
        path = Path(source)
        try:
            with path.open("rb") as file:
                content = file.read(MAX_BYTES + 1)
        except (OSError, ValueError):
            raise DataError("knowledge-file-unreadable", path=short(path)) from None
        return parse_knowledge(content, path.name)
    if hasattr(source, "tier_value_map"):
        return _of_causal_learn(source, names)
    raise DataError("no-edges-in-object", name=type(source).__name__)


def parse_knowledge(content: bytes, filename: str) -> Knowledge:
    """Like `read_knowledge`, but from the content and the name of a file."""
    if len(content) > MAX_BYTES:
        raise DataError("knowledge-file-more-than-5-mb")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DataError("knowledge-file-not-utf-8-text") from None
    start = text.lstrip()
    if start.startswith(_TETRAD):
        return _of_tetrad(text)
    if start.startswith("{"):
        return Knowledge.read(start)
    if start.startswith(TETRAD_HEAD):
        return Knowledge.of_graph(import_graph(text, "tetrad"))
    for ending, kind in _GRAPHS.items():
        if filename.lower().endswith(ending):
            return Knowledge.of_graph(import_graph(text, kind))
    return _of_csv(text)


def _of_tetrad(text: str) -> Knowledge:
    tiers: dict[int, list[str]] = {}
    forbidden: set[Statement] = set()
    required: set[Statement] = set()
    section, pairs = "", 0
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if not words or words[0] == _TETRAD:
            continue
        if len(words) == 1 and not _TETRAD_TIER.fullmatch(words[0]):
            section = words[0].lower()
            continue
        tier = _TETRAD_TIER.fullmatch(words[0])
        if section == "addtemporal" and tier and "-" not in tier[2]:
            own = tiers.setdefault(int(tier[1]), [])
            own += words[1:]
            if "*" in tier[2]:
                pairs += math.comb(len(words) - 1, 2)
                limit_statements(pairs)
                forbidden |= {statement(a, "--", b) for a, b in combinations(words[1:], 2)}
        elif section in ("forbiddirect", "requiredirect") and len(words) == 2:
            known = forbidden if section == "forbiddirect" else required
            known.add(statement(words[0], "->", words[1]))
        else:
            raise DataError("knowledge-line-unknown", line=number)
    ordered = tuple(tuple(tiers[k]) for k in sorted(tiers))
    return Knowledge(ordered, frozenset(forbidden), frozenset(required))


def _of_csv(text: str) -> Knowledge:
    try:
        rows = list(csv.DictReader(text.splitlines()))
    except csv.Error as error:
        raise DataError("knowledge-file-cannot-read-csv", error=error) from None
    fields = {str(name).strip().lower() for row in rows[:1] for name in row}
    if {"column", "tier"} <= fields:
        return _of_tiers(list(_cells(rows, "column", "tier")))
    if {"from", "to", "rule"} <= fields:
        return _of_rules(list(_cells(rows, "from", "to", "rule")))
    raise DataError("knowledge-neither-format")


def _cells(rows: list[dict[str, Any]], *wanted: str) -> Iterator[list[str]]:
    for number, row in enumerate(rows, 2):
        named = {str(name).strip().lower(): str(cell or "").strip() for name, cell in row.items()}
        cells = [named[name] for name in wanted]
        if any(cells) and not all(cells):
            raise DataError("knowledge-line-empty-cell", line=number)
        if all(cells):
            yield cells


def _of_tiers(rows: list[list[str]]) -> Knowledge:
    tiers: dict[float, list[str]] = {}
    for name, tier in rows:
        place = number_of(tier)
        if place is None:
            raise DataError("tier-is-no-number", name=short(name), tier=short(tier))
        tiers.setdefault(place, []).append(name)
    return Knowledge(tuple(tuple(tiers[k]) for k in sorted(tiers)))


def _of_rules(rows: list[list[str]]) -> Knowledge:
    known: dict[str, set[Statement]] = {"forbid": set(), "require": set()}
    for a, b, rule in rows:
        verb, _, edge = rule.lower().partition(" ")
        if verb not in known or edge not in ("", "edge"):
            raise DataError("no-such-rule", rule=short(rule))
        known[verb].add(statement(a, "--" if edge else "->", b))
    return Knowledge((), frozenset(known["forbid"]), frozenset(known["require"]))


def _of_causal_learn(source: Any, names: Sequence[str]) -> Knowledge:
    """Knowledge from a `BackgroundKnowledge`; patterns match at the start of a name."""

    def arrows(nodes: Any, patterns: Any) -> set[Statement]:
        found = {statement(a.get_name(), "->", b.get_name()) for a, b in nodes}
        for first, second in patterns:
            ends = [[n for n in names if re.match(pattern, n)] for pattern in (first, second)]
            limit_statements(math.prod(map(len, ends)))
            found |= {statement(a, "->", b) for a, b in product(*ends) if a != b}
        return found

    tiers: dict[int, list[str]] = {}
    for node, tier in source.tier_value_map.items():
        tiers.setdefault(tier, []).append(node.get_name())
    forbidden = arrows(source.forbidden_rules_specs, source.forbidden_pattern_rules_specs)
    for tier in getattr(source, "forbidden_within_tiers", ()):
        forbidden |= {statement(a, "--", b) for a, b in combinations(tiers.get(tier, ()), 2)}
    required = arrows(source.required_rules_specs, source.required_pattern_rules_specs)
    return Knowledge(
        tuple(tuple(tiers[k]) for k in sorted(tiers)), frozenset(forbidden), frozenset(required)
    )


def stated_knowledge(
    *, tiers: str = "", forbid: Sequence[str] = (), require: Sequence[str] = (), file: str = ""
) -> Knowledge:
    """Knowledge from the options of a command; raises the same errors as `read_knowledge`."""
    if not (tiers or forbid or require or file):
        return Knowledge()
    known = read_knowledge(file) if file else Knowledge()
    given = Knowledge.of(tiers=tiers)
    if given.tiers and known.tiers:
        raise ParameterError("tiers-in-the-file-too")
    return Knowledge(
        given.tiers or known.tiers,
        known.forbidden.union(*map(statements, forbid)),
        known.required.union(*map(statements, require)),
    )
