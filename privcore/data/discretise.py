"""Cuts numeric columns into intervals at public points."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privcore.data.model import Column, Dataset, code_type
from privcore.errors import DataError
from privcore.text import short

MAX_INTERVALS = 100
_LEAST_PROPOSED = 6
# Most digits of a number written in full; others have as many as keep them distinct.
_SHORT, _SHORTEST = 6, 3
CURRENCIES = "$£€¥₹₽₩₺"


def discretise(dataset: Dataset, cuts: Mapping[str, int | Sequence[float]]) -> Dataset:
    """The data set with some continuous columns cut into ordinal columns.

    cuts: per column name, either inner boundaries or a number of intervals.  Boundaries count as
        public, so they must be chosen without looking at the rows.  Intervals divide the column's
        bounds into equal widths, and are as public as the bounds.
    The data set's recipe is dropped, because a recipe does not describe such cuts.
    Raises DataError for names of columns that are not continuous, and for impossible cuts.
    """
    unknown = [name for name in cuts if name not in dataset.names]
    if unknown:
        raise DataError("no-such-column-to-cut", unknown=short(unknown[0]))
    columns, values = list(dataset.columns), list(dataset.values)
    for position, column in enumerate(dataset.columns):
        if column.name not in cuts:
            continue
        if column.bounds is None or column.is_categorical:
            raise DataError("column-levels-already", name=short(column.name))
        wanted = cuts[column.name]
        if isinstance(wanted, int):
            points, declared = equal_width(column.bounds, wanted, column.name), column.declared
        else:
            points, declared = tuple(wanted), True
        values[position] = cut(dataset.values[position], points, column.name)
        columns[position] = Column(
            column.name,
            "ordinal",
            interval_labels(points),
            cut_points=tuple(points),
            declared=declared,
        )
    return replace(dataset, columns=tuple(columns), values=tuple(values), recipe=None)


def intervals(dataset: Dataset, count: int) -> Dataset:
    """The data set with every continuous column cut into `count` intervals of equal width.

    The intervals divide the column's bounds, so the cut points are as public as the bounds.  If the
    data set has a recipe, `count` is added to it.
    Raises DataError if no column is continuous, or unless count is from 2 to 100.
    """
    numeric = [column.name for column in dataset.columns if not column.is_categorical]
    if not numeric:
        raise DataError("every-column-levels-already")
    recipe = None if dataset.recipe is None else {**dataset.recipe, "intervals": count}
    return replace(discretise(dataset, dict.fromkeys(numeric, count)), recipe=recipe)


def usual_intervals(rows: int, columns: int, epsilon: float = 1.0) -> int:
    """Number of intervals, from 2 to 8, into which numbers are cut; uses only public facts.

    More intervals preserve more of a dependence, but spread the rows over more noisy cells.  The
    formula was chosen on random non-linear graphs: `python -m benchmarks.intervals`.
    """
    return min(8, max(2, round(math.sqrt(rows * min(epsilon, 1.0) / columns) / 10)))


def proposed_intervals(rows: int, columns: int) -> int:
    """Number of intervals, from 6 to 8, that is proposed to the user for columns of numbers.

    Six intervals preserve nearly all of a column's dependences.
    """
    return max(_LEAST_PROPOSED, usual_intervals(rows, columns))


def equal_width(bounds: tuple[float, float] | None, bins: int, name: str) -> tuple[float, ...]:
    """Inner boundaries of `bins` intervals of the same width over public bounds.

    Raises DataError unless the bounds are finite and increasing and bins is from 2 to 100.
    """
    low, high = finite_bounds(bounds, name)
    if not 2 <= bins <= MAX_INTERVALS:
        raise DataError(
            "column-cut-into-intervals", name=short(name), bins=bins, max_intervals=MAX_INTERVALS
        )
    return tuple(float(c) for c in np.linspace(low, high, bins + 1)[1:-1])


def finite_bounds(bounds: tuple[float, float] | None, name: str) -> tuple[float, float]:
    """The bounds; raises DataError unless they increase and can be added up without overflow."""
    if bounds is None or not bounds[0] < bounds[1]:
        raise DataError("bounds-crossed", name=short(name))
    # Otherwise scaling to −1 … 1 would overflow for some rows and not for others.
    if not math.isfinite(4 * max(-bounds[0], bounds[1])):
        raise DataError("bounds-too-far-apart", name=short(name))
    return bounds


def check_cuts(cuts: Sequence[float], name: str) -> None:
    """Raises DataError unless there is at least one cut point and all are finite and increasing."""
    if not len(cuts):
        raise DataError("no-cut-points", name=short(name))
    if not all(math.isfinite(c) for c in cuts):
        raise DataError("cut-points-of-column-finite-numbers", name=short(name))
    if any(a >= b for a, b in pairwise(cuts)):
        raise DataError("cut-points-fall", name=short(name))


def cut(numbers: NDArray[np.float64], cuts: Sequence[float], name: str) -> NDArray[Any]:
    """The code, 0..len(cuts), of each number's interval: (−∞, c₁), [c₁, c₂), …, [c_k, ∞).

    The cut points are public, so the intervals never depend on the data.
    Raises DataError like `check_cuts`.
    """
    check_cuts(cuts, name)
    return np.searchsorted(np.asarray(cuts), numbers, side="right").astype(code_type(len(cuts) + 1))


def interval_labels(cuts: Sequence[float], unit: str = "") -> tuple[str, ...]:
    """Readable names such as "< 10", "10 – 20", "≥ 20", distinct even if the points are close.

    unit: the unit of measurement, such as "mg".
    """
    texts = number_words(cuts, unit)
    inner = [f"{a} – {b}" for a, b in pairwise(texts)]
    return (f"< {texts[0]}", *inner, f"≥ {texts[-1]}")


def number_words(numbers: Sequence[float], unit: str = "") -> list[str]:
    """Numbers as people write them, distinct even if they are close: 0.5, 1998, 200,000.

    >>> number_words([1998, 200_000]), number_words([2.5], "mg")
    (['1998', '200,000'], ['2.5 mg'])
    """
    for digits in range(_SHORTEST, 18):
        texts = [_number_words(_rounded(number, digits)) for number in numbers]
        if len(set(texts)) == len(set(numbers)):
            break
    if not unit:
        return texts
    if unit in CURRENCIES:
        return [f"−{unit}{t[1:]}" if t.startswith("-") else unit + t for t in texts]
    return [f"{text} {unit}" for text in texts]


def _rounded(number: float, digits: int) -> float:
    """The number itself if it is short, such as 1998; otherwise with this many digits."""
    short_form = float(f"{number:.{_SHORT}g}")
    return short_form if short_form == number else float(f"{number:.{digits}g}")


def _number_words(number: float) -> str:
    size = abs(number)
    if number and not 1e-4 <= size < 1e15:
        return f"{number:.17g}" if float(f"{number:.6g}") != number else f"{number:g}"
    text = np.format_float_positional(number, trim="-")
    # Four digits may be a year.
    return f"{int(text):,}" if size >= 10_000 and number == int(number) else text
