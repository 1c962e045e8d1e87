"""Findings on each pair of columns: the probability of an edge, and the power to detect an edge.

Findings are post-processing of released numbers, so findings cost nothing and are covered by the
guarantee of the release.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import NamedTuple, Protocol

import numpy as np

from privcore.algorithms.moment_search.evidence import Power
from privcore.algorithms.moment_search.search import Parents, edges_of
from privcore.algorithms.moment_search.statistic import chi_squared_quantile
from privcore.algorithms.moment_search.visible import smallest_visible
from privcore.algorithms.search.result import PairFinding, Verdict
from privcore.arrays import Columns, Matrix
from privcore.graphs.constraints import Constraints

Pair = tuple[int, int]


class Powers(Protocol):
    """Effect size and power for a pair of columns, from released numbers; see `Evidence`."""

    def effect(self, x: int, y: int) -> float: ...

    def power(self, x: int, y: int, conditioning_set: Columns) -> Power | None: ...


class Rules(NamedTuple):
    """Levels of the tests, and the reference effect.

    level: the FDR level of the graph; candidates: significance level of the tests on the first
    release; reference: the smallest dependence of interest.
    """

    level: float
    candidates: float
    reference: float


def as_known(stated: Matrix, known: Constraints) -> Matrix:
    """Probabilities of arrows i → j, shape (p, p), adjusted to background knowledge.

    A required edge has probability 1; if one direction is ruled out, the other direction gets the
    probability of the edge.
    """
    if known.empty:
        return stated
    edges = stated + stated.T
    for pair in known.required:
        edges[pair] = edges[pair[::-1]] = 1.0
    both = known.allowed & known.allowed.T
    share = np.where(both, stated / np.maximum(stated + stated.T, 1e-300), known.allowed)
    return np.asarray(edges * share)


def pair_findings(
    evidence: Powers,
    dag: Parents,
    compelled: frozenset[Pair],
    stated: Matrix,
    separating: Mapping[Pair, frozenset[int]],
    rules: Rules,
    known: Constraints,
) -> dict[Pair, PairFinding]:
    """The finding on every pair (i < j) that background knowledge does not rule out.

    dag: the result of the search.  compelled: edges (cause, effect) of the DAG that are directed in
    its CPDAG.  stated: the probability of each edge i → j, shape (p, p).  separating: the
    separating sets that a search found.
    """
    pairs = max(known.open_pairs, 1)
    edges = {(min(edge), max(edge)) for edge in edges_of(dag)}
    findings = {}
    for pair in combinations(range(len(dag)), 2):
        if pair in known.ruled_out:
            continue
        effect = evidence.effect(*pair)
        if pair in edges:
            findings[pair] = stated_finding("edge", pair, stated, effect, arrows=compelled)
            continue
        # A further edge would be the weakest of all edges.
        level = rules.level * (len(edges) + 1) / pairs
        separating_set = separating.get(pair, frozenset())
        visible = smallest_seen(evidence, dag, pair, separating_set, level, rules.candidates)
        seen = visible is not None and visible <= rules.reference
        verdict: Verdict = "no edge seen" if seen else "not enough budget"
        findings[pair] = stated_finding(verdict, pair, stated, effect, visible)
    return findings


def of_edges_alone(
    findings: Mapping[Pair, PairFinding], skeleton: frozenset[Pair]
) -> dict[Pair, PairFinding]:
    """The findings without directions, for a graph that allows unobserved confounders.

    Probabilities of directions are left out because they are not calibrated for this case.
    skeleton: pairs with an edge in the graph; a pair whose edge was removed becomes inconclusive.
    """
    made = {}
    for pair, finding in findings.items():
        verdict = finding.verdict
        if pair in skeleton:
            verdict = "edge"
        elif verdict == "edge":
            verdict = "not enough budget"
        made[pair] = finding._replace(verdict=verdict, direction=None, forward=None)
    return made


def stated_finding(
    verdict: Verdict,
    pair: Pair,
    stated: Matrix,
    effect: float,
    visible: float | None = None,
    arrows: frozenset[Pair] = frozenset(),
) -> PairFinding:
    """The finding on a pair (i, j), with probabilities.

    stated: P(i → j) for all i and j. effect, visible: see `PairFinding`. arrows: the arrows of the
    graph; if the pair has an arrow, the finding includes the probability of the arrow's direction.
    """
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
    evidence: Powers,
    dag: Parents,
    pair: Pair,
    separating_set: frozenset[int],
    level: float,
    candidates: float,
) -> float | None:
    """The smallest dependence that all tests of an edge would detect; None if there is none.

    separating_set: the pair's separating set in a search. candidates: significance level of the
    marginal test and of the test given the separating set. level: significance level of the tests
    given the parents of either column.
    """
    x, y = pair
    tests = [((), candidates), (tuple(sorted(separating_set)), candidates)]
    tests += [(tuple(sorted(dag[b] - {a})), level) for a, b in ((x, y), (y, x))]
    needed = []
    for conditioning_set, tested_at in dict.fromkeys(tests):
        power = evidence.power(x, y, conditioning_set)
        if power is None:
            return None
        threshold = chi_squared_quantile(power.dof, tested_at)
        threshold = max(threshold, power.threshold)
        least = smallest_visible(power.dof, threshold, power.information)
        if least is None:
            return None
        needed.append(least)
    return max(needed)
