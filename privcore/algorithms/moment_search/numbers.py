"""Moment search on rows of numbers, and of levels in few numbers each: by their second moments.

First it is released in which units rows are measured: the middle and spread of numbers, or the
counts of each column by itself.  Of numbers, where there are rows enough to see more than lines,
all pairs of columns follow, cut evenly by these, and what they show decides what the rest of the
budget buys: second moments in units that fit, or counts of the cut columns, as of any others with
levels.  Yes/no columns beside numbers count as −1 and 1; where a column has more levels, the rest
buys counts.  Everything after the releases is post-processing.
Proof: docs/proofs/moment_search.md, statements 4 and 7.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from privcore.algorithms.moment_search.budget import (
    RowsPlan,
    plan_numbers,
    plan_rounds,
    total_mu,
)
from privcore.algorithms.moment_search.likelihood.shapes import even_points, in_lines
from privcore.algorithms.moment_search.lines import searched_lines
from privcore.algorithms.moment_search.measure import release_pairs, release_rows, release_units
from privcore.algorithms.moment_search.parameters import MomentSearchParameters
from privcore.algorithms.moment_search.released import (
    KeptRows,
    KeptSums,
    NumberUnits,
    counts_levels,
)
from privcore.algorithms.moment_search.rounds import run_in_rounds
from privcore.algorithms.moment_search.steps import Found, record_release
from privcore.algorithms.search import common
from privcore.algorithms.search.model import Outcome, Run
from privcore.algorithms.search.result import Spent
from privcore.arrays import Vector
from privcore.counts import MixedRows, has_numbers
from privcore.counts.cutting import cut_numbers


def mixed_sentence(source: MixedRows, checked: Mapping[str, Any]) -> str:
    """What is done with numbers beside levels, from public facts; checked: the parameters."""
    if not counts_levels(source.own_levels):
        return "columns with two levels count as −1 and 1"
    plan = plan_numbers(source.n, source.own_levels, MomentSearchParameters(**checked))
    return (
        f"{source.cut_words} cut into {plan.intervals} levels by their released middle and spread"
    )


def run_on_rows(
    run: Run[MomentSearchParameters], plan: RowsPlan, recorder: common.Recorder
) -> Outcome | tuple[Run[MomentSearchParameters], Found]:
    """The result by moments, or what was found on numbers that were cut, with the run on these."""
    source, before = run.source, run.earlier.kept
    if isinstance(before, KeptSums):
        on_levels = _cut(run, [np.array(ends) for ends in before.points or ()])
        rounds = plan_rounds(on_levels, plan.mus[2], before.levels)
        return on_levels, run_in_rounds(on_levels, rounds, recorder, points=before.points)
    if isinstance(before, KeptRows):
        units = before.units
    else:
        units = release_units(source, plan, run.noise)
        record_release(recorder, plan.units_sigma, plan.shares[0], 1)
        if isinstance(units, NumberUnits) and (plan.mus[1] or counts_levels(plan.levels)):
            points = even_points(units.centre, units.scale, plan.intervals, plan.levels)
            on_levels, pairs = _cut(run, points), None
            if plan.mus[1]:
                pairs = release_pairs(on_levels.source, plan.shapes_sigma, run.noise)
                record_release(recorder, plan.shapes_sigma, plan.shares[1], 2)
            if pairs is None or not in_lines(pairs):
                rounds = plan_rounds(on_levels, plan.mus[2], plan.cut)
                known = tuple(tuple(ends.tolist()) for ends in points)
                return on_levels, run_in_rounds(on_levels, rounds, recorder, pairs, known)
    kept = release_rows(source, plan, units, run.noise, total_mu(run))
    if isinstance(before, KeptRows):
        kept = replace(before.same_rows(kept), mu=kept.mu)
    releases = len(plan.shares)
    record_release(recorder, plan.moments_sigma, plan.shares[-1], releases)
    spent = Spent("share", 1.0, 1.0, releases, releases, "releases")
    return searched_lines(run, kept, spent, recorder)


def _cut(run: Run[MomentSearchParameters], points: list[Vector]) -> Run[MomentSearchParameters]:
    assert has_numbers(run.source)
    return replace(run, source=cut_numbers(run.source, points))
