"""Contingency tables of rows in memory, of rows without gaps, and of noisy counts.

Rows are merged once into their unique configurations with multiplicities. The time for a table is
then proportional to the number of unique configurations (84 for the asia network, whatever the
number of rows).  A sub-sample without replacement is a multivariate hypergeometric draw of new
multiplicities.

Available-case counts: each test uses the rows that have a value in all of its columns. If values
are missing at random, the rows used represent the rows left out. No table contains the level for
missing values.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Sequence
from math import prod
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from privcore import kernels
from privcore.arrays import Columns, Matrix
from privcore.counts.projections import (
    Codes,
    Projection,
    Projections,
    combine,
    joint_key,
    pack,
    packable,
    unique_rows,
)
from privcore.counts.source import (
    MAX_CELLS,
    Bases,
    Cache,
    CountSource,
    Gaps,
    MomentSource,
    Table,
    cells_of_test,
    coded_rows,
    coded_sums,
    even_steps,
    public_rows,
)
from privcore.data import Dataset
from privcore.data.model import MISSING_LEVEL, Described
from privcore.errors import DataError
from privcore.kernels.arguments import Packed
from privcore.privacy.mechanisms.noise import NoiseSource
from privcore.text import short
from privcore.unit import RECORD, Unit

Arrays = tuple[NDArray[Any], ...]

_DENSE_STRATA = 1 << 12


class InMemoryCounts(CountSource):
    """A `CountSource` over unique rows held in memory.

    configurations: one array of codes per column, shape (u,).  multiplicities: number of rows with
    each configuration, shape (u,); these numbers add up to n.
    """

    resizable = True

    def __init__(
        self,
        names: tuple[str, ...],
        levels: tuple[int, ...],
        configurations: tuple[Codes, ...],
        multiplicities: Table,
        caveats: tuple[str, ...] = (),
        unit: Unit = RECORD,
        ordered: tuple[int, ...] = (),
    ) -> None:
        super().__init__(names, int(multiplicities.sum()), caveats, unit)
        self.levels, self.ordered = levels, ordered
        self._configurations = configurations
        self._multiplicities = multiplicities
        self._tables: Cache[Table] = Cache(budget=64 << 20, size=lambda table: table.nbytes + 200)
        self._strata: Cache[tuple[NDArray[np.int64], int]] = Cache(
            budget=128 << 20, size=lambda strata: strata[0].nbytes + 200
        )
        self._arrays: Cache[Arrays] = Cache(
            budget=16 << 20, size=lambda arrays: sum(a.nbytes for a in arrays) + 500
        )
        self._projections = Projections(configurations, multiplicities, levels)
        # Below 2^53 the float64 sums that np.bincount makes of integers are exact.
        self._weights = self._projections.whole.weights
        self._packed: tuple[list[Projection], Packed] | None = None

    @classmethod
    def from_dataset(cls, dataset: Dataset) -> InMemoryCounts:
        """Encode a categorical data set; raises DataError if a column is continuous."""
        levels = dataset.levels
        first, counts = unique_rows(dataset.values, levels)
        # Two bytes hold any number of levels that a data set may have.
        codes = np.empty((dataset.p, first.size), dtype=np.uint16)
        for position, column in enumerate(dataset.values):
            codes[position] = column[first]
        return cls(
            dataset.names,
            levels,
            tuple(codes),
            counts,
            dataset.caveats,
            dataset.unit,
            dataset.ordered,
        )

    def with_rows(self, configurations: tuple[Codes, ...], multiplicities: Table) -> InMemoryCounts:
        """A source with other rows over the same columns; rows with multiplicity 0 are left out."""
        kept = np.flatnonzero(multiplicities)
        return InMemoryCounts(
            self.names,
            self.levels,
            tuple(column[kept] for column in configurations),
            multiplicities[kept],
            self.caveats,
            self.unit,
            self.ordered,
        )

    @property
    def unique_rows(self) -> int:
        return int(self._multiplicities.size)

    def unique(self) -> tuple[tuple[Codes, ...], Table]:
        """The codes of the unique rows, one array per column, and their multiplicities.

        All arrays have shape (u,).
        """
        return self._configurations, self._multiplicities

    def table(self, columns: Sequence[int]) -> Table:
        """Counts with one axis for each of `columns`; raises DataError above 67 million cells."""
        shape = tuple(self.levels[c] for c in columns)
        if prod(shape) > MAX_CELLS:
            named = ", ".join(short(self.names[c]) for c in columns[:3])
            raise DataError("too-many-cells-to-count", named=named, prod=prod(shape))
        if not columns:
            return np.array(self.n)
        return self._counted(columns)

    def conditional_tables(self, x: int, y: int, conditioning_set: Sequence[int]) -> Table:
        """See `CountSource`; raises DataError if `cells_of_test` exceeds 67 million."""
        key = (x, y, tuple(conditioning_set))
        return self._tables.get(key, lambda: self._count_strata(x, y, tuple(conditioning_set)))

    def prepare(self, families: Sequence[Sequence[int]]) -> None:
        """Announces sets of columns within which tables will be counted."""
        self._projections.prepare(families)

    @property
    def packs(self) -> bool:
        """Whether compiled kernels can read the rows."""
        return packable(self.levels)

    def packed(self, order: int, adjacent: Sequence[Collection[int]]) -> Packed:
        """The rows, packed for compiled tests that condition on `order` columns; requires `packs`.

        adjacent: the neighbours of each column, from which conditioning sets will be taken.
        """
        if self._packed and self._projections.few:
            return self._packed[1]
        projections = self._projections.for_order(order, adjacent)
        if self._packed is None or self._packed[0] != projections:
            self._packed = projections, pack(projections, self.levels)
        return self._packed[1]

    def packed_before(self) -> Packed:
        """The rows as last packed by `packed`, or all rows if `packed` has not been called.

        Requires `packs`.
        """
        if self._packed is None:
            whole = [self._projections.whole]
            self._packed = whole, pack(whole, self.levels)
        return self._packed[1]

    def keep(self, key: Hashable, compute: Callable[[], Arrays]) -> Arrays:
        """The result of `compute()`, cached under `key`; meant for the results of many tests."""
        return self._arrays.get(key, compute)

    def subsample(self, size: int, noise: NoiseSource) -> InMemoryCounts:
        return self.with_rows(self._configurations, noise.subsample(self._multiplicities, size))

    def halved(self, noise: NoiseSource) -> tuple[InMemoryCounts, InMemoryCounts]:
        drawn = noise.subsample(self._multiplicities, self.n // 2)
        rest = self._multiplicities - drawn
        return self.with_rows(self._configurations, drawn), self.with_rows(
            self._configurations, rest
        )

    def resized(self, size: int, noise: NoiseSource) -> InMemoryCounts:
        missing = size - self.n
        if missing <= 0:
            return self.subsample(size, noise) if missing else self
        more = (public_rows(missing, len(self.levels)) * np.array(self.levels)).astype(np.uint16)
        return self.with_rows(
            tuple(
                np.append(own, new) for own, new in zip(self._configurations, more.T, strict=True)
            ),
            np.append(self._multiplicities, np.ones(missing, dtype=np.int64)),
        )

    def blocked(self, count: int, noise: NoiseSource) -> InMemoryCounts:
        """The same rows with a last column added: the number of each row's random block.

        The sizes of the `count` blocks differ by at most one row, and the blocks do not depend on
        the values of the rows.
        """
        place = noise.permutation(self.n)
        owner = np.repeat(np.arange(self.unique_rows), self._multiplicities)
        key = (place * count // self.n) * self.unique_rows + owner
        kept, counts = np.unique(key, return_counts=True)
        block, row = np.divmod(kept, self.unique_rows)
        configurations = tuple(column[row] for column in self._configurations)
        return InMemoryCounts(
            (*self.names, "(block)"),
            (*self.levels, count),
            (*configurations, block),
            counts.astype(np.int64),
            self.caveats,
        )

    def moments(self, radius: float | None = None) -> Matrix:
        """Moments as in `MomentSource`, with each column's levels coded −1 … 1 in equal steps."""
        return self._moments.get(radius, lambda: self.coded(even_steps(self.levels), radius))

    def coded(self, bases: Bases, radius: float | None = None) -> Matrix:
        rows = self._configurations, self._multiplicities
        return np.asarray(coded_sums(*rows, bases, radius, self.n) / self.n)

    def rows(self) -> tuple[Matrix, Matrix]:
        """Unique rows coded as for `moments`, and their multiplicities; shapes (u, p) and (u,)."""
        return coded_rows(self._configurations, even_steps(self.levels)), self._weights

    def _count_strata(self, x: int, y: int, conditioning_set: Columns) -> Table:
        rx, ry = self.levels[x], self.levels[y]
        cells = cells_of_test(self, x, y, conditioning_set)
        if cells > MAX_CELLS:
            raise DataError(
                "testing-given-columns-may-need-tables",
                names=short(self.names[x]),
                names2=short(self.names[y]),
                number=len(conditioning_set),
                cells=cells,
            )
        strata = prod(self.levels[c] for c in conditioning_set)
        if strata <= _DENSE_STRATA and strata * rx * ry <= MAX_CELLS:
            columns = (*conditioning_set, x, y)
            few = self._few_rows()
            if few:
                chosen = np.array(columns, dtype=np.int64)
                occurring: Table = kernels.tables.stratum_tables(few, chosen, strata * rx * ry)
                return occurring
            tables = self._counted(columns).reshape(strata, rx, ry)
        else:
            # Only strata that occur are numbered, in order of occurrence.
            stratum, strata = self._strata.get(
                conditioning_set, lambda: self._occurring(conditioning_set)
            )
            key = (stratum * rx + self._configurations[x]) * ry + self._configurations[y]
            flat = np.bincount(key, weights=self._weights, minlength=strata * rx * ry)
            tables = flat.astype(np.int64).reshape(strata, rx, ry)
        return tables[tables.reshape(strata, -1).any(axis=1)] if strata > 1 else tables

    def _counted(self, columns: Sequence[int]) -> Table:
        """Counts over one or more columns; the shape consists of their numbers of levels."""
        rows = self._rows(columns)
        shape = tuple(self.levels[c] for c in columns)
        key, cells = joint_key([rows.codes[c] for c in columns], shape)
        flat = np.bincount(key, weights=rows.weights, minlength=cells)
        return flat.astype(np.int64).reshape(shape)

    def _few_rows(self) -> Packed | None:
        """All rows packed for compiled kernels if they are too few to be merged; otherwise None."""
        return self.packed(0, ()) if self._projections.few and self.packs else None

    def _rows(self, columns: Sequence[int]) -> Projection:
        """The smallest set of merged rows that contains the columns."""
        return self._projections.smallest(columns)

    def _occurring(self, conditioning_set: Columns) -> tuple[NDArray[np.int64], int]:
        """Stratum of each unique row, numbered in order of occurrence, and the number of strata."""
        levels = [self.levels[c] for c in conditioning_set]
        return combine([self._configurations[c] for c in conditioning_set], levels)


def gaps_of(data: Described) -> Gaps:
    """For each column, the code of its level for missing values, or None if it has no such level.

    Empty if no column has such a level, or if values are not taken as missing at random.
    """
    codes = [
        column.levels.index(MISSING_LEVEL) if MISSING_LEVEL in column.levels else None
        for column in data.columns
    ]
    return tuple(codes) if data.available and any(c is not None for c in codes) else ()


def available_cases(own_level: CountSource, gaps: Gaps) -> CountSource:
    """Counts over the available cases; returns `own_level` itself if `gaps` is empty."""
    return AvailableCases(own_level, gaps) if gaps else own_level


def own_level_of(source: CountSource) -> tuple[CountSource, Gaps]:
    """Counts with missing values as a level, and the code of that level for each column.

    For any source that is not an `AvailableCases`, returns the source itself and an empty tuple.
    """
    return (source.own_level, source.gaps) if isinstance(source, AvailableCases) else (source, ())


def rows_of_test(source: MomentSource, tables: Table) -> int:
    """Number of rows used by a test on these tables: all rows, or only the available cases."""
    return max(int(tables.sum()), 1) if source.gaps else source.n


class AvailableCases(CountSource):
    """A `CountSource` whose tables count the rows that have a value in every column of the table.

    own_level: the counts with missing values as a level.  gaps: per column, the code of the level
    for missing values, or None if the column has no such level.
    levels: number of levels per column, not counting the level for missing values.  n: number of
    all rows, which may exceed the sum of the counts in a table.
    """

    def __init__(self, own_level: CountSource, gaps: Gaps) -> None:
        super().__init__(own_level.names, own_level.n, own_level.caveats, own_level.unit)
        self.own_level, self.gaps, self.ordered = own_level, gaps, own_level.ordered
        self.resizable = own_level.resizable
        self.levels = tuple(
            level - (gap is not None) for level, gap in zip(own_level.levels, gaps, strict=True)
        )
        self._tables: Cache[Table] = Cache(64 << 20, lambda table: table.nbytes + 200)

    def table(self, columns: Sequence[int]) -> Table:
        return self._inside(self.own_level.table(columns), columns)

    def conditional_tables(self, x: int, y: int, conditioning_set: Sequence[int]) -> Table:
        key = (x, y, tuple(conditioning_set))
        return self._tables.get(key, lambda: self._strata(x, y, tuple(conditioning_set)))

    def resized(self, size: int, noise: NoiseSource) -> AvailableCases:
        return AvailableCases(cast(CountSource, self.own_level.resized(size, noise)), self.gaps)

    def prepare(self, families: Sequence[Sequence[int]]) -> None:
        self.own_level.prepare(families)

    def _strata(self, x: int, y: int, conditioning_set: tuple[int, ...]) -> Table:
        columns = (*conditioning_set, x, y)
        if isinstance(self.own_level, InMemoryCounts):
            # Only the rows of this test are counted, so strata without such rows get no number.
            codes, times = self.own_level.unique()
            gaps = [codes[c] == self.gaps[c] for c in columns if self.gaps[c] is not None]
            present = ~np.logical_or.reduce(gaps) if gaps else np.ones(times.size, np.bool_)
            if not present.any():
                return np.zeros((0, self.levels[x], self.levels[y]), dtype=np.int64)
            source = self.own_level
            of_test = InMemoryCounts(
                tuple(source.names[c] for c in columns),
                tuple(source.levels[c] for c in columns),
                tuple(codes[c][present] for c in columns),
                times[present],
            )
            last = len(columns) - 1
            tables = of_test.conditional_tables(last - 1, last, range(last - 1))
            return self._inside(tables, (None, x, y))
        tables = self.table(columns).reshape(-1, self.levels[x], self.levels[y])
        return tables[tables.any(axis=(1, 2))] if len(tables) > 1 else tables

    def _inside(self, counts: Table, columns: Sequence[int | None]) -> Table:
        """The table without its levels for missing values.

        columns: the column of each axis, or None for an axis without such a level.
        """
        for axis, column in enumerate(columns):
            gap = None if column is None else self.gaps[column]
            if gap is not None:
                counts = np.delete(counts, gap, axis=axis)
        return counts

    def lacks(self, what: str) -> DataError:
        return DataError("available-cases-give-tables-only", what=what)


class NoisyTable(CountSource):
    """A `CountSource` over a noisy table with one axis for each column.

    Marginals are summed first, then rounded and truncated at 0: truncating each cell instead would
    bias every marginal by the noise on the empty cells.
    """

    def __init__(
        self,
        names: tuple[str, ...],
        table: NDArray[np.float64],
        n: int,
        caveats: tuple[str, ...] = (),
    ) -> None:
        super().__init__(names, n, caveats)
        self.levels = table.shape
        self._noisy = table
        # Sums of whole numbers are exact in any order, so a sum can be computed from a larger sum.
        self._whole = bool((table == np.rint(table)).all())
        self._sums: Cache[NDArray[np.float64]] = Cache(64 << 20, lambda a: a.nbytes + 200)
        self._tables: Cache[Table] = Cache(64 << 20, lambda a: a.nbytes + 200)

    def table(self, columns: Sequence[int]) -> Table:
        """Noisy counts with one axis for each of `columns`, in the given order."""
        in_order = tuple(sorted(columns))
        summed = self._sums.get(in_order, lambda: self._marginal(in_order))
        ordered = summed.transpose([in_order.index(c) for c in columns])
        return np.maximum(np.rint(ordered), 0).astype(np.int64)

    def conditional_tables(self, x: int, y: int, conditioning_set: Sequence[int]) -> Table:
        def occurring() -> Table:
            tables = self.table([*conditioning_set, x, y]).reshape(
                -1, self.levels[x], self.levels[y]
            )
            return tables[tables.any(axis=(1, 2))] if len(tables) > 1 else tables

        return self._tables.get((x, y, tuple(conditioning_set)), occurring)

    def lacks(self, what: str) -> DataError:
        return DataError("noisy-table-contains-no-rows")

    def _marginal(self, in_order: tuple[int, ...]) -> NDArray[np.float64]:
        rest = tuple(c for c in range(len(self.levels)) if c not in in_order)
        if not rest or not self._whole:
            return np.asarray(self._noisy.sum(axis=rest))
        # One column at a time, from the first: a few large sums then serve many small ones.
        larger = tuple(sorted((*in_order, rest[-1])))
        summed = self._sums.get(larger, lambda: self._marginal(larger))
        return np.asarray(summed.sum(axis=larger.index(rest[-1])))
