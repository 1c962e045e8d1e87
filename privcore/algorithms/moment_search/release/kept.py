"""What a run released, as a value: it can be kept, searched again, topped up and pooled.

A form for each kind of release: counts of all combinations of levels, sums over pairs and larger
sets of columns, and second moments of numbers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, ClassVar, Self, cast

import numpy as np

from privcore.algorithms.moment_search.release.features import sum_zero_basis
from privcore.algorithms.moment_search.release.moments import Moments
from privcore.algorithms.moment_search.release.plan import counts_levels
from privcore.algorithms.search.result import Keepable
from privcore.arrays import Columns, Matrix, Vector
from privcore.counts.source import Bases
from privcore.errors import DataError
from privcore.privacy.mechanisms.moment_release import MEAN_SHARE
from privcore.privacy.mechanisms.noise import discrete_laplace_scale, discrete_laplace_variance
from privcore.privacy.mechanisms.second_moments import upper_triangle

_ONE_TABLE = "The files hold different kinds of releases, which cannot be put together."
_NOT_WHOLE = "The release file is not complete; get the original."
_OTHER_UNITS = (
    "The files hold moments in different units, which each release chose by itself; only a release "
    "that tops up another has its units."
)
_OTHER_SITES = (
    "Moments are in units that each site's release chose by itself, and cannot be added; cut "
    "numbers into levels at public points before the releases, and count these."
)
_MOST_CELLS = 10**8

# Per column, where it is cut, increasing.
Points = tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class KeptTable:
    """Counts of all combinations of levels.

    n: rows.  counts: shape = levels.  scale: of the discrete Laplace noise on each; where several
    releases are put together, that of such noise with their variance.
    topped: whether a further release may refine it, which only one release of one table allows.
    """

    n: int
    counts: Matrix
    scale: float
    topped: bool = True

    form = "table"

    @property
    def levels(self) -> tuple[int, ...]:
        return self.counts.shape

    @property
    def moments(self) -> Moments:
        """The sums that the counts give."""
        moments = Moments(self.n, self.levels)
        columns = tuple(range(len(self.levels)))
        moments.add_table(columns, self.counts, discrete_laplace_variance(self.scale))
        return moments

    @property
    def closed(self) -> KeptTable:
        """The same, which no further release may refine."""
        return replace(self, topped=False)

    def fits(self, own_levels: Sequence[int]) -> bool:
        """Whether columns are those that were counted; own_levels: as of `NumberSource`."""
        return tuple(own_levels) == self.levels

    def same_rows(self, other: KeptTable) -> KeptTable:
        """With another release of the same rows; counts weighed by their noise."""
        one, two = map(discrete_laplace_variance, (self.scale, other.scale))
        # Of noise that is 0 in floating point, either count will do.
        share = two / (one + two) if one + two > 0 else 1.0
        counts = share * self.counts + (1 - share) * other.counts
        return KeptTable(self.n, counts, discrete_laplace_scale(one * share), topped=False)

    def other_rows(self, other: KeptTable) -> KeptTable:
        """With a release of other rows of the same columns."""
        variance = sum(map(discrete_laplace_variance, (self.scale, other.scale)))
        total = self.n + other.n
        return KeptTable(
            total, self.counts + other.counts, discrete_laplace_scale(variance), topped=False
        )

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "n": self.n,
            "levels": list(self.levels),
            "counts": self.counts.ravel().tolist(),
            "scale": self.scale,
            "topped": self.topped,
        }

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> Self:
        """Raises KeyError, TypeError or ValueError for what `as_dict` has not made."""
        levels = _levels(document["levels"])
        counts = _numbers(document["counts"]).reshape(levels)
        return cls(
            _rows(document["n"]), counts, _positive(document["scale"]), document["topped"] is True
        )


class WithMu:
    """What was released with Gaussian noise; mu as of `KeptSums`."""

    mu: float

    @property
    def topped(self) -> bool:
        """Whether a further release may add to it."""
        return self.mu > 0

    @property
    def closed(self) -> Self:
        """The same, to which none may."""
        return cast(Self, replace(cast(Any, self), mu=0.0))


@dataclass(frozen=True)
class KeptSums(WithMu):
    """Sums over pairs of columns, and over larger sets.

    moments: all that was released.  noise: as of `MomentPlan`, which says how the search begins.
    mu: Gaussian-DP parameter of all releases so far, for a row; 0 where none can be added.
    points: between which numbers were cut into levels, None of columns that have levels.
    """

    n: int
    moments: Moments
    noise: float
    mu: float
    points: Points | None = None

    form = "sums"

    @property
    def levels(self) -> tuple[int, ...]:
        return self.moments.levels

    def fits(self, own_levels: Sequence[int]) -> bool:
        """Whether columns are those that were counted; own_levels: as of `NumberSource`."""
        if self.points is None:
            return tuple(own_levels) == self.levels
        cut = [own or now for own, now in zip(own_levels, self.levels, strict=False)]
        return 0 in own_levels and len(own_levels) == len(cut) and tuple(cut) == self.levels

    def same_rows(self, other: KeptSums) -> KeptSums:
        """With another release of the same rows; every sum is weighed by its noise."""
        self._check(other)
        both = self.moments.copy()
        for columns, sums, variance in other.moments.parts():
            both.add(columns, sums, variance)
        noise = 1 / (1 / self.noise + 1 / other.noise)
        return replace(self, moments=both, noise=noise, mu=0.0)

    def other_rows(self, other: KeptSums) -> KeptSums:
        """With a release of other rows of the same columns: sums that both have are added."""
        self._check(other)
        total = self.n + other.n
        both, theirs = Moments(total, self.levels), {c: (s, v) for c, s, v in other.moments.parts()}
        for columns, sums, variance in self.moments.parts():
            if columns in theirs:
                more, noise = theirs[columns]
                both.add(columns, sums + more, variance + noise)
        noise = (self.noise * self.n + other.noise * other.n) / total
        return KeptSums(total, both, noise, 0.0, self.points)

    def _check(self, other: KeptSums) -> None:
        """Raises DataError where numbers were cut at different points."""
        if (self.points is None) != (other.points is None) or (
            self.points is not None and other.points is not None and self.points != other.points
        ):
            raise DataError(
                "The files cut numbers into levels at different points, which each release chose "
                "by itself; cut them at public points before the releases."
            )

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "n": self.n,
            "levels": list(self.levels),
            "noise": self.noise,
            "mu": self.mu,
            "points": None if self.points is None else [list(ends) for ends in self.points],
            "sums": [
                {"columns": list(columns), "variance": variance, "values": sums.ravel().tolist()}
                for columns, sums, variance in self.moments.parts()
            ],
        }

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> Self:
        """Raises KeyError, TypeError or ValueError for what `as_dict` has not made."""
        levels, n = _levels(document["levels"]), _rows(document["n"])
        moments = Moments(n, levels)
        for part in document["sums"]:
            columns = tuple(part["columns"])
            _require(all(type(c) is int and 0 <= c < len(levels) for c in columns))
            _require(columns == tuple(sorted(set(columns))) and not moments.covers(columns))
            shape = [sum_zero_basis(levels[c]).shape[1] for c in columns]
            sums = _numbers(part["values"]).reshape(shape)
            moments.add(columns, sums, _positive(part["variance"]))
        # A search looks at all pairs, and at every part of a larger set.
        _require(all(map(moments.covers, combinations(range(len(levels)), 2))))
        parts = {part for columns, _, _ in moments.parts() for part in _without_one(columns)}
        _require(all(map(moments.covers, parts)))
        points = document["points"]
        cut = None if points is None else tuple(tuple(map(float, ends)) for ends in points)
        _require(cut is None or [len(ends) + 1 for ends in cut] == list(levels))
        for ends in cut or ():
            _require(all(map(math.isfinite, ends)) and list(ends) == sorted(set(ends)))
        mu = _number(document["mu"])
        _require(0 <= mu < math.inf)
        return cls(n, moments, _positive(document["noise"]), mu, cut)


@dataclass(frozen=True)
class KeptNumbers(WithMu):
    """Second moments of numbers, in units that were released before.

    centre, scale: of each column, shape (p,); radius: how long rows may be in these, over √p.
    half: of each column, half of its range in the units of the data, shape (p,).
    noisy: means (weighted) and products, as the upper triangle of (p + 1, p + 1) without (0, 0),
    each with normal noise of deviation sigma, squares with `squares` times its variance, which is 1
    in files of versions before.  mean_share: weight of the means.  mu: as of `KeptSums`.
    """

    n: int
    centre: Vector
    scale: Vector
    radius: float
    half: Vector
    noisy: Vector
    sigma: float
    mu: float
    squares: float
    mean_share: float

    form = "numbers"

    @property
    def coordinates(self) -> tuple[int, ...]:
        """As of `KeptMoments`."""
        return (1,) * len(self.centre)

    # Of columns that hold numbers there are none.
    levels: ClassVar[tuple[int, ...]] = ()

    def fits(self, own_levels: Sequence[int]) -> bool:
        """Whether columns are numbers, as many; own_levels: as of `NumberSource`."""
        as_numbers = 0 in own_levels and not counts_levels(own_levels)
        return as_numbers and len(own_levels) == len(self.centre)

    def same_rows(self, other: KeptNumbers) -> KeptNumbers:
        """With another release of the same rows in the same units; weighed by their noise."""
        alike = all(
            np.array_equal(getattr(self, name), getattr(other, name))
            for name in ("centre", "scale", "radius", "half", "mean_share")
        )
        if not alike:
            raise DataError(_OTHER_UNITS)
        noisy, sigma, squares = _weighed(self, other, len(self.centre))
        return replace(self, noisy=noisy, sigma=sigma, squares=squares, mu=0.0)

    def other_rows(self, other: KeptNumbers) -> KeptNumbers:
        """Raises DataError: each release has units of its own."""
        raise DataError(_OTHER_SITES)

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "n": self.n,
            "centre": self.centre.tolist(),
            "scale": self.scale.tolist(),
            "radius": self.radius,
            "half": self.half.tolist(),
            "noisy": self.noisy.tolist(),
            "sigma": self.sigma,
            "mu": self.mu,
            "squares": self.squares,
            "mean_share": self.mean_share,
        }

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> Self:
        """Raises KeyError, TypeError or ValueError for what `as_dict` has not made."""
        centre, scale = _numbers(document["centre"]), _numbers(document["scale"])
        p, noisy, half = len(centre), _numbers(document["noisy"]), _numbers(document["half"])
        _require(
            p >= 2 and len(scale) == len(half) == p and len(noisy) == (p + 1) * (p + 2) // 2 - 1
        )
        mu = _number(document["mu"])
        _require(0 <= mu < math.inf)
        return cls(
            _rows(document["n"]),
            centre,
            scale,
            _positive(document["radius"]),
            half,
            noisy,
            _positive(document["sigma"]),
            mu,
            _positive(document.get("squares", 1.0)),
            _positive(document.get("mean_share", MEAN_SHARE)),
        )


@dataclass(frozen=True)
class KeptLines(WithMu):
    """Columns with levels, measured in few numbers each.

    counts: of the levels of each column, with normal noise of deviation counts_sigma.
    bases: the coordinates of the levels, by these; rows are shortened to length 1.
    noisy: as of `KeptNumbers`.  mu: as of `KeptSums`.
    """

    n: int
    counts: tuple[Vector, ...]
    counts_sigma: float
    bases: Bases
    noisy: Vector
    sigma: float
    mu: float
    squares: float
    mean_share: float

    form = "lines"

    @property
    def levels(self) -> tuple[int, ...]:
        return tuple(map(len, self.bases))

    @property
    def ordered(self) -> tuple[int, ...]:
        """How many levels of each column are on a line; 0 where none are."""
        return tuple(len(basis) if basis.shape[1] == 1 else 0 for basis in self.bases)

    @property
    def coordinates(self) -> tuple[int, ...]:
        """As of `KeptMoments`."""
        return tuple(basis.shape[1] for basis in self.bases)

    @property
    def moments(self) -> Moments:
        """The counts of each column by itself."""
        moments = Moments(self.n, self.levels)
        for column, counts in enumerate(self.counts):
            moments.add_table((column,), counts, self.counts_sigma**2)
        return moments

    def fits(self, own_levels: Sequence[int]) -> bool:
        """Whether columns are those that were measured; own_levels: as of `NumberSource`."""
        return tuple(own_levels) == self.levels

    def same_rows(self, other: KeptLines) -> KeptLines:
        """With another release of the same rows in the same coordinates; weighed by their noise."""
        alike = all(map(np.array_equal, self.bases, other.bases))
        if not alike or self.mean_share != other.mean_share:
            raise DataError(_OTHER_UNITS)
        noisy, sigma, squares = _weighed(self, other, sum(self.coordinates))
        return replace(self, noisy=noisy, sigma=sigma, squares=squares, mu=0.0)

    def other_rows(self, other: KeptLines) -> KeptLines:
        """Raises DataError: each release has coordinates of its own."""
        raise DataError(_OTHER_SITES)

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "n": self.n,
            "counts": [counts.tolist() for counts in self.counts],
            "counts_sigma": self.counts_sigma,
            "bases": [basis.tolist() for basis in self.bases],
            "noisy": self.noisy.tolist(),
            "sigma": self.sigma,
            "mu": self.mu,
            "squares": self.squares,
            "mean_share": self.mean_share,
        }

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> Self:
        """Raises KeyError, TypeError or ValueError for what `as_dict` has not made."""
        counts = tuple(map(_numbers, document["counts"]))
        levels = _levels(map(len, counts))
        bases = tuple(
            _numbers([x for level in basis for x in level]).reshape(r, -1)
            for r, basis in zip(levels, document["bases"], strict=True)
        )
        d, noisy, mu = sum(b.shape[1] for b in bases), _numbers(document["noisy"]), document["mu"]
        _require(all(basis.shape[1] for basis in bases))
        _require(len(noisy) == (d + 1) * (d + 2) // 2 - 1 and 0 <= _number(mu) < math.inf)
        return cls(
            _rows(document["n"]),
            counts,
            _positive(document["counts_sigma"]),
            bases,
            noisy,
            _positive(document["sigma"]),
            _number(mu),
            _positive(document["squares"]),
            _positive(document["mean_share"]),
        )


def _weighed(
    one: KeptNumbers | KeptLines, other: KeptNumbers | KeptLines, coordinates: int
) -> tuple[Vector, float, float]:
    """Moments of both, each entry weighed by its noise; sigma and squares of the result."""
    rows, columns = upper_triangle(coordinates, centred=True)
    own, more = (k.sigma**2 * np.where(rows == columns, k.squares, 1.0) for k in (one, other))
    share = more / (own + more)
    left = own * share
    noisy = share * one.noisy + (1 - share) * other.noisy
    return noisy, math.sqrt(left[0]), float(left[-1] / left[0])


Kept = KeptTable | KeptSums | KeptNumbers | KeptLines
_FORMS: dict[str, type[Kept]] = {
    kind.form: kind for kind in (KeptTable, KeptSums, KeptNumbers, KeptLines)
}


def kept_as_dict(kept: Keepable) -> dict[str, Any]:
    """JSON-ready, with its form."""
    return {"form": kept.form, **kept.as_dict()}


def read_kept(document: Any) -> Kept:
    """Raises DataError for what `kept_as_dict` has not made."""
    try:
        return _FORMS[document["form"]].read(document)
    except (KeyError, TypeError, ValueError, OverflowError, AttributeError):
        raise DataError(_NOT_WHOLE) from None


def together(parts: Sequence[Kept], *, same_rows: bool) -> Kept:
    """Releases of the same rows, or of different ones, of the same columns; raises DataError."""
    whole = parts[0]
    for other in parts[1:]:
        if type(whole) is not type(other) or _shape(whole) != _shape(other):
            raise DataError(_ONE_TABLE)
        if same_rows and whole.n != other.n:
            raise DataError(
                f"The files have {whole.n:,} and {other.n:,} rows, so they do not hold the same "
                "ones; say that they come from different sites."
            )
        method = "same_rows" if same_rows else "other_rows"
        whole = getattr(whole, method)(other)
    return whole


def _shape(kept: Kept) -> tuple[int, ...]:
    return (len(kept.centre),) if isinstance(kept, KeptNumbers) else kept.levels


def _require(holds: bool) -> None:
    if not holds:
        raise ValueError


def _without_one(columns: Columns) -> list[Columns]:
    return [columns[:k] + columns[k + 1 :] for k in range(len(columns))]


def _rows(value: Any) -> int:
    _require(type(value) is int and 2 <= value < 2**53)
    return int(value)


def _positive(value: Any) -> float:
    number = _number(value)
    _require(0 < number < math.inf)
    return number


def _number(value: Any) -> float:
    _require(type(value) in (int, float))
    return float(value)


def _levels(values: Any) -> tuple[int, ...]:
    levels = tuple(values)
    _require(all(type(r) is int and 1 <= r <= 1000 for r in levels))
    _require(math.prod(levels) > 0 and len(levels) >= 2)
    return levels


def _numbers(values: Any) -> Vector:
    numbers = np.array(values, dtype=np.float64)
    _require(numbers.ndim == 1 and numbers.size <= _MOST_CELLS and bool(np.isfinite(numbers).all()))
    return numbers
