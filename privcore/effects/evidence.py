"""What released numbers say of an effect, for one set of columns that is adjusted for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np

from privcore.algorithms.search.result import NoisyMoments, NoisyTables
from privcore.arrays import Columns, Matrix
from privcore.counts import CountSource, NumberSource
from privcore.effects.question import Asked
from privcore.effects.regression import coefficient
from privcore.effects.standardisation import Estimate, StandardisedTable
from privcore.text import short

# Cells of a table that is adjusted by, at most: of more no interval is found in a few seconds.
MOST_CELLS = 20_000


class Answer(NamedTuple):
    """effect: of the question.  means: P(outcome) with the cause at either value."""

    effect: Estimate
    means: tuple[Estimate, Estimate] | None = None


class Evidence(Protocol):
    """Numbers that effects are functions of."""

    def cells(self, others: Columns) -> float:
        """How many counts an answer is made of; less is less noise."""

    def answer(self, asked: Asked, others: Columns, means: bool) -> Answer | None:
        """None where the numbers that it needs are not there; means: whether to state them."""

    def refusal(self, asked: Asked, others: Columns, names: Sequence[str]) -> str:
        """Why there is no answer, and what to do, in a sentence."""


@dataclass(frozen=True)
class Numbers:
    """Second moments; n: rows."""

    moments: NoisyMoments
    n: int

    @classmethod
    def exact(cls, source: NumberSource) -> Numbers:
        """Those of the rows themselves.  Not private."""
        moments = source.moments()
        half = np.array([(high - low) / 2 for low, high in source.bounds])
        means = moments[0, 1:]
        centred = moments[1:, 1:] - np.outer(means, means)
        return cls(NoisyMoments(means, centred, 0.0, 1.0, half), source.n)

    def cells(self, others: Columns) -> float:
        return float(len(others))

    def answer(self, asked: Asked, others: Columns, means: bool) -> Answer | None:
        estimate = coefficient(self.moments, self.n, asked.cause, asked.outcome, others)
        if estimate is None:
            return None
        # Yes/no columns are numbers 0 and 1 here, the other way round where their first level is
        # what the question is about.
        turned = (asked.to == 0) != (asked.level == 0)
        return Answer(
            Estimate(-estimate.value, -estimate.high, -estimate.low) if turned else estimate
        )

    def refusal(self, asked: Asked, others: Columns, names: Sequence[str]) -> str:
        return (
            f"How {short(names[asked.cause], 30)} varies beside what is adjusted for cannot be "
            "seen; raise ε, or leave out columns that follow from others."
        )


@dataclass(frozen=True)
class Tables:
    """Counts from one release or several, each with noise of its own; n: rows."""

    releases: Sequence[NoisyTables]
    n: int
    _answers: dict[tuple[Asked, Columns, bool], Answer | None] = field(
        default_factory=dict, repr=False
    )

    @property
    def levels(self) -> tuple[int, ...]:
        return self.releases[0].levels

    def cells(self, others: Columns) -> float:
        return math.prod(self.levels[c] for c in others)

    def answer(self, asked: Asked, others: Columns, means: bool) -> Answer | None:
        key = asked, tuple(sorted(others)), means
        if key not in self._answers:
            self._answers[key] = self._answer(*key)
        return self._answers[key]

    def _answer(self, asked: Asked, others: Columns, means: bool) -> Answer | None:
        columns = (asked.cause, asked.outcome, *others)
        if math.prod(self.levels[c] for c in columns) > MOST_CELLS:
            return None
        held = [release for release in self.releases if release.covers(columns)]
        if not held:
            return None
        # Each weighed by its noise; without any, there is one and it is exact.
        variances = np.array([max(release.widest(columns), 1e-9) for release in held])
        weights = (1 / variances) / (1 / variances).sum()
        counts = sum(
            weight * release.table(columns) for weight, release in zip(weights, held, strict=True)
        )
        table = standardised(np.asarray(counts), float(1 / (1 / variances).sum()), self.n, asked)
        both = (table.probability(0), table.probability(1)) if means else None
        return Answer(table.effect(), both)

    def refusal(self, asked: Asked, others: Columns, names: Sequence[str]) -> str:
        columns = (asked.cause, asked.outcome, *others)
        words = ", ".join(short(names[column], 20) for column in columns)
        if math.prod(self.levels[c] for c in columns) > MOST_CELLS:
            return (
                f"A table of {words} has more than {MOST_CELLS:,} counts; merge levels, or say "
                "what is known beforehand."
            )
        return (
            f"Counts of {words} together were not released; a share of ε for the effect measures "
            "them, where they are few enough."
        )


def standardised(counts: Matrix, variance: float, n: int, asked: Asked) -> StandardisedTable:
    """The table of a question, with levels that it does not ask about added up.

    counts: axes of cause, outcome, and what is adjusted for.  variance: of the noise on each.
    """
    values, results = counts.shape[:2]
    flat = counts.reshape(values, results, -1).transpose(2, 0, 1)
    present = flat[:, :, asked.level]
    both = np.stack([flat.sum(axis=2) - present, present], axis=2)
    noise = np.array([variance * (results - 1), variance])
    pairs = both[:, [asked.compared, asked.to]]
    if values == 2:
        return StandardisedTable(pairs, noise, n)
    rest = [k for k in range(values) if k not in (asked.compared, asked.to)]
    others = flat[:, rest].sum(axis=(1, 2))
    return StandardisedTable(pairs, noise, n, others, variance * results * (values - 2))


@dataclass(frozen=True)
class ExactTables:
    """The counts themselves, in the form of a release.  Not private."""

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
    """One table that was released by itself; variance: of the noise on each count.

    levels: of all columns of the data."""

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
