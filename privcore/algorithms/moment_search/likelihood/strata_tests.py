"""Tests of independence within the strata of noisy tables."""

from __future__ import annotations

import numpy as np

from privcore import kernels
from privcore.algorithms.moment_search.features import sum_zero_basis
from privcore.algorithms.moment_search.likelihood.statistic import Statistic
from privcore.algorithms.moment_search.moments import Moments
from privcore.arrays import Columns


class StrataTests:
    """Tests on tables that were released; see `Moments`."""

    def __init__(self, moments: Moments) -> None:
        self._released, self.levels = moments, moments.levels
        self._tests: dict[tuple[int, int, Columns], Statistic | None] = {}

    def test(self, x: int, y: int, conditioning_set: Columns = ()) -> Statistic | None:
        """The test of x and y within strata; a table must cover them and the conditioning set.

        None if strata that matter may be lost in the noise: without them, the test could miss a
        dependence that shows in rare strata only.
        """
        key = (min(x, y), max(x, y), tuple(sorted(conditioning_set)))
        if key not in self._tests:
            self._tests[key] = self._test(*key)
        return self._tests[key]

    def _test(self, x: int, y: int, others: Columns) -> Statistic | None:
        released = self._released
        tables = released.table([*others, x, y]).reshape(-1, self.levels[x], self.levels[y])
        variances = released.variances([*others, x, y]).reshape(-1, 4)
        said, *statistic = kernels.table_tests.strata_test(
            np.ascontiguousarray(tables),
            np.array([self.levels[c] for c in others], np.int64),
            np.ascontiguousarray(variances.T[::-1]),
            float(released.n),
            sum_zero_basis(self.levels[x]),
            sum_zero_basis(self.levels[y]),
        )
        return Statistic(*statistic) if said else None
