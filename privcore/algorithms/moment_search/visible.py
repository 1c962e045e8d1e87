"""The smallest dependences that a budget can detect, computed from public facts alone.

The computation is possible before any budget is spent. Columns with levels are assumed to be
balanced, numeric columns to be normal, and all columns to be independent except for the tested
pair. If some levels are rare, only larger dependences can be detected. The threshold for a single
edge is taken from `edges` or from the posterior.

A test compares a statistic that has f degrees of freedom with a threshold. Under a dependence of
size V the statistic is noncentral χ², with V² times the test's information as noncentrality. This
distribution is exact if all parts of the statistic have equal weights; otherwise the dependence is
assumed to be spread evenly over the parts, and the statistic to follow a scaled χ² (see
`statistic`). V is Cramér's V for two columns with levels, and the absolute correlation for two
numeric columns; given other columns, V refers to the residuals.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, combinations_with_replacement, zip_longest
from statistics import median_low
from typing import Any, NamedTuple

import numpy as np
from scipy.special import chdtrc, chndtrinc, gammainc, gammaincc, gammaln, ndtri

from privcore.algorithms.moment_search.parameters import LINE_PENALTY, MomentSearchParameters
from privcore.algorithms.moment_search.plan import (
    BY_CHANCE,
    USUALLY_MEASURED,
    Plan,
    RowMoments,
    WholeTable,
    plan_distances,
    plan_lines,
    plan_moments,
    plan_numbers,
    plan_target,
    plan_whole,
)
from privcore.algorithms.moment_search.released import YES_NO, counts_levels
from privcore.algorithms.moment_search.statistic import Statistic, chi_squared_quantile
from privcore.arrays import Vector
from privcore.counts import MixedRows, MomentSource, has_levels
from privcore.data.model import Column, levels_in_order
from privcore.errors import ParameterError
from privcore.graphs.knowledge import Knowledge
from privcore.independence.linear_scores import coordinates
from privcore.privacy.mechanisms.gaussian import planned_mu

POWER = 0.9
# Assumed share of the links of ordered columns that no trend shows, and smallest size of a link.
_BENDS, _LEAST_LINK = 0.1, 0.1
# Share of the links from which every level is counted.
_ENOUGH = 0.75
# Share of the links from which the whole graph is measured if the question is about one column.
_WHOLE = 0.4
# Smallest variance of a distance.
_TINY = 1e-9

Levels = tuple[int, int]


class Visible(NamedTuple):
    """The smallest dependence between two columns that is detected with probability `POWER`.

    alone: for the marginal test. given_one, given_two: for the test given one or two other columns.
    If not all combinations of levels are counted, the marginal value is based on the counts of
    pairs alone, and a conditional value on a single round with one table per column; further
    releases only add power. For second moments and for distances all three values are equal. A
    value is None if not even a dependence of size 1 is detected, or if the table of the test would
    be too large.
    """

    alone: float | None
    given_one: float | None
    given_two: float | None


def visible(
    plan: Plan, parameters: MomentSearchParameters, pairs: int, pair: Levels | None = None
) -> Visible:
    """The smallest dependences between two columns that a plan can detect.

    pairs: number of pairs over which the FDR is controlled. pair: numbers of levels of the two
    columns; None for the median pair of columns.
    """

    def least(pair: Levels, others: int) -> float | None:
        if plan.products is not None:
            return _near_one(plan, parameters.false_edges)
        if plan.rows is not None:
            return _in_rows(plan.rows, parameters.false_edges / pairs)
        if plan.distances is not None:
            return seen_by_distance(plan.n, pair, plan, parameters.false_edges / pairs)
        if plan.whole is not None:
            return _in_whole(plan.whole, pair, others, parameters.false_edges)
        return _in_tables(plan, pair, others, parameters, pairs)

    columns = plan.rows.columns if plan.rows is not None else len(plan.levels)
    if pair is None:
        every = [(min(two), max(two)) for two in combinations(plan.levels, 2)]
        sizes = {two: least(two, 0) for two in set(every)}
        pair = sorted(every, key=lambda two: sizes[two] or math.inf)[len(every) // 2]
    return Visible(*(least(pair, k) if k < columns - 1 else None for k in range(3)))


def _near_one(plan: Plan, level: float) -> float | None:
    """The smallest correlation with one column that its products and the rows detect.

    The rows are assumed to hold a few columns, as they usually do, or as many as they can.
    """
    assert plan.products is not None
    assert plan.rows is not None
    others, products = len(plan.levels) - 1, plan.products
    rows = replace(plan.rows, columns=min(plan.rows.columns, USUALLY_MEASURED))
    in_rows = _in_rows(rows, level / others)
    deviation = math.hypot(products.correlation_noise, 1 / math.sqrt(plan.n))
    chosen = float(-ndtri(min(BY_CHANCE / others, 1) / 2) + ndtri(POWER)) * deviation
    return None if in_rows is None or chosen > 1 else max(in_rows, chosen)


def _in_tables(
    plan: Plan, pair: Levels, others: int, parameters: MomentSearchParameters, pairs: int
) -> float | None:
    """The smallest dependence detected by counts of pairs or, given other columns, by a table.

    others: number of other columns.
    """
    assert plan.pairs is not None
    strata, sigma = median_low(plan.levels) ** others, plan.pairs.sigma
    level = parameters.false_edges / pairs
    candidates = parameters.level_of_candidates(len(plan.levels))
    if not others:
        return _tested(plan.n, pair, 1, sigma, min(level, candidates), 0.0)
    candidate, tables = _tested(plan.n, pair, 1, sigma, candidates, 0.0), plan.tables
    if tables is None or strata * math.prod(pair) > tables.cells or candidate is None:
        return None
    sigma = tables.round([(c,) for c in range(len(plan.levels))]).sigma
    seen = _tested(plan.n, pair, strata, sigma, level, parameters.penalty)
    return None if seen is None else max(seen, candidate)


def _tested(
    n: int, pair: Levels, strata: int, sigma: float, level: float, penalty: float
) -> float | None:
    # A balanced column's codes have variance 1/r each, and all parts have equal weights.
    weight = 1 / (1 + sigma * sigma * strata / n * pair[0] * pair[1])
    dof = strata * (pair[0] - 1) * (pair[1] - 1)
    threshold = max(chi_squared_quantile(dof, level), penalty * dof)
    return _weighed(n, pair, strata, weight, threshold)


def _in_whole(plan: WholeTable, pair: Levels, others: int, level: float) -> float | None:
    strata = median_low(plan.levels) ** others
    threshold = probable_from(plan.n * plan.weight, pair, strata, level)
    if chdtrc(strata * (pair[0] - 1) * (pair[1] - 1), threshold) > 0.5:
        # The effective number of rows is so small that the formula does not apply.
        return None
    return _weighed(plan.n, pair, strata, plan.weight, threshold)


def _weighed(n: int, pair: Levels, strata: int, weight: float, threshold: float) -> float | None:
    """The smallest Cramér's V that is detected if all parts of the statistic have equal weights.

    weight: weight of each part. threshold: threshold of the χ² statistic.
    """
    dof = strata * (pair[0] - 1) * (pair[1] - 1)
    return smallest_visible(dof, threshold, n * (min(pair) - 1) * weight)


def _in_rows(plan: RowMoments, level: float, parts: int = 1) -> float | None:
    """The smallest correlation detected between two of p independent columns.

    parts: number of products of the coordinates of both columns, over which a dependence is spread;
    its size is then the root of the sum of the squared correlations. Each coordinate is assumed to
    be standard normal. Rows with a norm
    above R = radius · √p are scaled down to norm R.

    Let g = min(1, R²/|x|²), where |x|² has a χ² distribution with p degrees of freedom, and let a
    and b be two coordinates of x. Then E g a² = E g|x|²/p and E g a²b² = E g|x|⁴/(p(p + 2)). Both
    equations also hold with g² in place of g.
    """
    n, p = plan.n, plan.columns
    most = p * plan.radius * plan.radius
    below = [float(gammainc(p / 2 + k, most / 2)) for k in range(3)]
    fourth = p * (p + 2) * below[2]
    # Factors by which scaling rows down changes each variance, a correlation near 0, and n times
    # the sampling variance of this correlation.
    variance = below[1] + most * (1 - below[0]) / p
    slope = (fourth + most * p * (1 - below[1])) / (p * (p + 2)) / variance
    sampling = (fourth + most * most * (1 - below[0])) / (p * (p + 2)) / variance**2
    noise = n * (plan.correlation_noise / variance) ** 2
    level = min(level, float(gammaincc(0.5, LINE_PENALTY * math.log(n) / 2)))
    threshold = chi_squared_quantile(parts, level)
    # The test assumes a sampling variance of 1.
    spread = sampling + noise
    return smallest_visible(parts, threshold * (1 + noise) / spread, n * slope**2 / spread)


def table_information(n: float, levels: Levels, statistic: Statistic) -> float:
    """Noncentrality of a test of two columns with levels, for a dependence of V = 1.

    n: number of rows. statistic: the test's statistic, which holds the sum of the weights of its
    (r − 1)(s − 1) parts.
    """
    r, s = levels
    return n * (min(r, s) - 1) * statistic.first / ((r - 1) * (s - 1))


def smallest_visible(dof: float, threshold: float, information: float) -> float | None:
    """The smallest V from 0 to 1 that a test detects with probability `POWER`.

    None if not even V = 1 is detected. information: noncentrality of the test if V = 1.
    """
    if not (dof > 0 and information > 0):
        return None
    needed = math.sqrt(max(float(chndtrinc(threshold, dof, 1 - POWER)), 0.0) / information)
    return needed if needed <= 1 else None


class Reference(NamedTuple):
    """The distance of a pair's counts from independence, as `distances` models it.

    mean: without dependence. deviation: standard deviation, noise included. slope: how fast the
    distance rises with φ, if φ is large.
    """

    mean: float
    deviation: float
    slope: float

    def smallest(self, level: float, parts: float, explained: float = 0.0) -> float | None:
        """The smallest Cramér's V that is detected with probability `POWER`; None if none is.

        level: of the one-sided test. parts: φ² if V = 1. explained: φ that links explain.
        """
        needed = max(-float(ndtri(level)) - float(ndtri(1 - POWER)), 0.0)
        distance = math.hypot(self.mean, self.slope * explained) + needed * self.deviation
        seen = math.sqrt(max(distance**2 - self.mean**2, 0.0)) / self.slope / math.sqrt(parts)
        return seen if seen <= 1 else None


def distance_reference(
    one: Vector, other: Vector, n: int, margins: float, sigma: float
) -> Reference:
    """The distance of two columns with these shares of levels.

    margins: variance of the noise on counts of levels. sigma: of the noise on a distance.
    """
    r, s, cells = len(one), len(other), np.multiply.outer(one, other)
    # The counts of levels are of the same rows, so chance leaves (r − 1)(s − 1) free parts.
    chance = n * cells * np.multiply.outer(1 - one, 1 - other)
    known = margins * np.add.outer(one**2 * (1 - 1 / s), other**2 * (1 - 1 / r))
    # Variance of a sum of |X|: as of that many independent parts, each in as many equal cells.
    spread = float(chance.sum()) * r * s / max((r - 1) * (s - 1), 1)
    spread += float(known.sum()) * r * s / max(r + s - 2, 1)
    return Reference(
        float(np.sqrt((chance + known) * 2 / math.pi).sum()),
        math.sqrt(max(sigma**2 + (1 - 2 / math.pi) * spread, _TINY)),
        n * math.sqrt(2 / math.pi / (r * s)) * float(np.sqrt(cells).sum()),
    )


def seen_by_distance(n: int, pair: Levels, plan: Plan, level: float) -> float | None:
    """The smallest Cramér's V that a plan's distances detect at a level, for balanced columns.

    None if not even V = 1 is detected. pair: numbers of levels of the two columns.
    """
    assert plan.units is not None
    assert plan.distances is not None
    one, other = (np.full(r, 1 / r) for r in pair)
    margins, sigma = plan.units.sigma**2, plan.distances.sigma
    reference = distance_reference(one, other, n, margins, sigma)
    return reference.smallest(level, max(min(pair) - 1.0, 1.0))


def probable_from(rows: float, levels: Levels, strata: int, level: float) -> float:
    """The deviance at which an edge between two columns reaches probability 1 − level.

    The value is the sum of two terms. The first term is the BDeu penalty for the parameters that
    the edge adds, for balanced columns and an equivalent sample size of 1. The second term is twice
    the log of half the required odds; half the odds suffice because the edge may have either
    direction. rows: effective number of rows in the noisy counts. levels: numbers of levels of
    cause and effect. strata: number of configurations of the effect's other parents.
    """
    cause, effect = levels

    def spread(configurations: int) -> float:
        many = configurations * effect
        above = gammaln(1 / configurations) - gammaln((1 + rows) / configurations)
        below = gammaln((1 + rows) / many) - gammaln(1 / many)
        return float(configurations * above + many * below) + rows * math.log(effect)

    odds = max((1 - level) / level, 1.0)
    return 2 * (spread(strata) - spread(strata * cause)) + 2 * math.log(odds / 2)


def plan_levels(
    n: int, levels: Sequence[int], ordered: Sequence[int], parameters: MomentSearchParameters
) -> Plan:
    """The plan for columns with levels; levels, ordered: see `CountSource`.

    Every level is counted (all combinations of levels if there are few, otherwise pairs of columns
    and larger tables), or each column is coded by a few numbers, or each pair of columns by one
    distance. Only counts show all of a dependence, and what the other forms do not show leads to
    false links if there is little noise. So by default, levels are counted if these counts detect
    most links; otherwise the form is used that detects most links. See `links_seen`.
    """
    mu = planned_mu(parameters.epsilon, parameters.delta)
    whole = plan_whole(n, levels, parameters.epsilon, cells=parameters.whole_table)
    forms = {
        "lines": plan_lines(n, levels, ordered, mu, parameters),
        "distances": plan_distances(n, levels, mu),
        "levels": whole or plan_moments(n, levels, mu, parameters),
    }
    if parameters.measured in forms or len(levels) < 2:
        return forms[parameters.measured or "levels"]
    seen = {name: links_seen(plan, ordered) for name, plan in forms.items()}
    counted = seen["levels"] >= _ENOUGH
    return forms["levels" if counted else max(seen, key=seen.__getitem__)]


def plan_of(
    n: int,
    own_levels: Sequence[int],
    ordered: Sequence[int],
    parameters: MomentSearchParameters,
    target: int | None = None,
) -> Plan:
    """The plan of a run; own_levels, ordered: see `Source`. target: see `Run`.

    If the question is about one column, the whole graph is measured if it shows enough, since its
    search also finds columns that are linked with the target only given others; or if all columns
    are so few that their second moments have no more noise than the products of one column.
    Raises ParameterError for products of a column that is not named.
    """
    if parameters.measured == "target" and target is None:
        raise ParameterError("measured-needs-target")
    if target is None or parameters.measured not in (None, "target"):
        return _plan_whole_graph(n, own_levels, ordered, parameters)
    one = plan_target(n, own_levels, ordered, target, parameters)
    if parameters.measured is None:
        assert one.products is not None
        assert one.rows is not None
        every = one.products.own + one.products.others
        moments = replace(one.rows, mu=one.rows.mu * math.sqrt(2), columns=every)
        whole = _plan_whole_graph(n, own_levels, ordered, parameters)
        few = moments.correlation_noise <= one.products.correlation_noise
        if few or links_seen(as_counted(whole, parameters), ordered) >= _WHOLE:
            return whole
    return one


def _plan_whole_graph(
    n: int, own_levels: Sequence[int], ordered: Sequence[int], parameters: MomentSearchParameters
) -> Plan:
    if 0 in own_levels:
        return plan_numbers(n, own_levels, parameters)
    return plan_levels(n, own_levels, ordered, parameters)


def as_counted(plan: Plan, parameters: MomentSearchParameters) -> Plan:
    """The plan with the counts that numeric columns of a table with levels are measured by."""
    if plan.products is not None or plan.rows is None or not plan.intervals:
        return plan
    if not counts_levels(plan.levels):
        return plan
    return plan_moments(plan.n, plan.cut, plan.rows.mu, parameters)


def links_seen(plan: Plan, ordered: Sequence[int]) -> float:
    """The expected share of links that a plan detects.

    Every pair of columns is equally likely to be linked. A link between ordered columns is a trend
    or, with probability `_BENDS`, a bend. Other links are spread evenly over all contrasts of the
    levels of columns without order. A size is Cramér's V or, if a column is ordered, the
    correlation; all sizes from `_LEAST_LINK` to 1 are equally likely on a log scale. Significance
    levels are the defaults. ordered: see `CountSource`.
    """
    # A number is a trend, as an ordered column is.
    in_order = [place or not r for r, place in zip_longest(plan.levels, ordered, fillvalue=0)]
    levels = [r or YES_NO for r in plan.levels]
    kinds = Counter(zip(levels, map(bool, in_order), strict=True))
    pairs, seen = math.comb(len(plan.levels), 2), 0.0
    for one, other in combinations_with_replacement(sorted(kinds), 2):
        many = kinds[one] * (kinds[other] if one != other else (kinds[one] - 1) / 2)
        if many:
            least = _least_link(plan, one, other, pairs)
            bends = _BENDS if plan.rows is not None and (one[1] or other[1]) else 0.0
            share = math.log(max(least, _LEAST_LINK)) / math.log(_LEAST_LINK)
            seen += many * (1 - bends) * max(share, 0.0)
    return seen / pairs


def _least_link(plan: Plan, one: tuple[int, bool], other: tuple[int, bool], pairs: int) -> float:
    """The smallest link between two columns that a plan detects; see `links_seen`.

    one, other: number of levels of each column, and whether the levels are ordered.
    """
    usual, pair = MomentSearchParameters(), (min(one[0], other[0]), max(one[0], other[0]))
    level, contrasts = usual.false_edges / pairs, [max(r - 1, 1) for r, _ in (one, other)]
    # The square of a link's size, times this, is φ².
    parts: float = 1 if one[1] or other[1] else min(contrasts)
    if plan.rows is not None:
        made = [coordinates(r, r if in_order else 0) for r, in_order in (one, other)]
        least = _in_rows(plan.rows, level, math.prod(made))
        for (_, in_order), groups, every in zip((one, other), made, contrasts, strict=True):
            parts *= 1 if in_order else groups / every
    else:
        if plan.distances is not None:
            least = seen_by_distance(plan.n, pair, plan, level)
        elif plan.whole is not None:
            least = _in_whole(plan.whole, pair, 0, usual.false_edges)
        else:
            least = _in_tables(plan, pair, 0, usual, pairs)
        parts /= min(contrasts)
    return math.inf if least is None else least / math.sqrt(parts)


@dataclass(frozen=True)
class PublicShape:
    """The public shape of a table.

    n: number of rows. levels: number of levels of each column, 0 for numeric columns that are cut;
    empty if all columns are treated as numbers. columns: number of columns. open_pairs: number of
    pairs that background knowledge leaves open; None for all pairs. ordered: see `Source`. names:
    names of the columns; only a question about one of them needs these.
    """

    n: int
    levels: Sequence[int]
    columns: int
    open_pairs: int | None = None
    ordered: Sequence[int] = ()
    names: Sequence[str] = ()

    @property
    def pairs(self) -> int:
        """Number of pairs over which the FDR is controlled."""
        return math.comb(self.columns, 2) if self.open_pairs is None else max(self.open_pairs, 1)

    @classmethod
    def of(cls, source: MomentSource | MixedRows, knowledge: str = "") -> PublicShape:
        """The shape of a data source; knowledge: the text of the parameter `knowledge`."""
        levels: Sequence[int] = ()
        if isinstance(source, MixedRows):
            levels = source.own_levels if counts_levels(source.own_levels) else ()
        elif has_levels(source):
            levels = source.levels
        ordered = source.ordered if levels else ()
        names = source.names
        open_pairs = Knowledge.read(knowledge).on(names).open_pairs
        return cls(source.n, levels, len(names), open_pairs, ordered, names)

    @classmethod
    def of_columns(cls, n: int, columns: Sequence[Column]) -> PublicShape:
        """The shape of a table with n rows and these columns."""
        levels = [len(column.levels) for column in columns]
        places = tuple(map(levels_in_order, columns))
        names = [column.name for column in columns]
        return cls(n, levels if any(levels) else (), len(columns), ordered=places, names=names)

    def plan(self, parameters: MomentSearchParameters) -> Plan:
        """The plan for what a run measures and for how the run splits its budget."""
        levels, name = self.levels or (0,) * self.columns, parameters.target
        target = self.names.index(name) if name in self.names else None
        if target is None and parameters.measured == "target":
            parameters = replace(parameters, measured=None)
        plan = plan_of(self.n, levels, self.ordered, parameters, target)
        return as_counted(plan, parameters)

    def measured_as(self, parameters: MomentSearchParameters) -> tuple[str, ...]:
        """How a run codes each column, in a few words."""
        plan = self.plan(parameters)
        if plan.products is not None:
            return ("its product with the target",) * self.columns
        if plan.distances is not None:
            return ("distances of pairs",) * self.columns
        if plan.rows is None:
            return tuple("every level" if r else "intervals" for r in self.levels)
        if plan.intervals:
            return ("a number",) * self.columns
        parts = zip(self.levels, map(coordinates, plan.levels, plan.ordered), strict=True)
        return tuple(
            "yes or no"
            if r <= YES_NO
            else "one trend"
            if many == 1
            else f"{many + 1} groups"
            if r > many + 1
            else "every level"
            for r, many in parts
        )


def visible_effects(
    shape: PublicShape, parameters: MomentSearchParameters, pair: Levels | None = None
) -> Visible:
    """The smallest dependences that a run can detect.

    parameters: checked parameters of the run. pair: see `visible`.
    """
    return visible(shape.plan(parameters), parameters, shape.pairs, pair)


def mixed_sentence(source: MixedRows, checked: Mapping[str, Any]) -> str:
    """A clause that states how numeric columns are treated in a table that also has levels.

    checked: the checked parameters of the run.
    """
    if not counts_levels(source.own_levels):
        return "columns with two levels count as −1 and 1"
    parameters, names = MomentSearchParameters(**checked), source.names
    target = names.index(parameters.target) if parameters.target in names else None
    plan = plan_of(source.n, source.own_levels, source.ordered, parameters, target)
    return (
        f"{source.cut_words} cut into {plan.intervals} levels at points set by the released middle "
        "and spread"
    )
