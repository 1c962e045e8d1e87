"""Moment search on columns that are measured in few numbers each, by their second moments.

A search over orders of the columns, and a choice of edges that keeps false ones to a level.
"""

from __future__ import annotations

from dataclasses import replace
from math import log, sqrt

from privcore.algorithms.moment_search.dags.edge_selection import edge_p_values, kept_edges
from privcore.algorithms.moment_search.dags.obeying import parent_worth
from privcore.algorithms.moment_search.dags.order_search import OrderSearch
from privcore.algorithms.moment_search.likelihood.findings import Rules, pair_findings
from privcore.algorithms.moment_search.likelihood.line_evidence import LineEvidence
from privcore.algorithms.moment_search.parameters import LINE_PENALTY, MomentSearchParameters
from privcore.algorithms.moment_search.posterior.pairs import of_pairs
from privcore.algorithms.moment_search.released import KeptRows, LineUnits
from privcore.algorithms.moment_search.steps import between, released_margins
from privcore.algorithms.search import common
from privcore.algorithms.search.model import Outcome, Run
from privcore.algorithms.search.result import Beyond, NoisyMoments, Released, Spent, Step
from privcore.graphs import cpdag_of_dag

MEASURED = (
    "each column is measured in few numbers: ordered levels as one trend, other levels as the two "
    "most frequent and the rest"
)
PROOFS = ("docs/proofs/moment_search.md", "docs/proofs/weighted_moments.md")


def searched_lines(
    run: Run[MomentSearchParameters],
    kept: KeptRows,
    spent: Spent,
    recorder: common.Recorder,
) -> Outcome:
    """What the noisy moments show, and nothing else: they can be searched again."""
    parameters, names, n = run.parameters, run.source.names, kept.n
    evidence = LineEvidence(kept, penalty=LINE_PENALTY * log(n))
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
    if isinstance(kept.units, LineUnits):
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
            released_margins(kept.units.moments(n)) if isinstance(kept.units, LineUnits) else (),
            settled=posterior.settled,
            released=Released(posterior.dags, moments=_in_units(kept, evidence), kept=kept),
        ),
    )


def _in_units(kept: KeptRows, evidence: LineEvidence) -> NoisyMoments | None:
    """The moments of numbers in the units of a release; coordinates of levels have none."""
    if isinstance(kept.units, LineUnits):
        return None
    _, scale, radius, half = kept.units
    unit = scale * radius * sqrt(len(scale)) * half
    return NoisyMoments(
        evidence.means, evidence.covariance, kept.sigma, kept.mean_share, unit, kept.squares
    )
