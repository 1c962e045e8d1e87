"""How probable each edge is: a sampler over DAGs under their score.

Parallel tempering (Geyer 1991) from the best DAG that is known.  A proposal is the end of a short
walk by the scores of families near a fit, and stays with the exact score's probability (surrogate
transitions: Liu 2001), so that few DAGs are fitted and the sample is of the exact score.  Two
samplers with other random numbers run one after the other: where they disagree, so much is said.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privcore.algorithms.moment_search.posterior.best import BestDag, Between
from privcore.algorithms.moment_search.posterior.masks import Masks, edges
from privcore.algorithms.moment_search.posterior.table_score import Fit, TableScore

_TEMPERATURES = (1.0, 1.8, 3.2, 6.0, 12.0)
# Rounds of all temperatures, of which the first part only sets the lengths of the walks.
_ROUNDS, _BURN = 120, 24
_LONGER, _SHORTER, _LONGEST = 1.25, 0.9, 200
# A sampler that meets a DAG so much better begins again from it, so many times at most.
_BETTER, _MOST_BEGINNINGS = 1.0, 4
# How far the two samplers may be apart on a pair; and how far so few draws are apart by chance.
APART, _CHANCE = 0.3, 0.1
# What two samplers disagree about, others may too: of what is beyond chance so much is doubt of all
# that they say.
_DOUBT = 0.5


def doubt_of(apart: float) -> float:
    """What part of all that two samplers say is in doubt, which are so far apart on a pair."""
    return _DOUBT * max(apart - _CHANCE, 0.0)


class Posterior(NamedTuple):
    """directed: how often i → j was met, shape (p, p).  dag: the best one that was met, its fit.

    met: every DAG, with how often it was.
    apart: the largest difference between the samplers in how often an edge was met.
    """

    directed: NDArray[np.float64]
    dag: Masks
    fit: Fit
    apart: float
    met: Mapping[Masks, float] = MappingProxyType({})

    @property
    def settled(self) -> bool:
        """Whether the samplers agree."""
        return self.apart <= APART

    @property
    def edges(self) -> NDArray[np.float64]:
        """How often an edge of each pair was met, shape (p, p)."""
        return self.directed + self.directed.T

    @property
    def stated(self) -> NDArray[np.float64]:
        """P(i → j) as it can be told: nearer to even, the more the samplers are apart.

        Even is an edge with probability ½, and each arrow with the same.
        """
        doubt = doubt_of(self.apart)
        even = (1 - np.eye(len(self.directed))) / 4
        return (1 - doubt) * self.directed + doubt * even


def sampled(score: TableScore, between: Between = lambda moves: None) -> Posterior:
    """The posterior of DAGs; the same for the same score.

    between: called now and then with the number of steps made; it may raise.
    """
    best = BestDag(score, between)
    samples = []
    dags: Counter[Masks] = Counter()
    for seed in (1, 2):
        sampler = _Sampler(score, best, np.random.default_rng(seed), between)
        samples.append(sampler.run())
        dags += sampler.met
    many = 2 * (_ROUNDS - _BURN)
    # Half a draw with the edge and half a draw without: none of so many is not never.
    met = many * (samples[0] + samples[1]) / 2 + (1 - np.eye(score.columns)) / 4
    directed = met / (many + 1)
    apart = np.abs(samples[0] + samples[0].T - samples[1] - samples[1].T)
    shares = {dag: times / dags.total() for dag, times in dags.items()}
    return Posterior(directed, best.dag, best.fit, float(apart.max()), shares)


class _Sampler:
    def __init__(
        self, score: TableScore, best: BestDag, random: np.random.Generator, between: Between
    ) -> None:
        self._score, self._best, self._random, self._between = score, best, random, between
        self._begin()
        self._lengths = [2.0 * score.columns] * len(_TEMPERATURES)
        self.met: Counter[Masks] = Counter()

    def _begin(self) -> None:
        self._near = self._score.near(self._best.fit)
        self._states = [(self._best.dag, self._best.fit)] * len(_TEMPERATURES)

    def run(self) -> NDArray[np.float64]:
        """How often each edge i → j was met."""
        beginnings = rounds = kept = 0
        counted = np.zeros((self._score.columns,) * 2)
        while rounds < _ROUNDS:
            self._between(rounds)
            start = self._best.fit.value
            for k in range(len(_TEMPERATURES)):
                self._propose(k, learns=rounds < _BURN)
            self._exchange()
            rounds += 1
            if self._best.fit.value > start + _BETTER and beginnings < _MOST_BEGINNINGS:
                self._best.dag, self._best.fit = self._best.polished(self._best.dag, self._best.fit)
                self._begin()
                beginnings, rounds, kept = beginnings + 1, 0, 0
                counted[:] = 0
                self.met.clear()
            elif rounds > _BURN:
                kept += 1
                self.met[self._states[0][0]] += 1
                for cause, effect in edges(self._states[0][0]):
                    counted[cause, effect] += 1
        return counted / max(kept, 1)

    def _propose(self, k: int, *, learns: bool) -> None:
        temperature, length = _TEMPERATURES[k], self._lengths[k]
        dag, fit = self._states[k]
        new, gained = self._near.walk(dag, temperature, self._random.random((int(length), 4)))
        drawn = math.log(self._random.random())
        if new == dag:
            stays = True
        else:
            wanted = fit.value + gained + 2 * temperature * drawn
            reached = self._score.fit(new, wanted)
            stays = reached.exact and reached.value >= wanted
            if stays:
                self._states[k] = new, reached
            if reached.exact and reached.value > self._best.fit.value:
                self._best.dag, self._best.fit = new, reached
        if learns:
            length *= _LONGER if stays else _SHORTER
            self._lengths[k] = min(max(length, 1.0), float(_LONGEST * self._score.columns))

    def _exchange(self) -> None:
        """States of neighbouring temperatures, the coldest first."""
        for k in range(len(_TEMPERATURES) - 1):
            colder, hotter = 1 / _TEMPERATURES[k], 1 / _TEMPERATURES[k + 1]
            (_, cold), (_, hot) = self._states[k : k + 2]
            if math.log(self._random.random()) <= (colder - hotter) * (hot.value - cold.value) / 2:
                self._states[k], self._states[k + 1] = self._states[k + 1], self._states[k]
