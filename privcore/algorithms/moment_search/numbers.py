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

from privcore.algorithms.moment_search.lines import searched_lines
from privcore.algorithms.moment_search.parameters import MomentSearchParameters
from privcore.algorithms.moment_search.release.kept import KeptNumbers, KeptSums
from privcore.algorithms.moment_search.release.numeric_moments import (
    release_numbers,
    released_scales,
)
from privcore.algorithms.moment_search.release.plan import NumbersPlan, plan_numbers
from privcore.algorithms.moment_search.release.releases import release_pairs
from privcore.algorithms.moment_search.rounds import (
    events_before,
    mu_to_spend,
    rounds_within,
    run_in_rounds,
)
from privcore.algorithms.moment_search.shapes import even_points, in_lines
from privcore.algorithms.moment_search.steps import Found, record_release
from privcore.algorithms.search import common
from privcore.algorithms.search.model import Outcome, Run
from privcore.algorithms.search.result import Spent
from privcore.arrays import Matrix
from privcore.counts import MixedRows, NumberSource
from privcore.counts.cutting import cut_numbers
from privcore.privacy.accounting.events import Event
from privcore.privacy.mechanisms.gaussian import planned_mu

PROOFS = ("docs/proofs/moment_search.md", "docs/proofs/weighted_moments.md")


def planned_on_numbers(run: Run[MomentSearchParameters], source: NumberSource) -> NumbersPlan:
    """After a run before, whose units stay, all that is left buys more of the same."""
    parameters, before = run.parameters, run.earlier.kept
    plan = plan_numbers(
        source.n,
        source.own_levels,
        parameters.epsilon,
        parameters.delta,
        radius=parameters.longest_row,
    )
    if before is None:
        return plan
    if isinstance(before, KeptNumbers):
        plan = replace(plan, radius=before.radius, mean_share=before.mean_share)
    return replace(plan, mu_scales=0.0, mu_shapes=0.0, mu_rest=mu_to_spend(run))


def events_on_numbers(run: Run[MomentSearchParameters], source: NumberSource) -> tuple[Event, ...]:
    """The rest is one release of moments, or rounds of counts that are worth as much together."""
    plan = planned_on_numbers(run, source)
    steps = (plan.mu_scales, plan.mu_shapes, plan.mu_rest)
    return (*events_before(run), *(Event("gaussian", 1 / mu) for mu in steps if mu))


def mixed_sentence(source: MixedRows, checked: Mapping[str, Any]) -> str:
    """What is done with numbers beside levels, from public facts; checked: the parameters."""
    parameters = MomentSearchParameters(**checked)
    plan = plan_numbers(
        source.n,
        source.own_levels,
        parameters.epsilon,
        parameters.delta,
        radius=parameters.longest_row,
    )
    if plan.counted:
        return (
            f"{source.cut_words} cut into {plan.intervals} levels by their released middle and "
            "spread"
        )
    return "columns with two levels count as −1 and 1"


def run_on_numbers(
    run: Run[MomentSearchParameters], source: NumberSource, recorder: common.Recorder
) -> Outcome | tuple[Run[MomentSearchParameters], Found]:
    """The result by moments, or what was found on levels, with the run on these."""
    plan, before = planned_on_numbers(run, source), run.earlier.kept
    if isinstance(before, KeptSums):
        points = [np.array(ends) for ends in before.points or ()]
        on_levels = replace(run, source=cut_numbers(source, points))
        rounds = rounds_within(on_levels, plan.mu_rest, before.levels)
        return on_levels, run_in_rounds(on_levels, rounds, recorder, points=before.points)
    if isinstance(before, KeptNumbers):
        return _by_moments(run, source, plan, (before.centre, before.scale), recorder)
    units = released_scales(source, plan.scales_sigma, run.noise, plan.scaled)
    record_release(recorder, plan.scales_sigma, plan.shares[0], 1)
    if plan.mu_shapes or plan.counted:
        points = even_points(*units, plan.intervals, plan.own_levels)
        on_levels, pairs = replace(run, source=cut_numbers(source, points)), None
        if plan.mu_shapes:
            pairs = release_pairs(on_levels.source, plan.shapes_sigma, run.noise)
            record_release(recorder, plan.shapes_sigma, plan.shares[1], 2)
        if pairs is None or not in_lines(pairs):
            rounds = rounds_within(on_levels, plan.mu_rest, plan.levels)
            kept = tuple(tuple(ends.tolist()) for ends in points)
            return on_levels, run_in_rounds(on_levels, rounds, recorder, pairs, kept)
    return _by_moments(run, source, plan, units, recorder)


def _by_moments(
    run: Run[MomentSearchParameters],
    source: NumberSource,
    plan: NumbersPlan,
    units: tuple[Matrix, Matrix],
    recorder: common.Recorder,
) -> Outcome:
    mu = planned_mu(run.parameters.epsilon, run.parameters.delta)
    kept = release_numbers(source, plan, units, run.noise, mu)
    if isinstance(run.earlier.kept, KeptNumbers):
        kept = replace(run.earlier.kept.same_rows(kept), mu=kept.mu)
    record_release(recorder, plan.moments_sigma, plan.shares[-1], len(plan.shares))
    releases = len(plan.shares)
    spent = Spent("share", 1.0, 1.0, releases, releases, "releases")
    return searched_lines(run, kept, spent, recorder)
