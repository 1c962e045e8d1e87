"""In what form columns with levels are measured: from public facts alone.

All combinations of levels, where there are few; otherwise all pairs of columns, level by level, and
larger tables.  Where that would show only large dependences, each column in few numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from privcore.algorithms.moment_search.likelihood.visible import (
    visible_in_tables,
    visible_in_whole,
)
from privcore.algorithms.moment_search.parameters import (
    CANDIDATES,
    LEVEL,
    PENALTY,
    MomentSearchParameters,
)
from privcore.algorithms.moment_search.release.lines import LinesPlan, plan_lines
from privcore.algorithms.moment_search.release.plan import (
    MomentPlan,
    WholePlan,
    plan_moments,
    plan_whole,
)
from privcore.privacy.mechanisms.gaussian import planned_mu

# The smallest Cramér's V seen level by level up to which levels are counted; and where most columns
# of more than two levels have an order, so that few numbers say more, and rows are no more than
# `_FEW_ROWS`: with more of them, what a line misses shows as links.  docs/experiments/lines.md.
_SEEN, _SEEN_IN_ORDER = 0.3, 0.08
_FEW_ROWS = 20_000
_YES_NO = 2


def plan_levels(
    n: int, levels: Sequence[int], ordered: Sequence[int], parameters: MomentSearchParameters
) -> WholePlan | LinesPlan | MomentPlan:
    """n: rows.  levels, ordered: as of `CountSource`."""
    whole = plan_whole(n, levels, parameters.epsilon, cells=parameters.whole_table)
    by_level = parameters.measured == "levels"
    if whole and by_level:
        return whole
    mu = planned_mu(parameters.epsilon, parameters.delta)
    pairs = plan_moments(
        n, levels, mu, share=parameters.table_share, tables=parameters.table_noise_ratio
    )
    if by_level:
        return pairs
    # At the usual levels of significance, so that the form does not change with these.
    usual = LEVEL.default
    seen = (
        visible_in_whole(whole, levels, false_edges=usual)
        if whole
        else visible_in_tables(
            pairs,
            n,
            levels,
            false_edges=usual,
            candidates=CANDIDATES.default,
            penalty=PENALTY.default,
            pairs=math.comb(len(levels), 2),
        )
    ).alone
    many = [bool(o) for o, r in zip(ordered, levels, strict=False) if r > _YES_NO]
    in_order = 0 < len(many) <= 2 * sum(many) and n <= _FEW_ROWS
    enough = seen is not None and seen <= (_SEEN_IN_ORDER if in_order else _SEEN)
    if enough and parameters.measured is None:
        return whole or pairs
    return plan_lines(n, levels, ordered, mu, radius=parameters.longest_row)
