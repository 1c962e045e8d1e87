"""Moment search on columns with few combinations of levels: one release counts all combinations.

This pure-DP release uses the whole budget; the rest is post-processing: a search for the DAG with
the best posterior score, and a sampler for the probability of each edge. Proof:
docs/proofs/moment_search.md, statement 5.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import nan, prod, sqrt

import numpy as np

from privcore.algorithms.moment_search.evidence import Power, TableEvidence
from privcore.algorithms.moment_search.findings import Found, Rules
from privcore.algorithms.moment_search.full_table import (
    Sampled,
    TableScore,
    sampled,
)
from privcore.algorithms.moment_search.parameters import MomentSearchParameters
from privcore.algorithms.moment_search.posterior import Posterior
from privcore.algorithms.moment_search.released import ReleasedNumbers
from privcore.algorithms.moment_search.search import (
    between,
    edges_of,
    most_parents,
)
from privcore.algorithms.moment_search.statistic import cell_information
from privcore.algorithms.moment_search.visible import probable_from
from privcore.algorithms.search import common
from privcore.algorithms.search.model import Run
from privcore.algorithms.search.result import (
    Edge,
    Step,
)
from privcore.arrays import Columns, Matrix, Vector
from privcore.graphs import PDAG, cpdag_of_dag
from privcore.graphs.constraints import Constraints
from privcore.graphs.pdag import ordered

# "No edge" is stated only if an edge is at most this probable.
_NO_EDGE = 0.1
# Smallest denominator of a share.
_EMPTY = 1e-9
# An arrow is drawn if it is more probable than its opposite.
_EVEN = 0.5


def searched_whole(
    run: Run[MomentSearchParameters], statistics: ReleasedNumbers, recorder: common.Recorder
) -> Found:
    """Search for a graph in the noisy counts alone."""
    parameters, known, scale = run.parameters, run.known, statistics.noise
    (table,) = statistics.measurements
    most = most_parents(run)
    score = TableScore(table.values, statistics.n, scale, max_parents=most, known=known)
    best = sampled(score, lambda moves: between(run, moves))
    edges = likely_edges(best, parameters.false_edges, known)
    graph = drawn(run.source.names, best.posterior, edges, known)
    stated = best.posterior.stated
    for i, j in combinations(range(score.columns), 2):
        if (i, j) not in known.ruled_out:
            probability = float(stated[i, j] + stated[j, i])
            nonadjacent = (i, j) not in graph.skeleton
            recorder.add(Step.noiseless(i, j, (), probability, nan, nonadjacent))
    return Found(
        # The best DAG with all of its edges: two DAGs can explain a confounder by different edges,
        # so that none of these is probable, and without all of them no DAG explains the numbers.
        dag=known.repaired(best.parents),
        graph=graph,
        posterior=best.posterior,
        separating={},
        rules=Rules(1.0, 1.0, parameters.reference_effect, _NO_EDGE),
        powers=WholeEvidence(score.levels, score.scale, best.fit.expected, parameters.false_edges),
        evidence=TableEvidence(statistics.moments, parameters.penalty),
        statistics=statistics,
        unit="probability",
        tests_run=score.fitted,
        orders_run=1 + max(mask.bit_count() for mask in best.dag),
    )


def likely_edges(best: Sampled, level: float, known: Constraints) -> set[Edge]:
    """The required edges of the best DAG, and the most probable of the other edges.

    The number of other edges is the largest number for which the expected share of false edges
    among them, computed from posterior probabilities, is at most `level`.
    """
    dag, probable = known.repaired(best.parents), best.posterior.edges
    held = {edge for edge in edges_of(dag) if ordered(*edge) in known.required}
    ranked = sorted(edges_of(dag) - held, key=lambda edge: (-probable[edge], edge))
    false, many = 0.0, 0
    for k, edge in enumerate(ranked, 1):
        false += 1 - float(probable[edge])
        if false <= level * k:
            many = k
    return held.union(ranked[:many])


def drawn(
    names: tuple[str, ...], posterior: Posterior, kept: set[Edge], known: Constraints
) -> PDAG:
    """The CPDAG of the kept edges, with only those arrows that are probable enough.

    An arrow becomes undirected if the reverse arrow is allowed and at least as probable.
    """
    graph = known.completed(cpdag_of_dag(names, kept))
    arrows = {
        (cause, effect)
        for cause, effect in graph.directed
        if posterior.directed[cause, effect] > _EVEN * posterior.edges[cause, effect]
        or not known.allowed[effect, cause]
    }
    others = {(min(edge), max(edge)) for edge in graph.directed - arrows}
    return PDAG(graph.nodes, frozenset(arrows), graph.undirected | others)


class WholeEvidence:
    """Effect sizes and power from the fit of a DAG; see `findings.Powers`.

    levels: number of levels of each column. scale: scale of the noise. expected: expectation of
    each cell in the fit. level: the FDR level.
    """

    def __init__(self, levels: Sequence[int], scale: float, expected: Vector, level: float) -> None:
        self._levels, self._expected, self._level = tuple(levels), expected, level
        self._information = expected * expected * cell_information(expected, scale)

    def effect(self, x: int, y: int) -> float:
        """Cramér's V of a pair of columns in the fitted table."""
        joint = self._margin(self._expected, (x, y))
        joint = joint / joint.sum()
        product = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0)
        squared = float(((joint - product) ** 2 / np.maximum(product, _EMPTY)).sum())
        return min(sqrt(squared / (min(joint.shape) - 1)), 1.0)

    def power(self, x: int, y: int, conditioning_set: Columns) -> Power | None:
        """Power to detect an edge x → y given the other parents of y, from the fitted counts.

        A dependence of size V changes a cell's expectation m by V m a(x) b(y), where a and b have
        mean 0 and variance 1 in each stratum. The information about V is the mean of Σ m² a² b² I
        over all such a and b, where I is the information about m.
        """
        columns = (x, y, *conditioning_set)
        expected = self._margin(self._expected, columns)
        expected = expected.reshape(*expected.shape[:2], -1)
        information = self._margin(self._information, columns).reshape(expected.shape)
        sizes = np.maximum(expected.sum(axis=(0, 1)), _EMPTY)
        # Per stratum, squares of such codes add up to 1/share − 1 at each level.
        squares = [
            sizes / np.maximum(expected.sum(axis=axis), _EMPTY * sizes) - 1 for axis in (1, 0)
        ]
        spread = (information * squares[0][:, None] * squares[1][None]).sum()
        r, s = expected.shape[:2]
        parts = (r - 1) * (s - 1)
        dof = parts * prod(self._levels[c] for c in conditioning_set)
        each = float(spread) / parts
        if each <= 0:
            return None
        threshold = probable_from(self._information.sum(), (r, s), dof // parts, self._level)
        return Power(dof, threshold, each * (min(r, s) - 1))

    def _margin(self, cells: Matrix, columns: Sequence[int]) -> Matrix:
        """The sums of the cells over all columns not in `columns`, with axes in the given order."""
        table = cells.reshape(self._levels)
        others = tuple(c for c in range(table.ndim) if c not in columns)
        in_order = sorted(columns)
        return np.asarray(table.sum(axis=others).transpose([in_order.index(c) for c in columns]))
