"""Noise-aware search over moments (ours), the algorithm that the product recommends.

Where columns have few combinations of levels, all of them are counted once.  Otherwise all one-way
and two-way counts are released once; what they show decides which larger tables are released
next, in a few rounds with fixed shares of the budget.  Everything else is post-processing: tests
that know the noise, a search over DAGs, and a choice of edges that keeps false ones to a level.
Proof: docs/proofs/moment_search.md; method: docs/moment_search.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from privcore.algorithms.moment_search.budget import (
    MomentPlan,
    RowsPlan,
    WholePlan,
    events,
    plan_levels,
    planned,
)
from privcore.algorithms.moment_search.findings import Rules, pair_findings
from privcore.algorithms.moment_search.lines import PROOFS, run_on_rows, searched_lines
from privcore.algorithms.moment_search.parameters import MomentSearchParameters
from privcore.algorithms.moment_search.posterior import of_pairs
from privcore.algorithms.moment_search.released import (
    Kept,
    KeptRows,
    KeptTable,
    counts_levels,
)
from privcore.algorithms.moment_search.rounds import run_in_rounds, searched_sums
from privcore.algorithms.moment_search.search import edges_of
from privcore.algorithms.moment_search.steps import Found, between, most_parents, released_margins
from privcore.algorithms.moment_search.visible import mixed_sentence
from privcore.algorithms.moment_search.whole import run_on_whole_table, searched_whole
from privcore.algorithms.search import common
from privcore.algorithms.search.model import Algorithm, Outcome, Run
from privcore.algorithms.search.result import Beyond, Released, Spent
from privcore.counts import has_levels
from privcore.graphs import cpdag_of_dag
from privcore.threads import one_thread

PROOF = "docs/proofs/moment_search.md"


def _delta(run: Run[MomentSearchParameters]) -> float:
    """The full contingency table needs none."""
    if has_levels(run.source) and isinstance(planned(run), WholePlan):
        return 0.0
    return run.parameters.delta


def _fixed(run: Run[MomentSearchParameters], rows: int, private: bool) -> dict[str, str]:
    """The form of levels, which δ depends on; where the number of rows is private, not by that."""
    parameters, source = run.parameters, run.source
    if run.earlier.kept is not None or not has_levels(source) or parameters.measured is not None:
        return {}
    if private:
        return {"measured": "levels"}
    each = replace(parameters, epsilon=parameters.epsilon / rows)
    plan = plan_levels(source.n, source.levels, source.ordered, each)
    return {"measured": "lines" if isinstance(plan, RowsPlan) else "levels"}


def _run(run: Run[MomentSearchParameters]) -> Outcome:
    # Thousands of tests on matrices of a few rows each: more threads take twice the time.
    with one_thread():
        return _searched(run)


def _searched(run: Run[MomentSearchParameters]) -> Outcome:
    recorder = common.Recorder(run.keep_trace)
    plan = planned(run)
    if isinstance(plan, WholePlan):
        return run_on_whole_table(run, plan, recorder)
    if isinstance(plan, MomentPlan):
        searched = run_in_rounds(run, plan, recorder)
        return _outcome(run, searched, recorder, (PROOF,), run.parameters.delta)
    result = run_on_rows(run, plan, recorder)
    if isinstance(result, Outcome):
        return result
    run, searched = result
    on_levels = _outcome(run, searched, recorder, PROOFS, run.parameters.delta)
    topped = run.earlier.kept is not None and not counts_levels(plan.levels)
    cut = replace(on_levels.beyond, intervals=plan.intervals if plan.mus[1] or topped else None)
    return on_levels._replace(beyond=cut)


def _outcome(
    run: Run[MomentSearchParameters],
    searched: Found,
    recorder: common.Recorder,
    proofs: tuple[str, ...],
    delta: float,
) -> Outcome:
    """What was found on levels."""
    parameters = run.parameters
    known = run.known
    graph = known.completed(cpdag_of_dag(run.source.names, edges_of(searched.dag)))
    rules = Rules(
        parameters.false_edges,
        parameters.level_of_candidates(len(run.source.names)),
        parameters.reference_effect,
    )
    posterior = of_pairs(
        searched.seen,
        run.source.n,
        searched.dag,
        graph.directed,
        searched.around,
        most_parents(run),
        lambda moves: between(run, moves),
        known,
    )
    edges = graph.skeleton
    separating = {
        pair: given_set
        for skeleton in searched.searched
        for pair, given_set in skeleton.separating_sets.items()
        if pair not in edges
    }
    outcome = Outcome(
        graph=graph,
        separating_sets=separating,
        guarantee=common.proven_guarantee(run, searched.accountant, proofs, delta),
        spent=searched.spent,
        tests_run=sum(skeleton.tests_run for skeleton in searched.searched),
        orders_run=max(skeleton.orders_run for skeleton in searched.searched),
        stopped=None,
        trace=tuple(recorder.steps),
        unit="p-value",
        beyond=Beyond(
            pair_findings(
                searched.seen,
                searched.dag,
                graph.directed,
                posterior.stated,
                separating,
                rules,
                known,
            ),
            released_margins(searched.kept.moments),
            settled=posterior.settled,
            released=Released(posterior.dags, searched.kept.moments, kept=searched.kept),
        ),
    )
    # A result that is kept holds what was released, and nothing that was made of it.
    searched.kept.moments.forget()
    return outcome


def _again(run: Run[MomentSearchParameters], kept: Kept) -> Outcome:
    """The search of what was released, by whatever parameters; nothing is spent."""
    recorder = common.Recorder(run.keep_trace)
    with one_thread():
        if isinstance(kept, KeptTable):
            return searched_whole(run, kept, recorder)
        spent = Spent("share", 1.0, 1.0, 1, 1, "releases")
        if isinstance(kept, KeptRows):
            return searched_lines(run, kept, spent, recorder)
        searched = searched_sums(run, kept, spent, recorder)
        return _outcome(run, searched, recorder, (PROOF,), run.parameters.delta)


def _reference(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """PC's own choice of a score: G² for levels, Fisher's z for numbers."""
    shared = ("threshold", "max_order")
    return {"score": None, **{name: parameters[name] for name in shared}}


MOMENT_SEARCH = Algorithm(
    name="moment-search",
    title="Moment search",
    citation="ours",
    summary="Noise on the counts of all combinations of levels once, where these are few; "
    "otherwise on those of all pairs, then on a few larger tables that these show to matter. Tests "
    "and likelihoods that know the noise find the edges and their directions. Of numbers, noise "
    "on their second moments, or on counts of intervals where these show more.",
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
