"""Sums of products of codes, each estimated from all releases that contain the sum.

The codes of a column are defined in `features`. The sum over records of u_A = ⊗ u_c, c in A, is a
moment of the columns A. A table with independent noise of variance v on its cells, transformed to
the basis (1/√r, Q) on each axis, contains every moment of every subset A of its columns, with
independent noise of variance v ∏ r_c, c not in A. So moments that occur in several releases are
averaged with inverse-variance weights. The average loses no information: it is the least-squares
estimate from all releases.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import combinations, compress, product
from typing import Any

import numpy as np

from privcore.algorithms.moment_search.features import sum_zero_basis
from privcore.arrays import Columns, Matrix

Measured = tuple[Matrix, Any]


def pooled(one: Measured, other: Measured) -> Measured:
    """Two measurements of the same numbers as one, weighted by inverse variance.

    A measurement is the numbers and the variance of their noise, one for all or one for each.
    """
    (numbers, variance), (more, noise) = one, other
    total = variance + noise
    share = variance / total if np.all(total) else 0.0
    return numbers + share * (more - numbers), noise * share


class Moments:
    """Moments of columns from all releases so far.

    n: public number of rows. levels: number of levels of each column.
    """

    def __init__(self, n: int, levels: Sequence[int]) -> None:
        self.n, self.levels = n, tuple(levels)
        self._sums: dict[Columns, Matrix] = {(): np.array(float(n))}
        self._variances: dict[Columns, float] = {(): 0.0}
        self._tables: dict[Columns, Matrix] = {}
        self._subsets: dict[Columns, Matrix] = {}
        self._cells: dict[tuple[Columns, int | None], float] = {}

    def add(self, columns: Columns, sums: Matrix, variance: float) -> None:
        """Add moments of these columns, which must be in ascending order.

        sums: shape (levels − 1, …), one axis per column. variance: noise variance of each sum.
        """
        if columns in self._sums:
            sums, variance = pooled(
                (self._sums[columns], self._variances[columns]), (sums, variance)
            )
        self._sums[columns], self._variances[columns] = sums, variance
        self.forget()

    def forget(self) -> None:
        """Drop cached results; they are computed again on demand."""
        self._tables.clear()
        self._subsets.clear()
        self._cells.clear()

    def add_table(self, columns: Columns, counts: Matrix, variance: float) -> None:
        """Add a table over these columns, which must be in ascending order.

        counts: shape (levels, …), one axis per column. variance: noise variance of each count.
        """
        turned = turned_by(counts, [full_basis(r).T for r in counts.shape])
        for axes, place, others in _parts(counts.shape):
            if axes:
                subset = tuple(columns[axis] for axis in axes)
                self.add(subset, turned[place] * math.sqrt(others), variance * others)

    def parts(self) -> Iterator[tuple[Columns, Matrix, float]]:
        """Every released moment: its columns, its sums, and the noise variance on each sum."""
        for columns, sums in self._sums.items():
            if columns:
                yield columns, sums, self._variances[columns]

    def copy(self) -> Moments:
        """A copy that can be extended without changing the original."""
        other = Moments(self.n, self.levels)
        for columns, sums, variance in self.parts():
            other.add(columns, sums, variance)
        return other

    def covers(self, columns: Sequence[int]) -> bool:
        return tuple(sorted(columns)) in self._sums

    def sums(self, *columns: int) -> Matrix:
        return self._sums[columns]

    def variance(self, *columns: int) -> float:
        """Variance of the noise on each moment of the columns."""
        return self._variances[tuple(sorted(columns))]

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
            turned[place] = self._sums[tuple([in_order[axis] for axis in axes])] / math.sqrt(others)
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
                self._variances[tuple(compress(in_order, inside))]
                for inside in _insides(len(in_order))
            ]
            self._subsets[in_order] = np.array(each).reshape((2,) * len(in_order))
        return self._subsets[in_order].transpose([in_order.index(c) for c in columns])


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
