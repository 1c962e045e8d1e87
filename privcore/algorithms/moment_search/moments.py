"""Measurements, and sums of products of codes estimated from all measurements that contain them.

Level x of a column with r levels is coded by u(x), the row of x in Q. Here Q, of shape (r, r − 1),
is an orthonormal basis of the vectors that sum to 0, so that ⟨u(x), u(x′)⟩ = 1[x = x′] − 1/r.

The sum over records of u_A = ⊗ u_c, c in A, is a moment of the columns A. The moments of single
columns and of pairs give all one-way and two-way counts. A table with independent noise of variance
v on its cells, transformed to the basis (1/√r, Q) on each axis, contains every moment of every
subset A of its columns, with independent noise of variance v ∏ r_c, c not in A. So moments that
occur in several releases are averaged with inverse-variance weights. The average loses no
information: it is the least-squares estimate from all releases.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations, compress, product
from typing import Any, Literal

import numpy as np

from privcore.arrays import Columns, Matrix

Basis = Literal["counts", "contrasts", "means", "moments", "distances"]


@dataclass(frozen=True)
class Measurement:
    """Noisy numbers about some columns; everything after the noise reads only such numbers.

    columns: the columns, in ascending order. values: the noisy numbers. variance: of the noise on
    each value, as one number or with a number for each value. basis: "counts" of each combination
    of levels, with one axis per column; "contrasts", sums of products of codes, shape
    (levels − 1, …); "means" and mean squares; second "moments" of rows; or "distances" of pairs of
    columns from independence, in the order of `combinations`.
    """

    columns: Columns
    values: Matrix
    variance: Any
    basis: Basis

    def averaged(self, other: Measurement) -> Measurement:
        """Average with a measurement of the same numbers, with inverse-variance weights."""
        both = self.variance + other.variance
        # If the noise is 0 in floating point, either value is right.
        share = self.variance / both if np.all(both) else 0.0
        values = self.values + share * (other.values - self.values)
        return replace(self, values=values, variance=other.variance * share)

    def joined(self, other: Measurement, n: int, more: int) -> Measurement:
        """Combine with a measurement of the same numbers for other rows.

        n, more: numbers of rows of both. Moments are means over rows, so both are weighted.
        """
        one, two = (n / (n + more), more / (n + more)) if self.basis == "moments" else (1, 1)
        values = one * self.values + two * other.values
        return replace(
            self, values=values, variance=one**2 * self.variance + two**2 * other.variance
        )


class Moments:
    """Moments of columns from all measurements so far.

    n: public number of rows. levels: number of levels of each column.
    """

    def __init__(
        self, n: int, levels: Sequence[int], measurements: Iterable[Measurement] = ()
    ) -> None:
        self.n, self.levels = n, tuple(levels)
        self._known: dict[Columns, Measurement] = {
            (): Measurement((), np.array(float(n)), 0.0, "contrasts")
        }
        self._tables: dict[Columns, Matrix] = {}
        self._subsets: dict[Columns, Matrix] = {}
        self._cells: dict[tuple[Columns, int | None], float] = {}
        self.add(measurements)

    def add(self, measurements: Iterable[Measurement]) -> None:
        """Add measurements of counts or contrasts."""
        for measurement in measurements:
            parts = _contrasts(measurement) if measurement.basis == "counts" else [measurement]
            for part in parts:
                known = self._known.get(part.columns)
                self._known[part.columns] = part if known is None else known.averaged(part)
        self.forget()

    def forget(self) -> None:
        """Drop cached results; they are computed again on demand."""
        self._tables.clear()
        self._subsets.clear()
        self._cells.clear()

    def measurements(self) -> tuple[Measurement, ...]:
        """Every released moment, averaged over all measurements that contain it."""
        return tuple(known for columns, known in self._known.items() if columns)

    def covers(self, columns: Sequence[int]) -> bool:
        return tuple(sorted(columns)) in self._known

    def sums(self, *columns: int) -> Matrix:
        return self._known[columns].values

    def variance(self, *columns: int) -> float:
        """Variance of the noise on each moment of the columns."""
        return float(self._known[tuple(sorted(columns))].variance)

    def table(self, columns: Sequence[int]) -> Matrix:
        """Estimated counts over columns that one release covers, with axes in the given order.

        Some counts may be negative because of the noise.
        """
        in_order = tuple(sorted(columns))
        if in_order not in self._tables:
            self._tables[in_order] = self._built(in_order)
        return self._tables[in_order].transpose([in_order.index(c) for c in columns])

    def _built(self, in_order: Columns) -> Matrix:
        turned = np.zeros([self.levels[c] for c in in_order])
        for axes, place, others in _parts(turned.shape):
            turned[place] = self.sums(*(in_order[axis] for axis in axes)) / math.sqrt(others)
        return turned_by(turned, [full_basis(r) for r in turned.shape])

    def widest(self, columns: Sequence[int]) -> float:
        """Upper bound on the noise variance of a count over columns that one release covers.

        Moments that occur in several releases have less noise than other moments. The bound assumes
        the largest noise for all moments.
        """
        variances = self.variances(sorted(columns))
        for axis, column in enumerate(sorted(columns)):
            share = np.array([1 / self.levels[column], 1.0])
            variances = variances * share.reshape(
                [-1 if k == axis else 1 for k in range(variances.ndim)]
            )
        return float(variances.max())

    def cell_variance(self, columns: Sequence[int], of: int | None = None) -> float:
        """Noise variance of a count over the columns.

        of: a column; only the noise on moments that contain this column is included. None includes
        the noise on all moments.
        """
        in_order = tuple(sorted(columns))
        key = (in_order, of)
        if key not in self._cells:
            if of is None:
                self._cells[key] = self.stratum_variance(in_order, ())
            else:
                others = [c for c in in_order if c != of]
                share = 1 - 1 / self.levels[of]
                self._cells[key] = share * self.stratum_variance(others, (of,))
        return self._cells[key]

    def stratum_variance(self, within: Sequence[int], fixed: Sequence[int]) -> float:
        """Noise variance of a moment of `fixed` within any one stratum of `within`."""
        left = self.variances([*fixed, *within])[(1,) * len(fixed)]
        for c in within:
            left = left[0] / self.levels[c] ** 2 + left[1] * (1 - 1 / self.levels[c])
        return float(left)

    def variances(self, columns: Sequence[int]) -> Matrix:
        """Noise variances of the moments of all subsets of the columns.

        Each column has an axis of length 2, with index 1 if the subset contains the column.
        """
        in_order = tuple(sorted(columns))
        if in_order not in self._subsets:
            each = [
                self.variance(*compress(in_order, inside)) for inside in _insides(len(in_order))
            ]
            self._subsets[in_order] = np.array(each).reshape((2,) * len(in_order))
        return self._subsets[in_order].transpose([in_order.index(c) for c in columns])


def _contrasts(table: Measurement) -> Iterator[Measurement]:
    """The moments that a table of counts contains."""
    turned = turned_by(table.values, [full_basis(r).T for r in table.values.shape])
    for axes, place, others in _parts(table.values.shape):
        if axes:
            columns = tuple(table.columns[axis] for axis in axes)
            values = turned[place] * math.sqrt(others)
            yield Measurement(columns, values, table.variance * others, "contrasts")


@lru_cache(maxsize=32)
def _insides(columns: int) -> list[tuple[bool, ...]]:
    """For each subset, whether each column is in the subset."""
    return list(product((False, True), repeat=columns))


@lru_cache(maxsize=1024)
def _parts(levels: tuple[int, ...]) -> list[tuple[Columns, tuple[slice | int, ...], int]]:
    """Position of the moments of each subset of axes in a table in orthonormal bases.

    Each tuple holds the axes, the position, and the number of level combinations of the other axes.
    Smaller subsets come first.
    """
    axes = range(len(levels))
    return [
        (
            subset,
            tuple(slice(1, None) if axis in subset else 0 for axis in axes),
            math.prod(levels[axis] for axis in axes if axis not in subset),
        )
        for size in range(len(levels) + 1)
        for subset in combinations(axes, size)
    ]


@lru_cache(maxsize=256)
def sum_zero_basis(levels: int) -> Matrix:
    """Q, shape (levels, levels − 1): orthonormal columns that each sum to 0 (Helmert contrasts)."""
    basis = np.zeros((levels, levels - 1))
    for k in range(1, levels):
        basis[:k, k - 1] = 1
        basis[k, k - 1] = -k
        basis[:, k - 1] /= math.sqrt(k * (k + 1))
    basis.setflags(write=False)
    return basis


@lru_cache(maxsize=256)
def full_basis(levels: int) -> Matrix:
    """An orthonormal basis, shape (levels, levels): constant 1/√levels, then the columns of Q."""
    return np.column_stack([np.full(levels, 1 / math.sqrt(levels)), sum_zero_basis(levels)])


def turned_by(table: Matrix, bases: Sequence[Matrix]) -> Matrix:
    """Multiply each axis of a table by the matrix for this axis.

    Each multiplication moves the first axis to the end, so the last multiplication restores the
    original order of the axes.
    """
    turned = table
    for basis in bases:
        turned = (basis @ turned.reshape(basis.shape[1], -1)).T
    return np.ascontiguousarray(turned).reshape([len(basis) for basis in bases])
