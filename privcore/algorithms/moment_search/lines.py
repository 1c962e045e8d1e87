"""Moment search by second moments, on rows of numbers or of levels coded by a few numbers each.

The first release sets the units of the rows: the middle and spread of each numeric column, or the
counts of the levels of each column. If the columns are numeric and there are enough rows to detect
nonlinear dependence, a second release counts all pairs of columns, with each numeric column cut at
quantiles of a normal distribution in these units. These counts determine how the rest of the budget
is spent: on second moments in these units, or on counts of the cut columns, as for other columns
with levels. In a table with numeric columns, yes/no columns count as −1 and 1; if any column has
more than two levels, the rest of the budget is spent on counts. After a release of second moments,
the graph is found by a search over orders of the columns and a choice of edges that controls the
false discovery rate. Proof: docs/proofs/moment_search.md, statements 4 and 7.
"""

from __future__ import annotations

from dataclasses import replace
from math import log

import numpy as np

from privcore.algorithms.moment_search.budget import RowsPlan, plan_moments
from privcore.algorithms.moment_search.edges import edge_p_values, kept_edges
from privcore.algorithms.moment_search.evidence import LineEvidence
from privcore.algorithms.moment_search.measure import release_pairs, release_rows, release_units
from privcore.algorithms.moment_search.parameters import (
    LINE_PENALTY,
    USUAL_COLUMNS,
    MomentSearchParameters,
)
from privcore.algorithms.moment_search.released import (
    LineUnits,
    NumberUnits,
    ReleasedRows,
    counts_levels,
)
from privcore.algorithms.moment_search.report import Found
from privcore.algorithms.moment_search.rounds import run_in_rounds
from privcore.algorithms.moment_search.search import OrderSearch, parent_log_prior
from privcore.algorithms.moment_search.shapes import even_points, in_lines
from privcore.algorithms.moment_search.steps import between, record_release
from privcore.algorithms.search import common
from privcore.algorithms.search.model import Run
from privcore.algorithms.search.result import Spent, Step
from privcore.counts import has_numbers
from privcore.counts.numbers import cut_numbers

PROOFS = ("docs/proofs/moment_search.md", "docs/proofs/weighted_moments.md")


def run_on_rows(
    run: Run[MomentSearchParameters], plan: RowsPlan, recorder: common.Recorder
) -> tuple[Run[MomentSearchParameters], Found]:
    """Make the releases and search for a DAG; returns the run and the result of the search.

    The columns of the returned run are cut into levels if the releases counted cut columns.
    """
    source = run.source
    units = release_units(source, plan, run.noise)
    record_release(recorder, plan.units_sigma, plan.shares[0], 1)
    if isinstance(units, NumberUnits) and (plan.mus[1] or counts_levels(plan.levels)):
        points = even_points(units.centre, units.scale, plan.intervals, plan.levels)
        assert has_numbers(source)
        on_levels, pairs = replace(run, source=cut_numbers(source, points)), None
        if plan.mus[1]:
            pairs = release_pairs(on_levels.source, plan.shapes_sigma, run.noise)
            record_release(recorder, plan.shapes_sigma, plan.shares[1], 2)
        if pairs is None or not in_lines(pairs):
            rounds = plan_moments(source.n, plan.cut, plan.mus[2], run.parameters)
            known = tuple(tuple(ends.tolist()) for ends in points)
            return on_levels, run_in_rounds(on_levels, rounds, recorder, pairs, known)
    return run, run_in_units(run, plan, units, recorder)


def run_in_units(
    run: Run[MomentSearchParameters],
    plan: RowsPlan,
    units: NumberUnits | LineUnits,
    recorder: common.Recorder,
) -> Found:
    """Release second moments in these units, and search for a DAG in them."""
    statistics = release_rows(run.source, plan, units, run.noise)
    releases = len(plan.shares)
    record_release(recorder, plan.moments_sigma, plan.shares[-1], releases)
    spent = Spent("share", 1.0, 1.0, releases, releases, "releases")
    return searched_lines(run, statistics, spent, recorder)


def searched_lines(
    run: Run[MomentSearchParameters],
    statistics: ReleasedRows,
    spent: Spent,
    recorder: common.Recorder,
) -> Found:
    """Search for a DAG in the noisy moments alone; repeating this search costs no budget."""
    parameters, names, n = run.parameters, run.source.names, statistics.n
    evidence = LineEvidence(statistics, penalty=LINE_PENALTY * log(n))
    known = run.known
    log_prior = parent_log_prior(known, n)
    around = _candidates(run, evidence)
    search = OrderSearch(lambda c, those: evidence.gains(c, those) + log_prior[c], around)
    dag = search.best(range(len(names)), lambda moves: between(run, moves))
    dag = kept_edges(evidence, known.repaired(dag), parameters.false_edges, known)
    for (cause, effect), p_value in edge_p_values(evidence, dag).items():
        others = tuple(sorted(dag[effect] - {cause}))
        level = parameters.false_edges
        recorder.add(Step.noiseless(cause, effect, others, p_value, level, False))
    return Found(dag, evidence, dict(enumerate(around)), (), spent, statistics)


def _candidates(run: Run[MomentSearchParameters], evidence: LineEvidence) -> list[set[int]]:
    """The possible neighbours of each column.

    With many columns, only significantly dependent pairs and required edges are possible.
    """
    p, possible = evidence.linear.columns, run.known.possible.copy()
    if p > USUAL_COLUMNS:
        level = run.parameters.level_of_candidates(p)
        possible &= np.array([evidence.linear.tests_of(c, ()).p_values < level for c in range(p)])
        for i, j in run.known.required:
            possible[i, j] = possible[j, i] = True
    return [set(np.flatnonzero(row).tolist()) for row in possible]
