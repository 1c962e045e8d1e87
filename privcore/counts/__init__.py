"""Sufficient statistics: contingency tables and moments, counted once and shared."""

from privcore.counts.memory import InMemoryCounts
from privcore.counts.mixed import MixedRows
from privcore.counts.numeric import NumericRows
from privcore.counts.source import CountSource, MomentSource, NumberSource

__all__ = [
    "CountSource",
    "InMemoryCounts",
    "MixedRows",
    "MomentSource",
    "NumberSource",
    "NumericRows",
]
