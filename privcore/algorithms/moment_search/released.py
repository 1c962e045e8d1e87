"""The released numbers of a run, which can be stored, searched again and pooled.

There are four kinds of release: counts of all combinations of levels; sums for pairs and larger
sets of columns; second moments of rows (of numbers, or of levels coded by a few numbers each, of
all columns or of those near one); and distances of pairs of columns from independence, with counts
of some pairs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal, NamedTuple

import numpy as np

from privcore.algorithms.moment_search.moments import Measurement, Moments
from privcore.algorithms.search.result import Keepable
from privcore.arrays import Columns, Matrix, Vector
from privcore.counts.source import Bases
from privcore.errors import DataError
from privcore.privacy.mechanisms.moments import MEAN_SHARE, upper_triangle
from privcore.privacy.mechanisms.noise import discrete_laplace_scale, discrete_laplace_variance

# Number of levels of a column that also counts as a number: yes/no as −1 and 1.
YES_NO = 2
_MOST_CELLS = 10**8
# With more or less noise nothing could be found, and searches would leave floating point.
_LEAST_NOISE, _MOST_NOISE = 1e-40, 1e26
# A product of two such numbers stays within floating point.
_MOST = 1e150
_Readers = Mapping[str, Callable[[Any], Any]]
Form = Literal["table", "sums", "numbers", "lines", "target", "distances"]
# Per column, its cut points in increasing order.
Points = tuple[tuple[float, ...], ...]


def counts_levels(own_levels: Sequence[int]) -> bool:
    """Whether any column has more than two levels; own_levels: see `NumberSource`.

    If so, levels are counted, even if other columns are numeric.
    """
    return max(own_levels) > YES_NO


class NumberUnits(NamedTuple):
    """Units of rows of numbers.

    centre, scale: middle and spread of each column, shape (p,). radius: maximum norm of a row in
    these units, divided by √p. half: half the range of each column in the units of the data, shape
    (p,). mean_share: weight of the means relative to the products.
    """

    centre: Vector
    scale: Vector
    radius: float
    half: Vector
    mean_share: float


class LineUnits(NamedTuple):
    """Units of rows in which levels are coded by a few numbers.

    bases: the coordinates of the levels of each column; rows with a norm above 1 in these
    coordinates are scaled down to norm 1. mean_share: as in `NumberUnits`.
    """

    bases: Bases
    mean_share: float


@dataclass(frozen=True)
class ReleasedNumbers:
    """The released numbers of a run: all that the search, the findings and effects read.

    form: "table" of all combinations of levels; "sums" for pairs and larger sets of columns; second
    moments of rows of "numbers", or of "lines": levels that are coded by a few numbers each;
    "target", the same of some columns alone; or "distances" of all pairs.
    n: number of rows. levels: number of levels of each column as counted; empty for numbers.
    measurements: the numbers. For lines and a target, the counts of each column's levels come
    first, which set the units; for distances, the counts that these refer to, then the distances,
    then the counts of pairs. noise: scale of the discrete Laplace noise of a table (or the scale
    that has the same variance); for sums, `PairSums.noise_ratio`, which limits the conditioning
    sets of the first tests; for rows, standard deviation of the noise on products; for distances,
    of that on a distance. units: how rows become numbers; for sums, the cut
    points of numeric columns, or None if all columns have levels.
    """

    form: Form
    n: int
    levels: tuple[int, ...]
    measurements: tuple[Measurement, ...]
    noise: float
    units: NumberUnits | LineUnits | Points | None = None

    @property
    def moments(self) -> Moments:
        """The sums for all sets of columns that were counted; none for numbers."""
        counted = [m for m in self.measurements if m.basis not in ("moments", "distances")]
        return Moments(self.n, self.levels, counted)

    @property
    def coordinates(self) -> tuple[int, ...]:
        """For second moments of rows, the number of coordinates of each column."""
        if isinstance(self.units, LineUnits):
            return tuple(basis.shape[1] for basis in self.units.bases)
        return (1,) * len(self.measurements[-1].columns)

    @property
    def ordered(self) -> tuple[int, ...]:
        """Number of ordered levels of each column; 0 for a column without order."""
        bases = self.units.bases if isinstance(self.units, LineUnits) else ()
        return tuple(len(basis) if basis.shape[1] == 1 else 0 for basis in bases)

    def fits(self, own_levels: Sequence[int]) -> bool:
        """Whether the columns have the levels that were counted; own_levels: see `NumberSource`."""
        own = tuple(own_levels)
        if self.form == "numbers":
            as_numbers = 0 in own and not counts_levels(own)
            return as_numbers and len(own) == len(self.coordinates)
        if self.form == "target" or (self.form == "sums" and self.units is not None):
            cut = tuple(r or now for r, now in zip(own, self.levels, strict=False))
            needed = self.form == "sums"
            return (0 in own or not needed) and len(own) == len(cut) and cut == self.levels
        return own == self.levels

    def same_rows(self, other: ReleasedNumbers) -> ReleasedNumbers:
        """Combine with a release of the same rows, by inverse-variance weights."""
        shared = self._shared(other)
        held = {(m.columns, m.basis): m for m in self.measurements[len(shared) :]}
        for m in other.measurements[len(shared) :]:
            key = m.columns, m.basis
            held[key] = held[key].averaged(m) if key in held else m
        noise = 1 / (1 / self.noise + 1 / other.noise)
        return self._with((*shared, *held.values()), noise)

    def other_rows(self, other: ReleasedNumbers) -> ReleasedNumbers:
        """Combine with a release of the same columns for other rows.

        Numbers in both releases are combined; numbers in only one release are left out.
        """
        if self.form == "distances":
            raise DataError("distances-of-other-rows")
        shared = self._shared(other)
        theirs, total = {m.columns: m for m in other.measurements}, self.n + other.n
        both = [
            m.joined(theirs[m.columns], self.n, other.n)
            for m in self.measurements[len(shared) :]
            if m.columns in theirs
        ]
        noise = (self.noise * self.n + other.noise * other.n) / total
        return replace(self, n=total)._with((*shared, *both), noise)

    def _shared(self, other: ReleasedNumbers) -> tuple[Measurement, ...]:
        """The counts that set the units of both releases; raises DataError for other units."""
        first = len(self.levels) if self.form in ("lines", "target", "distances") else 0
        ours, theirs = (k.measurements[:first] for k in (self, other))
        counts = (_plain(tuple(m.values for m in shared)) for shared in (ours, theirs))
        if _plain(self.units) != _plain(other.units) or next(counts) != next(counts):
            raise DataError(
                "other-cut-points" if self.form == "sums" else "different-units-of-files"
            )
        return ours

    def _with(self, measurements: tuple[Measurement, ...], noise: float) -> ReleasedNumbers:
        """The release with combined measurements; noise: that of combined sums."""
        if self.form == "table":
            noise = discrete_laplace_scale(measurements[0].variance)
        elif self.form == "distances":
            noise = math.sqrt(measurements[len(self.levels)].variance)
        elif self.form != "sums":
            noise = math.sqrt(measurements[-1].variance[0])
        return replace(self, measurements=measurements, noise=noise)

    def as_dict(self) -> dict[str, Any]:
        """The release as a dictionary that `json` can write."""
        last = self.measurements[-1]
        if self.form == "table":
            counts = last.values.ravel().tolist()
            return {"n": self.n, "levels": list(self.levels), "counts": counts, "scale": self.noise}
        if self.form == "sums":
            parts = [
                {"columns": list(m.columns), "variance": m.variance, "values": _flat(m.values)}
                for m in self.measurements
            ]
            stated = {"noise": self.noise, "points": _plain(self.units), "sums": parts}
            return {"n": self.n, "levels": list(self.levels), **stated}
        if self.form == "distances":
            return self._distances_as_dict()
        assert isinstance(self.units, NumberUnits | LineUnits)
        units = {name: _plain(value) for name, value in self.units._asdict().items()}
        mean_share = units.pop("mean_share")
        if isinstance(self.units, LineUnits):
            first = self.measurements[:-1]
            counts = [m.values.tolist() for m in first]
            units = {"counts": counts, "counts_sigma": math.sqrt(first[0].variance), **units}
        squares = last.variance[-1] / last.variance[0]
        noisy = {"noisy": last.values.tolist(), "sigma": self.noise, "squares": float(squares)}
        return {"n": self.n, **units, **noisy, "mean_share": mean_share}

    def _distances_as_dict(self) -> dict[str, Any]:
        columns = len(self.levels)
        counts, tables = self.measurements[:columns], self.measurements[columns + 1 :]
        return {
            "n": self.n,
            "counts": [m.values.tolist() for m in counts],
            "counts_sigma": math.sqrt(counts[0].variance),
            "distances": self.measurements[columns].values.tolist(),
            "sigma": self.noise,
            "tables": [
                {
                    "columns": list(m.columns),
                    "sigma": math.sqrt(m.variance),
                    "values": m.values.tolist(),
                }
                for m in tables
            ],
        }


def released_table(n: int, measurement: Measurement, scale: float) -> ReleasedNumbers:
    """The release of all combinations of levels; scale: scale of the noise."""
    return ReleasedNumbers("table", n, measurement.values.shape, (measurement,), scale)


def released_sums(moments: Moments, noise: float, points: Points | None = None) -> ReleasedNumbers:
    """The release of sums; noise, points: see `ReleasedNumbers`."""
    known = moments.measurements()
    return ReleasedNumbers("sums", moments.n, moments.levels, known, noise, points)


def released_rows(
    n: int,
    units: NumberUnits | LineUnits,
    moments: Measurement,
    counts: Sequence[Measurement] = (),
    *,
    near_one: bool = False,
) -> ReleasedNumbers:
    """The release of second moments of rows; counts: the counts of levels that set the units.

    near_one: whether only columns near one were chosen for the rows, which may be all columns.
    """
    form: Form = "numbers"
    if isinstance(units, LineUnits):
        form = "target" if near_one else "lines"
    levels = tuple(len(m.values) for m in counts)
    sigma = math.sqrt(moments.variance[0])
    return ReleasedNumbers(form, n, levels, (*counts, moments), sigma, units)


def released_distances(
    n: int,
    counts: Sequence[Measurement],
    distances: Measurement,
    tables: Sequence[Measurement] = (),
) -> ReleasedNumbers:
    """The release of distances; counts: of the levels of each column. tables: counts of pairs."""
    levels, sigma = tuple(len(m.values) for m in counts), math.sqrt(distances.variance)
    return ReleasedNumbers("distances", n, levels, (*counts, distances, *tables), sigma)


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


def _flat(values: Matrix) -> list[float]:
    return list(values.ravel().tolist())


def _read_table(document: Mapping[str, Any]) -> ReleasedNumbers:
    n, levels, scale = (
        _rows(document["n"]),
        _levels(document["levels"]),
        _positive(document["scale"]),
    )
    variance = discrete_laplace_variance(scale)
    counts = _near(_numbers(document["counts"]), n, variance).reshape(levels)
    measurement = Measurement(tuple(range(len(levels))), counts, variance, "counts")
    return released_table(n, measurement, scale)


def _read_sums(document: Mapping[str, Any]) -> ReleasedNumbers:
    levels, n = _levels(document["levels"]), _rows(document["n"])
    held: dict[Columns, Measurement] = {}
    # A search uses all pairs, and every subset of a larger set.
    searched = set(combinations(range(len(levels)), 2))
    for part in document["sums"]:
        columns = tuple(part["columns"])
        _require(all(type(c) is int and 0 <= c < len(levels) for c in columns))
        _require(bool(columns) and columns == tuple(sorted(set(columns))) and columns not in held)
        variance = _positive(part["variance"])
        sums = _near(_numbers(part["values"]), n, variance)
        sums = sums.reshape([levels[c] - 1 for c in columns])
        held[columns] = Measurement(columns, sums, variance, "contrasts")
        searched.update(combinations(columns, len(columns) - 1))
    _require(searched - {()} <= held.keys())
    points = _points(document["points"])
    _require(points is None or [len(ends) + 1 for ends in points] == list(levels))
    known = tuple(held.values())
    return ReleasedNumbers("sums", n, levels, known, _positive(document["noise"]), points)


def _read_rows(document: Mapping[str, Any]) -> ReleasedNumbers:
    n, lines = _rows(document["n"]), document["form"] != "numbers"
    near_one = document["form"] == "target"
    if not lines:
        # Files of earlier versions do not contain these.
        document = {"squares": 1.0, "mean_share": MEAN_SHARE, **document}
    given = _checked(document, {**_MOMENTS, **(_LINES if lines else _NUMBERS)})
    noisy, sigma, squares, mean_share = (given[name] for name in _MOMENTS)
    _require(mean_share <= 1)
    units: NumberUnits | LineUnits
    counts: list[Measurement] = []
    if lines:
        variance, bases = given["counts_sigma"] ** 2, given["bases"]
        for column, own in enumerate(given["counts"]):
            counts.append(Measurement((column,), _near(own, n, variance), variance, "counts"))
        levels = _levels(map(len, given["counts"]))
        _require(levels == tuple(map(len, bases)))
        _require(near_one or all(basis.size for basis in bases))
        _require(sum(basis.size > 0 for basis in bases) > 1)
        units = LineUnits(bases, mean_share)
        d = sum(basis.shape[1] for basis in bases)
    else:
        units = NumberUnits(**{name: given[name] for name in _NUMBERS}, mean_share=mean_share)
        d = len(units.centre)
        _require(2 <= len(units.centre) == len(units.scale) == len(units.half))
        _require(bool((np.abs(units.centre) <= 1).all()))
        _require(bool(((units.scale >= _LEAST_NOISE) & (units.scale <= 1)).all()))
    # The norm of a row is at most 1, as is the weight of the means.
    _near(noisy, 1, sigma**2 * max(squares, 1.0))
    rows, columns = upper_triangle(d, centred=True)
    _require(len(noisy) == len(rows))
    variances = sigma * sigma * np.where(rows == columns, squares, 1.0)
    measured = tuple(range(len(counts) if lines else d))
    moments = Measurement(measured, noisy, variances, "moments")
    return released_rows(n, units, moments, counts, near_one=near_one)


def _read_distances(document: Mapping[str, Any]) -> ReleasedNumbers:
    n, variance = _rows(document["n"]), _positive(document["counts_sigma"]) ** 2
    counts = []
    for column, own in enumerate(document["counts"]):
        counts.append(Measurement((column,), _near(_numbers(own), n, variance), variance, "counts"))
    levels = _levels(len(m.values) for m in counts)
    every, spread = tuple(range(len(levels))), _positive(document["sigma"]) ** 2
    distances = _near(_numbers(document["distances"]), n, spread)
    _require(len(distances) == math.comb(len(levels), 2))
    tables: dict[Columns, Measurement] = {}
    for part in document["tables"]:
        a, b = part["columns"]
        _require(type(a) is type(b) is int and 0 <= a < b < len(levels) and (a, b) not in tables)
        own, noise = _numbers(part["values"], 2), _positive(part["sigma"]) ** 2
        _require(own.shape == (levels[a], levels[b]))
        tables[a, b] = Measurement((a, b), _near(own, n, noise), noise, "counts")
    measured = Measurement(every, distances, spread, "distances")
    return released_distances(n, counts, measured, tuple(tables.values()))


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
_FORMS: dict[str, Callable[[Mapping[str, Any]], ReleasedNumbers]] = {
    "table": _read_table,
    "sums": _read_sums,
    "numbers": _read_rows,
    "lines": _read_rows,
    "target": _read_rows,
    "distances": _read_distances,
}


def released_as_dict(statistics: Keepable) -> dict[str, Any]:
    """The released numbers and the name of their form, as a dictionary that `json` can write."""
    return {"form": statistics.form, **statistics.as_dict()}


def read_released(document: Any) -> ReleasedNumbers:
    """Read the output of `released_as_dict`; raises DataError for anything else."""
    try:
        return _FORMS[document["form"]](document)
    except (KeyError, TypeError, ValueError, OverflowError, AttributeError):
        raise DataError("release-file-not-complete-numbers-out") from None


def pool(parts: Sequence[ReleasedNumbers], *, same_rows: bool) -> ReleasedNumbers:
    """Combine releases of the same columns.

    same_rows: whether all releases come from the same rows. Raises DataError if the releases cannot
    be combined.
    """
    whole = parts[0]
    for other in parts[1:]:
        if (whole.form, whole.levels) != (other.form, other.levels):
            raise DataError("files-differ-in-kind-of-release")
        if same_rows and whole.n != other.n:
            raise DataError("files-of-other-rows", rows=whole.n, other=other.n)
        whole = whole.same_rows(other) if same_rows else whole.other_rows(other)
    return whole
