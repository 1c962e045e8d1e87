"""All reproductions: a new one is one object in its paper's file, and a name in `NAMES`."""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.papers import curate, kusner, wang, xu, xu_adult
from benchmarks.papers.model import Reproduction

REPRODUCTIONS: Mapping[str, Reproduction] = {
    item.name: item
    for items in (
        wang.ITEMS,
        xu.ITEMS,
        xu_adult.ITEMS,
        curate.ITEMS,
        kusner.ITEMS,
    )
    for item in items
}
