"""What could be seen in a whole noisy table: dependences of pairs, and the power of tests."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod, sqrt

import numpy as np

from privcore.algorithms.moment_search.evidence import Power
from privcore.algorithms.moment_search.likelihood.cell_likelihood import cell_information
from privcore.algorithms.moment_search.visible import probable_from
from privcore.arrays import Columns, Matrix, Vector

_EMPTY = 1e-9


class WholeEvidence:
    """`findings.Powers` of a DAG's fit.

    levels: of each column.  scale: of the noise.  expected: of each cell by the fit.  level: the
    accepted share of false edges.
    """

    def __init__(self, levels: Sequence[int], scale: float, expected: Vector, level: float) -> None:
        self._levels, self._expected, self._level = tuple(levels), expected, level
        self._information = expected * expected * cell_information(expected, scale)

    def effect(self, x: int, y: int) -> float:
        """Cramér's V of the pair as fitted."""
        joint = self._margin(self._expected, (x, y))
        joint = joint / joint.sum()
        product = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0)
        squared = float(((joint - product) ** 2 / np.maximum(product, _EMPTY)).sum())
        return min(sqrt(squared / (min(joint.shape) - 1)), 1.0)

    def power(self, x: int, y: int, conditioning_set: Columns) -> Power | None:
        """Power to see an edge x → y beside other parents of y, on the counts as fitted.

        A dependence of size V moves a cell's expectation m by V m a(x) b(y), for a and b of mean 0
        and variance 1 in each stratum; the information on it is the mean of Σ m² a² b² I over all
        such a and b.
        """
        columns = (x, y, *conditioning_set)
        expected = self._margin(self._expected, columns)
        expected = expected.reshape(*expected.shape[:2], -1)
        information = self._margin(self._information, columns).reshape(expected.shape)
        sizes = np.maximum(expected.sum(axis=(0, 1)), _EMPTY)
        # Per stratum, squares of such codes add up to 1/share − 1 at each level.
        squares = [
            sizes / np.maximum(expected.sum(axis=axis), _EMPTY * sizes) - 1 for axis in (1, 0)
        ]
        spread = (information * squares[0][:, None] * squares[1][None]).sum()
        r, s = expected.shape[:2]
        parts = (r - 1) * (s - 1)
        dof = parts * prod(self._levels[c] for c in conditioning_set)
        each = float(spread) / parts
        if each <= 0:
            return None
        asked = probable_from(self._information.sum(), (r, s), dof // parts, self._level)
        return Power(dof, asked, each * (min(r, s) - 1))

    def _margin(self, cells: Matrix, columns: Sequence[int]) -> Matrix:
        """Sums over the other columns; axes in the order asked."""
        table = cells.reshape(self._levels)
        others = tuple(c for c in range(table.ndim) if c not in columns)
        kept = sorted(columns)
        return np.asarray(table.sum(axis=others).transpose([kept.index(c) for c in columns]))
