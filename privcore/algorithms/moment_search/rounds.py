"""Moment search where the columns have many combinations of levels: pairs, then rounds of tables.

What one round of tables shows decides which tables the next one counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from math import prod

from privcore.algorithms.moment_search.explaining import linear_dag, sparsest_dag
from privcore.algorithms.moment_search.parameters import MomentSearchParameters
from privcore.algorithms.moment_search.release.kept import KeptSums, Points, WithMu
from privcore.algorithms.moment_search.release.moments import Moments
from privcore.algorithms.moment_search.release.plan import MomentPlan, plan_chosen, plan_moments
from privcore.algorithms.moment_search.release.releases import release_pairs, release_tables
from privcore.algorithms.moment_search.search import Parents
from privcore.algorithms.moment_search.steps import Found, narrowed, neighbours, record_release
from privcore.algorithms.moment_search.table_evidence import TableEvidence
from privcore.algorithms.search import common
from privcore.algorithms.search.model import Run
from privcore.algorithms.search.result import Spent
from privcore.algorithms.search.skeleton import Skeleton
from privcore.errors import ParameterError
from privcore.privacy.accounting.events import Event
from privcore.privacy.mechanisms.gaussian import planned_mu
from privcore.rounding import down

# Cells of a table of more than four columns.  The noise on every count that is read from a table
# grows with the cells of the whole: a test on few of many columns has the noise of all.
_MANY_CELLS = 4000
_FEW_COLUMNS = 4


def choose_tables(
    adjacent: Mapping[int, set[int]],
    dag: Parents,
    strength: Callable[[int, int], float],
    levels: Sequence[int],
    cells: float,
) -> list[tuple[int, ...]]:
    """Sets of columns to count: each column with its neighbours, the strongest first.

    cells: of a table, at most; sets of many columns have fewer.  What does not fit goes into
    further tables of the same column.  Beside these, each column with its parents in the best DAG
    so far, where that fits.  Sets within others are left out.
    """
    families = (frozenset({column, *causes}) for column, causes in enumerate(dag) if causes)
    chosen = {family for family in families if prod(levels[c] for c in family) <= cells}
    for column, around in adjacent.items():
        left = sorted(around, key=lambda other: (-strength(column, other), other))
        while left:
            table, size, rest = [column], levels[column], []
            for other in left:
                most = cells if len(table) < _FEW_COLUMNS else min(cells, _MANY_CELLS)
                if size * levels[other] <= most:
                    table.append(other)
                    size *= levels[other]
                else:
                    rest.append(other)
            if len(table) == 1:
                break
            chosen.add(frozenset(table))
            left = rest
    return sorted(tuple(sorted(t)) for t in chosen if not any(t < other for other in chosen))


def planned_rounds(run: Run[MomentSearchParameters]) -> MomentPlan:
    return rounds_within(run, mu_to_spend(run), run.source.levels)


def mu_to_spend(run: Run[MomentSearchParameters]) -> float:
    """μ of the releases of a run: of the whole budget, what a run before has not used.

    Raises ParameterError where that is nothing.
    """
    parameters, before = run.parameters, run.earlier.kept
    total = planned_mu(parameters.epsilon, parameters.delta)
    if before is None:
        return total
    assert isinstance(before, WithMu)
    if not 0 < before.mu < total:
        raise ParameterError(
            f"The release before has used all of ε = {parameters.epsilon:g} at δ = "
            f"{parameters.delta:g}, or it cannot be added to; give a larger total."
        )
    return down(math.sqrt((total - before.mu) * (total + before.mu)))


def events_before(run: Run[MomentSearchParameters]) -> tuple[Event, ...]:
    """What a run before has spent, as one step."""
    before = run.earlier.kept
    return (Event("gaussian", 1 / before.mu),) if isinstance(before, WithMu) else ()


def rounds_within(run: Run[MomentSearchParameters], mu: float, levels: Sequence[int]) -> MomentPlan:
    """The rounds that a part of the budget allows; mu: of all of them together."""
    parameters = run.parameters
    if run.earlier.only:
        return plan_chosen(run.source.n, levels, mu, run.earlier.only)
    return plan_moments(
        run.source.n,
        levels,
        mu,
        share=parameters.table_share,
        tables=parameters.table_noise_ratio,
    )


def events_of_rounds(plan: MomentPlan) -> tuple[Event, ...]:
    shares = (plan.mu_pairs, *(plan.mu_round for _ in range(plan.rounds)))
    return tuple(Event("gaussian", 1 / mu) for mu in shares)


def run_in_rounds(
    run: Run[MomentSearchParameters],
    plan: MomentPlan,
    recorder: common.Recorder,
    before: Moments | None = None,
    points: Points | None = None,
) -> Found:
    """Spends what the plan allows, and searches for edges in between.

    before: moments that this run has released already, to be added to.  points: where numbers were
    cut.
    """
    penalty = run.parameters.penalty
    noise, earlier = plan.noise, run.earlier.kept
    if isinstance(earlier, KeptSums):
        before = earlier.moments.copy()
        noise = earlier.noise if run.earlier.only else 1 / (1 / noise + 1 / earlier.noise)
    moments = release_pairs(run.source, plan.pairs_sigma, run.noise, before, run.earlier.only)
    record_release(recorder, plan.pairs_sigma, plan.pairs_share, 1)
    made = 0
    while made < plan.rounds:
        evidence = TableEvidence(moments, penalty)
        searched = _skeletons(run, evidence, noise, recorder, refined=made > 0)
        dag = linear_dag(run, evidence, neighbours(searched[0]))
        around = neighbours(searched[-1])
        chosen = choose_tables(around, dag, evidence.strength, run.source.levels, plan.cells)
        if not chosen:
            break
        made += 1
        sigma = plan.tables_sigma(len(chosen))
        release_tables(moments, run.source, chosen, sigma, run.noise)
        record_release(recorder, sigma, (1 - plan.pairs_share) / plan.rounds, 1 + made)
    used = plan.pairs_share + (1 - plan.pairs_share) * (made / plan.rounds if made else 0.0)
    spent = Spent("share", used, 1.0, 1 + made, 1 + plan.rounds, "releases")
    mu = planned_mu(run.parameters.epsilon, run.parameters.delta)
    kept = KeptSums(run.source.n, moments, noise, mu, points)
    return searched_sums(run, kept, spent, recorder)


def searched_sums(
    run: Run[MomentSearchParameters], kept: KeptSums, spent: Spent, recorder: common.Recorder
) -> Found:
    """What all that was released shows, and nothing else: it can be searched again."""
    evidence = TableEvidence(kept.moments, run.parameters.penalty)
    searched = _skeletons(run, evidence, kept.noise, recorder, refined=True)
    dag, around = sparsest_dag(run, evidence, neighbours(searched[0]))
    return Found(dag, evidence, around, searched, spent, "Gaussian DP", kept)


def _skeletons(
    run: Run[MomentSearchParameters],
    evidence: TableEvidence,
    noise: float,
    recorder: common.Recorder,
    *,
    refined: bool,
) -> tuple[Skeleton, ...]:
    """Candidates, from tests given few columns: each may lose an edge.  refined: and what tests
    on tables leave of them."""
    candidates = narrowed(run, 1 if noise > 1 else 2, evidence, recorder, None)
    if not refined:
        return (candidates,)
    return candidates, narrowed(run, None, evidence, recorder, candidates)
