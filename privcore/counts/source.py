"""What sources of counts and moments have in common, whether their rows are in memory or not."""

from __future__ import annotations

from abc import abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from math import prod
from threading import Lock
from typing import Any, Generic, Literal, TypeGuard, TypeVar

import numpy as np
from numpy.typing import NDArray

from privcore import fixed_point
from privcore.arrays import Matrix, Vector
from privcore.data.model import Described
from privcore.errors import DataError
from privcore.privacy.mechanisms.noise import NoiseSource
from privcore.text import short
from privcore.unit import RECORD, Unit

Value = TypeVar("Value")


class Cache(Generic[Value]):
    """A least-recently-used cache of at most `budget` bytes, as measured by `size`."""

    def __init__(self, budget: int, size: Callable[[Value], int]) -> None:
        self._budget = budget
        self._size = size
        self._used = 0
        self._values: OrderedDict[Hashable, Value] = OrderedDict()
        self._lock = Lock()

    def known(self, key: Hashable) -> Value | None:
        """The value stored under `key`, or None if there is none."""
        with self._lock:
            return self._values.get(key)

    def get(self, key: Hashable, compute: Callable[[], Value]) -> Value:
        """The value stored under `key`, computed first if it is absent."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
        value = compute()
        with self._lock:
            if key not in self._values:
                self._values[key] = value
                self._used += self._size(value)
            while self._used > self._budget and len(self._values) > 1:
                _, dropped = self._values.popitem(last=False)
                self._used -= self._size(dropped)
        return value


Table = NDArray[np.int64]
# Per column, the coordinates of each level, shape (levels, coordinates).
Bases = tuple[Matrix, ...]
Holds = Literal["levels", "numbers", "both"]
Gaps = tuple[int | None, ...]

# Most cells of the tables of one request.
MAX_CELLS = 1 << 26


class Source:
    """What a source of rows says about its columns; the sources below add what can be computed.

    names: column names; n: number of rows. caveats: sentences that limit what a guarantee about
    these rows covers (`Dataset.caveats`). unit: the unit whose rows are protected together.
    holds: "levels" if contingency tables can be counted, as in a `CountSource`; "numbers" if only
    moments can be computed, as in a `NumberSource`; "both" for `MixedRows`.
    own_levels: number of levels per column, 0 for a column of numbers.
    ordered: per column, how many of its first levels are ordered; empty if no order is known.
    gaps: for each column, the code of its level for missing values, or None; empty if no values are
    taken as missing at random.
    resizable: whether the rows are in memory, so that rows can be drawn and added.
    """

    names: tuple[str, ...]
    n: int
    caveats: tuple[str, ...] = ()
    unit: Unit = RECORD
    holds: Holds
    own_levels: tuple[int, ...]
    ordered: tuple[int, ...] = ()
    gaps: Gaps = ()
    resizable = False

    def numbers(self) -> Source:
        """The rows as numbers, if some columns hold numbers."""
        return self

    def cut(self, levels: int) -> Source:
        """The rows with levels, if some columns have levels: columns of numbers get `levels`."""
        return self

    def halved(self, noise: NoiseSource) -> tuple[Source, Source]:
        """Two disjoint sources over a random half of the rows each."""
        raise DataError("halved-in-memory")

    def resized(self, size: int, noise: NoiseSource) -> Source:
        """A source of `size` rows: a random choice of the rows, or all rows and public rows.

        Tables that differ by k added rows become tables of the same size that differ by at most k
        replaced rows (docs/proofs/units.md).  Raises DataError unless the source is `resizable`.
        """
        raise DataError("hiding-rows-needs-memory")


@dataclass(frozen=True)
class PublicColumns(Source):
    """The public facts about a source, which are enough to plan a run without its rows.

    levels: public number of levels per column; empty if the columns hold numbers.
    ordered: as for `CountSource`.
    """

    names: tuple[str, ...]
    n: int
    levels: tuple[int, ...] = ()
    unit: Unit = RECORD
    ordered: tuple[int, ...] = ()

    @property
    def holds(self) -> Holds:  # type: ignore[override]
        return "levels" if self.levels else "numbers"

    @property
    def own_levels(self) -> tuple[int, ...]:  # type: ignore[override]
        return self.levels or (0,) * len(self.names)


class MomentSource(Source):
    """First and second moments of columns of numbers or coded levels."""

    def __init__(
        self, names: tuple[str, ...], n: int, caveats: tuple[str, ...] = (), unit: Unit = RECORD
    ) -> None:
        self.names, self.n, self.caveats, self.unit = names, n, caveats, unit
        self._scores: Cache[float] = Cache(budget=64 << 20, size=lambda _: 300)
        self._moments: Cache[Matrix] = Cache(16 << 20, lambda matrix: matrix.nbytes + 200)

    def moments(self, radius: float | None = None) -> Matrix:
        """Mean of (1, x)(1, x)ᵀ over the rows x, shape (p + 1, p + 1).

        Columns are scaled to [−1, 1] by public bounds.  radius: rows with a larger Euclidean norm
        are first scaled down to this norm, and all rows are converted to fixed point
        (`privcore.fixed_point`), as moments with noise require.
        """
        raise self.lacks("moments")

    def rows(self) -> tuple[Matrix, Vector]:
        """The unique rows, scaled to [−1, 1] by public bounds, and their multiplicities.

        Shapes (u, p) and (u,). Raises DataError if the source has no rows, or too many to fit into
        memory.
        """
        raise self.lacks("rows")

    def prepare(self, families: Sequence[Sequence[int]]) -> None:
        """Announces sets of columns within which tests will follow; results stay the same."""

    def remember(self, key: Hashable, compute: Callable[[], float]) -> float:
        """The result of `compute()`, cached under `key`; meant for scores that do not change."""
        return self._scores.get(key, compute)

    def lacks(self, what: str) -> DataError:
        """The error for statistics that the source cannot give."""
        raise NotImplementedError


class NumberSource(MomentSource):
    """Moments of columns that hold numbers, also about a given centre (`moments_about`).

    bounds: per column, the lowest and highest value that may occur.  Levels are coded −1 … 1 in
    equal steps.
    """

    holds: Holds = "numbers"
    bounds: tuple[tuple[float, float], ...]

    def moments_about(self, centre: Vector, scale: Vector, longest: float) -> Matrix:
        """Mean of (1, u)(1, u)ᵀ, shape (p + 1, p + 1), over rows u in the unit ball.

        u is (x − centre) / (scale · longest), scaled down to norm 1 if its norm is larger. x is as
        in `moments`; centre and scale have shape (p,).
        """
        raise NotImplementedError


class StoredTable(Described):
    """A table whose rows stay in files, and which counts itself.

    files: paths of the files, in the order of the rows.
    """

    files: tuple[str, ...]

    @abstractmethod
    def count(self) -> CountSource:
        """Counts over the rows; raises DataError for files that cannot be read."""

    @abstractmethod
    def check_memory(self) -> None:
        """Raises DataError if the rows may not fit into the memory allowed for them."""


class CountSource(MomentSource):
    """Contingency tables of categorical columns.

    levels: per column, its public number of levels.
    """

    holds: Holds = "levels"
    levels: tuple[int, ...]

    @property
    def own_levels(self) -> tuple[int, ...]:  # type: ignore[override]
        return self.levels

    def table(self, columns: Sequence[int]) -> Table:
        """Counts with one axis for each of `columns`, in the given order."""
        raise NotImplementedError

    def conditional_tables(self, x: int, y: int, conditioning_set: Sequence[int]) -> Table:
        """The table of x and y in each stratum of `conditioning_set` that has rows.

        Shape (strata, levels[x], levels[y]); strata without rows are left out.
        """
        raise NotImplementedError

    def coded(self, bases: Bases, radius: float | None = None) -> Matrix:
        """Mean of (1, u)(1, u)ᵀ, shape (d + 1, d + 1), with u the coordinates of a row's levels.

        bases: per column, the coordinates of each level, d coordinates in all.  radius: as for
        `moments`.
        """
        raise self.lacks("moments")

    def subsample(self, size: int, noise: NoiseSource) -> CountSource:
        """A source over `size` rows drawn at random without replacement."""
        raise self.lacks("sub-samples")

    def blocked(self, count: int, noise: NoiseSource) -> CountSource:
        """The same rows with a last column added: which of `count` random blocks each row is in."""
        raise self.lacks("blocks")


def has_levels(source: Source) -> TypeGuard[CountSource]:
    """Whether contingency tables of the columns can be counted."""
    return source.holds == "levels"


def has_numbers(source: Source) -> TypeGuard[NumberSource]:
    """Whether the columns hold numbers, for which only moments can be computed."""
    return source.holds == "numbers"


def require_levels(source: Source, what: str, instead: str) -> None:
    """Raises DataError if `what` needs levels but all columns hold numbers.

    instead: an alternative that works on numbers.
    """
    if has_numbers(source):
        raise DataError(
            "column-continuous-needs-levels",
            name=short(source.names[0]),
            what=what,
            instead=instead,
        )


def cells_of_test(source: CountSource, x: int, y: int, conditioning_set: Sequence[int]) -> int:
    """Upper bound on the number of cells of the tables of x and y given `conditioning_set`.

    The number of non-empty strata is at most the number of rows. The bound uses only public facts,
    so whether a test is made reveals nothing about any record.
    """
    strata = prod(source.levels[c] for c in conditioning_set)
    return min(strata, source.n) * source.levels[x] * source.levels[y]


def public_rows(count: int, columns: int) -> Matrix:
    """Public rows, spread evenly in [0, 1)ᵖ (a Kronecker sequence), shape (count, p)."""
    steps = np.exp(1 / np.arange(1, columns + 1)) % 1
    return np.asarray(np.outer(np.arange(1, count + 1), steps) % 1)


def drawn_rows(rows: int, size: int, noise: NoiseSource) -> NDArray[np.bool_]:
    """A mask of `size` rows drawn at random, shape (rows,)."""
    return np.asarray(noise.subsample(np.ones(rows, dtype=np.int64), size).astype(np.bool_))


def even_steps(levels: Sequence[int]) -> Bases:
    """For each column, its levels coded −1 … 1 in equal steps, shape (levels, 1)."""
    return tuple((2 * np.arange(k) / max(k - 1, 1) - 1)[:, None] for k in levels)


def coded_rows(configurations: tuple[NDArray[np.integer[Any]], ...], bases: Bases) -> Matrix:
    """Rows in the coordinates of `CountSource.coded`, shape (rows, coordinates)."""
    return np.concatenate(
        [basis[codes] for codes, basis in zip(configurations, bases, strict=True)], axis=1
    )


def coded_sums(
    configurations: tuple[NDArray[np.integer[Any]], ...],
    multiplicities: NDArray[np.int64],
    bases: Bases,
    radius: float | None,
    n: int,
) -> Matrix:
    """Sum of (1, u)(1, u)ᵀ over some of the n rows, with u as in `CountSource.coded`.

    Shape (d + 1, d + 1), where d is the number of coordinates in `bases`.
    """
    coded = coded_rows(configurations, bases)
    if radius is not None:
        coded = fixed_point.within(coded, radius, fixed_point.step_of(n))
    return fixed_point.moment_sums(coded, multiplicities.astype(np.float64))
