"""Sufficient statistics: contingency tables and moments, counted once and shared."""

from privcore.counts.memory import InMemoryCounts
from privcore.counts.mixed import MixedRows
from privcore.counts.numeric import NumericRows
from privcore.counts.source import (
    MAX_CELLS,
    CountSource,
    MomentSource,
    NumberSource,
    PublicColumns,
    cells_of_test,
    has_levels,
    has_numbers,
    require_levels,
)

__all__ = [
    "MAX_CELLS",
    "CountSource",
    "InMemoryCounts",
    "MixedRows",
    "MomentSource",
    "NumberSource",
    "NumericRows",
    "PublicColumns",
    "cells_of_test",
    "has_levels",
    "has_numbers",
    "require_levels",
]
