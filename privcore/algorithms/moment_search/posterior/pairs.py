"""How probable each edge is, where not all combinations of levels are counted.

DAGs are drawn by the score (`draws`).  In each, the probability that two columns have an edge is
that of its Bayes factor, given the parents of the later one: parts of the test are normal with
the variance of rows, noise and what may be wrong in a model, and with an edge of any size they
vary as much more as its size does.  The mean over the draws is the probability, in which the DAG
that the search ends with counts as a part of the draws.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import chain
from statistics import median
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from privcore.algorithms.moment_search.evidence import Evidence
from privcore.algorithms.moment_search.findings import as_known
from privcore.algorithms.moment_search.posterior.draws import Draws, Edges, drawn_dags
from privcore.algorithms.moment_search.posterior.sampler import APART, doubt_of
from privcore.algorithms.moment_search.search import Parents, edges_of, obeying
from privcore.algorithms.moment_search.statistic import Statistics
from privcore.arrays import Columns, Matrix, Vector
from privcore.graphs import topological_order
from privcore.graphs.constraints import Constraints

# Chosen on random networks so that probabilities hold: docs/experiments/edge_probabilities.md.
# How wide the noise on a score is taken beside that on a typical edge.
_WIDER = 5.0
# A model is right up to what one in so many rows shows.
_RIGHT = 4000.0
# Variance of an edge's size, as the mean of φ² over the parts of a test.
_SIZE = 0.01
# Edges of a DAG before anything is seen, for each column.
_EDGES = 1.6
# What the result of the search counts, of all draws.
_RESULT = 0.6
# No pair is surer than that.  Added to the share of draws with either arrow: none is not never.
_LEAST, _ADDED = 0.001, 0.05


class PairPosterior(NamedTuple):
    """stated: P(i → j), shape (p, p).  apart: the largest difference between two samplers in the
    probability of an edge.  dags: those drawn and the result of the search, with their shares."""

    stated: Matrix
    apart: float
    dags: tuple[tuple[Parents, float], ...]

    @property
    def settled(self) -> bool:
        """Whether the samplers agree."""
        return self.apart <= APART


def of_pairs(
    evidence: Evidence,
    n: int,
    dag: Parents,
    compelled: frozenset[tuple[int, int]],
    around: Mapping[int, set[int]],
    max_parents: int,
    between: Callable[[int], None] = lambda moves: None,
    known: Constraints | None = None,
) -> PairPosterior:
    """n: rows.  dag: the result of the search; compelled: its arrows that its class has.

    around: per column, those it may be adjacent to.  between: see `drawn_dags`.
    known: background knowledge, which every DAG that is drawn obeys.
    """
    p = len(dag)
    known = known or Constraints.none(p)
    share = min(2 * _EDGES / max(p - 1, 1), 0.5)
    odds = 2 * float(np.log(share / (1 - share)))
    tested = (evidence.edge(dag, *edge) for edge in sorted(edges_of(dag)))
    noise = median(chain((1 / t.scale for t in tested if t.second), (1.0,)))
    both = drawn_dags(
        obeying(evidence.score, known, n),
        dag,
        around,
        lambda x, y: evidence.first(x, y, ()).noncentrality,
        scale=_WIDER * noise + n / _RIGHT,
        worth=odds,
        max_parents=max_parents,
        between=between,
    )
    rows: dict[tuple[int, Columns], Vector] = {}

    def probabilities(column: int, parents: Columns) -> Vector:
        if (column, parents) not in rows:
            factors = bayes_factors(evidence.row(column, parents), n)
            rows[column, parents] = expit((factors + odds) / 2)
        return rows[column, parents]

    first, second = (_mean(draws, probabilities, between) for draws in both)
    apart = float(np.abs(first - second).max())
    doubt = doubt_of(apart)
    result = np.array([[float(c in parents) for c in range(p)] for parents in dag]).T
    edges = (1 - _RESULT) * (first + second) / 2 + _RESULT * (result + result.T)
    edges = np.clip((1 - doubt) * edges + doubt * share, _LEAST, 1 - _LEAST)
    np.fill_diagonal(edges, 0.0)
    directed = (both[0].directed + both[1].directed) / 2 + _ADDED
    drawn = np.full((p, p), 0.5)
    for cause, effect in compelled:
        drawn[cause, effect], drawn[effect, cause] = 1.0, 0.0
    forward = (1 - _RESULT) * directed / (directed + directed.T) + _RESULT * drawn
    stated = edges * ((1 - doubt) * forward + doubt * 0.5)
    every = [*both[0].dags, *both[1].dags]
    share = (1 - _RESULT) / len(every)
    dags = ((tuple(frozenset(np.flatnonzero(row).tolist()) for row in one), share) for one in every)
    return PairPosterior(as_known(stated, known), apart, ((dag, _RESULT), *dags))


def bayes_factors(tests: Statistics, n: int) -> Vector:
    """Twice the log of the probability of each test with an edge beside that without; n: rows.

    A part z of a test is normal with variance v = 1 + noise + n/`_RIGHT` without an edge, and
    v + n `_SIZE` with one, so that 2 log of the ratio is z²/v · ρ/(1 + ρ) − log(1 + ρ), with
    ρ = n `_SIZE`/v.  0 where a test says nothing.

    >>> tests = Statistics(*np.array([[0.0, 30.0], [1.0, 1.0], [1.0, 1.0], [1.0, 1.0]]))
    >>> [round(float(factor), 1) for factor in bayes_factors(tests, 1000)]
    [-2.2, 19.1]
    """
    says = (tests.second > 0) & tests.informative
    first, second = (np.where(says, field, 1.0) for field in (tests.first, tests.second))
    variance = first / second + n / _RIGHT
    ratio = n * _SIZE / variance
    value = tests.value * (first / second) / variance
    factors = value * ratio / (1 + ratio) - first * first / second * np.log1p(ratio)
    return np.asarray(np.where(says, factors, 0.0))


def _mean(
    draws: Draws,
    probabilities: Callable[[int, Columns], Vector],
    between: Callable[[int], None],
) -> Matrix:
    """Probabilities of edges, in the mean over the DAGs, shape (p, p)."""
    p = len(draws.directed)
    total = np.zeros((p, p))
    for made, parents in enumerate(draws.dags):
        between(made)
        met: list[int] = []
        for column in _causes_first(parents):
            causes = tuple(np.flatnonzero(parents[column]).tolist())
            total[met, column] += probabilities(column, causes)[met]
            met.append(column)
    return (total + total.T) / len(draws.dags)


def _causes_first(parents: Edges) -> list[int]:
    effects, causes = np.nonzero(parents)
    return topological_order(len(parents), set(zip(causes.tolist(), effects.tolist(), strict=True)))
