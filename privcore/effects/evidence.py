"""What the released numbers and graph say of an effect.

Estimates an effect from released numbers, for one adjustment set.

The plausible sets of parents of a cause, from the released numbers of a run.

Several DAGs are plausible.  Each DAG represents its Markov equivalence class, and each class
allows one or more sets of parents of the cause (IDA: Maathuis, Kalisch & Bühlmann 2009).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Protocol

import numpy as np

from privcore.algorithms.search.result import NoisyMoments, NoisyTables, Parents
from privcore.arrays import Columns, Matrix
from privcore.counts import CountSource
from privcore.effects.adjusting import Estimate, StandardisedTable, coefficient
from privcore.effects.question import IndexedQuestion
from privcore.errors import DataError
from privcore.graphs import PDAG, cpdag_of_dag
from privcore.graphs.adjustment import Adjustment, adjustment_sets, possible_parents
from privcore.graphs.constraints import Constraints
from privcore.graphs.generalised_adjustment import identify
from privcore.graphs.pdag import PAG
from privcore.text import short

# Most cells of an adjustment table: with more, an interval takes more than a few seconds.
MOST_CELLS = 20_000


class EffectAnswer(NamedTuple):
    """An estimated effect.

    means: P(outcome) with the cause at its level `compared`, then at its level `to`.
    """

    effect: Estimate
    means: tuple[Estimate, Estimate] | None = None


class Evidence(Protocol):
    """Numbers from which effects are estimated."""

    def cells(self, others: Columns) -> float:
        """The number of counts behind an answer; fewer counts add less noise."""

    def answer(self, indexed: IndexedQuestion, others: Columns, means: bool) -> EffectAnswer | None:
        """The estimate, or None if the numbers for it are missing.

        means: whether the answer includes P(outcome) at both values of the cause.
        """

    def refusal(self, indexed: IndexedQuestion, others: Columns, names: Sequence[str]) -> str:
        """Why there is no answer, and what to do, in one sentence."""


@dataclass(frozen=True)
class Numbers:
    """Evidence from noisy second moments of n rows.

    places: for each measured column, its coordinates; of a cause with levels, the first is the one
    whose coefficient is asked for.  factor: by what coefficients are multiplied.
    """

    moments: NoisyMoments
    n: int
    places: Mapping[int, Columns]
    factor: float

    @classmethod
    def of_run(cls, moments: NoisyMoments, n: int, indexed: IndexedQuestion) -> Numbers:
        """From moments of whole columns; yes/no columns are coded 0 and 1."""
        # Turned where the question is about the first level.
        turned = (indexed.to == 0) != (indexed.level == 0)
        factor = -indexed.change if turned else indexed.change
        return cls(moments, n, {c: (c,) for c in range(len(moments.means))}, factor)

    def with_less_noise(self, share: float) -> Numbers:
        """The same numbers, taken to have this share of the noise."""
        return replace(self, moments=self.moments._replace(sigma=share * self.moments.sigma))

    def cells(self, others: Columns) -> float:
        return sum(len(self.places[c]) if c in self.places else math.inf for c in others)

    def answer(self, indexed: IndexedQuestion, others: Columns, means: bool) -> EffectAnswer | None:
        if not self.places.keys() >= set(others):
            return None
        first, *more = self.places[indexed.cause]
        (outcome,) = self.places[indexed.outcome]
        given = (*more, *(place for c in others for place in self.places[c]))
        estimate = coefficient(self.moments, self.n, first, outcome, given)
        if estimate is None:
            return None
        value, *ends = (self.factor * number for number in estimate)
        return EffectAnswer(Estimate(value, *sorted(ends)))

    def refusal(self, indexed: IndexedQuestion, others: Columns, names: Sequence[str]) -> str:
        left = [short(names[c], 20) for c in others if c not in self.places]
        if left:
            return (
                f"The second release has no room for {', '.join(left)}; raise ε, or add background "
                "knowledge."
            )
        return (
            f"The variance of {short(names[indexed.cause], 30)} given the adjustment set cannot be "
            "measured; raise ε, or leave out columns that are linear combinations of others."
        )


@dataclass(frozen=True)
class Tables:
    """Evidence from the counts of n rows, in one or more releases with independent noise."""

    releases: Sequence[NoisyTables]
    n: int
    _answers: dict[tuple[IndexedQuestion, Columns, bool], EffectAnswer | None] = field(
        default_factory=dict, repr=False
    )

    @property
    def levels(self) -> tuple[int, ...]:
        return self.releases[0].levels

    def cells(self, others: Columns) -> float:
        return math.prod(self.levels[c] for c in others)

    def answer(self, indexed: IndexedQuestion, others: Columns, means: bool) -> EffectAnswer | None:
        key = indexed, tuple(sorted(others)), means
        if key not in self._answers:
            self._answers[key] = self._answer(*key)
        return self._answers[key]

    def _answer(
        self, indexed: IndexedQuestion, others: Columns, means: bool
    ) -> EffectAnswer | None:
        columns = (indexed.cause, indexed.outcome, *others)
        if math.prod(self.levels[c] for c in columns) > MOST_CELLS:
            return None
        held = [release for release in self.releases if release.covers(columns)]
        if not held:
            return None
        # Weighted by inverse noise variance; a table without noise is the only one, and exact.
        variances = np.array([max(release.widest(columns), 1e-9) for release in held])
        weights = (1 / variances) / (1 / variances).sum()
        counts = sum(
            weight * release.table(columns) for weight, release in zip(weights, held, strict=True)
        )
        table = standardised(np.asarray(counts), float(1 / (1 / variances).sum()), self.n, indexed)
        both = (table.probability(0), table.probability(1)) if means else None
        return EffectAnswer(table.effect(), both)

    def refusal(self, indexed: IndexedQuestion, others: Columns, names: Sequence[str]) -> str:
        columns = (indexed.cause, indexed.outcome, *others)
        words = ", ".join(short(names[column], 20) for column in columns)
        if math.prod(self.levels[c] for c in columns) > MOST_CELLS:
            return (
                f"A table of {words} has more than {MOST_CELLS:,} counts; merge levels, or add "
                "background knowledge."
            )
        return (
            f"The joint counts of {words} were not released; reserve a share of ε for the effect, "
            "so that these counts are measured if the table is small enough."
        )


def standardised(
    counts: Matrix, variance: float, n: int, indexed: IndexedQuestion
) -> StandardisedTable:
    """The table for a question; all levels that the question does not name are merged.

    counts: one axis each for the cause, the outcome, and every column of the adjustment set.
    variance: the variance of the noise on each count.
    """
    values, results = counts.shape[:2]
    flat = counts.reshape(values, results, -1).transpose(2, 0, 1)
    present = flat[:, :, indexed.level]
    both = np.stack([flat.sum(axis=2) - present, present], axis=2)
    noise = np.array([variance * (results - 1), variance])
    pairs = both[:, [indexed.compared, indexed.to]]
    if values == 2:
        return StandardisedTable(pairs, noise, n)
    rest = [k for k in range(values) if k not in (indexed.compared, indexed.to)]
    others = flat[:, rest].sum(axis=(1, 2))
    return StandardisedTable(pairs, noise, n, others, variance * results * (values - 2))


@dataclass(frozen=True)
class ExactTables:
    """The exact counts in the form of a release.  Not private."""

    source: CountSource

    @property
    def levels(self) -> tuple[int, ...]:
        return self.source.levels

    def covers(self, columns: Sequence[int]) -> bool:
        return True

    def table(self, columns: Sequence[int]) -> Matrix:
        return np.asarray(self.source.table(columns), dtype=np.float64)

    def widest(self, columns: Sequence[int]) -> float:
        return 0.0


@dataclass(frozen=True)
class OneTable:
    """A single table that was released separately.

    variance: the variance of the noise on each count.  levels: the number of levels of every column
    of the data.
    """

    levels: tuple[int, ...]
    columns: Columns
    counts: Matrix
    variance: float

    def covers(self, columns: Sequence[int]) -> bool:
        return set(columns) <= set(self.columns)

    def table(self, columns: Sequence[int]) -> Matrix:
        left = tuple(k for k, column in enumerate(self.columns) if column not in columns)
        kept = [column for column in self.columns if column in columns]
        added = self.counts.sum(axis=left)
        return np.asarray(added.transpose([kept.index(column) for column in columns]))

    def widest(self, columns: Sequence[int]) -> float:
        each = dict(zip(self.columns, self.counts.shape, strict=True))
        added: int = math.prod(r for c, r in each.items() if c not in columns)
        return self.variance * added


# The most probable classes are kept until their total probability reaches this.
ENOUGH = 0.95


@dataclass(frozen=True)
class ParentSet:
    """One set of parents of the cause, and the adjustment sets that are valid for this set.

    parents: the set; None for a PAG, in which one adjustment set is valid for all sets of parents.
    graph: the graph with the edges at the cause directed accordingly.
    shown: whether the graph of the run allows these parents.
    share: the total probability of the classes that allow these parents.
    """

    parents: frozenset[int] | None
    adjustment: Adjustment
    graph: PDAG
    shown: bool
    share: float


def parent_sets(
    graph: PDAG,
    dags: Iterable[tuple[Parents, float]],
    known: Constraints,
    cause: int,
    outcome: int,
) -> list[ParentSet]:
    """The sets of parents that the graph allows, then the sets from other plausible classes.

    dags: plausible DAGs with their probabilities.  known: background knowledge.  For a PAG, the
    result is one entry, with the adjustment set that is valid in every graph of the PAG.
    Raises ParameterError if too many edges at the cause have no direction, and DataError if the
    effect is not identified by adjustment in a PAG.
    """
    if isinstance(graph, PAG):
        return [_of_pag(graph, cause, outcome)]
    classes: dict[PDAG, float] = {}
    for parents, share in dags:
        edges = {(i, j) for j, causes in enumerate(parents) for i in causes}
        allowed = known.completed(cpdag_of_dag(graph.nodes, edges))
        classes[allowed] = classes.get(allowed, 0.0) + share
    ranked = sorted(classes.items(), key=lambda item: -item[1])
    kept, total = [], 0.0
    for allowed, share in ranked:
        kept.append((allowed, share))
        total += share
        if total >= ENOUGH:
            break
    sets: dict[tuple[frozenset[int], Adjustment], ParentSet] = {}

    def add(allowed: PDAG, share: float, shown: bool) -> None:
        for parents, directed in possible_parents(allowed, cause):
            ways = adjustment_sets(directed, cause, outcome)
            before = sets.get((parents, ways))
            sets[parents, ways] = ParentSet(
                parents,
                ways,
                directed if before is None else before.graph,
                shown or (before is not None and before.shown),
                share + (0.0 if before is None else before.share),
            )

    try:
        add(graph, 0.0, True)
    except DataError:
        if not ranked:
            raise
        # Some edges have no arrow probable enough: no DAG need have exactly this graph.
        add(ranked[0][0], 0.0, True)
    for allowed, share in kept:
        add(allowed, share, False)
    return list(sets.values())


def _of_pag(graph: PAG, cause: int, outcome: int) -> ParentSet:
    """An adjustment set valid in every graph of the PAG; raises DataError if there is none."""
    identified = identify(graph, cause, outcome)
    if identified.set is None and identified.affected:
        raise DataError(identified.reason)
    valid = () if identified.set is None else (identified.set,)
    columns = frozenset[int]() if identified.set is None else identified.set
    ways = Adjustment(frozenset(), columns, valid, identified.affected)
    return ParentSet(None, ways, graph, True, 1.0)
