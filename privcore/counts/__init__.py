"""Sufficient statistics: contingency tables, counted once and shared."""

from privcore.counts.memory import InMemoryCounts
from privcore.counts.source import CountSource

__all__ = ["CountSource", "InMemoryCounts"]
