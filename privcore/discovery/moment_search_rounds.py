"""Moment search where the columns have many combinations of levels: pairs, then rounds of tables.

What one round of tables shows decides which tables the next one counts.
"""

from __future__ import annotations

from privcore.accounting.events import Event
from privcore.discovery import common
from privcore.discovery.model import Run
from privcore.discovery.moment_search_steps import (
    Found,
    narrowed,
    neighbours,
    record_release,
    searched_among,
)
from privcore.discovery.result import Spent
from privcore.noise_aware.arrow_confidence import ON_LEVELS
from privcore.noise_aware.edge_selection import kept_edges
from privcore.noise_aware.local_score import Evidence
from privcore.noise_aware.plan import MomentPlan, plan_moments
from privcore.noise_aware.releases import release_pairs, release_tables
from privcore.noise_aware.table_choice import choose_tables
from privcore.noise_aware.table_evidence import TableEvidence


def planned_rounds(run: Run) -> MomentPlan:
    given = run.parameters
    return plan_moments(
        run.source.n, run.source.levels, given["epsilon"], given["delta"],
        share=given["table_share"], tables=given["table_noise_ratio"],
    )  # fmt: skip


def events_of_rounds(plan: MomentPlan) -> tuple[Event, ...]:
    shares = (plan.mu_pairs, *(plan.mu_round for _ in range(plan.rounds)))
    return tuple(Event("gaussian", 1 / mu) for mu in shares)


def run_in_rounds(run: Run, plan: MomentPlan, recorder: common.Recorder) -> Found:
    """Spends what the plan allows, and searches for edges in between."""
    given = run.parameters
    settings = {
        "penalty": given["penalty"],
        "level": given["candidate_level"],
        "little_noise": plan.refined,
    }
    moments = release_pairs(run.source, plan.pairs_sigma, run.noise)
    record_release(recorder, plan.pairs_sigma, plan.pairs_share, 1)
    evidence = Evidence(moments, **settings)
    candidates = narrowed(run, plan.candidate_order, evidence, recorder, None)
    searched, around, made = [candidates], neighbours(candidates), 0
    while made < plan.rounds:
        chosen = choose_tables(
            neighbours(searched[-1]), searched_among(run, evidence, around),
            evidence.strength, run.source.levels, plan.cells,
        )  # fmt: skip
        if not chosen:
            break
        made += 1
        sigma = plan.tables_sigma(len(chosen))
        release_tables(moments, run.source, chosen, sigma, run.noise)
        record_release(recorder, sigma, (1 - plan.pairs_share) / plan.rounds, 1 + made)
        evidence = Evidence(moments, **settings)
        # Tables measure pairs again, so that an edge that was lost before may be seen now.
        candidates = narrowed(run, plan.candidate_order, evidence, recorder, None)
        searched += [candidates, narrowed(run, None, evidence, recorder, candidates)]
        for column, others in neighbours(candidates).items():
            around[column] |= others
    if plan.refined:
        around = neighbours(searched[-1])
    seen = TableEvidence(evidence, given["penalty"])
    dag = kept_edges(seen, searched_among(run, evidence, around), given["false_edges"])
    used = plan.pairs_share + (1 - plan.pairs_share) * (made / plan.rounds if made else 0.0)
    spent = Spent("share", used, 1.0, 1 + made, 1 + plan.rounds, "releases")
    return Found(dag, seen, around, tuple(searched), ON_LEVELS, spent, "Gaussian DP")
