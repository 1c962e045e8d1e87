"""Moment search on numbers: second moments released once in units that fit, then an order search.

Everything after the two releases is post-processing: a search over orders of the columns whose
scores know the noise, and a choice of edges that keeps false ones to a level.  It sees linear
dependence.
Proof: docs/proofs/moment_search.md, statement 4.
"""

from __future__ import annotations

from math import log

from privcore.algorithms.moment_search.dags.arrow_confidence import ON_NUMBERS
from privcore.algorithms.moment_search.dags.edge_selection import edge_p_values, kept_edges
from privcore.algorithms.moment_search.dags.order_search import search_orders
from privcore.algorithms.moment_search.likelihood.confidence import Rules, pair_findings
from privcore.algorithms.moment_search.parameters import MomentSearchParameters
from privcore.algorithms.moment_search.release.numeric_moments import NumericMoments
from privcore.algorithms.moment_search.release.plan import NumbersPlan, plan_numbers
from privcore.algorithms.moment_search.steps import between, record_release
from privcore.algorithms.search import common
from privcore.algorithms.search.model import Outcome, Run
from privcore.algorithms.search.result import Spent, Step
from privcore.counts import NumberSource
from privcore.graphs import cpdag_of_dag
from privcore.privacy.accounting.events import Event

_PROOFS = ("docs/proofs/moment_search.md", "docs/proofs/weighted_moments.md")


def planned_on_numbers(run: Run[MomentSearchParameters]) -> NumbersPlan:
    parameters = run.parameters
    return plan_numbers(
        run.source.n,
        len(run.source.names),
        parameters.epsilon,
        parameters.delta,
        radius=parameters.longest_row,
    )


def events_on_numbers(run: Run[MomentSearchParameters]) -> tuple[Event, ...]:
    plan = planned_on_numbers(run)
    return tuple(Event("gaussian", 1 / mu) for mu in (plan.mu_scales, plan.mu_moments))


def run_on_numbers(run: Run[MomentSearchParameters], source: NumberSource) -> Outcome:
    """Both releases are always made; the penalty is BIC's, log n."""
    parameters, names, n = run.parameters, source.names, source.n
    plan = planned_on_numbers(run)
    evidence = NumericMoments(source, plan, run.noise, penalty=log(n))
    recorder = common.Recorder(run.keep_trace)
    share = plan.mu_scales**2 / (plan.mu_scales**2 + plan.mu_moments**2)
    for number, (sigma, part) in enumerate(
        ((plan.scales_sigma, share), (plan.moments_sigma, 1 - share)), start=1
    ):
        record_release(recorder, sigma, part, number)

    dag = search_orders(evidence.gains, range(len(names)), lambda moves: between(run, moves))
    dag = kept_edges(evidence, dag, parameters.false_edges)
    tested = edge_p_values(evidence, dag)
    for (cause, effect), p_value in tested.items():
        others = tuple(sorted(dag[effect] - {cause}))
        level = parameters.false_edges
        recorder.add(Step.noiseless(cause, effect, others, p_value, level, False))
    graph = cpdag_of_dag(names, set(tested))
    around = {c: set(range(len(names))) - {c} for c in range(len(names))}
    rules = Rules(parameters.false_edges, 1.0, parameters.reference_effect, len(names), ON_NUMBERS)
    return Outcome(
        graph=graph,
        separating_sets={},
        guarantee=common.proven_guarantee(run, "Gaussian DP", _PROOFS, parameters.delta),
        spent=Spent("share", 1.0, 1.0, 2, 2, "releases"),
        tests_run=len(tested),
        orders_run=1 + max((len(parents) for parents in dag), default=0),
        stopped=None,
        trace=tuple(recorder.steps),
        unit="p-value",
        findings=pair_findings(evidence, dag, graph.directed, around, {}, rules),
    )
