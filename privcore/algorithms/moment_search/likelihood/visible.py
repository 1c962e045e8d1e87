"""Which dependences a budget can see, from public facts, before anything is spent.

Columns with levels are taken as balanced, numbers as normal, and all as independent but for the
pair itself; rarer levels need larger dependences.  What is asked is what `edge_selection`, or the
posterior, asks of the only edge.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import combinations
from statistics import median_low
from typing import NamedTuple

from scipy.special import chdtrc, gammainc

from privcore.algorithms.moment_search.likelihood.power import (
    probable_from,
    smallest_visible,
    table_information,
)
from privcore.algorithms.moment_search.release.lines import LinesPlan
from privcore.algorithms.moment_search.release.plan import MomentPlan, NumbersPlan, WholePlan
from privcore.algorithms.moment_search.statistic import (
    Statistic,
    chi_squared_quantile,
)

Levels = tuple[int, int]


class Visible(NamedTuple):
    """The smallest dependence that is seen with probability `power.POWER`, of two columns in the
    middle of all pairs: given nothing, given one column, and two.

    For columns with levels it is Cramér's V.  Where the full contingency table is not counted it is
    on the pairs alone given nothing, and given others on one of as many tables as columns in a
    single round; other releases only add power.  For numbers it is the size of a correlation, and
    all three are the same.  None where not even 1 is, or no such table fits.
    """

    alone: float | None
    given_one: float | None
    given_two: float | None


def visible_in_tables(
    plan: MomentPlan,
    n: int,
    levels: Sequence[int],
    *,
    false_edges: float,
    candidates: float,
    penalty: float,
    pairs: int,
    pair: Levels | None = None,
) -> Visible:
    """n: rows.  levels: of each column.  false_edges, candidates: levels of significance.
    penalty: of a score on tables, per degree of freedom.  pairs: over which the level is kept.
    pair: the levels of the two columns, if not of those in the middle."""
    level = false_edges / pairs

    def on_pairs(pair: Levels, level: float) -> float | None:
        return _smallest(n, pair, 1, plan.pairs_sigma, level, 0.0)

    typical, alone = _typical(levels, lambda two: on_pairs(two, min(level, candidates)), pair)
    candidate = on_pairs(typical, candidates)
    effects = [alone]
    for k in (1, 2):
        strata = median_low(levels) ** k
        fits = strata * math.prod(typical) <= plan.cells and k < len(levels) - 1
        least = None
        if fits and candidate is not None:
            sigma = plan.tables_sigma(len(levels))
            seen = _smallest(n, typical, strata, sigma, level, penalty)
            least = None if seen is None else max(seen, candidate)
        effects.append(least)
    return Visible(*effects)


def visible_in_whole(
    plan: WholePlan, levels: Sequence[int], *, false_edges: float, pair: Levels | None = None
) -> Visible:
    """Visible effects where the full contingency table is counted."""
    rows = plan.n * plan.weight

    def least(pair: Levels, others: int) -> float | None:
        strata = median_low(levels) ** others
        asked = probable_from(rows, pair, strata, false_edges)
        if chdtrc(strata * (pair[0] - 1) * (pair[1] - 1), asked) > 0.5:
            # The counts are worth so few rows that chance would do: there the formula is no guide.
            return None
        return _weighed(plan.n, pair, strata, plan.weight, asked)

    typical, alone = _typical(levels, lambda two: least(two, 0), pair)
    conditional = [least(typical, k) if k < len(levels) - 1 else None for k in (1, 2)]
    return Visible(alone, *conditional)


def _typical(
    levels: Sequence[int], seen: Callable[[Levels], float | None], chosen: Levels | None
) -> tuple[Levels, float | None]:
    """The chosen pair, or the one in the middle of all by what is seen of it; and that."""
    if chosen is not None:
        return chosen, seen(chosen)
    pairs = [(min(pair), max(pair)) for pair in combinations(levels, 2)]
    least = {pair: seen(pair) for pair in set(pairs)}
    typical = sorted(pairs, key=lambda pair: least[pair] or math.inf)[len(pairs) // 2]
    return typical, least[typical]


def _smallest(
    n: int, pair: Levels, strata: int, sigma: float, level: float, penalty: float
) -> float | None:
    # A balanced column's codes have variance 1/r each, and all parts weigh the same.
    weight = 1 / (1 + sigma * sigma * strata / n * pair[0] * pair[1])
    dof = strata * (pair[0] - 1) * (pair[1] - 1)
    threshold = max(chi_squared_quantile(dof, level), penalty * dof)
    return _weighed(n, pair, strata, weight, threshold)


def _weighed(n: int, pair: Levels, strata: int, weight: float, threshold: float) -> float | None:
    """weight: of each part of the statistic.  threshold: of χ²."""
    r, s = pair
    parts = (r - 1) * (s - 1)
    within = Statistic(0.0, parts * weight, parts * weight * weight)
    return smallest_visible(strata * parts, threshold, table_information(n, pair, within))


def visible_in_lines(
    plan: NumbersPlan | LinesPlan, *, false_edges: float, penalty: float, pairs: int
) -> Visible:
    """Visible correlations of columns measured in one number each, as if normal."""
    n, columns = plan.n, plan.columns
    left = _shortened(columns, plan.radius)
    noise = n * (plan.correlation_noise / left.variance) ** 2
    threshold = max(chi_squared_quantile(1, false_edges / pairs), penalty)
    # The test supposes a sampling variance of 1.
    spread = left.sampling + noise
    least = smallest_visible(1, threshold * (1 + noise) / spread, n * left.slope**2 / spread)
    return Visible(least, least if columns > 2 else None, least if columns > 3 else None)


class _Shortened(NamedTuple):
    """What is left of independent normal numbers of variance 1 when long rows are shortened.

    variance: of each.  slope: of their correlation in that of whole rows, at 0.  sampling: the
    variance of √n times it.
    """

    variance: float
    slope: float
    sampling: float


def _shortened(p: int, radius: float) -> _Shortened:
    """Rows no longer than radius · √p; with g = min(1, R²/|x|²) and |x|² a χ² of p degrees of
    freedom, E g x² = E g|x|²/p, E g x²y² = E g|x|⁴/(p(p + 2)), and so with g²."""
    most = p * radius * radius
    below = [float(gammainc(p / 2 + k, most / 2)) for k in range(3)]
    fourth = p * (p + 2) * below[2]
    variance = below[1] + most * (1 - below[0]) / p
    slope = (fourth + most * p * (1 - below[1])) / (p * (p + 2)) / variance
    sampling = (fourth + most * most * (1 - below[0])) / (p * (p + 2)) / variance**2
    return _Shortened(variance, slope, sampling)
