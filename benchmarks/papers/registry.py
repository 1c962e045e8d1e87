"""All reproductions: a new one is one object in its paper's file."""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.papers import curate, kusner, wang, xu, xu_adult
from benchmarks.papers.model import Paper, Reproduction
from privcore.errors import ParameterError
from privcore.text import short

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
PAPERS: Mapping[str, Paper] = {item.paper.name: item.paper for item in REPRODUCTIONS.values()}


def get_reproduction(name: str) -> Reproduction:
    """The reproduction called `name`; raises ParameterError if there is none."""
    if name not in REPRODUCTIONS:
        raise ParameterError(
            f"There is no reproduction {short(name)!r}; choose one of {', '.join(REPRODUCTIONS)}."
        )
    return REPRODUCTIONS[name]
