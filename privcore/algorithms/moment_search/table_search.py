"""Search for the best DAG by a score that is not a sum over families.

The search moves from a DAG to a better neighbour of this DAG or of another DAG in the same
equivalence class (Castelo & Kočka 2003). The other DAG is reached by a few random reversals of
covered edges. Neighbours are tried in the order of their approximate gain. At a local optimum the
search restarts from a changed copy of the best DAG: without the edges of one column, or with one
edge reversed and fixed until the rest of the DAG has adapted. A better optimum becomes the best
DAG.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from privcore.algorithms.moment_search.full_table import Fit, TableScore, class_of
from privcore.algorithms.moment_search.posterior import (
    Families,
    Masks,
    Posterior,
    bits,
    share_of_arrows,
    two_samples,
)
from privcore.algorithms.moment_search.search import Between, Parents

Edge = tuple[int, int]

# Number of neighbours that are fitted, the most promising first, and number of class members whose
# neighbours are considered.
_FITTED, _MEMBERS = 24, 6
_TURNS = 10
# Fits stop this far below their maximum.
_TOO_SMALL = 0.01
# Weights of the noisy counts in the expectations for the first searches: see
# `TableScore.families_near`.
_MIXED = (0.0, 0.01, 0.05, 1.0)
_COOLING = (25.0, 12.0, 6.0, 3.0, 1.5, 0.5, 0.1)
# If samplers find a DAG better by this much, they restart from it.
_BETTER = 1.0
_ANY = (-1, -1)
# Prior probability of an edge.
_EVEN = 0.5


class Better(Exception):
    """Raised when samplers find a DAG that is clearly better than the DAG they started from."""


class TableSearch:
    """A search for the best DAG; holds the best DAG so far and its fit.

    between: called before each step with the number of steps so far; may raise an exception to end
    the search.
    """

    def __init__(self, score: TableScore, between: Between = lambda moves: None) -> None:
        self._score, self._between, self._moves = score, between, 0
        # The choice of class members must not depend on secret noise; any choice is valid.
        self._random = np.random.default_rng(0)
        # With the required edges.
        parents = score.known.repaired((frozenset(),) * score.columns)
        empty = tuple(sum(1 << c for c in causes) for causes in parents)
        starts = dict(self._cooled(empty, mixed) for mixed in _MIXED)
        ends = [self._climbed(*start) for start in starts.items()]
        self.dag, self.fit = max(ends, key=lambda end: end[1].value)
        self._begin_again()
        self._sampled_from = self.fit.value

    def exact(self, dag: Masks, wanted: float) -> float:
        """The score of a DAG, or −∞ if the score is far below `wanted`.

        Raises Better if the samplers have found a DAG clearly better than their start.
        """
        fit = self._score.fit(dag, wanted)
        if not fit.exact:
            return -math.inf
        if fit.value > self.fit.value:
            self.dag, self.fit = dag, fit
        if self.fit.value > self._sampled_from + _BETTER:
            raise Better
        return fit.value

    def climb_on(self) -> None:
        """Continue the search from the best DAG that the samplers found."""
        self.dag, self.fit = self._climbed(self.dag, self.fit)
        self._sampled_from = self.fit.value

    def _cooled(self, dag: Masks, mixed: float) -> tuple[Masks, Fit]:
        """Search by random walks near a fit; each walk starts where the previous walk ended."""
        score, fit = self._score, self._score.fit(dag)
        steps = 5 * score.columns * score.columns
        while True:
            scores, new = score.families_near(fit, mixed), dag
            for temperature in _COOLING:
                new = scores.walk(new, temperature, self._random.random((steps, 3)))
            reached = score.fit(new)
            if reached.value <= fit.value + _TOO_SMALL:
                return dag, fit
            dag, fit = new, reached

    def _climbed(self, dag: Masks, fit: Fit, held: Edge = _ANY) -> tuple[Masks, Fit]:
        """Climb to a local optimum; held: an edge (cause, effect) that stays."""
        while True:
            self._between(self._moves)
            self._moves += 1
            for option in self._options(dag, fit, held):
                reached = self._score.fit(option, fit.value)
                if reached.value > fit.value + _TOO_SMALL:
                    dag, fit = option, reached
                    break
            else:
                return dag, fit

    def _options(self, dag: Masks, fit: Fit, held: Edge) -> list[Masks]:
        scores = self._score.families_near(fit)
        members = [dag]
        if held == _ANY:
            others = [self._member(dag) for _ in range(_MEMBERS - 1)]
            members += [
                m
                for m in others
                if self._score.knowledge_log_prior(m) >= self._score.knowledge_log_prior(dag)
            ]
        promising: dict[Masks, float] = {}
        for member in dict.fromkeys(members):
            promising |= steps(scores, member, self._score.max_parents, held)
        options = {class_of(dag): dag}
        for option in sorted(promising, key=promising.__getitem__, reverse=True):
            if is_acyclic(option):
                options.setdefault(class_of(option), option)
            if len(options) > _FITTED:
                break
        return list(options.values())[1:]

    def _member(self, dag: Masks) -> Masks:
        """A random DAG from the equivalence class of this DAG."""
        turned = list(dag)
        for _ in range(_TURNS):
            ways = covered(turned)
            if not ways:
                break
            cause, effect = ways[self._random.integers(len(ways))]
            turned[effect] ^= 1 << cause
            turned[cause] |= 1 << effect
        return tuple(turned)

    def _begin_again(self) -> None:
        tried = set()
        improved = True
        while improved:
            improved = False
            for start, held in _beginnings(self.dag, self._member(self.dag)):
                key = (class_of(start), held)
                most = max(mask.bit_count() for mask in start)
                if key in tried or most > self._score.max_parents:
                    continue
                tried.add(key)
                reached = start, self._score.fit(start)
                if held != _ANY:
                    reached = self._climbed(*reached, held)
                dag, fit = self._climbed(*reached)
                if fit.value > self.fit.value + _TOO_SMALL:
                    self.dag, self.fit, improved = dag, fit, True
                    break


def steps(scores: Families, dag: Masks, most: int, held: Edge = _ANY) -> dict[Masks, float]:
    """The graphs that are one step from a DAG, with gains in score; some graphs have cycles.

    A step adds, deletes or reverses an edge, or replaces a parent by another column. most: maximum
    number of parents. held: an edge (cause, effect) that stays.
    """
    columns, many = range(len(dag)), sum(mask.bit_count() for mask in dag)
    own = [scores.of(*family) for family in enumerate(dag)]
    more, less = scores.prior[many + 1 : many + 2].sum(), scores.prior[max(many - 1, 0)]
    made: dict[Masks, float] = {}

    def step(gain: float, *families: Edge) -> None:
        new = list(dag)
        for column, mask in families:
            gain += scores.of(column, mask) - own[column]
            new[column] = mask
        made[tuple(new)] = gain

    for effect, mask in enumerate(dag):
        for cause in columns:
            changed = mask ^ 1 << cause
            if cause == effect or (cause, effect) == held:
                continue
            if not mask >> cause & 1:
                if not dag[cause] >> effect & 1 and mask.bit_count() < most:
                    step(more - scores.prior[many], (effect, changed))
                continue
            step(less - scores.prior[many], (effect, changed))
            if dag[cause].bit_count() < most:
                step(0.0, (effect, changed), (cause, dag[cause] | 1 << effect))
            for other in columns:
                if other != effect and not (mask >> other & 1 or dag[other] >> effect & 1):
                    step(0.0, (effect, changed | 1 << other))
    return made


def _beginnings(dag: Masks, member: Masks) -> Iterator[tuple[Masks, Edge]]:
    """DAGs to restart from, each with the edge to fix at first, if any."""
    for column in range(len(dag)):
        less = tuple(0 if c == column else mask & ~(1 << column) for c, mask in enumerate(dag))
        if less != dag:
            yield less, _ANY
    for one in dict.fromkeys((dag, member)):
        for effect, mask in enumerate(one):
            for cause in bits(mask):
                yield _turned(one, cause, effect), (effect, cause)


def _turned(dag: Masks, cause: int, effect: int) -> Masks:
    """The DAG with one edge reversed, without the edges that would then close a cycle."""
    new = list(dag)
    new[effect] ^= 1 << cause
    for parent in bits(new[effect]):
        if leads(new, cause, parent):
            new[effect] ^= 1 << parent
    new[cause] |= 1 << effect
    return tuple(new)


def leads(dag: Sequence[int], source: int, target: int) -> bool:
    """Whether a directed path goes from source to target."""
    met = waiting = 1 << target
    while waiting:
        parents = dag[(waiting & -waiting).bit_length() - 1] & ~met
        if parents >> source & 1:
            return True
        waiting, met = waiting & (waiting - 1) | parents, met | parents
    return False


@lru_cache(maxsize=10_000)
def is_acyclic(dag: Masks) -> bool:
    left = list(enumerate(dag))
    while left:
        columns = sum(1 << column for column, _ in left)
        later = [(column, mask) for column, mask in left if mask & columns]
        if len(later) == len(left):
            return False
        left = later
    return True


def covered(dag: Sequence[int]) -> list[Edge]:
    """Covered edges (cause, effect), whose two columns have the same other parents.

    Reversing a covered edge gives an equivalent DAG.
    """
    return [(a, b) for b, mask in enumerate(dag) for a in bits(mask) if mask == dag[a] | 1 << a]


class Sampled(NamedTuple):
    """The best DAG found, its fit, and the posterior from sampled DAGs."""

    dag: Masks
    fit: Fit
    posterior: Posterior

    @property
    def parents(self) -> Parents:
        return tuple(frozenset(bits(mask)) for mask in self.dag)


def sampled(score: TableScore, between: Between = lambda moves: None) -> Sampled:
    """Search for the best DAG and sample DAGs from the posterior; equal scores give equal results.

    between: called regularly with the number of steps so far; may raise an exception to end the
    search.
    """
    search = TableSearch(score, between)
    while True:
        scores = score.families_near(search.fit)
        try:
            first, second = two_samples(scores, search.dag, between, search.exact)
            break
        except Better:
            search.climb_on()
    shares = [share_of_arrows([scores.parents_of(one) for one in met]) for met in (first, second)]
    disagreement = np.abs(shares[0] + shares[0].T - shares[1] - shares[1].T)
    times = Counter(first + second)
    many = times.total()
    # Half a draw with the edge and half a draw without: 0 of N must not become probability 0.
    directed = (many * (shares[0] + shares[1]) / 2 + (1 - np.eye(score.columns)) / 4) / (many + 1)
    dags = tuple((scores.parents_of(one), time / many) for one, time in times.items())
    posterior = Posterior(directed, float(disagreement.max()), _EVEN, score.known, dags)
    return Sampled(search.dag, search.fit, posterior)
