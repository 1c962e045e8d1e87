"""The released numbers of a run, which can be stored, searched again and pooled.

There are three kinds of release: counts of all combinations of levels; sums for pairs and larger
sets of columns; and second moments of rows (of numbers, or of levels coded by a few numbers each).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, NamedTuple, Self

import numpy as np

from privcore.algorithms.moment_search.moments import Moments, pooled
from privcore.algorithms.search.result import Keepable
from privcore.arrays import Matrix, Vector
from privcore.counts.source import Bases
from privcore.errors import DataError
from privcore.privacy.mechanisms.moments import MEAN_SHARE, upper_triangle
from privcore.privacy.mechanisms.noise import discrete_laplace_scale, discrete_laplace_variance

# Number of levels of a column that also counts as a number: yes/no as −1 and 1.
YES_NO = 2
_MOST_CELLS = 10**8
# With noise beyond these nothing could be found, and searches would leave floating point.
_LEAST_NOISE, _MOST_NOISE = 1e-40, 1e26
# A product of two such numbers stays within floating point.
_MOST = 1e150
_Readers = Mapping[str, Callable[[Any], Any]]
# Per column, its cut points in increasing order.
Points = tuple[tuple[float, ...], ...]


def counts_levels(own_levels: Sequence[int]) -> bool:
    """Whether any column has more than two levels; own_levels: see `NumberSource`.

    If so, levels are counted, even if other columns are numeric.
    """
    return max(own_levels) > YES_NO


# Readers of the values of a file; all raise TypeError or ValueError for an invalid value.


def _require(holds: bool) -> None:
    if not holds:
        raise ValueError


def _rows(value: Any) -> int:
    _require(type(value) is int and 2 <= value < 2**53)
    return int(value)


def _size(value: Any) -> float:
    _require(type(value) in (int, float) and 0 <= value <= _MOST_NOISE)
    return float(value)


def _positive(value: Any) -> float:
    _require(_size(value) >= _LEAST_NOISE)
    return float(value)


def _levels(values: Any) -> tuple[int, ...]:
    levels = tuple(values)
    _require(len(levels) >= 2 and all(type(r) is int and 1 <= r <= 1000 for r in levels))
    return levels


def _numbers(values: Any, axes: int = 1) -> Matrix:
    numbers = np.array(values)
    # A text could hold a number too.
    _require(numbers.dtype.kind in "if" and numbers.ndim == axes and numbers.size <= _MOST_CELLS)
    _require(bool((np.abs(numbers) <= _MOST).all()))
    return numbers.astype(np.float64)


def _near(sums: Matrix, n: int, variance: float) -> Matrix:
    """The sums over n rows; raises ValueError for sums that no noise of this variance gives.

    A row adds at most 1 to a sum.  n may be a noisy number itself, so that the bound leaves room.
    """
    _require(variance <= _MOST_NOISE)
    _require(bool((np.abs(sums) <= 10 * n + 100 * math.sqrt(variance)).all()))
    return sums


def _points(values: Any) -> Points | None:
    if values is None:
        return None
    points = tuple(tuple(_numbers(ends).tolist()) for ends in values)
    for ends in points:
        _require(list(ends) == sorted(set(ends)))
    return points


def _checked(document: Mapping[str, Any], readers: _Readers) -> dict[str, Any]:
    return {name: reader(document[name]) for name, reader in readers.items()}


def _plain(value: Any) -> Any:
    """The value with lists in place of arrays and tuples, as JSON needs."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    return list(map(_plain, value)) if isinstance(value, tuple) else value


@dataclass(frozen=True)
class ReleasedTable:
    """Noisy counts of all combinations of levels.

    n: number of rows. counts: the noisy counts, with one axis per column. scale: scale of the
    discrete Laplace noise on each count; for counts combined from several releases, the scale that
    has the same variance.
    """

    n: int
    counts: Matrix
    scale: float

    form = "table"

    @property
    def levels(self) -> tuple[int, ...]:
        return self.counts.shape

    @property
    def variance(self) -> float:
        """The variance of the noise on each count."""
        return discrete_laplace_variance(self.scale)

    @property
    def moments(self) -> Moments:
        """The sums for all sets of columns, computed from the counts."""
        moments, columns = Moments(self.n, self.levels), tuple(range(self.counts.ndim))
        moments.add_table(columns, self.counts, self.variance)
        return moments

    def fits(self, own_levels: Sequence[int]) -> bool:
        """Whether the columns have the levels that were counted; own_levels: see `NumberSource`."""
        return tuple(own_levels) == self.levels

    def same_rows(self, other: ReleasedTable) -> ReleasedTable:
        """Average with another release of the same rows, using inverse-variance weights."""
        counts, variance = pooled(*((kept.counts, kept.variance) for kept in (self, other)))
        return ReleasedTable(self.n, counts, discrete_laplace_scale(variance))

    def other_rows(self, other: ReleasedTable) -> ReleasedTable:
        """Add the counts of a release of the same columns for other rows."""
        scale = discrete_laplace_scale(self.variance + other.variance)
        return ReleasedTable(self.n + other.n, self.counts + other.counts, scale)

    def as_dict(self) -> dict[str, Any]:
        """The release as a dictionary that `json` can write."""
        flat = {"levels": list(self.levels), "counts": self.counts.ravel().tolist()}
        return {"n": self.n, **flat, "scale": self.scale}

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> Self:
        """Read the output of `as_dict`.

        Raises KeyError, TypeError or ValueError for any other input.
        """
        readers = {"n": _rows, "levels": _levels, "counts": _numbers, "scale": _positive}
        values = _checked(document, readers)
        n, scale = values["n"], values["scale"]
        counts = _near(values["counts"], n, discrete_laplace_variance(scale))
        return cls(n, counts.reshape(values["levels"]), scale)


@dataclass(frozen=True)
class ReleasedSums:
    """Noisy sums for pairs and larger sets of columns.

    n: number of rows. moments: all released sums. noise: see `MomentPlan.noise`; this ratio limits
    the conditioning sets of the first tests. points: cut points of numeric columns; None if all
    columns have levels.
    """

    n: int
    moments: Moments
    noise: float
    points: Points | None = None

    form = "sums"

    @property
    def levels(self) -> tuple[int, ...]:
        return self.moments.levels

    def fits(self, own_levels: Sequence[int]) -> bool:
        """Whether the columns have the levels that were counted; own_levels: see `NumberSource`."""
        if self.points is None:
            return tuple(own_levels) == self.levels
        cut = [own or now for own, now in zip(own_levels, self.levels, strict=False)]
        return 0 in own_levels and len(own_levels) == len(cut) and tuple(cut) == self.levels

    def same_rows(self, other: ReleasedSums) -> ReleasedSums:
        """Combine this release with another release of the same rows.

        Sums in both releases are averaged with inverse-variance weights.
        """
        self._check(other)
        both = self.moments.copy()
        for columns, sums, variance in other.moments.parts():
            both.add(columns, sums, variance)
        noise = 1 / (1 / self.noise + 1 / other.noise)
        return replace(self, moments=both, noise=noise)

    def other_rows(self, other: ReleasedSums) -> ReleasedSums:
        """Combine this release with a release of the same columns for other rows.

        Sums in both releases are added; sums in only one release are left out.
        """
        self._check(other)
        total = self.n + other.n
        both, theirs = Moments(total, self.levels), {c: (s, v) for c, s, v in other.moments.parts()}
        for columns, sums, variance in self.moments.parts():
            if columns in theirs:
                more, noise = theirs[columns]
                both.add(columns, sums + more, variance + noise)
        noise = (self.noise * self.n + other.noise * other.n) / total
        return ReleasedSums(total, both, noise, self.points)

    def _check(self, other: ReleasedSums) -> None:
        """Raise DataError if the two releases cut numbers at different points."""
        if self.points != other.points:
            raise DataError(
                "The numbers in the files were cut into levels at different points, which depend "
                "on each release; make the second release like the first (`release --like FILE`)."
            )

    def as_dict(self) -> dict[str, Any]:
        """The release as a dictionary that `json` can write."""
        return {
            "n": self.n,
            "levels": list(self.levels),
            "noise": self.noise,
            "points": _plain(self.points),
            "sums": [
                {"columns": list(columns), "variance": variance, "values": sums.ravel().tolist()}
                for columns, sums, variance in self.moments.parts()
            ],
        }

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> Self:
        """Read the output of `as_dict`.

        Raises KeyError, TypeError or ValueError for any other input.
        """
        levels, n = _levels(document["levels"]), _rows(document["n"])
        moments = Moments(n, levels)
        # A search uses all pairs, and every subset of a larger set.
        searched = set(combinations(range(len(levels)), 2))
        for part in document["sums"]:
            columns = tuple(part["columns"])
            _require(all(type(c) is int and 0 <= c < len(levels) for c in columns))
            _require(columns == tuple(sorted(set(columns))) and not moments.covers(columns))
            variance = _positive(part["variance"])
            sums = _near(_numbers(part["values"]), n, variance)
            moments.add(columns, sums.reshape([levels[c] - 1 for c in columns]), variance)
            searched.update(combinations(columns, len(columns) - 1))
        _require(all(map(moments.covers, searched)))
        points = _points(document["points"])
        _require(points is None or [len(ends) + 1 for ends in points] == list(levels))
        return cls(n, moments, _positive(document["noise"]), points)


class NumberUnits(NamedTuple):
    """Units of rows of numbers.

    centre, scale: middle and spread of each column, shape (p,). radius: maximum norm of a row in
    these units, divided by √p. half: half the range of each column in the units of the data, shape
    (p,).
    """

    centre: Vector
    scale: Vector
    radius: float
    half: Vector


class LineUnits(NamedTuple):
    """Units of rows in which levels are coded by a few numbers.

    counts: noisy counts of the levels of each column. counts_sigma: standard deviation of the
    normal noise on each count. bases: the coordinates of the levels, computed from these counts;
    rows with a norm above 1 in these coordinates are scaled down to norm 1.
    """

    counts: tuple[Vector, ...]
    counts_sigma: float
    bases: Bases


@dataclass(frozen=True)
class ReleasedRows:
    """Second moments of rows of numbers, or of columns with levels coded by a few numbers each.

    n: number of rows. units: the first release, which determines the coordinates of a row. noisy:
    means of the d coordinates (times mean_share) and of their products, as the upper triangle of a
    (d + 1, d + 1) matrix without entry (0, 0). sigma: standard deviation of the normal noise on
    each entry, except for squares. squares: variance of the noise on squares, divided by sigma².
    mean_share: weight of the means relative to the products.
    """

    n: int
    units: NumberUnits | LineUnits
    noisy: Vector
    sigma: float
    squares: float
    mean_share: float

    @property
    def form(self) -> str:
        return "lines" if isinstance(self.units, LineUnits) else "numbers"

    @property
    def bases(self) -> Bases:
        """Coordinates of the levels of each column; empty if the columns are numeric."""
        return self.units.bases if isinstance(self.units, LineUnits) else ()

    @property
    def levels(self) -> tuple[int, ...]:
        return tuple(map(len, self.bases))

    @property
    def ordered(self) -> tuple[int, ...]:
        """Number of ordered levels of each column; 0 for a column without order."""
        return tuple(len(basis) if basis.shape[1] == 1 else 0 for basis in self.bases)

    @property
    def coordinates(self) -> tuple[int, ...]:
        """Number of coordinates of each column."""
        numbers = len(self.units.centre) if isinstance(self.units, NumberUnits) else 0
        return tuple(basis.shape[1] for basis in self.bases) or (1,) * numbers

    @property
    def moments(self) -> Moments:
        """The one-way counts of columns with levels; empty if the columns are numeric."""
        moments = Moments(self.n, self.levels)
        if isinstance(self.units, LineUnits):
            for column, counts in enumerate(self.units.counts):
                moments.add_table((column,), counts, self.units.counts_sigma**2)
        return moments

    def fits(self, own_levels: Sequence[int]) -> bool:
        """Whether the columns agree with the measured columns in number and levels.

        own_levels: see `NumberSource`.
        """
        if self.bases:
            return tuple(own_levels) == self.levels
        as_numbers = 0 in own_levels and not counts_levels(own_levels)
        return as_numbers and len(own_levels) == len(self.coordinates)

    def same_rows(self, other: ReleasedRows) -> ReleasedRows:
        """Average with another release of the same rows, using inverse-variance weights."""
        self._check(other)
        return self._with(self.n, *pooled(*((kept.noisy, kept.variance) for kept in (self, other))))

    def other_rows(self, other: ReleasedRows) -> ReleasedRows:
        """Combine this release with a release in the same units for other rows."""
        self._check(other)
        total = self.n + other.n
        noisy = (self.n * self.noisy + other.n * other.noisy) / total
        variance = self.n**2 * self.variance + other.n**2 * other.variance
        return self._with(total, noisy, variance / total**2)

    @property
    def variance(self) -> Vector:
        """The variance of the noise on each entry of `noisy`."""
        rows, columns = upper_triangle(sum(self.coordinates), centred=True)
        return self.sigma**2 * np.where(rows == columns, self.squares, 1.0)

    def _with(self, n: int, noisy: Vector, variance: Vector) -> ReleasedRows:
        sigma, squares = math.sqrt(variance[0]), float(variance[-1] / variance[0])
        return replace(self, n=n, noisy=noisy, sigma=sigma, squares=squares)

    def _check(self, other: ReleasedRows) -> None:
        """Raise DataError if the two releases have different units."""
        if _plain((*self.units, self.mean_share)) != _plain((*other.units, other.mean_share)):
            raise DataError(
                "The files hold moments in different units, as each release has its own; make the "
                "second release like the first (`release --like FILE`)."
            )

    def as_dict(self) -> dict[str, Any]:
        """The release as a dictionary that `json` can write."""
        own = {name: getattr(self, name) for name in _MOMENTS}
        parts = {"n": self.n, **self.units._asdict(), **own}
        return {name: _plain(value) for name, value in parts.items()}

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> Self:
        """Read the output of `as_dict`.

        Raises KeyError, TypeError or ValueError for any other input.
        """
        units: NumberUnits | LineUnits
        if document["form"] == "lines":
            units = LineUnits(**_checked(document, _LINES))
            for counts in units.counts:
                _near(counts, _rows(document["n"]), units.counts_sigma**2)
            levels = _levels(map(len, units.counts))
            _require(levels == tuple(map(len, units.bases)) and all(b.size for b in units.bases))
        else:
            units = NumberUnits(**_checked(document, _NUMBERS))
            _require(2 <= len(units.centre) == len(units.scale) == len(units.half))
            _require(bool((np.abs(units.centre) <= 1).all()))
            _require(bool(((units.scale >= _LEAST_NOISE) & (units.scale <= 1)).all()))
            # Files of earlier versions do not contain these.
            document = {"squares": 1.0, "mean_share": MEAN_SHARE, **document}
        rows = cls(_rows(document["n"]), units, **_checked(document, _MOMENTS))
        # The norm of a row is at most 1, as is the weight of the means.
        _near(rows.noisy, 1, rows.sigma**2 * max(rows.squares, 1.0))
        _require(rows.mean_share <= 1)
        d = sum(rows.coordinates)
        _require(len(rows.noisy) == (d + 1) * (d + 2) // 2 - 1)
        return rows


_NUMBERS: _Readers = {"centre": _numbers, "scale": _numbers, "radius": _positive, "half": _numbers}
_LINES: _Readers = {
    "counts": lambda values: tuple(map(_numbers, values)),
    "counts_sigma": _positive,
    "bases": lambda values: tuple(_numbers(basis, 2) for basis in values),
}
_MOMENTS: _Readers = {
    "noisy": _numbers,
    "sigma": _positive,
    "squares": _positive,
    "mean_share": _positive,
}
ReleasedStatistics = ReleasedTable | ReleasedSums | ReleasedRows
_FORMS: dict[str, type[ReleasedStatistics]] = {
    "table": ReleasedTable,
    "sums": ReleasedSums,
    "numbers": ReleasedRows,
    "lines": ReleasedRows,
}


def released_as_dict(statistics: Keepable) -> dict[str, Any]:
    """The released numbers and the name of their form, as a dictionary that `json` can write."""
    return {"form": statistics.form, **statistics.as_dict()}


def read_released(document: Any) -> ReleasedStatistics:
    """Read the output of `released_as_dict`; raises DataError for anything else."""
    try:
        return _FORMS[document["form"]].read(document)
    except (KeyError, TypeError, ValueError, OverflowError, AttributeError):
        raise DataError(
            "The release file is not complete, or its numbers are out of range; get the original."
        ) from None


def together(parts: Sequence[ReleasedStatistics], *, same_rows: bool) -> ReleasedStatistics:
    """Combine releases of the same columns.

    same_rows: whether all releases come from the same rows. Raises DataError if the releases cannot
    be combined.
    """
    whole = parts[0]
    for other in parts[1:]:
        if type(whole) is not type(other) or whole.levels != other.levels:
            raise DataError(
                "The files differ in the kind of release or in the levels of the columns; give "
                "files of the same kind with the same levels."
            )
        if same_rows and whole.n != other.n:
            raise DataError(
                f"The files were made from {whole.n:,} and {other.n:,} rows, so the files do not "
                "cover the same rows; combine these files as releases from different sites."
            )
        add: Any = whole.same_rows if same_rows else whole.other_rows
        whole = add(other)
    return whole
