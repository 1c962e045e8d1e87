"""Moment search on columns that are measured in few numbers each, by their second moments.

A search over orders of the columns, and a choice of edges that keeps false ones to a level.  See
`release.lines` for columns with levels, and `numbers` for numbers.
"""

from __future__ import annotations

from dataclasses import replace
from math import log, sqrt

from privcore.algorithms.moment_search.dags.edge_selection import edge_p_values, kept_edges
from privcore.algorithms.moment_search.dags.obeying import parent_worth
from privcore.algorithms.moment_search.dags.order_search import OrderSearch
from privcore.algorithms.moment_search.likelihood.findings import Rules, pair_findings
from privcore.algorithms.moment_search.likelihood.line_evidence import LineEvidence
from privcore.algorithms.moment_search.parameters import MomentSearchParameters
from privcore.algorithms.moment_search.posterior import of_pairs
from privcore.algorithms.moment_search.release.kept import KeptLines, KeptNumbers
from privcore.algorithms.moment_search.release.lines import (
    LinesPlan,
    bases_of,
    release_counts,
    release_lines,
)
from privcore.algorithms.moment_search.rounds import events_before
from privcore.algorithms.moment_search.steps import between, record_release, released_margins
from privcore.algorithms.search import common
from privcore.algorithms.search.model import Outcome, Run
from privcore.algorithms.search.result import Beyond, NoisyMoments, Released, Spent, Step
from privcore.graphs import cpdag_of_dag
from privcore.privacy.accounting.events import Event
from privcore.privacy.mechanisms.gaussian import planned_mu
from privcore.privacy.mechanisms.moment_release import CENTRED_SHARE, SQUARES

# Of a score, for each coordinate of a parent in one of its column, over BIC's log n: rows that are
# neither normal nor linear show weak links that no column causes.  docs/experiments/lines.md.
PENALTY = 1.5

MEASURED = (
    "each column is measured in few numbers: ordered levels as one trend, other levels as the two "
    "most frequent and the rest"
)
PROOFS = ("docs/proofs/moment_search.md", "docs/proofs/weighted_moments.md")


def events_of_lines(run: Run[MomentSearchParameters], plan: LinesPlan) -> tuple[Event, ...]:
    steps = (plan.mu_counts, plan.mu_moments)
    return (*events_before(run), *(Event("gaussian", 1 / mu) for mu in steps if mu))


def run_on_lines(
    run: Run[MomentSearchParameters], plan: LinesPlan, recorder: common.Recorder
) -> Outcome:
    """Releases what the plan allows, and searches it."""
    before = run.earlier.kept
    if isinstance(before, KeptLines):
        counts, counts_sigma, bases = before.counts, before.counts_sigma, before.bases
    else:
        counts_sigma = plan.counts_sigma
        counts = release_counts(run.source, counts_sigma, run.noise)
        record_release(recorder, counts_sigma, plan.shares[0], 1)
        bases = bases_of(counts, plan)
    noisy = release_lines(run.source, bases, plan, run.noise)
    mu = planned_mu(run.parameters.epsilon, run.parameters.delta)
    kept = KeptLines(
        plan.n, counts, counts_sigma, bases, noisy, plan.moments_sigma, mu, SQUARES, CENTRED_SHARE
    )
    if isinstance(before, KeptLines):
        kept = replace(before.same_rows(kept), mu=mu)
    releases = len(plan.shares)
    record_release(recorder, plan.moments_sigma, plan.shares[-1], releases)
    spent = Spent("share", 1.0, 1.0, releases, releases, "releases")
    return searched_lines(run, kept, spent, recorder)


def searched_lines(
    run: Run[MomentSearchParameters],
    kept: KeptNumbers | KeptLines,
    spent: Spent,
    recorder: common.Recorder,
) -> Outcome:
    """What the noisy moments show, and nothing else: they can be searched again."""
    parameters, names, n = run.parameters, run.source.names, kept.n
    evidence = LineEvidence(kept, penalty=PENALTY * log(n))
    known = run.known
    worth = parent_worth(known, n)
    search = OrderSearch(lambda c, those: evidence.gains(c, those) + worth[c], len(names))
    dag = search.best(range(len(names)), lambda moves: between(run, moves))
    dag = kept_edges(evidence, known.repaired(dag), parameters.false_edges, known)
    tested = edge_p_values(evidence, dag)
    for (cause, effect), p_value in tested.items():
        others = tuple(sorted(dag[effect] - {cause}))
        level = parameters.false_edges
        recorder.add(Step.noiseless(cause, effect, others, p_value, level, False))
    graph = known.completed(cpdag_of_dag(names, set(tested)))
    around = dict(enumerate(known.neighbours()))
    rules = Rules(parameters.false_edges, 1.0, parameters.reference_effect)
    posterior = of_pairs(
        evidence,
        n,
        dag,
        graph.directed,
        around,
        len(names),
        lambda moves: between(run, moves),
        known,
    )
    guarantee = common.proven_guarantee(run, "Gaussian DP", PROOFS, parameters.delta)
    if isinstance(kept, KeptLines):
        guarantee = replace(guarantee, public=(*guarantee.public, MEASURED))
    return Outcome(
        graph=graph,
        separating_sets={},
        guarantee=guarantee,
        spent=spent,
        tests_run=len(tested),
        orders_run=1 + max((len(parents) for parents in dag), default=0),
        stopped=None,
        trace=tuple(recorder.steps),
        unit="p-value",
        beyond=Beyond(
            pair_findings(evidence, dag, graph.directed, posterior.stated, {}, rules, known),
            released_margins(kept.moments) if isinstance(kept, KeptLines) else (),
            settled=posterior.settled,
            released=Released(posterior.dags, moments=_in_units(kept, evidence), kept=kept),
        ),
    )


def _in_units(kept: KeptNumbers | KeptLines, evidence: LineEvidence) -> NoisyMoments | None:
    """The moments of numbers in the units of a release; coordinates of levels have none."""
    if isinstance(kept, KeptLines):
        return None
    unit = kept.scale * kept.radius * sqrt(len(kept.scale)) * kept.half
    return NoisyMoments(
        evidence.means, evidence.covariance, kept.sigma, kept.mean_share, unit, kept.squares
    )
