"""The best DAG by a score that is not a sum over families: steps in the order of what they promise.

A search goes from a DAG to the best of its neighbours, and to those of other members of its
equivalence class (Castelo & Kočka 2003), which a few random turns of covered edges lead to.  Where
it ends, it begins again from the best DAG without the edges of one column, or with one edge turned
and held until the rest has followed; what ends better is the best DAG from then on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from privcore.algorithms.moment_search.posterior.masks import (
    Masks,
    bits,
    class_of,
    covered,
    edges,
    leads,
    masks_of,
)
from privcore.algorithms.moment_search.posterior.table_score import Fit, TableScore

Between = Callable[[int], None]
Edge = tuple[int, int]

# Steps that are fitted, the most promising ones, and members of a class that they start from.
_FITTED, _MEMBERS = 24, 6
_TURNS = 10
_TOO_SMALL = 0.01
# Parts of the noisy counts in the expectations, of which the first searches start: see
# `TableScore.near`.
_MIXED = (0.0, 0.01, 0.05, 1.0)
_COOLING = (25.0, 12.0, 6.0, 3.0, 1.5, 0.5, 0.1)
_ANY = (-1, -1)


class BestDag:
    """A search, and the best DAG so far.

    between: called before each step with the number of steps made; it may raise.
    """

    def __init__(self, score: TableScore, between: Between = lambda moves: None) -> None:
        self._score, self._between, self._moves = score, between, 0
        # Which members of a class are looked at must not depend on secret noise: any will do.
        self._random = np.random.default_rng(0)
        # With the edges that have to be there.
        empty = masks_of(score.known.repaired((frozenset(),) * score.columns))
        starts = dict(self._cooled(empty, mixed) for mixed in _MIXED)
        ends = [self._climbed(*start) for start in starts.items()]
        self.dag, self.fit = max(ends, key=lambda end: end[1].value)
        self._begin_again()

    def polished(self, dag: Masks, fit: Fit) -> tuple[Masks, Fit]:
        """The DAG where a search from this one ends."""
        return self._climbed(dag, fit)

    def _cooled(self, dag: Masks, mixed: float) -> tuple[Masks, Fit]:
        """By walks near a fit alone, each from where the last one led."""
        score, fit = self._score, self._score.fit(dag)
        steps = 5 * score.columns * score.columns
        while True:
            near, new = score.near(fit, mixed), dag
            for temperature in _COOLING:
                new, _ = near.walk(new, temperature, self._random.random((steps, 4)))
            reached = score.fit(new)
            if reached.value <= fit.value + _TOO_SMALL:
                return dag, fit
            dag, fit = new, reached

    def _climbed(self, dag: Masks, fit: Fit, held: Edge = _ANY) -> tuple[Masks, Fit]:
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

    def _options(self, dag: Masks, fit: Fit, held: Edge) -> Iterator[Masks]:
        near, promising = self._score.near(fit), []
        members = [dag]
        if held == _ANY:
            others = [self._member(dag) for _ in range(_MEMBERS - 1)]
            members += [m for m in others if self._score.worth(m) >= self._score.worth(dag)]
        for member in dict.fromkeys(members):
            promising += near.moves(member, _FITTED, held)
        met = {class_of(dag)}
        for _, option in sorted(promising, reverse=True):
            key = class_of(option)
            if key not in met:
                met.add(key)
                yield option
            if len(met) > _FITTED:
                break

    def _member(self, dag: Masks) -> Masks:
        """Another DAG of the class."""
        turned = list(dag)
        for _ in range(_TURNS):
            ways = covered(tuple(turned))
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


def _beginnings(dag: Masks, member: Masks) -> Iterator[tuple[Masks, Edge]]:
    """DAGs to begin again from, each with an edge to hold at first."""
    for column in range(len(dag)):
        less = tuple(0 if c == column else mask & ~(1 << column) for c, mask in enumerate(dag))
        if less != dag:
            yield less, _ANY
    for one in dict.fromkeys((dag, member)):
        for cause, effect in edges(one):
            yield _turned(one, cause, effect), (effect, cause)


def _turned(dag: Masks, cause: int, effect: int) -> Masks:
    """With one edge turned, and without those into its old effect that then close a circle."""
    new = list(dag)
    new[effect] ^= 1 << cause
    for parent in bits(new[effect]):
        if leads(tuple(new), cause, parent):
            new[effect] ^= 1 << parent
    new[cause] |= 1 << effect
    return tuple(new)
