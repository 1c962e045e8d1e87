"""Moment search on numbers: by second moments where these see the dependence, else by levels.

First the middle and spread of each column are released, and then, where there are rows enough to
see more than lines, all pairs of columns cut evenly by these.  What the pairs show decides what the
rest of the budget buys: second moments in units that fit, followed by a search over orders of the
columns, or counts of the cut columns, as of any others with levels.  Everything after the releases
is post-processing.

Yes/no columns beside numbers count as −1 and 1.  Where a column has more levels, middle and spread
of the numbers are released, and the rest buys counts.
Proof: docs/proofs/moment_search.md, statement 4.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from privcore.algorithms.moment_search.budget import (
    NumbersPlan,
    plan_numbers,
    plan_rounds,
    total_mu,
)
from privcore.algorithms.moment_search.likelihood.shapes import even_points, in_lines
from privcore.algorithms.moment_search.lines import searched_with_before
from privcore.algorithms.moment_search.measure import (
    release_numbers,
    release_pairs,
    release_scales,
)
from privcore.algorithms.moment_search.parameters import MomentSearchParameters
from privcore.algorithms.moment_search.released import KeptNumbers, KeptSums, counts_levels
from privcore.algorithms.moment_search.rounds import run_in_rounds
from privcore.algorithms.moment_search.steps import Found, record_release
from privcore.algorithms.search import common
from privcore.algorithms.search.model import Outcome, Run
from privcore.counts import MixedRows, NumberSource
from privcore.counts.cutting import cut_numbers


def mixed_sentence(source: MixedRows, checked: Mapping[str, Any]) -> str:
    """What is done with numbers beside levels, from public facts; checked: the parameters."""
    if not counts_levels(source.own_levels):
        return "columns with two levels count as −1 and 1"
    plan = plan_numbers(source.n, source.own_levels, MomentSearchParameters(**checked))
    return (
        f"{source.cut_words} cut into {plan.intervals} levels by their released middle and spread"
    )


def run_on_numbers(
    run: Run[MomentSearchParameters],
    source: NumberSource,
    plan: NumbersPlan,
    recorder: common.Recorder,
) -> Outcome | tuple[Run[MomentSearchParameters], Found]:
    """The result by moments, or what was found on levels, with the run on these."""
    before, rest = run.earlier.kept, plan.mus[-1]
    if isinstance(before, KeptSums):
        points = [np.array(ends) for ends in before.points or ()]
        on_levels = replace(run, source=cut_numbers(source, points))
        rounds = plan_rounds(on_levels, rest, before.levels)
        return on_levels, run_in_rounds(on_levels, rounds, recorder, points=before.points)
    if isinstance(before, KeptNumbers):
        units = before.centre, before.scale
    else:
        units = release_scales(source, plan, run.noise)
        record_release(recorder, plan.scales_sigma, plan.shares[0], 1)
        looked, counted = plan.mus[1] > 0, counts_levels(plan.levels)
        if looked or counted:
            points = even_points(*units, plan.intervals, plan.levels)
            on_levels, pairs = replace(run, source=cut_numbers(source, points)), None
            if looked:
                pairs = release_pairs(on_levels.source, plan.shapes_sigma, run.noise)
                record_release(recorder, plan.shapes_sigma, plan.shares[1], 2)
            if pairs is None or not in_lines(pairs):
                rounds = plan_rounds(on_levels, rest, plan.cut)
                kept = tuple(tuple(ends.tolist()) for ends in points)
                return on_levels, run_in_rounds(on_levels, rounds, recorder, pairs, kept)
    released = release_numbers(source, plan, units, run.noise, total_mu(run))
    return searched_with_before(run, plan, released, recorder)
