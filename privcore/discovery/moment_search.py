"""Noise-aware search over moments (ours), the algorithm that the product recommends.

All one-way and two-way counts are released once; what they show decides which larger tables are
released next, in a few rounds with fixed shares of the budget.  Everything else is post-processing:
estimates from all releases together, a PC search whose tests know the noise, a search over DAGs
that scores whole families, and a choice of edges that keeps false ones to a level.
Proof: docs/proofs/moment_search.md; design and measurements: docs/moment_search.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from privcore.accounting.events import Event
from privcore.discovery import common, parameters
from privcore.discovery import moment_search_parameters as own
from privcore.discovery.model import Algorithm, Outcome, Progress, Run
from privcore.discovery.moment_search_numbers import events_on_numbers, run_on_numbers
from privcore.discovery.moment_search_rounds import Around, released_in_rounds
from privcore.discovery.result import Spent
from privcore.discovery.score_based_parameters import DELTA, PROVEN_ONLY
from privcore.errors import Cancelled
from privcore.graphs import cpdag_of_dag
from privcore.noise_aware.arrow_confidence import ON_LEVELS
from privcore.noise_aware.confidence import Rules, pair_findings
from privcore.noise_aware.dag_search import Parents, search_dag
from privcore.noise_aware.edge_selection import kept_edges
from privcore.noise_aware.local_score import Evidence
from privcore.noise_aware.plan import MomentPlan, plan_moments
from privcore.noise_aware.table_evidence import TableEvidence

PROOF = "docs/proofs/moment_search.md"


def planned(run: Run) -> MomentPlan:
    given = run.parameters
    return plan_moments(
        run.source.n, run.source.levels, given["epsilon"], given["delta"],
        share=given["table_share"], tables=given["table_noise_ratio"],
    )  # fmt: skip


def _events(run: Run) -> tuple[Event, ...]:
    if not hasattr(run.source, "levels"):
        return events_on_numbers(run)
    plan = planned(run)
    shares = (plan.mu_pairs, *(plan.mu_round for _ in range(plan.rounds)))
    return tuple(Event("gaussian", 1 / mu) for mu in shares)


def _run(run: Run) -> Outcome:
    if not hasattr(run.source, "levels"):
        return run_on_numbers(run)
    given, plan = run.parameters, planned(run)
    recorder = common.Recorder(run.keep_trace)
    evidence, around, searched, made = released_in_rounds(run, plan, recorder)
    found = kept_edges(evidence, _searched(run, evidence, around), given["false_edges"])
    edges = {(parent, c) for c, parents in enumerate(found) for parent in parents}
    graph = cpdag_of_dag(run.source.names, edges)
    rules = Rules(
        given["false_edges"], given["candidate_level"], given["reference_effect"],
        given["max_parents"], ON_LEVELS,
    )  # fmt: skip
    seen = TableEvidence(evidence, given["penalty"])
    separating = {
        pair: given_set
        for skeleton in searched
        for pair, given_set in skeleton.separating_sets.items()
        if pair not in graph.skeleton
    }
    used = plan.pairs_share + (1 - plan.pairs_share) * (made / plan.rounds if made else 0.0)
    return Outcome(
        graph=graph,
        separating_sets=separating,
        guarantee=common.proven_guarantee(run, "Gaussian DP", (PROOF,)),
        spent=Spent("share", used, 1.0, 1 + made, 1 + plan.rounds, "releases"),
        tests_run=sum(skeleton.tests_run for skeleton in searched),
        orders_run=max(skeleton.orders_run for skeleton in searched),
        stopped=None,
        trace=tuple(recorder.steps),
        unit="p-value",
        findings=pair_findings(seen, found, graph.directed, around, separating, rules),
    )


def _searched(run: Run, evidence: Evidence, candidates: Around) -> Parents:
    def between(moves: int) -> None:
        run.hooks.progress(Progress(0, moves, 0, moves, "change"))
        if run.hooks.cancelled():
            raise Cancelled

    return search_dag(
        evidence.score, candidates, (frozenset(),) * len(run.source.names),
        max_parents=run.parameters["max_parents"], between=between,
    )  # fmt: skip


def _reference(given: Mapping[str, Any]) -> dict[str, Any]:
    """PC's own choice of a score: G² for levels, Fisher's z for numbers."""
    shared = ("threshold", "max_order", "mixed_levels")
    return {"score": None, **{name: given[name] for name in shared}}


MOMENT_SEARCH = Algorithm(
    name="moment-search",
    title="Moment search",
    citation="ours",
    summary="Noise on the counts of all pairs once, then on a few larger tables that these show to "
    "matter; tests that know the noise find the edges, scores of whole families their directions. "
    "Of numbers, noise on their second moments.",
    parameters=(
        PROVEN_ONLY,
        parameters.EPSILON,
        DELTA,
        own.LEVEL,
        own.THRESHOLD,
        own.CANDIDATES,
        own.SHARE,
        own.TABLES,
        own.PENALTY,
        own.MAX_PARENTS,
        own.RADIUS,
        own.REFERENCE,
        parameters.MAX_ORDER,
        parameters.MIXED_LEVELS,
    ),
    calibrations=("proven",),
    run=_run,
    reference=_reference,
    needs="either",
    planned=_events,
)
