"""Sufficient statistics: contingency tables and moments, counted once and shared."""

from privcore.counts.memory import InMemoryCounts
from privcore.counts.mixed import MixedRows
from privcore.counts.numeric import NumericRows
from privcore.counts.source import MAX_CELLS, CountSource, MomentSource, NumberSource, cells_of_test

__all__ = [
    "MAX_CELLS",
    "CountSource",
    "InMemoryCounts",
    "MixedRows",
    "MomentSource",
    "NumberSource",
    "NumericRows",
    "cells_of_test",
]
