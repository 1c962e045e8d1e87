"""Pairs of neighbouring data sets: those that attain a sensitivity, and those a search found.

Records are given as unique rows with multiplicities, so that n costs nothing.  In all pairs the
last row is the record that is replaced, or the last rows are those of the person who is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from privcore.counts import InMemoryCounts, NumericRows
from privcore.data import Column, Dataset
from privcore.extras.audits.case import Side

Record = tuple[int, ...]
Row = tuple[float, ...]
_NAMES = "abcdefghijkl"


@dataclass(frozen=True)
class TablePair:
    """Categorical data sets: `shared` records with how often each occurs, and those that differ.

    levels: of each column; one, other: the record of D, and that of D′ in its place, None where D′
        has none.  rows: how many rows alike a person has, who differs as a whole.
    """

    words: str
    levels: tuple[int, ...]
    shared: tuple[tuple[Record, int], ...]
    one: Record
    other: Record | None
    rows: int = 1

    @property
    def n(self) -> int:
        """Rows of D."""
        return self.rows + sum(count for _, count in self.shared)

    def bounded(self, rows: int) -> TablePair:
        """The same with no more than so many rows of the person; those beyond are left out."""
        return replace(self, rows=min(self.rows, rows))

    def dataset(self, side: Side) -> Dataset:
        """D or D′, row by row."""
        rows = [record for record, count in self._counts(side).items() for _ in range(count)]
        codes = np.array(rows, dtype=np.uint8)
        columns = tuple(
            Column(name, "nominal", tuple(map(str, range(levels))), declared=True)
            for name, levels in zip(_NAMES, self.levels, strict=False)
        )
        return Dataset("neighbours", columns, tuple(codes.T.copy()))

    def source(self, side: Side) -> InMemoryCounts:
        """D or D′, counted anew."""
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
    """Data sets of numbers scaled to [−1, 1]: shared rows, and one that differs."""

    words: str
    shared: tuple[Row, ...]
    one: Row
    other: Row

    @property
    def n(self) -> int:
        return 1 + len(self.shared)

    def source(self, side: Side) -> NumericRows:
        """D or D′."""
        rows = np.array([*self.shared, self.other if side else self.one], dtype=np.float64)
        p = rows.shape[1]
        return NumericRows(tuple(_NAMES[:p]), ((-1.0, 1.0),) * p, rows)


Pair = TablePair | NumericPair


def turned(
    rising: Sequence[bool], n: int = 1500, extra: Sequence[int] = (), rows: int = 1
) -> TablePair:
    """Attains Z*'s 6/√n for the first column with each other one, one way or the other.

    All records but two agree, one is larger in every column, and the last one turns from
    concordant with all of them in the first column and another to discordant, or the other way
    round where `rising`: |Z*| goes from near 6/√n to near 0, or back.
    extra: for each of the other columns, how many more records are larger in the first column and
    it; each raises |Z*| of the two by 3/√n on both data sets.
    rows: how many rows of one person turn, of as many that are larger twice; |Z*| moves by as many
        times 6/√n.
    """
    p = 1 + len(rising)
    more = [
        (tuple(2 if k in (0, column) else 1 for k in range(p)), count)
        for column, count in enumerate(extra, start=1)
        if count
    ]
    alike = n - 2 * rows - sum(extra)
    turning = "one turns" if rows == 1 else f"{rows} of one person turn"
    return TablePair(
        f"{n:,} records, nearly all alike; {turning} from concordant with them to discordant, or "
        f"back, so that |Z*| of the first column with each of {len(rising)} others moves by nearly "
        f"{6 * rows}/√n",
        (3,) * p,
        (((1,) * p, alike), ((2,) * p, rows), *more),
        (2, *(0 if up else 2 for up in rising)),
        (2, *(2 if up else 0 for up in rising)),
        rows,
    )


def two_strata(small: int) -> TablePair:
    """Nearly attains the fixed normalisers' 9/√n and 10/√n in size, up to order 1/√n.

    A large stratum, concordant but for the record that leaves, which is discordant with all, and a
    small one, discordant, where it arrives concordant with all.  A third as many in the small one
    keep the sign, so that the size of the score moves as much as the score.
    """
    large = 3 * small
    first = tuple(((k, k, 0), 1) for k in range(1, large))
    second = tuple(((k, small - k, 1), 1) for k in range(1, small))
    return TablePair(
        f"strata of {large} and {small}: one record leaves the first, where it is discordant with "
        "all others, which are concordant, and joins the second, concordant with all others, which "
        "are discordant",
        (large + 1, large + 1, 2),
        (*first, *second),
        (large, 0, 0),
        (0, 0, 1),
    )


def one_small_stratum(n: int) -> TablePair:
    """Moves the published conditional τ as much at any n, by 1.57 in size (2.09 with its sign).

    Three concordant records in one stratum, all others alone in theirs; one of the three is moved.
    """
    shared = (((0, 0, 0), 1), ((1, 1, 0), 1), *(((0, 0, k), 1) for k in range(1, n - 2)))
    return TablePair(
        f"three concordant records in one stratum and {n - 3:,} strata of one record; one of the "
        "three is replaced: the published conditional τ moves by 1.57, not by 4.5/√n",
        (3, 3, n - 2),
        shared,
        (2, 2, 0),
        (0, 2, 0),
    )
