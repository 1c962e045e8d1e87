"""What is audited: a case, its neighbouring tables, and its outputs.

The outputs of many runs on one data set, in a form on which events can be evaluated.

Audit cases: a mechanism, two neighbouring data sets to run it on, and the claimed (ε, δ).

Pairs of neighbouring data sets that attain a sensitivity or were found by a search.

Records are stored as unique rows with multiplicities, so a large n takes no extra time.  In all
pairs the last row is the replaced record, or the last rows belong to the replaced person.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from privcore.arrays import Matrix, Vector
from privcore.counts import InMemoryCounts, NumericRows
from privcore.data import Column, Dataset
from privcore.privacy.mechanisms import NoiseSource

Codes = NDArray[np.int64]


class Outcome(NamedTuple):
    """One possible output, such as a graph.

    words: the whole output as text; two outputs with the same words count as equal.
    facts: features of the output by name, such as the number of edges; unlisted features are 0.
    """

    words: str
    facts: tuple[tuple[str, float], ...] = ()


NOTHING = Outcome("")


@dataclass(frozen=True)
class Outputs:
    """The outputs of many runs: k released numbers and an outcome per run.

    names: names of the k numbers; k is 0 if the runs release no numbers.  numbers: shape (runs, k).
    outcomes: all different outcomes; only NOTHING if the runs have no outcomes.  codes: position of
    each run's outcome in `outcomes`, shape (runs,).
    """

    names: tuple[str, ...]
    numbers: Matrix
    outcomes: tuple[Outcome, ...]
    codes: Codes

    @classmethod
    def of_numbers(cls, names: Sequence[str], numbers: Matrix) -> Outputs:
        """The outputs of runs that release only numbers, shape (runs, k)."""
        return cls(tuple(names), numbers, (NOTHING,), np.zeros(len(numbers), dtype=np.int64))

    @classmethod
    def of_outcomes(
        cls,
        outcomes: Sequence[Outcome],
        codes: Codes,
        names: Sequence[str] = (),
        numbers: Matrix | None = None,
    ) -> Outputs:
        """The outputs of runs with outcomes, and with released numbers if `numbers` is given."""
        none = np.empty((codes.size, 0))
        return cls(tuple(names), none if numbers is None else numbers, tuple(outcomes), codes)

    @property
    def runs(self) -> int:
        return int(self.codes.size)

    @cached_property
    def features(self) -> dict[str, Vector]:
        """Every number and feature by name, each of shape (runs,)."""
        features = {name: self.numbers[:, k] for k, name in enumerate(self.names)}
        names = dict.fromkeys(name for outcome in self.outcomes for name, _ in outcome.facts)
        listed = [dict(outcome.facts) for outcome in self.outcomes]
        for name in names:
            values = np.array([facts.get(name, 0.0) for facts in listed])
            features[name] = values[self.codes]
        return features

    def feature(self, name: str) -> Vector:
        """The values of the number or feature called `name`, one per run, shape (runs,).

        All are 0 if there is no number of this name and no outcome has the feature.
        """
        return self.features.get(name, np.zeros(self.runs))

    def part(self, start: int, stop: int) -> Outputs:
        """The runs from `start` up to, but not including, `stop`."""
        return Outputs(self.names, self.numbers[start:stop], self.outcomes, self.codes[start:stop])


def joined(parts: Sequence[Outputs]) -> Outputs:
    """All runs of the parts in order, with outcomes merged and sorted by their words."""
    known = {outcome.words: outcome for part in parts for outcome in part.outcomes}
    outcomes = tuple(known[words] for words in sorted(known))
    position = {outcome.words: k for k, outcome in enumerate(outcomes)}
    codes = [
        np.array([position[o.words] for o in part.outcomes], dtype=np.int64)[part.codes]
        for part in parts
    ]
    numbers = np.concatenate([part.numbers for part in parts])
    return Outputs(parts[0].names, numbers, outcomes, np.concatenate(codes))


Side = Literal[0, 1]
Kind = Literal["mechanism", "release", "algorithm", "unit", "pairwise", "planted"]


class Trial(Protocol):
    """Runs of one mechanism or algorithm on D (side 0) and on its neighbour D′ (side 1).

    batch: number of runs made at a time. This number is fixed, and each batch has its own noise
    source, so that results do not depend on how batches are distributed over processes. Trials that
    run in other processes must be picklable.
    """

    @property
    def batch(self) -> int: ...

    def __call__(self, side: Side, runs: int, noise: NoiseSource) -> Outputs:
        """The outputs of `runs` independent runs."""
        ...


@dataclass(frozen=True)
class AuditCase:
    """One registered audit.

    neighbours: the two data sets in words, and why they are easy to distinguish.
    make: function that makes the runs for a claimed (ε, δ); raises ParameterError for a claim that
        is impossible for the mechanism, such as δ = 0 for Gaussian noise.
    epsilon, delta, runs: the default claim, and the default number of runs on each data set.
    ci_runs: number of runs on each data set in `ci_audit`.
    flaw: the error of a planted bug; empty if the claim is proven.
    protects: who is protected, if not a single record. rows: number of rows of the protected
        person.
    """

    name: str
    title: str
    kind: Kind
    neighbours: str
    make: Callable[[float, float], Trial]
    epsilon: float = 1.0
    delta: float = 0.0
    runs: int = 100_000
    ci_runs: int = 4000
    flaw: str = ""
    protects: str = ""
    rows: int = 1


def by_name(cases: Iterable[AuditCase]) -> dict[str, AuditCase]:
    """The cases by name; raises ValueError if two cases have the same name."""
    named: dict[str, AuditCase] = {}
    for case in cases:
        if case.name in named:
            raise ValueError(f"Two audits are called {case.name!r}; rename one of them.")
        named[case.name] = case
    return named


Record = tuple[int, ...]
Row = tuple[float, ...]
_NAMES = "abcdefghijkl"


@dataclass(frozen=True)
class TablePair:
    """Two categorical data sets that differ in one record, or in all rows of one person.

    levels: number of levels per column. shared: the other records, with multiplicities. one, other:
        the record in D and its replacement in D′, None if the record is removed. rows: number of
        rows of the person, all equal to this record.
    """

    words: str
    levels: tuple[int, ...]
    shared: tuple[tuple[Record, int], ...]
    one: Record
    other: Record | None
    rows: int = 1

    @property
    def n(self) -> int:
        """Number of rows of D."""
        return self.rows + sum(count for _, count in self.shared)

    def bounded(self, rows: int) -> TablePair:
        """The same pair, but without the person's rows beyond the first `rows`."""
        return replace(self, rows=min(self.rows, rows))

    def dataset(self, side: Side) -> Dataset:
        """The rows of D or D′ as a data set."""
        rows = [record for record, count in self._counts(side).items() for _ in range(count)]
        codes = np.array(rows, dtype=np.uint8)
        columns = tuple(
            Column(name, "nominal", tuple(map(str, range(levels))), declared=True)
            for name, levels in zip(_NAMES, self.levels, strict=False)
        )
        return Dataset("neighbours", columns, tuple(codes.T.copy()))

    def source(self, side: Side) -> InMemoryCounts:
        """The counts of D or D′."""
        counts = self._counts(side)
        rows = np.array(list(counts), dtype=np.int64)
        columns = tuple(rows[:, k] for k in range(len(self.levels)))
        multiplicities: NDArray[np.int64] = np.array(list(counts.values()), dtype=np.int64)
        return InMemoryCounts(
            tuple(_NAMES[: len(self.levels)]), self.levels, columns, multiplicities
        )

    def _counts(self, side: Side) -> dict[Record, int]:
        counts = dict(self.shared)
        own = self.other if side else self.one
        if own is not None:
            counts[own] = counts.get(own, 0) + self.rows
        return counts


@dataclass(frozen=True)
class NumericPair:
    """Two numeric data sets scaled to [−1, 1], with shared rows and one row that differs."""

    words: str
    shared: tuple[Row, ...]
    one: Row
    other: Row

    @property
    def n(self) -> int:
        return 1 + len(self.shared)

    def source(self, side: Side) -> NumericRows:
        """The rows of D or D′."""
        rows = np.array([*self.shared, self.other if side else self.one], dtype=np.float64)
        p = rows.shape[1]
        return NumericRows(tuple(_NAMES[:p]), ((-1.0, 1.0),) * p, rows)

    def dataset(self, side: Side) -> Dataset:
        """The rows of D or D′ as a data set with public bounds."""
        source = self.source(side)
        columns = tuple(
            Column(name, "continuous", bounds=ends, declared=True)
            for name, ends in zip(source.names, source.bounds, strict=True)
        )
        return Dataset("audited pair", columns, tuple(source.rows()[0].T))


Pair = TablePair | NumericPair


def turned(
    rising: Sequence[bool], n: int = 1500, extra: Sequence[int] = (), rows: int = 1
) -> TablePair:
    """A pair that attains the sensitivity 6/√n of Z* for the first column and each other column.

    All records are equal, except one record that is larger in every column and the replaced record.
    In the first column and another column, the replaced record changes from concordant with the
    equal records to discordant, so that |Z*| falls from near 6/√n to near 0.
    rising: for each other column, whether the change is the reverse.
    extra: for each other column, number of further records that are larger in this column and in
        the first; each raises |Z*| of the two columns by 3/√n on both data sets.
    rows: number of rows of one person that change; |Z*| moves by rows · 6/√n.
    """
    p = 1 + len(rising)
    more = [
        (tuple(2 if k in (0, column) else 1 for k in range(p)), count)
        for column, count in enumerate(extra, start=1)
        if count
    ]
    alike = n - 2 * rows - sum(extra)
    turning = "one changes" if rows == 1 else f"{rows} of one person change"
    return TablePair(
        f"{n:,} records, nearly all equal; {turning} from concordant with the rest to discordant, "
        f"or the reverse, so that |Z*| of the first column and each other column ({len(rising)} "
        f"in all) changes by nearly {6 * rows}/√n",
        (3,) * p,
        (((1,) * p, alike), ((2,) * p, rows), *more),
        (2, *(0 if up else 2 for up in rising)),
        (2, *(2 if up else 0 for up in rising)),
        rows,
    )


def two_strata(small: int) -> TablePair:
    """A pair that nearly attains the sensitivities of scores with fixed normalisers.

    The sensitivities are 9/√n for Kendall's τ and 10/√n for Spearman's ρ. One record moves from a
    large concordant stratum, where it is discordant with all others, to a small discordant stratum,
    where it is concordant with all others.  The small stratum has a third as many records as the
    large one, so the score keeps its sign, and its absolute value changes as much as the score.
    """
    large = 3 * small
    first = tuple(((k, k, 0), 1) for k in range(1, large))
    second = tuple(((k, small - k, 1), 1) for k in range(1, small))
    return TablePair(
        f"strata of {large} and {small} records: one record leaves the large concordant stratum, "
        "where it is discordant with all others, for the small discordant stratum, where it is "
        "concordant with all others",
        (large + 1, large + 1, 2),
        (*first, *second),
        (large, 0, 0),
        (0, 0, 1),
    )


def one_small_stratum(n: int) -> TablePair:
    """A pair that changes the published conditional τ by 2.09, and |τ| by 1.57, at any n.

    Three concordant records share a stratum, and each other record is alone in a stratum; one of
    the three records is replaced.
    """
    shared = (((0, 0, 0), 1), ((1, 1, 0), 1), *(((0, 0, k), 1) for k in range(1, n - 2)))
    return TablePair(
        f"three concordant records in one stratum and {n - 3:,} strata of one record; one of the "
        "three is replaced, which changes the published conditional |τ| by 1.57, although the "
        "published bound is 4.5/√n",
        (3, 3, n - 2),
        shared,
        (2, 2, 0),
        (0, 2, 0),
    )
