"""Posterior probabilities of edges, from two samples of DAGs drawn according to their scores.

The samplers use parallel tempering (Geyer 1991). A proposal is the end of a short random walk that
uses scores of families. If these scores only approximate a DAG's score, the proposal is accepted or
rejected by the exact score (surrogate transitions: Liu 2001): few DAGs are scored exactly, and the
sample still follows the exact posterior. The two samplers use different random numbers, and their
disagreement is reported.

If not all combinations of levels are counted (`of_pairs`), scores come from models of noisy
moments, and the effect of a model error grows with the number of rows. So scores are tempered to
allow for a model error in one of `_RIGHT` rows (the coarsened posterior of Miller & Dunson 2019)
and for the noise at a typical edge. In each sampled DAG, the probability of an edge between two
columns follows from a Bayes factor, given the parents of the later column. Each part of the test is
normal, with a variance that is the sum of the variances of sampling, noise and model error, plus
the variance of the edge's size if there is an edge. The final probability is a mean over the
sampled DAGs and the result of the search, which has a fixed weight.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import chain, product
from statistics import median
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from privcore import kernels
from privcore.algorithms.moment_search.evidence import ReleaseEvidence
from privcore.algorithms.moment_search.search import (
    Between,
    Parents,
    causes_first,
    edges_of,
    obeying,
)
from privcore.algorithms.moment_search.statistic import Statistics
from privcore.arrays import Columns, Matrix, Vector
from privcore.graphs.constraints import Constraints

# A DAG as one integer per column: bit k is set if its k-th candidate is a parent.
Masks = tuple[int, ...]

_TEMPERATURES = (1.0, 2.0, 4.0)
# Rounds of all temperatures, of which the first part only sets the lengths of the walks.
_ROUNDS, _BURN = 120, 24
# Steps of a walk per column: initial and maximum number, and factors if accepted and if rejected.
_LONGEST, _LONGER, _SHORTER = 20, 1.5, 0.8
# Walks use the scores of families divided by 1, or by this much, which is almost a blind walk.
_HEATS = (1.0, 25.0)
# Largest acceptable difference between the two samplers on a pair, and that by Monte Carlo error.
MOST_DISAGREEMENT, _CHANCE = 0.3, 0.1
# Share of the difference above Monte Carlo error by which probabilities shrink toward the prior.
_DOUBT = 0.5

# For `of_pairs`: assumed noise on a score, relative to that on a typical edge.
_WIDER = 5.0
# A model counts as right up to a deviation seen in one of this many rows.
_RIGHT = 4000.0
# Mean of φ² of an edge, which is assumed to be spread evenly over the parts of a test.
_SIZE = 0.1
# Prior expectation of edges per column.
_EDGES = 1.6
# Weight of the result of the search, as a share of all draws.
_RESULT = 0.6
# Bound on the certainty of a pair, and what is added to the share of draws with either arrow.
_LEAST, _ADDED = 0.001, 0.05
# Maximum number of candidates of a column: a table holds the scores of all their subsets.
_CANDIDATES = 12
# One of this many draws has its tests made.
_TESTED = 4


class Posterior(NamedTuple):
    """Posterior probabilities of edges.

    directed: P(i → j) as estimated by the samplers, shape (p, p). disagreement: the largest
    difference between the samplers in the probability of an edge. even: the prior probability of an
    edge. known: background knowledge. dags: the sampled DAGs with their shares of the sample.
    """

    directed: Matrix
    disagreement: float
    even: float
    known: Constraints
    dags: tuple[tuple[Parents, float], ...] = ()

    @property
    def settled(self) -> bool:
        """Whether the samplers agree well enough on every pair."""
        return self.disagreement <= MOST_DISAGREEMENT

    @property
    def edges(self) -> Matrix:
        """The samplers' estimate of the probability of an edge for each pair, shape (p, p)."""
        return self.directed + self.directed.T

    @property
    def stated(self) -> Matrix:
        """P(i → j), shape (p, p), shrunk toward the prior if the samplers disagree."""
        doubt = _DOUBT * max(self.disagreement - _CHANCE, 0.0)
        even = (1 - np.eye(len(self.directed))) * self.even / 2
        return as_known((1 - doubt) * self.directed + doubt * even, self.known)


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


@lru_cache(maxsize=1 << 13)
def bits(mask: int) -> tuple[int, ...]:
    """The positions of the set bits of a mask, ascending."""
    return tuple(place for place in range(mask.bit_length()) if mask >> place & 1)


class Families:
    """Cached scores of families, and random walks over DAGs that use these scores.

    score: function of a column and the bit mask of the column's parents among the candidates.
    candidates: possible parents of each column. prior: log prior of a DAG, indexed by the number of
    edges.
    """

    def __init__(
        self,
        score: Callable[[int, int], float],
        candidates: Sequence[Sequence[int]],
        prior: Vector,
        max_parents: int,
    ) -> None:
        p, widest = len(candidates), max(1, *map(len, candidates))
        self.score, self.prior, self._most = score, prior, max_parents
        self._candidates = np.full((p, widest), -1)
        self._places = np.full((p, p), -1)
        for column, others in enumerate(candidates):
            self._candidates[column, : len(others)] = others
            self._places[column, list(others)] = range(len(others))
        others = (self._candidates >= 0) & (self._candidates != np.arange(p)[:, None])
        self._arrows = np.ascontiguousarray(np.argwhere(others))
        self._known = np.full((p, 1 << widest), np.nan)

    def masks_of(self, dag: Parents) -> Masks:
        """The bit masks of the parents in a DAG; parents that are not candidates are left out."""
        places = self._places.tolist()
        return tuple(
            sum(1 << places[column][c] for c in causes if places[column][c] >= 0)
            for column, causes in enumerate(dag)
        )

    def parents_of(self, dag: Masks) -> Parents:
        candidates = self._candidates.tolist()
        return tuple(
            frozenset(candidates[column][k] for k in bits(mask)) for column, mask in enumerate(dag)
        )

    def of(self, column: int, mask: int) -> float:
        if math.isnan(self._known[column, mask]):
            self._known[column, mask] = self.score(column, mask)
        return float(self._known[column, mask])

    def value(self, dag: Masks) -> float:
        """The score of a DAG: the sum over its families, plus its log prior."""
        many = sum(mask.bit_count() for mask in dag)
        return sum(self.of(*family) for family in enumerate(dag)) + float(self.prior[many])

    def walk(self, dag: Masks, temperature: float, uniforms: Matrix) -> Masks:
        """The end of a Metropolis walk from `dag`; uniforms: random numbers, shape (steps, 3)."""
        end, step, column = np.array(dag), 0, 0
        for family in enumerate(dag):
            self.of(*family)
        while column >= 0 and self._arrows.size:
            step, column, mask = kernels.walks.walk(
                end,
                self._candidates,
                self._places,
                self._arrows,
                self._known,
                self.prior,
                self._most,
                temperature,
                uniforms,
                step,
            )
            if column >= 0:
                self.of(column, mask)
        return tuple(end.tolist())


def two_samples(
    families: Families,
    start: Masks,
    between: Between,
    exact: Callable[[Masks, float], float] | None = None,
) -> tuple[list[Masks], list[Masks]]:
    """Draw two samples of DAGs, each with one DAG per round after the burn-in.

    The random numbers are fixed, so equal scores give equal samples. exact: returns the score of a
    DAG; if the score is below the second argument, `exact` may return any number below this
    argument. If `exact` is None, the score is the sum over families. between: called before each
    round with the number of rounds made so far; may raise an exception to end the sampling.
    """
    first, second = (
        _Sampler(families, start, exact, np.random.default_rng(seed)).run(between)
        for seed in (1, 2)
    )
    return first, second


class _Sampler:
    def __init__(
        self,
        families: Families,
        start: Masks,
        exact: Callable[[Masks, float], float] | None,
        random: np.random.Generator,
    ) -> None:
        self._families, self._random = families, random
        self._exact = exact or (lambda dag, wanted: families.value(dag))
        self._states = [(start, self._exact(start, -math.inf))] * len(_TEMPERATURES)
        # Blind walks add nothing if the other walks use the score itself.
        proposals = product(_HEATS if exact else (1.0,), range(len(_TEMPERATURES)))
        # Such walks are never rejected, so half of the rounds suffice.
        self._rounds, self._burn = (_ROUNDS, _BURN) if exact else (_ROUNDS // 2, _BURN // 2)
        self._longest = float(_LONGEST * len(start))
        self._lengths = dict.fromkeys(proposals, self._longest)

    def run(self, between: Between) -> list[Masks]:
        met = []
        for made in range(self._rounds):
            between(made)
            for heat, k in self._lengths:
                # Blind walks, most of which are rejected, are made in every other round.
                if heat == 1 or made % 2:
                    self._propose(heat, k, learns=made < self._burn)
            self._exchange()
            if made >= self._burn:
                met.append(self._states[0][0])
        return met

    def _propose(self, heat: float, k: int, *, learns: bool) -> None:
        length, temperature, (dag, value) = (
            self._lengths[heat, k],
            _TEMPERATURES[k],
            self._states[k],
        )
        uniforms = self._random.random((int(length), 3))
        new = self._families.walk(dag, heat * temperature, uniforms)
        wanted = value + (self._families.value(new) - self._families.value(dag)) / heat
        wanted += 2 * temperature * math.log(self._random.random())
        reached = value if new == dag else self._exact(new, wanted)
        stays = new == dag or reached >= wanted
        if stays:
            self._states[k] = new, reached
        if learns:
            length *= _LONGER if stays else _SHORTER
            self._lengths[heat, k] = min(max(length, 1.0), self._longest)

    def _exchange(self) -> None:
        """Exchange the states of neighbouring temperatures, the coldest pair first."""
        for k in range(len(_TEMPERATURES) - 1):
            colder, hotter = 1 / _TEMPERATURES[k], 1 / _TEMPERATURES[k + 1]
            (_, cold), (_, hot) = self._states[k : k + 2]
            if math.log(self._random.random()) <= (colder - hotter) * (hot - cold) / 2:
                self._states[k], self._states[k + 1] = self._states[k + 1], self._states[k]


def share_of_arrows(dags: Sequence[Parents]) -> Matrix:
    """The share of the DAGs that contain i → j, for all i and j, shape (p, p)."""
    p = len(dags[0])
    shares = np.zeros((p, p))
    for dag in dags:
        for edge in edges_of(dag):
            shares[edge] += 1 / len(dags)
    return shares


def of_pairs(
    evidence: ReleaseEvidence,
    n: int,
    dag: Parents,
    compelled: frozenset[tuple[int, int]],
    neighbours: Mapping[int, set[int]],
    max_parents: int,
    between: Between = lambda moves: None,
    known: Constraints | None = None,
) -> Posterior:
    """The posterior of edges if not all combinations of levels were counted.

    n: number of rows. dag: the result of the search. compelled: the arrows of the DAG's CPDAG.
    neighbours: the possible neighbours of each column. between: see `two_samples`. known:
    background knowledge, which every sampled DAG obeys.
    """
    p = len(dag)
    known = known or Constraints.none(p)
    even = min(2 * _EDGES / max(p - 1, 1), 0.5)
    odds = 2 * float(np.log(even / (1 - even)))
    tested = (evidence.edge(dag, *edge) for edge in sorted(edges_of(dag)))
    noise = median(chain((1 / t.scale for t in tested if t.second), (1.0,)))
    scale, score = _WIDER * noise + n / _RIGHT, obeying(evidence.score, known, n)

    def strength(x: int, y: int) -> float:
        return evidence.linear.test(x, y).noncentrality

    considered = [_considered_candidates(dag, neighbours, strength, column) for column in range(p)]
    families = Families(
        lambda column, mask: (
            score(column, frozenset(considered[column][k] for k in bits(mask))) / scale
        ),
        considered,
        odds * np.arange(p * (p - 1) // 2 + 1, dtype=np.float64),
        max_parents,
    )
    both = [
        list(map(families.parents_of, met))
        for met in two_samples(families, families.masks_of(dag), between)
    ]
    rows: dict[tuple[int, Columns], Vector] = {}

    def probabilities(column: int, parents: Columns) -> Vector:
        if (column, parents) not in rows:
            factors = bayes_factors(evidence.row(column, parents), n)
            rows[column, parents] = expit((factors + odds) / 2)
        return rows[column, parents]

    drawn = [met[::_TESTED] for met in both]
    first, second = (_mean(dags, probabilities, between) for dags in drawn)
    result = share_of_arrows([dag])
    edges = (1 - _RESULT) * (first + second) / 2 + _RESULT * (result + result.T)
    met = share_of_arrows(both[0] + both[1]) + _ADDED
    turned = np.full((p, p), 0.5)
    for cause, effect in compelled:
        turned[cause, effect], turned[effect, cause] = 1.0, 0.0
    forward = (1 - _RESULT) * met / (met + met.T) + _RESULT * turned
    directed = np.clip(edges, _LEAST, 1 - _LEAST) * forward * (1 - np.eye(p))
    every = drawn[0] + drawn[1]
    dags = ((dag, _RESULT), *((one, (1 - _RESULT) / len(every)) for one in every))
    return Posterior(directed, float(np.abs(first - second).max()), even, known, dags)


def _considered_candidates(
    start: Parents,
    possible: Mapping[int, set[int]],
    strength: Callable[[int, int], float],
    column: int,
) -> list[int]:
    """At most `_CANDIDATES` candidates of a column: parents first, then children, then others."""
    effects = {c for c, parents in enumerate(start) if column in parents}
    ranked = sorted(
        possible[column] | start[column] | effects, key=lambda c: (-strength(column, c), c)
    )
    return sorted(ranked, key=lambda c: (c not in start[column], c not in effects))[:_CANDIDATES]


def bayes_factors(tests: Statistics, n: int) -> Vector:
    """Twice the log Bayes factor for an edge, for each test; n: number of rows.

    Each of the k parts z of a test is normal. Its variance is v = 1 + noise + n/`_RIGHT` without an
    edge, and v + n `_SIZE`/k with an edge. Twice the log likelihood ratio is therefore the sum over
    the parts of z²/v · ρ/(1 + ρ) − log(1 + ρ), where ρ = n `_SIZE`/(k v). A test without
    information gives 0.

    >>> tests = Statistics(*np.array([[0.0, 30.0], [1.0, 1.0], [1.0, 1.0], [1.0, 1.0]]))
    >>> [round(float(factor), 1) for factor in bayes_factors(tests, 1000)]
    [-4.4, 19.3]
    """
    informative = (tests.second > 0) & tests.informative
    first, second = (np.where(informative, field, 1.0) for field in (tests.first, tests.second))
    variance = first / second + n / _RIGHT
    ratio = n * _SIZE * second / (first * first) / variance
    value = tests.value * (first / second) ** 2 / variance
    factors = value * ratio / (1 + ratio) - first * first / second * np.log1p(ratio)
    return np.asarray(np.where(informative, factors, 0.0))


def _mean(
    dags: Sequence[Parents], probabilities: Callable[[int, Columns], Vector], between: Between
) -> Matrix:
    """Probabilities of edges, averaged over the DAGs, shape (p, p)."""
    p = len(dags[0])
    total = np.zeros((p, p))
    for made, dag in enumerate(dags):
        between(made)
        met: list[int] = []
        for column in causes_first(dag):
            total[met, column] += probabilities(column, tuple(sorted(dag[column])))[met]
            met.append(column)
    return (total + total.T) / len(dags)
