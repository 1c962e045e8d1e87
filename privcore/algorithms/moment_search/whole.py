"""Moment search where the columns have few combinations of levels: all of their counts, once.

One release of pure DP takes the whole budget; everything else is post-processing.  With little
noise the tests and scores of the rounds search in it.  With more, DAGs are compared by their
likelihood on the noisy counts, which knows that counts are not negative and that most of the noise
falls on cells where no model expects anything.
Proof: docs/proofs/moment_search.md, statement 5.
"""

from __future__ import annotations

from privcore.algorithms.moment_search.dags.arrow_confidence import ON_LEVELS, ON_WHOLE
from privcore.algorithms.moment_search.dags.dag_search import search_dag
from privcore.algorithms.moment_search.dags.edge_selection import kept_edges
from privcore.algorithms.moment_search.likelihood.local_score import Evidence
from privcore.algorithms.moment_search.likelihood.table_evidence import TableEvidence
from privcore.algorithms.moment_search.likelihood.table_model import TableModel
from privcore.algorithms.moment_search.likelihood.table_search import search_table_again
from privcore.algorithms.moment_search.likelihood.whole_evidence import (
    LikelihoodRatios,
    WholeEvidence,
)
from privcore.algorithms.moment_search.parameters import MomentSearchParameters
from privcore.algorithms.moment_search.release.moments import Moments
from privcore.algorithms.moment_search.release.plan import WholePlan, plan_whole
from privcore.algorithms.moment_search.release.releases import release_whole
from privcore.algorithms.moment_search.steps import (
    Found,
    between,
    narrowed,
    neighbours,
    record_release,
    searched_among,
)
from privcore.algorithms.search import common
from privcore.algorithms.search.model import Run
from privcore.algorithms.search.result import Spent
from privcore.privacy.accounting.events import Event

_ACCOUNTANT = "pure DP"


def planned_whole(run: Run[MomentSearchParameters]) -> WholePlan | None:
    """None where the columns have too many combinations of levels."""
    parameters = run.parameters
    return plan_whole(
        run.source.n, run.source.levels, parameters.epsilon, cells=parameters.whole_table
    )


def events_of_whole(run: Run[MomentSearchParameters]) -> tuple[Event, ...]:
    """Two counts move by 1 each."""
    return (Event("discrete laplace", run.parameters.epsilon / 2, 2),)


def run_on_whole_table(
    run: Run[MomentSearchParameters], plan: WholePlan, recorder: common.Recorder
) -> Found:
    parameters, columns = run.parameters, tuple(range(len(run.source.names)))
    counts = release_whole(run.source, plan, run.noise)
    record_release(recorder, plan.scale, 1.0, 1)
    moments = Moments(plan.n, counts.shape)
    moments.add_table(columns, counts, plan.variance)
    evidence = Evidence(moments, penalty=parameters.penalty)
    searched = [narrowed(run, plan.candidate_order, evidence, recorder, None)]
    if plan.little_noise:
        searched.append(narrowed(run, None, evidence, recorder, searched[0]))
    around = neighbours(searched[-1])
    spent = Spent("share", 1.0, 1.0, 1, 1, "releases")
    if plan.little_noise:
        tests = TableEvidence(evidence, parameters.penalty)
        best = searched_among(run, evidence.score, around)
        dag = kept_edges(tests, best, parameters.false_edges)
        return Found(dag, tests, around, tuple(searched), ON_LEVELS, spent, _ACCOUNTANT, moments)
    model = TableModel(counts, plan.n, plan.scale)
    start = search_dag(
        evidence.score,
        around,
        (frozenset(),) * len(columns),
        max_parents=parameters.max_parents,
        between=lambda moves: between(run, moves),
    )
    dag, _ = search_table_again(
        model,
        start,
        penalty=parameters.penalty,
        max_parents=parameters.max_parents,
        between=lambda moves: between(run, moves),
    )
    dag = kept_edges(LikelihoodRatios(model), dag, parameters.false_edges)
    seen = WholeEvidence(model, dag, parameters.penalty)
    around = {c: set(columns) - {c} for c in columns}
    return Found(dag, seen, around, tuple(searched), ON_WHOLE, spent, _ACCOUNTANT, moments)
