"""The result of a run: the graph, the findings on each pair of columns, and the released numbers.

Every part is computed from released numbers alone (post-processing).
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

from privcore.algorithms.moment_search.evidence import LineEvidence, ReleaseEvidence
from privcore.algorithms.moment_search.findings import Rules, of_edges_alone, pair_findings
from privcore.algorithms.moment_search.hidden import pag_of
from privcore.algorithms.moment_search.log_linear import nearest_probabilities
from privcore.algorithms.moment_search.moments import Moments
from privcore.algorithms.moment_search.parameters import MomentSearchParameters
from privcore.algorithms.moment_search.posterior import of_pairs
from privcore.algorithms.moment_search.released import LineUnits, ReleasedRows, ReleasedSums
from privcore.algorithms.moment_search.search import Parents, edges_of
from privcore.algorithms.moment_search.steps import Around, between, most_parents
from privcore.algorithms.search import common
from privcore.algorithms.search.model import Outcome, Run
from privcore.algorithms.search.result import Beyond, Margin, NoisyMoments, Released, Spent
from privcore.algorithms.search.skeleton import Skeleton
from privcore.graphs import cpdag_of_dag

MEASURED = (
    "each column is measured by a few numbers: ordered levels by one linear score, unordered "
    "levels by three groups (each of the two most frequent levels, and all other levels)"
)


class Found(NamedTuple):
    """The result of a search.

    dag: the DAG found. evidence: the tests that the findings use. around: the possible neighbours
    of each column. skeletons: the intermediate skeletons, in the order in which they were found.
    spent: the budget spent. statistics: all released numbers.
    """

    dag: Parents
    evidence: ReleaseEvidence
    around: Around
    skeletons: tuple[Skeleton, ...]
    spent: Spent
    statistics: ReleasedSums | ReleasedRows


def outcome(
    run: Run[MomentSearchParameters],
    result: Found,
    recorder: common.Recorder,
    proofs: tuple[str, ...],
) -> Outcome:
    """The outcome of a run whose search used released sums or second moments of rows."""
    parameters, known, statistics = run.parameters, run.known, result.statistics
    columns, rows = len(result.dag), isinstance(statistics, ReleasedRows)
    graph = known.completed(cpdag_of_dag(run.source.names, edges_of(result.dag)))
    candidates = 1.0 if rows else parameters.level_of_candidates(columns)
    posterior = of_pairs(
        result.evidence,
        statistics.n,
        result.dag,
        graph.directed,
        result.around,
        columns if rows else most_parents(run),
        lambda moves: between(run, moves),
        known,
    )
    separating = {
        pair: columns_given
        for skeleton in result.skeletons
        for pair, columns_given in skeleton.separating_sets.items()
        if pair not in graph.skeleton
    }
    rules = Rules(parameters.false_edges, candidates, parameters.reference_effect)
    findings = pair_findings(
        result.evidence, result.dag, graph.directed, posterior.stated, separating, rules, known
    )
    stage = None
    if parameters.hidden_causes:
        searched = pag_of(run, result.dag, result.evidence)
        graph, stage = searched.graph, searched.hidden_stage
        separating = searched.separating_sets
        findings = of_edges_alone(findings, graph.skeleton)
    guarantee = common.proven_guarantee(run, "Gaussian DP", proofs, parameters.delta)
    if isinstance(statistics, ReleasedRows) and isinstance(statistics.units, LineUnits):
        guarantee = replace(guarantee, public=(*guarantee.public, MEASURED))
    made = Outcome(
        graph=graph,
        separating_sets=separating,
        guarantee=guarantee,
        spent=result.spent,
        tests_run=sum(s.tests_run for s in result.skeletons) or len(edges_of(result.dag)),
        orders_run=max(
            (s.orders_run for s in result.skeletons), default=1 + max(map(len, result.dag))
        ),
        stopped=None,
        trace=tuple(recorder.steps),
        unit="p-value",
        beyond=Beyond(
            findings,
            released_margins(statistics.moments),
            settled=posterior.settled,
            released=Released(
                posterior.dags,
                None if rows else statistics.moments,
                _in_units(statistics, result.evidence),
                statistics,
            ),
            hidden_stage=stage,
        ),
    )
    if isinstance(statistics, ReleasedSums):
        # A stored result holds the released numbers and no cached values.
        statistics.moments.forget()
    return made


def released_margins(moments: Moments) -> tuple[Margin, ...]:
    """For each column, the probabilities of its levels that are nearest to the released counts."""
    margins = []
    for column in range(len(moments.levels)):
        probabilities = nearest_probabilities(moments.table([column]), 0.0)
        deviation = math.sqrt(moments.cell_variance([column])) / moments.n
        margins.append(Margin(tuple(probabilities.tolist()), deviation))
    return tuple(margins)


def _in_units(
    statistics: ReleasedSums | ReleasedRows, evidence: ReleaseEvidence
) -> NoisyMoments | None:
    """The moments of numeric columns in the units of a release; None for columns with levels."""
    if not isinstance(evidence, LineEvidence) or not isinstance(statistics, ReleasedRows):
        return None
    if isinstance(statistics.units, LineUnits):
        return None
    _, scale, radius, half = statistics.units
    unit = scale * radius * math.sqrt(len(scale)) * half
    return NoisyMoments(
        evidence.means,
        evidence.covariance,
        statistics.sigma,
        statistics.mean_share,
        unit,
        statistics.squares,
    )
