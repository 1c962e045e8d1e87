"""Sufficient statistics (contingency tables and moments), computed once and shared by all tests."""

from privcore.counts.numbers import MixedRows, NumericRows
from privcore.counts.source import (
    MAX_CELLS,
    Bases,
    CountSource,
    MomentSource,
    NumberSource,
    PublicColumns,
    Source,
    StoredTable,
    cells_of_test,
    has_levels,
    has_numbers,
    require_levels,
)
from privcore.counts.tables import (
    AvailableCases,
    InMemoryCounts,
    available_cases,
    gaps_of,
    own_level_of,
)

__all__ = [
    "MAX_CELLS",
    "AvailableCases",
    "Bases",
    "CountSource",
    "InMemoryCounts",
    "MixedRows",
    "MomentSource",
    "NumberSource",
    "NumericRows",
    "PublicColumns",
    "Source",
    "StoredTable",
    "available_cases",
    "cells_of_test",
    "gaps_of",
    "has_levels",
    "has_numbers",
    "own_level_of",
    "require_levels",
]
