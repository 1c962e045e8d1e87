"""What was released, as sums of products of codes: the best estimate of each from all releases.

A column's codes are those of `features`.  The sum over records of u_A = ⊗ u_c, c in A, is a moment
of the columns A.  A table with independent noise of variance v on its cells, turned into the basis
(1/√r, Q) of each axis, holds every moment of every subset A of its columns with independent noise
of variance v ∏ r_c, c not in A.  So moments that several releases hold are averaged, each weighed
by its variance, and nothing is lost: that is least squares over all releases.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations, product

import numpy as np

from privcore.algorithms.moment_search.release.features import sum_zero_basis
from privcore.arrays import Columns, Matrix


class Moments:
    """n: rows, public.  levels: of each column."""

    def __init__(self, n: int, levels: Sequence[int]) -> None:
        self.n, self.levels = n, tuple(levels)
        self._sums: dict[Columns, Matrix] = {(): np.array(float(n))}
        self._variances: dict[Columns, float] = {(): 0.0}
        self._tables: dict[Columns, Matrix] = {}
        self._cells: dict[tuple[Columns, int | None], float] = {}

    def add(self, columns: Columns, sums: Matrix, variance: float) -> None:
        """sums: shape (levels − 1, …), columns in ascending order; variance: of each number."""
        if columns in self._sums:
            before, known = self._variances[columns], self._sums[columns]
            share = before / (before + variance) if before + variance > 0 else 0.0
            sums = known + share * (sums - known)
            variance *= share
        self._sums[columns], self._variances[columns] = sums, variance
        self._tables.clear()
        self._cells.clear()

    def add_table(self, columns: Columns, counts: Matrix, variance: float) -> None:
        """counts: shape = levels of the columns, ascending, each with noise of that variance."""
        turned = counts
        for axis, column in enumerate(columns):
            turned = _turned(turned, axis, full_basis(self.levels[column]).T)
        for subset in _subsets(columns):
            if subset:
                others = math.prod(self.levels[c] for c in columns if c not in subset)
                kept = tuple(slice(1, None) if c in subset else 0 for c in columns)
                self.add(subset, turned[kept] * math.sqrt(others), variance * others)

    def covers(self, columns: Sequence[int]) -> bool:
        return tuple(sorted(columns)) in self._sums

    def sums(self, *columns: int) -> Matrix:
        return self._sums[columns]

    def variance(self, *columns: int) -> float:
        """Variance of the noise on each moment of the columns."""
        return self._variances[tuple(sorted(columns))]

    def table(self, columns: Sequence[int]) -> Matrix:
        """Counts over columns that a release covers, in the order asked; some may be negative."""
        kept = tuple(sorted(columns))
        if kept not in self._tables:
            self._tables[kept] = self._built(kept)
        return self._tables[kept].transpose([kept.index(c) for c in columns])

    def _built(self, kept: Columns) -> Matrix:
        turned = np.zeros([self.levels[c] for c in kept])
        for subset in _subsets(kept):
            others = math.prod(self.levels[c] for c in kept if c not in subset)
            place = tuple(slice(1, None) if c in subset else 0 for c in kept)
            turned[place] = self._sums[subset] / math.sqrt(others)
        for axis, column in enumerate(kept):
            turned = _turned(turned, axis, full_basis(self.levels[column]))
        return turned

    def cell_variance(self, columns: Sequence[int], of: int | None = None) -> float:
        """Noise variance of a count over the columns; of: only the part of moments with it."""
        kept = tuple(sorted(columns))
        key = (kept, of)
        if key not in self._cells:
            if of is None:
                self._cells[key] = self.stratum_variance(kept, ())
            else:
                others = [c for c in kept if c != of]
                share = 1 - 1 / self.levels[of]
                self._cells[key] = share * self.stratum_variance(others, (of,))
        return self._cells[key]

    def stratum_variance(self, within: Sequence[int], fixed: Sequence[int]) -> float:
        """Noise variance of a moment of `fixed` within any one stratum of `within`."""
        return math.fsum(
            self.variance(*fixed, *subset)
            * math.prod(
                1 - 1 / self.levels[c] if c in subset else 1 / self.levels[c] ** 2 for c in within
            )
            for subset in _subsets(tuple(within))
        )

    def variances(self, within: Columns, kinds: Sequence[Columns]) -> Matrix:
        """Noise variances of the moments of each kind and each subset of the columns `within`.

        Shape (kinds, 2^columns), a subset as a number: a bit for each column, the first highest.
        """
        subsets = [
            tuple(c for c, inside in zip(within, chosen, strict=True) if inside)
            for chosen in product((False, True), repeat=len(within))
        ]
        return np.array([[self.variance(*kind, *s) for s in subsets] for kind in kinds])


def full_basis(levels: int) -> Matrix:
    """(levels, levels), orthonormal: 1/√levels and the columns of Q."""
    return np.column_stack([np.full(levels, 1 / math.sqrt(levels)), sum_zero_basis(levels)])


def _turned(table: Matrix, axis: int, matrix: Matrix) -> Matrix:
    return np.moveaxis(np.tensordot(matrix, table, axes=(1, axis)), 0, axis)


def _subsets(columns: Columns) -> list[Columns]:
    return [s for size in range(len(columns) + 1) for s in combinations(columns, size)]
