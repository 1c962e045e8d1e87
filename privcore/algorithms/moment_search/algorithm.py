"""Noise-aware search over moments (ours), the algorithm that the product recommends.

If the columns have few combinations of levels, noisy counts of all combinations are released.
Otherwise all one-way and two-way counts are released first. These counts determine which larger
tables are released next, in a few rounds with fixed shares of the budget. Everything else is
post-processing: noise-aware tests, a search over DAGs, and a choice of edges that controls the
false discovery rate. Proof: docs/proofs/moment_search.md; method: docs/moment_search.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

import numpy as np

from privcore.algorithms.moment_search.budget import (
    MomentPlan,
    Plan,
    RowsPlan,
    WholePlan,
    plan_lines,
    plan_moments,
    plan_numbers,
)
from privcore.algorithms.moment_search.lines import (
    PROOFS,
    run_in_units,
    run_on_rows,
    searched_lines,
)
from privcore.algorithms.moment_search.parameters import MomentSearchParameters
from privcore.algorithms.moment_search.released import (
    ReleasedRows,
    ReleasedStatistics,
    ReleasedSums,
    ReleasedTable,
)
from privcore.algorithms.moment_search.report import outcome
from privcore.algorithms.moment_search.rounds import run_in_rounds, searched_sums
from privcore.algorithms.moment_search.visible import mixed_sentence, plan_levels
from privcore.algorithms.moment_search.whole import run_on_whole_table, searched_whole
from privcore.algorithms.search import common
from privcore.algorithms.search.model import Algorithm, Outcome, Run
from privcore.algorithms.search.result import Spent
from privcore.counts import has_levels, has_numbers
from privcore.counts.numbers import cut_numbers
from privcore.errors import ParameterError
from privcore.privacy.accounting.composition import Event
from privcore.privacy.mechanisms.gaussian import planned_mu
from privcore.threads import one_thread

PROOF = "docs/proofs/moment_search.md"
# Half a million pairs take about a minute.
MOST_COLUMNS = 1_000


def planned(run: Run[MomentSearchParameters]) -> Plan:
    """The planned releases of a run; raises ParameterError if there are too many columns."""
    source, parameters = run.source, run.parameters
    if len(source.names) > MOST_COLUMNS:
        raise ParameterError(
            "Moment search reports on every pair of columns, and the table has "
            f"{len(source.names):,} columns; keep at most {MOST_COLUMNS:,} of them."
        )
    if run.like is not None:
        return _planned_like(run, cast(ReleasedStatistics, run.like))
    if has_numbers(source):
        return plan_numbers(source.n, source.own_levels, parameters)
    return plan_levels(source.n, source.levels, source.ordered, parameters)


def _planned_like(run: Run[MomentSearchParameters], like: ReleasedStatistics) -> Plan:
    """The plan to measure as an earlier release did: in its form, its units and its cut points."""
    source, parameters = run.source, run.parameters
    if isinstance(like, ReleasedTable):
        return WholePlan(source.n, like.levels, parameters.epsilon)
    mu = planned_mu(parameters.epsilon, parameters.delta)
    if isinstance(like, ReleasedSums):
        return plan_moments(source.n, like.levels, mu, parameters)
    plan = (
        plan_numbers(source.n, source.own_levels, parameters)
        if has_numbers(source)
        else plan_lines(source.n, source.levels, source.ordered, mu, parameters)
    )
    return replace(plan, mus=(0.0, 0.0, mu), mean_share=like.mean_share)


def events(run: Run[MomentSearchParameters]) -> tuple[Event, ...]:
    """The privacy events of a run.

    For numeric columns, the last event stands for a release of moments, or for rounds of counts
    with the same total cost.
    """
    return planned(run).events


def _delta(run: Run[MomentSearchParameters]) -> float:
    """The δ that a run uses: 0 if all combinations of levels are counted, otherwise `delta`."""
    if has_levels(run.source) and isinstance(planned(run), WholePlan):
        return 0.0
    return run.parameters.delta


def _fixed(run: Run[MomentSearchParameters], rows: int, private: bool) -> dict[str, str]:
    """Fix in advance how columns with levels are measured, because δ depends on this choice.

    Returns the parameter `measured`, or nothing if there is no choice to make. rows: number of rows
    per person. private: whether the total number of rows is private; if so, the choice does not
    depend on this number.
    """
    parameters, source = run.parameters, run.source
    if run.like is not None or not has_levels(source) or parameters.measured is not None:
        return {}
    if private:
        return {"measured": "levels"}
    each = replace(parameters, epsilon=parameters.epsilon / rows)
    plan = plan_levels(source.n, source.levels, source.ordered, each)
    return {"measured": "lines" if isinstance(plan, RowsPlan) else "levels"}


def _run(run: Run[MomentSearchParameters]) -> Outcome:
    # Thousands of tests on small matrices take twice as long with several threads.
    with one_thread():
        return _searched(run)


def _searched(run: Run[MomentSearchParameters]) -> Outcome:
    recorder = common.Recorder(run.keep_trace)
    plan = planned(run)
    if isinstance(plan, WholePlan):
        return run_on_whole_table(run, plan, recorder)
    if isinstance(plan, MomentPlan):
        points = run.like.points if isinstance(run.like, ReleasedSums) else None
        if points is not None and has_numbers(run.source):
            run = replace(run, source=cut_numbers(run.source, [np.array(ends) for ends in points]))
        return outcome(run, run_in_rounds(run, plan, recorder, points=points), recorder, (PROOF,))
    if isinstance(run.like, ReleasedRows):
        result = run_in_units(run, plan, run.like.units, recorder)
        return outcome(run, result, recorder, PROOFS)
    run, result = run_on_rows(run, plan, recorder)
    made = outcome(run, result, recorder, PROOFS)
    if isinstance(result.statistics, ReleasedRows) or not plan.mus[1]:
        return made
    return made._replace(beyond=replace(made.beyond, intervals=plan.intervals))


def _again(run: Run[MomentSearchParameters], statistics: ReleasedStatistics) -> Outcome:
    """Repeat the search on released numbers, with the parameters of `run`, at no cost."""
    recorder = common.Recorder(run.keep_trace)
    with one_thread():
        if isinstance(statistics, ReleasedTable):
            return searched_whole(run, statistics, recorder)
        spent = Spent("share", 1.0, 1.0, 1, 1, "releases")
        if isinstance(statistics, ReleasedRows):
            return outcome(run, searched_lines(run, statistics, spent, recorder), recorder, PROOFS)
        return outcome(run, searched_sums(run, statistics, spent, recorder), recorder, (PROOF,))


def _reference(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters of non-private PC, with the default score (G² for levels, z for numbers)."""
    shared = ("threshold", "max_order", "hidden_causes")
    return {"score": None, **{name: parameters[name] for name in shared}}


MOMENT_SEARCH = Algorithm(
    name="moment-search",
    title="Moment search",
    citation="ours",
    line="one release of noisy counts, then any search",
    summary="If the columns have few combinations of levels, noise is added once to the counts of "
    "all combinations. Otherwise noise is added to the counts of all pairs of columns, then to a "
    "few larger tables, which are chosen from the results for the pairs. Tests and likelihoods "
    "that account for the noise then determine the edges and their directions. For numeric "
    "columns, noise is added to the second moments, or to counts of intervals if the dependence is "
    "not linear.",
    takes=MomentSearchParameters,
    calibrations=("proven",),
    run=_run,
    reference=_reference,
    needs="either",
    planned=events,
    planned_delta=_delta,
    fixed=_fixed,
    mixed=mixed_sentence,
    again=_again,
)
