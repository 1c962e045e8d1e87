"""The result of a run: the graph, the finding on each pair of columns, and the released numbers.

Every part is post-processing of released numbers, so it costs nothing and is covered by the
guarantee of the release.

**Unobserved confounders.** A graph that allows them is found by further tests on released numbers.
The method is GFCI (Ogarrio, Spirtes & Ramsey 2016): a DAG that explains the released numbers has
all edges of the true maximal ancestral graph, and superfluous edges where unobserved confounders
make columns dependent. A superfluous edge closes a triangle, so only edges in triangles are tested
again.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations, permutations
from typing import NamedTuple

from privcore.algorithms.moment_search.evidence import LineEvidence, ReleaseEvidence
from privcore.algorithms.moment_search.log_linear import nearest_probabilities
from privcore.algorithms.moment_search.moments import Moments
from privcore.algorithms.moment_search.parameters import MomentSearchParameters
from privcore.algorithms.moment_search.posterior import Posterior, of_pairs
from privcore.algorithms.moment_search.released import NumberUnits, ReleasedNumbers
from privcore.algorithms.moment_search.search import (
    Neighbours,
    Parents,
    between,
    causes_first,
    edges_of,
    most_parents,
)
from privcore.algorithms.moment_search.statistic import Statistic, chi_squared_quantile
from privcore.algorithms.moment_search.visible import smallest_visible
from privcore.algorithms.search import common
from privcore.algorithms.search.model import Outcome, Run
from privcore.algorithms.search.result import (
    Beyond,
    Edge,
    Margin,
    NoisyMoments,
    PairFinding,
    Released,
    Spent,
    Verdict,
)
from privcore.algorithms.search.skeleton import Skeleton, search_skeleton
from privcore.algorithms.search.v_structures import Answered, FreeDecision, with_hidden_causes
from privcore.arrays import Columns, Matrix
from privcore.graphs import PDAG, cpdag_of_dag
from privcore.graphs.constraints import Constraints
from privcore.graphs.pdag import ordered

_PROOF = "docs/proofs/moment_search.md"
_PROOF_OF_ROWS = "docs/proofs/weighted_moments.md"
MEASURED = {
    "lines": "each column is measured by a few numbers: ordered levels by one linear score, "
    "unordered levels by three groups (each of the two most frequent levels, and all other levels)",
    "distances": "each pair of columns is measured by one number, the distance of its counts from "
    "independence, and its counts are released only if this number shows a link",
    "target": "the product of the target with every other column is measured, then second moments "
    "of the columns whose product is unlikely to be chance; each column is coded by a few numbers",
}


class Rules(NamedTuple):
    """When "no edge seen" is stated on a pair.

    level: significance level at which the graph would have had one more edge. candidates:
    significance level of the tests on the first release. reference: the smallest dependence of
    interest. probability: the largest probability of an edge.
    """

    level: float
    candidates: float
    reference: float
    probability: float = math.inf


class Found(NamedTuple):
    """The result of a search in released numbers.

    dag: a DAG that explains the numbers. graph: the graph. posterior: probabilities of edges.
    separating: the separating sets. rules, evidence: for the finding on each pair, and for tests
    that allow unobserved confounders. statistics: all released numbers. unit, tests_run,
    orders_run: see `Discovery`.
    """

    dag: Parents
    graph: PDAG
    posterior: Posterior
    separating: Mapping[Edge, frozenset[int]]
    rules: Rules
    evidence: ReleaseEvidence
    statistics: ReleasedNumbers
    unit: str
    tests_run: int
    orders_run: int


def found_by_tests(
    run: Run[MomentSearchParameters],
    dag: Parents,
    evidence: ReleaseEvidence,
    neighbours: Neighbours,
    statistics: ReleasedNumbers,
    skeletons: Sequence[Skeleton] = (),
) -> Found:
    """The result of a search that used released sums or second moments of rows.

    dag: the DAG found. neighbours: the possible neighbours of each column. skeletons: the
    intermediate skeletons, in the order in which they were found.
    """
    parameters, known, columns = run.parameters, run.known, len(dag)
    rows = statistics.form != "sums"
    graph = known.completed(cpdag_of_dag(run.source.names, edges_of(dag)))
    posterior = of_pairs(
        evidence,
        statistics.n,
        dag,
        graph.directed,
        neighbours,
        columns if rows else most_parents(run),
        lambda moves: between(run, moves),
        known,
    )
    separating = {
        pair: columns_given
        for skeleton in skeletons
        for pair, columns_given in skeleton.separating_sets.items()
        if pair not in graph.skeleton
    }
    # A further edge would be the weakest of all edges.
    rules = Rules(
        parameters.false_edges * (len(graph.skeleton) + 1) / max(known.open_pairs, 1),
        1.0 if rows else parameters.level_of_candidates(columns),
        parameters.reference_effect,
    )
    return Found(
        dag,
        graph,
        posterior,
        separating,
        rules,
        evidence,
        statistics,
        "p-value",
        sum(s.tests_run for s in skeletons) or len(edges_of(dag)),
        max((s.orders_run for s in skeletons), default=1 + max(map(len, dag))),
    )


def outcome(
    run: Run[MomentSearchParameters], found: Found, spent: Spent, recorder: common.Recorder
) -> Outcome:
    """The outcome of a run; spent: the budget spent."""
    graph, separating, statistics, stage = found.graph, found.separating, found.statistics, None
    findings = pair_findings(
        found.evidence,
        found.dag,
        graph,
        found.posterior.stated,
        separating,
        found.rules,
        run.known,
    )
    if run.parameters.hidden_causes:
        searched = pag_of(run, found.dag, found.evidence)
        graph, stage = searched.graph, searched.hidden_stage
        separating = searched.separating_sets
        findings = of_edges_alone(findings, graph.skeleton)
    accountant, delta = "Gaussian DP", run.parameters.delta
    proofs: tuple[str, ...] = (_PROOF, _PROOF_OF_ROWS)
    if statistics.form == "table":
        accountant, delta = "pure DP", 0.0
    # Numbers are cut at points that follow from the units of rows, unless an earlier run set them.
    own_points = statistics.units is not None and run.like is None
    if statistics.units is None or (statistics.form == "sums" and not own_points):
        proofs = (_PROOF,)
    guarantee = common.proven_guarantee(run, accountant, proofs, delta)
    if statistics.form in MEASURED:
        public = (*guarantee.public, MEASURED[statistics.form])
        guarantee = replace(guarantee, public=public)
    moments = statistics.moments
    made = Outcome(
        graph=graph,
        separating_sets=separating,
        guarantee=guarantee,
        spent=spent,
        tests_run=found.tests_run,
        orders_run=found.orders_run,
        stopped=None,
        trace=tuple(recorder.steps),
        unit=found.unit,
        beyond=Beyond(
            findings,
            released_margins(moments),
            settled=found.posterior.settled,
            released=Released(
                found.posterior.dags,
                moments if statistics.form in ("table", "sums", "distances") else None,
                _in_units(found),
                statistics,
            ),
            hidden_stage=stage,
            repeats=run.known.repeats,
        ),
    )
    # A stored result holds the released numbers and no cached values.
    moments.forget()
    return made


def pair_findings(
    evidence: ReleaseEvidence,
    dag: Parents,
    graph: PDAG,
    stated: Matrix,
    separating: Mapping[Edge, frozenset[int]],
    rules: Rules,
    known: Constraints,
) -> dict[Edge, PairFinding]:
    """The finding on every pair (i < j) that background knowledge does not rule out.

    A column that repeats another has findings on all of its pairs.

    dag: a DAG that explains the numbers. graph: the graph. stated: the probability of each edge
    i → j, shape (p, p). separating: the separating sets that a search found.
    """
    findings = {}
    for pair in combinations(range(len(dag)), 2):
        if pair in known.ruled_out and not known.repeats.keys() & pair:
            continue
        effect, visible = evidence.effect(*pair), None
        if known.repeats.keys() & pair:
            findings[pair] = PairFinding("repeats", effect)
            continue
        verdict: Verdict = "edge"
        if pair not in graph.skeleton:
            separating_set = separating.get(pair, frozenset())
            visible = smallest_seen(evidence, dag, pair, separating_set, rules)
            seen = visible is not None and visible <= rules.reference
            probable = stated[pair] + stated[pair[::-1]] > rules.probability
            verdict = "no edge seen" if seen and not probable else "not enough budget"
        findings[pair] = _finding(verdict, pair, stated, effect, visible, graph.directed)
    return findings


def of_edges_alone(
    findings: Mapping[Edge, PairFinding], skeleton: frozenset[Edge]
) -> dict[Edge, PairFinding]:
    """The findings without directions, for a graph that allows unobserved confounders.

    Probabilities of directions are left out because they are not calibrated for this case.
    skeleton: pairs with an edge in the graph; a pair whose edge was removed becomes inconclusive.
    """
    made = {}
    for pair, finding in findings.items():
        verdict = finding.verdict
        if verdict == "repeats":
            made[pair] = finding
            continue
        if pair in skeleton:
            verdict = "edge"
        elif verdict == "edge":
            verdict = "not enough budget"
        made[pair] = finding._replace(verdict=verdict, direction=None, forward=None)
    return made


def _finding(
    verdict: Verdict,
    pair: Edge,
    stated: Matrix,
    effect: float,
    visible: float | None,
    arrows: frozenset[Edge],
) -> PairFinding:
    """The finding on a pair (i, j), with probabilities; arrows: the arrows of the graph."""
    i, j = pair
    forward, backward = float(stated[i, j]), float(stated[j, i])
    probability, direction = forward + backward, None
    if pair in arrows:
        direction = forward / probability
    elif (j, i) in arrows:
        direction = backward / probability
    return PairFinding(
        verdict, effect, visible, probability=probability, forward=forward, direction=direction
    )


def smallest_seen(
    evidence: ReleaseEvidence,
    dag: Parents,
    pair: Edge,
    separating_set: frozenset[int],
    rules: Rules,
) -> float | None:
    """The smallest dependence that all tests of an edge would detect; None if there is none.

    The tests are the marginal test, the test given the pair's separating set, and the tests given
    the parents of either column.
    """
    x, y = pair
    tests = [((), rules.candidates), (tuple(sorted(separating_set)), rules.candidates)]
    tests += [(tuple(sorted(dag[b] - {a})), rules.level) for a, b in ((x, y), (y, x))]
    needed = []
    for conditioning_set, tested_at in dict.fromkeys(tests):
        least = evidence.smallest(x, y, conditioning_set, tested_at)
        if least is None:
            return None
        needed.append(least)
    return max(needed)


def released_margins(moments: Moments) -> tuple[Margin, ...]:
    """For each column, the probabilities of its levels that are nearest to the released counts."""
    margins = []
    for column in range(len(moments.levels)):
        probabilities = nearest_probabilities(moments.table([column]), 0.0)
        deviation = math.sqrt(moments.cell_variance([column])) / moments.n
        margins.append(Margin(tuple(probabilities.tolist()), deviation))
    return tuple(margins)


def _in_units(found: Found) -> NoisyMoments | None:
    """The moments of numeric columns in the units of a release; None for columns with levels."""
    evidence, units = found.evidence, found.statistics.units
    if not isinstance(units, NumberUnits) or not isinstance(evidence, LineEvidence):
        return None
    unit = units.scale * units.radius * math.sqrt(len(units.scale)) * units.half
    return NoisyMoments(
        evidence.means,
        evidence.covariance,
        found.statistics.noise,
        units.mean_share,
        unit,
        evidence.squares,
    )


class _Decision(FreeDecision):
    """Decides on independence by tests on released numbers.

    Two columns count as independent if an informative test does not reject. An edge of the DAG is
    removed only if it closes a triangle, and only by a test that would detect a dependence of the
    edge's size with probability 0.9.
    """

    def __init__(self, evidence: ReleaseEvidence, dag: Parents, level: float) -> None:
        self._evidence, self._level = evidence, level
        self._known: dict[tuple[int, int, Columns], Answered] = {}
        neighbours = [set(parents) for parents in dag]
        for cause, effect in edges_of(dag):
            neighbours[cause].add(effect)
        # The size of each edge; 0 for an edge that no test may remove.
        self._sizes: dict[Edge, float] = {}
        for cause, effect in edges_of(dag):
            size = 0.0
            if neighbours[cause] & neighbours[effect]:
                made = evidence.edge(dag, cause, effect)
                information = evidence.information(cause, effect, made)
                size = math.sqrt(made.noncentrality / information) if information > 0 else 0.0
            self._sizes[ordered(cause, effect)] = size

    def independent(self, x: int, y: int, conditioning_set: Columns) -> bool:
        return self.answer(x, y, conditioning_set).independent

    def answer(self, x: int, y: int, conditioning_set: Columns) -> Answered:
        key = (*ordered(x, y), tuple(sorted(conditioning_set)))
        if key not in self._known:
            # There are many pairs without an edge; their tests need not detect all interactions.
            edge = key[:2] in self._sizes
            made = (self._evidence.final if edge else self._evidence.test)(*key)
            clear = made.informative and made.p_value > self._level and self._sees(key, made)
            self._known[key] = Answered(clear, math.log(max(made.p_value, 1e-300)))
        return self._known[key]

    def _sees(self, key: tuple[int, int, Columns], made: Statistic) -> bool:
        """Whether the test would detect the pair's edge; True if the DAG has no such edge."""
        size = self._sizes.get(key[:2])
        if size is None:
            return True
        if not (size and made.second):
            return False
        information = self._evidence.information(*key[:2], made)
        threshold = chi_squared_quantile(made.dof, self._level)
        least = smallest_visible(made.dof, threshold, information)
        return least is not None and least <= size


def pag_of(run: Run[MomentSearchParameters], dag: Parents, evidence: ReleaseEvidence) -> Skeleton:
    """The PAG found by testing a DAG's edges again, given other columns."""
    parameters, names = run.parameters, run.source.names
    pairs = frozenset(ordered(*edge) for edge in edges_of(dag))
    decision = _Decision(evidence, dag, parameters.threshold)
    skeleton = search_skeleton(
        names,
        decision,
        max_order=parameters.max_order,
        hooks=run.hooks,
        start=PDAG(names, undirected=pairs),
        known=run.known,
    )
    return with_hidden_causes(
        run, skeleton, decision, "majority", parameters.max_order, given=_separated(dag)
    )


def _separated(dag: Parents) -> dict[Edge, set[frozenset[int]]]:
    """For each pair without an edge in the DAG, the parents of each end that is no ancestor of the
    other.
    """
    above: dict[int, set[int]] = {}
    for column in causes_first(dag):
        above[column] = set(dag[column]).union(*(above[parent] for parent in dag[column]))
    separating: dict[Edge, set[frozenset[int]]] = {}
    for x, y in permutations(above, 2):
        if x not in dag[y] and y not in above[x]:
            separating.setdefault(ordered(x, y), set()).add(dag[y])
    return separating
