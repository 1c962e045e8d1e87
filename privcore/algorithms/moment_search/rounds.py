"""Moment search on columns with many combinations of levels: counts of pairs, then larger tables.

The tables are released in rounds; the results of one round determine the tables of the next round.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import prod

from privcore.algorithms.moment_search.budget import MomentPlan
from privcore.algorithms.moment_search.edges import first_guess, sparsest_dag
from privcore.algorithms.moment_search.evidence import TableEvidence
from privcore.algorithms.moment_search.measure import release_pairs, release_tables
from privcore.algorithms.moment_search.moments import Moments
from privcore.algorithms.moment_search.parameters import MomentSearchParameters
from privcore.algorithms.moment_search.released import Points, ReleasedSums
from privcore.algorithms.moment_search.report import Found
from privcore.algorithms.moment_search.search import Parents
from privcore.algorithms.moment_search.steps import Around, record_release
from privcore.algorithms.search import common
from privcore.algorithms.search.model import Run
from privcore.algorithms.search.result import Edge, Spent, Step
from privcore.algorithms.search.skeleton import (
    Answer,
    Decision,
    Skeleton,
    conditioning_sets,
    search_skeleton,
)
from privcore.arrays import Columns
from privcore.privacy.mechanisms.no_noise import width_of

# Maximum number of cells of a table with more than four columns. The noise on every marginal count
# grows with the number of cells: a test on a few of the table's columns has the noise of all cells.
_MANY_CELLS = 4000
_FEW_COLUMNS = 4


def choose_tables(
    adjacent: Mapping[int, set[int]],
    dag: Parents,
    strength: Callable[[int, int], float],
    levels: Sequence[int],
    cells: float,
) -> list[tuple[int, ...]]:
    """Sets of columns to count: each column with its neighbours, the strongest neighbours first.

    cells: maximum number of cells per table; the limit is lower for tables of many columns.
    Neighbours that would exceed the limit go into further tables for the same column. Each column
    with its parents in the DAG forms another set, unless the table would exceed `cells`. Sets that
    are contained in other sets are left out.
    """
    families = (frozenset({column, *causes}) for column, causes in enumerate(dag) if causes)
    chosen = {family for family in families if prod(levels[c] for c in family) <= cells}
    for column, around in adjacent.items():
        left = sorted(around, key=lambda other: (-strength(column, other), other))
        while left:
            table, size, rest = [column], levels[column], []
            for other in left:
                most = cells if len(table) < _FEW_COLUMNS else min(cells, _MANY_CELLS)
                if size * levels[other] <= most:
                    table.append(other)
                    size *= levels[other]
                else:
                    rest.append(other)
            if len(table) == 1:
                break
            chosen.add(frozenset(table))
            left = rest
    return sorted(tuple(sorted(t)) for t in chosen if not any(t < other for other in chosen))


def run_in_rounds(
    run: Run[MomentSearchParameters],
    plan: MomentPlan,
    recorder: common.Recorder,
    before: Moments | None = None,
    points: Points | None = None,
) -> Found:
    """Spend the plan's budget in rounds, with a search for edges between rounds.

    before: moments that this run has already released, to which new moments are added. points: cut
    points of numeric columns.
    """
    penalty = run.parameters.penalty
    noise = plan.noise * width_of(run.noise, 1.0) ** 2
    moments = release_pairs(run.source, plan.pairs_sigma, run.noise, before)
    share = plan.shares[0]
    record_release(recorder, plan.pairs_sigma, share, 1)
    made = 0
    while made < plan.rounds:
        evidence = TableEvidence(moments, penalty)
        searched = _skeletons(run, evidence, noise, recorder, refined=made > 0)
        dag = first_guess(run, evidence, _neighbours(searched[0]))
        around = _neighbours(searched[-1])
        chosen = choose_tables(around, dag, evidence.strength, run.source.levels, plan.cells)
        if not chosen:
            break
        made += 1
        sigma = plan.tables_sigma(len(chosen))
        release_tables(moments, run.source, chosen, sigma, run.noise)
        record_release(recorder, sigma, (1 - share) / plan.rounds, 1 + made)
    used = share + (1 - share) * (made / plan.rounds if made else 0.0)
    spent = Spent("share", used, 1.0, 1 + made, 1 + plan.rounds, "releases")
    statistics = ReleasedSums(run.source.n, moments, noise, points)
    return searched_sums(run, statistics, spent, recorder)


def searched_sums(
    run: Run[MomentSearchParameters],
    statistics: ReleasedSums,
    spent: Spent,
    recorder: common.Recorder,
) -> Found:
    """Search for a DAG in the released sums alone; repeating this search costs no budget."""
    evidence = TableEvidence(statistics.moments, run.parameters.penalty)
    searched = _skeletons(run, evidence, statistics.noise, recorder, refined=True)
    dag, around = sparsest_dag(run, evidence, _neighbours(searched[0]))
    return Found(dag, evidence, around, searched, spent, statistics)


def _skeletons(
    run: Run[MomentSearchParameters],
    evidence: TableEvidence,
    noise: float,
    recorder: common.Recorder,
    *,
    refined: bool,
) -> tuple[Skeleton, ...]:
    """The candidate skeleton, found by tests with few conditioning columns.

    noise: see `MomentPlan.noise`. refined: whether to also return the skeleton that remains after
    tests on larger tables.
    """
    candidates = _narrowed(run, 1 if noise > 1 else 2, evidence, recorder, None)
    if not refined:
        return (candidates,)
    return candidates, _narrowed(run, None, evidence, recorder, candidates)


def _narrowed(
    run: Run[MomentSearchParameters],
    order: int | None,
    evidence: TableEvidence,
    recorder: common.Recorder,
    within: Skeleton | None,
) -> Skeleton:
    """Run PC's skeleton search over all pairs, or over the edges of an earlier skeleton.

    order: maximum number of conditioning columns, unless the run sets a lower limit. within: the
    earlier skeleton, if any.
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


def _neighbours(skeleton: Skeleton) -> Around:
    """The neighbours of each column in a skeleton."""
    return {c: skeleton.graph.adjacent(c) for c in range(len(skeleton.graph.nodes))}


# Number of pairs that are tested together.
_AT_ONCE = 512


class _NoiseAware(Decision):
    """Decides on independence: yes if an informative noise-aware test does not reject.

    tabulated: whether conditioning sets of two or more columns are used only if a released table
    covers all columns of the test.
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
        """Test all pairs given their first conditioning sets, then given their second sets, etc.

        Pairs that a conditioning set separates are not tested further.
        """
        needs_table = self._tabulated and order > 1
        sets = [conditioning_sets(adjacent, x, y, order) for x, y in pairs]
        separating: list[Columns | None] = [None] * len(pairs)
        steps: list[list[Step]] = [[] for _ in pairs]
        tests = [0] * len(pairs)
        waiting = list(range(len(pairs)))
        while waiting:
            requested = []
            for k in waiting:
                for others in sets[k]:
                    tests[k] += 1
                    if not needs_table or self._evidence.tabulated(*pairs[k], *others):
                        requested.append((k, others))
                        break
            made = self._evidence.tests([(*pairs[k], others) for k, others in requested])
            verdicts, waiting = (made.p_values > self._level) & made.informative, []
            for (k, others), p_value, verdict in zip(
                requested, made.p_values, verdicts, strict=True
            ):
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
