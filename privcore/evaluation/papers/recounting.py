"""Counts without any saving: every test goes through all rows."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

import numpy as np

from privcore.counts import InMemoryCounts
from privcore.counts.projections import Projection
from privcore.counts.source import Table
from privcore.data import Dataset
from privcore.privacy.mechanisms.noise import NoiseSource


class Recounted(InMemoryCounts):
    """As `InMemoryCounts`, but for the time: rows are not merged, and nothing is kept."""

    @classmethod
    def from_dataset(cls, dataset: Dataset) -> Recounted:
        """Raises as `InMemoryCounts.from_dataset`."""
        merged = InMemoryCounts.from_dataset(dataset)
        return cls(
            merged.names,
            merged.levels,
            tuple(column.astype(np.int64) for column in dataset.values),
            np.ones(dataset.n, dtype=np.int64),
            dataset.caveats,
        )

    def conditional_tables(self, x: int, y: int, conditioning_set: Sequence[int]) -> Table:
        self._strata = type(self._strata)(budget=0, size=lambda strata: strata[0].nbytes)
        return self._count_strata(x, y, tuple(conditioning_set))

    def _rows(self, columns: Sequence[int]) -> Projection:
        return self._projections.whole

    @property
    def packs(self) -> bool:
        return False

    def remember(self, key: Hashable, compute: Callable[[], float]) -> float:
        return compute()

    def subsample(self, size: int, noise: NoiseSource) -> Recounted:
        kept = noise.shuffled(self.n)[:size]
        configurations = tuple(column[kept] for column in self._configurations)
        return Recounted(
            self.names, self.levels, configurations, np.ones(size, dtype=np.int64), self.caveats
        )
