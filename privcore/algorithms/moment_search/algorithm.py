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
from functools import partial
from math import log
from typing import Any, cast

import numpy as np

from privcore.algorithms.moment_search.distances import DistanceEvidence
from privcore.algorithms.moment_search.edges import (
    adjacent,
    allowed_tests,
    completed,
    edge_p_values,
    kept_edges,
    neighbours_in,
    searched_among,
    skeletons,
    sparsest_dag,
)
from privcore.algorithms.moment_search.evidence import LineEvidence, TableEvidence
from privcore.algorithms.moment_search.findings import Found, found_by_tests, outcome
from privcore.algorithms.moment_search.full_table import searched_whole
from privcore.algorithms.moment_search.measure import measured, recorded
from privcore.algorithms.moment_search.one_column import (
    among_measured,
    lifted,
    measured_near,
)
from privcore.algorithms.moment_search.parameters import (
    LINE_PENALTY,
    USUAL_COLUMNS,
    MomentSearchParameters,
)
from privcore.algorithms.moment_search.plan import Plan, plan_like
from privcore.algorithms.moment_search.released import ReleasedNumbers
from privcore.algorithms.moment_search.repeated import repeated_pairs
from privcore.algorithms.moment_search.search import OrderSearch, between, parent_log_prior
from privcore.algorithms.moment_search.visible import mixed_sentence, plan_of
from privcore.algorithms.search import common
from privcore.algorithms.search.model import Algorithm, Outcome, Run
from privcore.algorithms.search.result import Spent, Step
from privcore.counts import has_levels
from privcore.errors import DataError, ParameterError
from privcore.privacy.accounting.composition import Event
from privcore.threads import one_thread

# Half a million pairs take about a minute.
MOST_COLUMNS = 1_000


def planned(run: Run[MomentSearchParameters]) -> Plan:
    """The planned releases of a run; raises ParameterError if there are too many columns."""
    source, parameters = run.source, run.parameters
    if len(source.names) > MOST_COLUMNS:
        raise ParameterError(
            "too-many-columns-for-search", number=len(source.names), most_columns=MOST_COLUMNS
        )
    if run.like is not None:
        like = cast(ReleasedNumbers, run.like)
        if like.form == "target" and 0 in source.own_levels:
            raise DataError("like-of-other-columns")
        return plan_like(source.n, like, parameters)
    return plan_of(source.n, source.own_levels, source.ordered, parameters, run.target)


def events(run: Run[MomentSearchParameters]) -> tuple[Event, ...]:
    """The privacy events of a run.

    For numeric columns, the last event stands for a release of moments, or for rounds of counts
    with the same total cost.
    """
    return planned(run).events


def _delta(run: Run[MomentSearchParameters]) -> float:
    """The δ that a run uses: 0 if all combinations of levels are counted, otherwise `delta`."""
    if planned(run).whole is not None:
        return 0.0
    return run.parameters.delta


def _fixed(run: Run[MomentSearchParameters], rows: int, private: bool) -> dict[str, str]:
    """Fix in advance how columns with levels are measured, because δ depends on this choice.

    Returns the parameter `measured`, or nothing if there is no choice to make. rows: number of rows
    per person. private: whether the total number of rows is private; if so, the choice does not
    depend on this number.
    """
    parameters, source, target = run.parameters, run.source, run.target
    if run.like is not None or parameters.measured is not None:
        return {}
    if target is None and not has_levels(source):
        return {}
    if private:
        return {"measured": "levels" if target is None else "target"}
    each = replace(parameters, epsilon=parameters.epsilon / rows)
    plan = plan_of(source.n, source.own_levels, source.ordered, each, target)
    forms = {"target": plan.products, "lines": plan.rows, "distances": plan.distances}
    return {"measured": next((name for name, made in forms.items() if made), "levels")}


def _run(run: Run[MomentSearchParameters]) -> Outcome:
    recorder, plan = common.Recorder(run.keep_trace), planned(run)
    # Thousands of tests on small matrices take twice as long with several threads.
    with one_thread():
        if plan.products is not None:
            statistics = measured_near(run, plan, partial(recorded, recorder))
            releases = len(plan.shares)
            spent = Spent("share", 1.0, 1.0, releases, releases, "releases")
        else:
            run, statistics, spent = measured(run, plan, recorder)
        made = _answered(run, statistics, spent, recorder)
    if plan.rows is None or plan.pairs is None or statistics.form != "sums":
        return made
    return made._replace(beyond=replace(made.beyond, intervals=plan.intervals))


def _answered(
    run: Run[MomentSearchParameters],
    statistics: ReleasedNumbers,
    spent: Spent,
    recorder: common.Recorder,
) -> Outcome:
    """The outcome of a search in released numbers."""
    if statistics.form == "target":
        near = among_measured(run, statistics)
        made = _answered(near.run, near.statistics, spent, recorder)
        return lifted(run, near.columns, statistics, made)
    run = replace(run, repeated=repeated_pairs(statistics))
    return outcome(run, _searched(run, statistics, recorder), spent, recorder)


def _again(run: Run[MomentSearchParameters], statistics: ReleasedNumbers) -> Outcome:
    """Repeat the search on released numbers, with the parameters of `run`, at no cost."""
    recorder = common.Recorder(run.keep_trace)
    spent = Spent("share", 1.0, 1.0, 1, 1, "releases")
    with one_thread():
        return _answered(run, statistics, spent, recorder)


def _searched(
    run: Run[MomentSearchParameters], statistics: ReleasedNumbers, recorder: common.Recorder
) -> Found:
    """Search for a graph in released numbers alone; repeating this search costs no budget."""
    if statistics.form == "table":
        return searched_whole(run, statistics, recorder)
    if statistics.form == "sums":
        return _searched_sums(run, statistics, recorder)
    if statistics.form == "distances":
        return _searched_distances(run, statistics, recorder)
    return _searched_rows(run, statistics, recorder)


def _searched_sums(
    run: Run[MomentSearchParameters], statistics: ReleasedNumbers, recorder: common.Recorder
) -> Found:
    evidence = TableEvidence(statistics.moments, run.parameters.penalty)
    searched = skeletons(run, evidence, statistics.noise, recorder, refined=True)
    dag, neighbours = sparsest_dag(run, evidence, neighbours_in(searched[0]))
    return found_by_tests(run, dag, evidence, neighbours, statistics, searched)


def _searched_distances(
    run: Run[MomentSearchParameters], statistics: ReleasedNumbers, recorder: common.Recorder
) -> Found:
    """Choose links at the FDR level, then the best directions."""
    evidence, p = DistanceEvidence(statistics, run.parameters, run.known), len(statistics.levels)
    neighbours = adjacent(evidence.links, p)
    dag = run.known.repaired(searched_among(run, evidence.score, neighbours))
    for a, b in evidence.links:
        p_value = evidence.linear.test(a, b).p_value
        recorder.add(Step.noiseless(a, b, (), p_value, run.parameters.false_edges, False))
    return found_by_tests(run, dag, evidence, neighbours, statistics)


def _searched_rows(
    run: Run[MomentSearchParameters], statistics: ReleasedNumbers, recorder: common.Recorder
) -> Found:
    """Search over orders of the columns, then choose edges at the FDR level."""
    level, known, n = run.parameters.false_edges, run.known, statistics.n
    evidence = LineEvidence(statistics, penalty=LINE_PENALTY * log(n))
    log_prior, candidates = parent_log_prior(known, n), _candidates(run, evidence)
    search = OrderSearch(lambda c, those: evidence.gains(c, those) + log_prior[c], candidates)
    dag = search.best(range(len(candidates)), lambda moves: between(run, moves))
    dag = kept_edges(evidence, known.repaired(dag), level, known)
    neighbours = dict(enumerate(candidates))
    # A significant dependence may need two new edges at once to raise the score.
    dag = completed(
        dag,
        neighbours,
        allowed_tests(run, evidence.unexplained, known.allowed),
        level=level,
        max_parents=len(dag),
    )
    dag = kept_edges(evidence, known.repaired(dag), level, known)
    for (cause, effect), p_value in edge_p_values(evidence, dag).items():
        others = tuple(sorted(dag[effect] - {cause}))
        recorder.add(Step.noiseless(cause, effect, others, p_value, level, False))
    return found_by_tests(run, dag, evidence, neighbours, statistics)


def _candidates(run: Run[MomentSearchParameters], evidence: LineEvidence) -> list[set[int]]:
    """The possible neighbours of each column.

    With many columns, only significantly dependent pairs and required edges are possible.
    """
    p, possible = evidence.linear.columns, run.known.possible.copy()
    if p > USUAL_COLUMNS:
        level = run.parameters.level_of_candidates(p)
        possible &= np.array([evidence.linear.tests_of(c, ()).p_values < level for c in range(p)])
        for i, j in run.known.required:
            possible[i, j] = possible[j, i] = True
    return [set(np.flatnonzero(row).tolist()) for row in possible]


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
