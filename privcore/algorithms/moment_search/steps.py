"""What moment search does with a release, whichever it was."""

from __future__ import annotations

import math
from collections.abc import Iterator
from math import nan
from typing import NamedTuple

from privcore.algorithms.moment_search.margins import nearest_probabilities
from privcore.algorithms.moment_search.moments import Moments
from privcore.algorithms.moment_search.parameters import MomentSearchParameters
from privcore.algorithms.moment_search.released import KeptSums
from privcore.algorithms.moment_search.search import Parents, Scorer, best_of_orders, obeying
from privcore.algorithms.moment_search.table_evidence import TableEvidence
from privcore.algorithms.search import common
from privcore.algorithms.search.model import Progress, Run
from privcore.algorithms.search.result import Edge, Margin, Spent, Step
from privcore.algorithms.search.skeleton import (
    Answer,
    Decision,
    Skeleton,
    conditioning_sets,
    search_skeleton,
)
from privcore.arrays import Columns
from privcore.errors import Cancelled

Around = dict[int, set[int]]


class Found(NamedTuple):
    """dag: the result.  seen: what findings ask.  around: per column, what it may be adjacent to.

    searched: the skeletons found on the way, the last one last.  accountant: of the guarantee.
    kept: all that was released.
    """

    dag: Parents
    seen: TableEvidence
    around: Around
    searched: tuple[Skeleton, ...]
    spent: Spent
    accountant: str
    kept: KeptSums


# Pairs that are asked about together.
_AT_ONCE = 512


class _NoiseAware(Decision):
    """Independent when the test that knows the noise does not reject, and could have.

    tabulated: conditioning sets of two and more columns count only where a table holds them.
    """

    def __init__(
        self, evidence: TableEvidence, level: float, recorder: common.Recorder, *, tabulated: bool
    ) -> None:
        self._evidence, self._level, self._tabulated = evidence, level, tabulated
        self._recorder = recorder

    def independent(self, x: int, y: int, conditioning_set: Columns) -> bool:
        tested = self._evidence.test(x, y, conditioning_set)
        return tested.p_value > self._level and tested.informative

    def whole_order(
        self, order: int, pairs: list[Edge], adjacent: list[set[int]]
    ) -> Iterator[Answer]:
        for first in range(0, len(pairs), _AT_ONCE):
            yield from self._answered(order, pairs[first : first + _AT_ONCE], adjacent)

    def _answered(
        self, order: int, pairs: list[Edge], adjacent: list[set[int]]
    ) -> Iterator[Answer]:
        """All pairs given the first set of each, then those left given the next, and so on."""
        needs_table = self._tabulated and order > 1
        sets = [conditioning_sets(adjacent, x, y, order) for x, y in pairs]
        separating: list[Columns | None] = [None] * len(pairs)
        steps: list[list[Step]] = [[] for _ in pairs]
        tests = [0] * len(pairs)
        waiting = list(range(len(pairs)))
        while waiting:
            asked = []
            for k in waiting:
                for others in sets[k]:
                    tests[k] += 1
                    if not needs_table or self._evidence.tabulated(*pairs[k], *others):
                        asked.append((k, others))
                        break
            made = self._evidence.tests([(*pairs[k], others) for k, others in asked])
            verdicts, waiting = (made.p_values > self._level) & made.informative, []
            for (k, others), p_value, verdict in zip(asked, made.p_values, verdicts, strict=True):
                if verdict:
                    separating[k] = others
                else:
                    waiting.append(k)
                if self._recorder.keep:
                    x, y = pairs[k]
                    step = Step.noiseless(x, y, others, float(p_value), self._level, bool(verdict))
                    steps[k].append(step)
        for made_here, separating_set, number in zip(steps, separating, tests, strict=True):
            for step in made_here:
                self._recorder.add(step)
            yield Answer(separating_set, number)


def record_release(recorder: common.Recorder, sigma: float, share: float, number: int) -> None:
    """sigma: scale of its noise.  share: of the budget.  number: from 1."""
    recorder.add(Step(0, -1, -1, (), "release", nan, sigma, nan, nan, False, share, number))


def narrowed(
    run: Run[MomentSearchParameters],
    order: int | None,
    evidence: TableEvidence,
    recorder: common.Recorder,
    within: Skeleton | None,
) -> Skeleton:
    """PC's search: over all pairs, or within the edges that an earlier one left.

    order: most columns that it conditions on, where the run sets no lower limit.
    """
    limits = [k for k in (run.parameters.max_order, order) if k is not None]
    candidates = run.parameters.level_of_candidates(len(run.source.names))
    level = candidates if within is None else run.parameters.threshold
    return search_skeleton(
        run.source.names,
        _NoiseAware(evidence, level, recorder, tabulated=within is not None),
        max_order=min(limits, default=None),
        hooks=run.hooks,
        start=None if within is None else within.graph,
        known=run.known,
    )


def neighbours(skeleton: Skeleton) -> Around:
    """Neighbours of each column."""
    return {c: skeleton.graph.adjacent(c) for c in range(len(skeleton.graph.nodes))}


def searched_among(
    run: Run[MomentSearchParameters],
    score: Scorer,
    candidates: Around,
    start: Parents | None = None,
) -> Parents:
    """The best DAG by scores of families, of edges among the candidates.

    start: one of these; what is found is no worse.
    """
    return best_of_orders(
        obeying(score, run.known, run.source.n),
        candidates,
        max_parents=most_parents(run),
        between=lambda moves: between(run, moves),
        start=start,
    )


def most_parents(run: Run[MomentSearchParameters]) -> int:
    """Parents that a column may have."""
    return max(run.parameters.max_parents, run.known.most_parents)


def between(run: Run[MomentSearchParameters], moves: int) -> None:
    """Tells how far a search is; raises Cancelled when it is to end."""
    run.hooks.progress(Progress(0, moves, 0, moves, "change"))
    end_if_cancelled(run)


def released_margins(moments: Moments) -> tuple[Margin, ...]:
    """Probabilities of each column's levels, nearest to the counts that all releases give."""
    margins = []
    for column in range(len(moments.levels)):
        probabilities = nearest_probabilities(moments.table([column]), 0.0)
        deviation = math.sqrt(moments.cell_variance([column])) / moments.n
        margins.append(Margin(tuple(probabilities.tolist()), deviation))
    return tuple(margins)


def end_if_cancelled(run: Run[MomentSearchParameters]) -> None:
    """Raises Cancelled."""
    if run.hooks.cancelled():
        raise Cancelled
