"""Measuring: from the plan of a run to its released numbers.

**Rounds.** Tables are released in rounds; the results of one round determine the tables of the next
round.

**Units.** Before second moments of rows, a small first release sets the units of the rows: the
middle and spread of each numeric column, or the counts of the levels of each column, which
determine the distances between ordered levels and the grouping of unordered levels. Rows whose norm
exceeds a public maximum are scaled down to this maximum.

**Distances.** The distances of pairs from independence refer to released counts of levels, and
determine which pairs are counted.

**Shapes.** If there are enough rows to detect nonlinear dependence of numeric columns, a second
release counts all pairs of columns, with each numeric column cut at quantiles of a normal
distribution in these units. For jointly normal columns, the correlation determines the table of a
pair. The deviation of the noisy tables from the nearest tables of normal columns is dependence that
second moments miss. For a numeric and a yes/no column, the missed part is orthogonal to the tables
of a normal column and a dichotomised normal column. For two yes/no columns, second moments capture
all dependence. Dependence is measured by φ², summed over the pairs and corrected for noise. The
rest of the budget is spent on second moments, or on counts of the cut columns. In a table with
numeric columns, yes/no columns count as −1 and 1; if any column has more than two levels, the rest
of the budget is spent on counts.

Proof: docs/proofs/moment_search.md, statements 4, 7 and 9.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import combinations
from math import nan
from typing import NamedTuple, cast

import numpy as np
from scipy.special import ndtr, ndtri

from privcore.algorithms.moment_search.distances import DistanceEvidence, expected_counts
from privcore.algorithms.moment_search.edges import first_guess, neighbours_in, skeletons
from privcore.algorithms.moment_search.evidence import TableEvidence
from privcore.algorithms.moment_search.log_linear import nearest_probabilities
from privcore.algorithms.moment_search.moments import Measurement, Moments, sum_zero_basis
from privcore.algorithms.moment_search.parameters import MomentSearchParameters
from privcore.algorithms.moment_search.plan import (
    ROUNDS,
    LevelCounts,
    Plan,
    Scales,
    plan_moments,
)
from privcore.algorithms.moment_search.released import (
    YES_NO,
    LineUnits,
    NumberUnits,
    Points,
    ReleasedNumbers,
    counts_levels,
    released_distances,
    released_rows,
    released_sums,
    released_table,
)
from privcore.algorithms.moment_search.search import Parents
from privcore.algorithms.search import common
from privcore.algorithms.search.model import Run
from privcore.algorithms.search.result import Spent, Step
from privcore.arrays import Matrix, Vector
from privcore.counts import Bases, MomentSource, NumberSource, has_levels, has_numbers
from privcore.counts.numbers import cut_numbers
from privcore.independence.linear_scores import basis_of
from privcore.privacy.mechanisms import NoiseSource
from privcore.privacy.mechanisms.moments import CENTRED_SHARE
from privcore.privacy.mechanisms.no_noise import width_of

# Maximum number of cells of a table with more than `_FEW_COLUMNS` columns.
_MANY_CELLS = 4000
_FEW_COLUMNS = 4
# Share of the dependence that moments may miss before levels are counted.
_MISSED = 0.03
# Missed dependence that noise and sampling error alone explain, in standard deviations.
_CLEAR = 3.0
_STEPS = 60
# The share of yes is rounded to twentieths.
_SHARES = 20


class Measured(NamedTuple):
    """The releases of a run.

    run: the run, with numeric columns cut into levels if the cut columns were counted. statistics:
    the released numbers. spent: the part of the plan that was used.
    """

    run: Run[MomentSearchParameters]
    statistics: ReleasedNumbers
    spent: Spent


def measured(run: Run[MomentSearchParameters], plan: Plan, recorder: common.Recorder) -> Measured:
    """Make the releases of a plan."""
    source, noise, like = run.source, run.noise, cast(ReleasedNumbers | None, run.like)
    if plan.whole is not None:
        scale = plan.whole.scale
        table = plan.whole.measure(source, noise)
        recorded(recorder, scale, 1.0, 1)
        statistics = released_table(plan.n, table, width_of(noise, scale))
        return Measured(run, statistics, _all_spent(1))
    if plan.distances is not None:
        return _measured_by_distance(run, plan, recorder)
    if plan.rows is None:
        known = None if like is None else cast(Points | None, like.units)
        if known is not None and has_numbers(source):
            run = replace(run, source=cut_numbers(source, [np.array(ends) for ends in known]))
        return _measured_in_rounds(run, plan, recorder, points=known)
    if plan.units is None:
        assert like is not None
        units, counts = cast(NumberUnits | LineUnits, like.units), like.measurements[:-1]
    else:
        units, counts = release_units(source, plan, noise)
        recorded(recorder, plan.units.sigma, plan.shares[0], 1)
    if isinstance(units, NumberUnits) and (plan.pairs or counts_levels(plan.levels)):
        assert has_numbers(source)
        points = even_points(units.centre, units.scale, plan.intervals, plan.levels)
        on_levels, pairs = replace(run, source=cut_numbers(source, points)), None
        if plan.pairs is not None:
            pairs = Moments(plan.n, plan.cut, plan.pairs.measure(on_levels.source, noise))
            recorded(recorder, plan.pairs.sigma, plan.shares[1], 2)
        if pairs is None or not in_lines(pairs):
            rounds = plan_moments(plan.n, plan.cut, plan.rows.mu, run.parameters)
            known = tuple(tuple(ends.tolist()) for ends in points)
            return _measured_in_rounds(on_levels, rounds, recorder, pairs, known)
    moments, releases = plan.rows.measure(source, noise, units), len(plan.shares)
    recorded(recorder, plan.rows.sigma, plan.shares[-1], releases)
    near_one = like is not None and like.form == "target"
    statistics = released_rows(plan.n, units, moments, counts, near_one=near_one)
    return Measured(run, statistics, _all_spent(releases))


def _measured_in_rounds(
    run: Run[MomentSearchParameters],
    plan: Plan,
    recorder: common.Recorder,
    before: Moments | None = None,
    points: Points | None = None,
) -> Measured:
    """Release sums for pairs, then tables in rounds, with a search for edges between rounds.

    before: moments that this run has already released, to which new moments are added. points: cut
    points of numeric columns.
    """
    assert plan.pairs is not None
    noise = plan.pairs.noise_ratio * width_of(run.noise, 1.0) ** 2
    moments = Moments(plan.n, plan.levels) if before is None else before
    moments.add(plan.pairs.measure(run.source, run.noise))
    share, made, rounds = plan.shares[0], 0, ROUNDS if plan.tables else 0
    recorded(recorder, plan.pairs.sigma, share, 1)
    while plan.tables is not None and made < rounds:
        evidence = TableEvidence(moments, run.parameters.penalty)
        searched = skeletons(run, evidence, noise, recorder, refined=made > 0)
        dag = first_guess(run, evidence, neighbours_in(searched[0]))
        adjacent = neighbours_in(searched[-1])
        chosen = choose_tables(adjacent, dag, evidence.strength, plan.levels, plan.tables.cells)
        if not chosen:
            break
        made += 1
        tables = plan.tables.round(chosen)
        moments.add(tables.measure(run.source, run.noise))
        recorded(recorder, tables.sigma, (1 - share) / rounds, 1 + made)
    used = share + (1 - share) * (made / rounds if made else 0.0)
    spent = Spent("share", used, 1.0, 1 + made, 1 + rounds, "releases")
    return Measured(run, released_sums(moments, noise, points), spent)


def _measured_by_distance(
    run: Run[MomentSearchParameters], plan: Plan, recorder: common.Recorder
) -> Measured:
    """Release counts of levels, distances of pairs, then counts of the pairs with a link."""
    assert plan.distances is not None
    assert plan.tables is not None
    source, noise, like = run.source, run.noise, cast(ReleasedNumbers | None, run.like)
    made, planned = 0, len(plan.shares)
    if plan.units is None:
        assert like is not None
        counts = list(like.measurements[: len(plan.levels)])
    else:
        assert isinstance(plan.units, LevelCounts)
        counts = plan.units.measure(source, noise)
        made += 1
        recorded(recorder, plan.units.sigma, plan.shares[0], made)
    distances = plan.distances.measure(source, noise, expected_counts(counts, plan.n))
    recorded(recorder, plan.distances.sigma, plan.shares[made], made + 1)
    statistics = released_distances(plan.n, counts, distances)
    links = DistanceEvidence(statistics, run.parameters, run.known).links
    if not links:
        used = 1 - plan.shares[-1]
        return Measured(run, statistics, Spent("share", used, 1.0, made + 1, planned, "releases"))
    tables = plan.tables.round(links)
    statistics = released_distances(plan.n, counts, distances, tables.measure(source, noise))
    recorded(recorder, tables.sigma, plan.shares[-1], planned)
    return Measured(run, statistics, _all_spent(planned))


def _all_spent(releases: int) -> Spent:
    return Spent("share", 1.0, 1.0, releases, releases, "releases")


def recorded(recorder: common.Recorder, sigma: float, share: float, number: int) -> None:
    """Record a release in the trace.

    sigma: scale of the noise. share: share of the budget that the release uses. number: position
    among the releases of the run, from 1.
    """
    recorder.add(Step(0, -1, -1, (), "release", nan, sigma, nan, nan, False, share, number))


def choose_tables(
    adjacent: Mapping[int, set[int]],
    dag: Parents,
    strength: Callable[[int, int], float],
    levels: Sequence[int],
    cells: float,
) -> list[tuple[int, ...]]:
    """Sets of columns to count: each column with its neighbours, the strongest neighbours first.

    cells: maximum number of cells per table; the limit is lower for tables of many columns.
    Neighbours that would exceed the limit go into further tables for the same column. Each column
    with its parents in the DAG forms another set, unless the table would exceed `cells`. Sets that
    are contained in other sets are left out.
    """
    families = (frozenset({column, *causes}) for column, causes in enumerate(dag) if causes)
    chosen = {family for family in families if math.prod(levels[c] for c in family) <= cells}
    for column, neighbours in adjacent.items():
        left = sorted(neighbours, key=lambda other: (-strength(column, other), other))
        while left:
            table, size, rest = [column], levels[column], []
            for other in left:
                most = cells if len(table) < _FEW_COLUMNS else min(cells, _MANY_CELLS)
                if size * levels[other] <= most:
                    table.append(other)
                    size *= levels[other]
                else:
                    rest.append(other)
            if len(table) == 1:
                break
            chosen.add(frozenset(table))
            left = rest
    return sorted(tuple(sorted(t)) for t in chosen if not any(t < other for other in chosen))


def release_units(
    source: MomentSource, plan: Plan, noise: NoiseSource
) -> tuple[NumberUnits | LineUnits, tuple[Measurement, ...]]:
    """Make the release that sets the units of rows, and return it if it counts levels."""
    assert plan.rows is not None
    if isinstance(plan.units, Scales):
        assert has_numbers(source)
        scales = plan.units.measure(source, noise)
        return number_units(scales, source, plan.rows.radius), ()
    assert plan.units is not None
    assert has_levels(source)
    counts = tuple(plan.units.measure(source, noise))
    bases = tuple(own / plan.rows.longest for own in bases_of(counts, plan))
    return LineUnits(bases, CENTRED_SHARE), counts


def number_units(scales: Measurement, source: NumberSource, radius: float) -> NumberUnits:
    """The units of rows, from noisy means and mean squares of some columns.

    Any other column has middle 0 and spread 1. radius: see `RowMoments`.
    """
    means, squares = scales.values
    sigma, columns = math.sqrt(scales.variance), np.array(scales.columns, dtype=np.intp)
    centre = np.clip(means, -1, 1)
    variance = squares - centre * centre
    # Shrunk towards their mean in proportion to the noise (James & Stein 1961).
    own = max(1 - sigma * sigma / max(float(np.var(variance)), 1e-300), 0.0)
    shrunk = own * variance + (1 - own) * variance.mean()
    middle, spread = np.zeros(len(source.names)), np.ones(len(source.names))
    middle[columns], spread[columns] = centre, np.sqrt(np.clip(shrunk, min(sigma, 1.0), 1.0))
    half = np.array([(high - low) / 2 for low, high in source.bounds])
    return NumberUnits(middle, spread, radius, half, CENTRED_SHARE)


def bases_of(counts: Sequence[Measurement], plan: Plan) -> Bases:
    """Coordinates of the levels of each column, from noisy counts.

    The share of a rare level is raised to the smallest share that can be distinguished from 0
    despite the noise; otherwise such levels would have extreme coordinates.
    """
    bases = []
    for own, ordered in zip(counts, plan.ordered, strict=True):
        least = min(math.sqrt(own.variance) / plan.n, 0.5 / len(own.values))
        shares = nearest_probabilities(own.values, least)
        bases.append(basis_of(shares, ordered))
    return tuple(bases)


def even_points(
    centre: Vector, scale: Vector, intervals: int, own_levels: Sequence[int] = ()
) -> list[Vector]:
    """The cut points of each column, which divide a normal distribution into equal parts.

    centre, scale: mean and standard deviation of each distribution. own_levels: see `NumberSource`;
    the cut points of a column with levels lie between its levels.
    """
    quantiles = ndtri(np.arange(1, intervals) / intervals)
    return [
        np.arange(1, 2 * (r - 1), 2) / (r - 1) - 1 if r else m + s * quantiles
        for m, s, r in zip(centre, scale, own_levels or (0,) * len(centre), strict=True)
    ]


def in_lines(pairs: Moments) -> bool:
    """Whether second moments capture nearly all of the dependence in the pairs.

    pairs: noisy moments of all pairs of columns; each column is yes/no or cut by `even_points`. All
    cut columns have the same number of intervals, at least three.
    """
    whole = missed = variance = 0.0
    for a, b in combinations(range(len(pairs.levels)), 2):
        r, s = pairs.levels[a], pairs.levels[b]
        parts = (r - 1) * (s - 1)
        dependence = pairs.sums(a, b) - np.multiply.outer(pairs.sums(a), pairs.sums(b)) / pairs.n
        # Variance of each moment: of the noise, including that on the margins, and of sampling
        # under independence.
        chance = pairs.variance(a, b) + pairs.n / (r * s)
        chance += pairs.variance(a) * pairs.variance(b) / pairs.n**2
        size = float(np.sum(dependence**2))
        whole += size - parts * chance
        if min(r, s) > YES_NO:
            lines = normal_tables(r, s) * pairs.n
            residual = float(np.min(np.sum((dependence - lines) ** 2, axis=(1, 2))))
        else:
            # The units of the other column as a number are not known: only directions count.
            first = 0.5 + float(pairs.sums(a if r == YES_NO else b)[0]) / pairs.n / math.sqrt(2)
            share = min(max(round(first * _SHARES), 1), _SHARES - 1) / _SHARES
            tables = normal_tables(max(r, s), YES_NO, share).reshape(-1, parts)
            directions = np.delete(tables, _STEPS, axis=0)
            along = directions @ dependence.ravel() / np.linalg.norm(directions, axis=1)
            residual = size - float(np.max(along**2))
        missed += residual - (parts - 1) * chance
        variance += 2 * (parts if min(r, s) > YES_NO else parts - 1) * chance * chance
    return missed <= max(_MISSED * whole, _CLEAR * math.sqrt(variance))


@lru_cache(maxsize=32)
def normal_tables(rows: int, columns: int, share: float = 0.5) -> Matrix:
    """Moments of two evenly cut normal columns, shape (correlations, rows − 1, columns − 1).

    rows, columns: numbers of intervals. share: probability of the first interval if `columns` is 2.
    The moments are joint probabilities in the coordinates of `moments`; the correlations
    range from −0.99 to 0.99.
    """
    # Midpoints of equal probability stand for the values within an interval.
    within = ndtri((np.arange(40 * rows) + 0.5) / (40 * rows))
    parted = np.array([0, share, 1]) if columns == YES_NO else np.arange(columns + 1) / columns
    edges = ndtri(parted)
    tables = []
    for correlation in np.linspace(-0.99, 0.99, 2 * _STEPS + 1):
        left = math.sqrt(1 - correlation * correlation)
        below = ndtr((edges - correlation * within[:, None]) / left)
        conditional = np.diff(below, axis=1).reshape(rows, 40, columns).mean(axis=1)
        tables.append(sum_zero_basis(rows).T @ (conditional / rows) @ sum_zero_basis(columns))
    known = np.array(tables)
    known.setflags(write=False)
    return known
