"""Interfaces of the sources of counts and moments, whether their rows are in memory or not."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Literal, Protocol, TypeGuard

import numpy as np
from numpy.typing import NDArray

from privcore.arrays import Matrix, Vector
from privcore.data.model import Described
from privcore.errors import DataError
from privcore.privacy.mechanisms.noise import NoiseSource
from privcore.text import short
from privcore.unit import RECORD, Unit

Table = NDArray[np.int64]
# Per column, the coordinates of each level, shape (levels, coordinates).
Bases = tuple[Matrix, ...]
Holds = Literal["levels", "numbers"]

# Most cells of the tables of one request.
MAX_CELLS = 1 << 26


@dataclass(frozen=True)
class PublicColumns:
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
    def holds(self) -> Holds:
        return "levels" if self.levels else "numbers"

    @property
    def own_levels(self) -> tuple[int, ...]:
        """Number of levels per column, 0 for a column of numbers."""
        return self.levels or (0,) * len(self.names)


class MomentSource(Protocol):
    """First and second moments of columns of numbers or coded levels.

    names: column names; n: number of rows. caveats: sentences that limit what a guarantee about
    these rows covers (`Dataset.caveats`). unit: the unit whose rows are protected together.
    """

    names: tuple[str, ...]
    n: int
    caveats: tuple[str, ...]
    unit: Unit

    @property
    def holds(self) -> Holds:
        """Whether the columns hold "levels" or "numbers".

        "levels": the source is a `CountSource`. "numbers": the source is a `NumberSource`. Check
        with `has_levels` and `has_numbers`.
        """
        ...

    def moments(self, radius: float | None = None) -> NDArray[np.float64]:
        """Mean of (1, x)(1, x)ᵀ over the rows x, shape (p + 1, p + 1).

        Columns are scaled to [−1, 1] by public bounds.  radius: rows with a larger Euclidean norm
        are first scaled down to this norm, and all rows are converted to fixed point
        (`privcore.fixed_point`), as moments with noise require.
        """
        ...

    def rows(self) -> tuple[Matrix, Vector]:
        """The unique rows, scaled to [−1, 1] by public bounds, and their multiplicities.

        Shapes (u, p) and (u,). Raises DataError if the source has no rows, or too many to fit into
        memory.
        """
        ...

    def prepare(self, families: Sequence[Sequence[int]]) -> None:
        """Announces sets of columns within which tests will follow; results stay the same."""
        ...

    def remember(self, key: Hashable, compute: Callable[[], float]) -> float:
        """The result of `compute()`, cached under `key`; meant for scores that do not change."""
        ...


class NumberSource(MomentSource, Protocol):
    """Moments of columns that hold numbers, also about a given centre (`moments_about`).

    bounds: per column, the lowest and highest value that may occur.
    own_levels: number of levels per column, coded −1 … 1 in equal steps; 0 for a column of numbers.
    """

    bounds: tuple[tuple[float, float], ...]
    own_levels: tuple[int, ...]

    def moments_about(
        self, centre: NDArray[np.float64], scale: NDArray[np.float64], longest: float
    ) -> NDArray[np.float64]:
        """Mean of (1, u)(1, u)ᵀ, shape (p + 1, p + 1), over rows u in the unit ball.

        u is (x − centre) / (scale · longest), scaled down to norm 1 if its norm is larger. x is as
        in `moments`; centre and scale have shape (p,).
        """
        ...


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


class CountSource(MomentSource, Protocol):
    """Contingency tables of categorical columns.

    levels: per column, its public number of levels.
    ordered: per column, how many of its first levels are ordered; empty if no order is known.
    """

    levels: tuple[int, ...]
    ordered: tuple[int, ...]

    def table(self, columns: Sequence[int]) -> Table:
        """Counts with one axis for each of `columns`, in the given order."""
        ...

    def conditional_tables(self, x: int, y: int, conditioning_set: Sequence[int]) -> Table:
        """The table of x and y in each stratum of `conditioning_set` that has rows.

        Shape (strata, levels[x], levels[y]); strata without rows are left out.
        """
        ...

    def coded(self, bases: Bases, radius: float | None = None) -> Matrix:
        """Mean of (1, u)(1, u)ᵀ, shape (d + 1, d + 1), with u the coordinates of a row's levels.

        bases: per column, the coordinates of each level, d coordinates in all.  radius: as for
        `moments`.
        """
        ...

    def subsample(self, size: int, noise: NoiseSource) -> CountSource:
        """A source over `size` rows drawn at random without replacement."""
        ...

    def blocked(self, count: int, noise: NoiseSource) -> CountSource:
        """The same rows with a last column added: which of `count` random blocks each row is in."""
        ...


def has_levels(source: MomentSource) -> TypeGuard[CountSource]:
    """Whether contingency tables of the columns can be counted."""
    return source.holds == "levels"


def has_numbers(source: MomentSource) -> TypeGuard[NumberSource]:
    """Whether the columns hold numbers, for which only moments can be computed."""
    return source.holds == "numbers"


def require_levels(source: MomentSource, what: str, instead: str) -> None:
    """Raises DataError if `what` needs levels but the columns hold numbers.

    instead: an alternative that works on numbers.
    """
    if not has_levels(source):
        raise DataError(
            f"Column {short(source.names[0])!r} is continuous, and {what} needs levels; cut the "
            f"columns into intervals, or choose {instead}."
        )


def cells_of_test(source: CountSource, x: int, y: int, conditioning_set: Sequence[int]) -> int:
    """Upper bound on the number of cells of the tables of x and y given `conditioning_set`.

    The number of non-empty strata is at most the number of rows. The bound uses only public facts,
    so whether a test is made reveals nothing about any record.
    """
    strata = prod(source.levels[c] for c in conditioning_set)
    return min(strata, source.n) * source.levels[x] * source.levels[y]
