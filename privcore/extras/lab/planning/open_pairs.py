"""The inconclusive pairs of a release, and the ε that would settle them (post-processing)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from privcore.algorithms.engine import row_parameters
from privcore.algorithms.moment_search.parameters import MomentSearchParameters
from privcore.algorithms.moment_search.visible import PublicShape, visible_effects
from privcore.algorithms.search.parameters import EPSILON
from privcore.algorithms.search.result import Discovery, Edge
from privcore.counts import PublicColumns
from privcore.graphs.knowledge import Knowledge

# The largest total ε considered, as a multiple of the spent one.
_MOST = 1_000.0
_STEPS = 40
_LARGEST = float(EPSILON.high or 0)


class OpenPair(NamedTuple):
    """An inconclusive pair of a release.

    visible: the smallest dependence that is detected with power 0.9; None if not even a perfect
    dependence is detected.  epsilon: the approximate total ε, over all releases, at which a
    dependence of the reference size would be detected; None if no budget suffices for this number
    of rows.
    """

    pair: Edge
    visible: float | None
    epsilon: float | None


def open_pairs(result: Discovery, statistics: Any) -> list[OpenPair]:
    """The pairs with the verdict "not enough budget", in increasing order of the ε they need.

    result: the result of a moment search; statistics: its released numbers
    (`Released.statistics`).

    The needed ε is computed as if the smallest visible dependence of a pair shrank, as ε grows, in
    the way that is planned for two columns with these numbers of levels (`visible_effects`).
    """
    levels = statistics.levels
    named = Knowledge.read(result.parameters["knowledge"]).on(result.graph.nodes).open_pairs
    ordered = statistics.ordered
    shape = PublicShape(statistics.n, levels, len(result.graph.nodes), named, ordered)
    columns = PublicColumns(result.graph.nodes, statistics.n, levels, ordered=ordered)
    # A further release measures in the same way.
    chosen = statistics.form in ("lines", "distances")
    form = {"measured": statistics.form if chosen else "levels"}
    # Several releases together may exceed the ε that one run accepts.
    spent = min(result.guarantee.epsilon, _LARGEST)
    wanted = float(result.parameters["reference_effect"])

    def visible(pair: Edge, epsilon: float) -> float | None:
        wanted = {**result.parameters, **form, "epsilon": epsilon, "neighbours": "replaced"}
        checked = row_parameters(result.algorithm, wanted, columns)
        both = (levels[pair[0]], levels[pair[1]]) if levels else None
        return visible_effects(shape, MomentSearchParameters(**checked), both).alone

    prices: dict[tuple[Any, ...], float | None] = {}
    entries = []
    for pair, finding in sorted(result.findings.items()):
        if finding.verdict != "not enough budget":
            continue
        at_once = visible(pair, spent)
        # The visible dependence of this pair scales as that of the plan.
        # For a pair with no visible dependence at all, a perfect one is a lower bound.
        share = 1.0 if at_once is None else min(at_once / (finding.visible or 1.0), 1.0)
        kind = (tuple(sorted(levels[c] for c in pair)) if levels else (), round(share, 2))
        if kind not in prices:
            prices[kind] = _price(partial(visible, pair), wanted * kind[1], spent)
        entries.append(OpenPair(pair, finding.visible, prices[kind]))
    return sorted(
        entries, key=lambda entry: (entry.epsilon is None, entry.epsilon or 0, entry.pair)
    )


def _price(visible: Callable[[float], float | None], target: float, spent: float) -> float | None:
    """The smallest ε, within one per cent, at which a dependence of the target size is visible.

    None if no ε within the limit is large enough.
    """

    def enough(epsilon: float) -> bool:
        least = visible(epsilon)
        return least is not None and least <= target

    low, high, most = spent, spent, min(_MOST * spent, _LARGEST)
    while not enough(high):
        if high >= most:
            return None
        low, high = high, min(2 * high, most)
    for _ in range(_STEPS):
        if high / low < 1.01:
            break
        middle = (low * high) ** 0.5
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
