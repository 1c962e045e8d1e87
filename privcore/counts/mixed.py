"""Rows of which some columns have levels and others hold numbers, cut before they are counted."""

from __future__ import annotations

from privcore.counts.available import gaps_of
from privcore.counts.cache import Cache
from privcore.counts.memory import InMemoryCounts
from privcore.data import Dataset, discretise

# Numbers of levels whose cut rows and counts are kept; each may take hundreds of megabytes.
_KEPT = 4


class MixedRows:
    """A table to be cut into levels: how many is a parameter of the run.

    cut_names: of the columns that hold numbers.  gaps: as of `AvailableCases`.
    """

    def __init__(self, dataset: Dataset) -> None:
        self.names, self.n, self.caveats = dataset.names, dataset.n, dataset.caveats
        self.cut_names = tuple(c.name for c in dataset.columns if not c.is_categorical)
        self.gaps = gaps_of(dataset)
        self._dataset = dataset
        self._cut: Cache[Dataset] = Cache(_KEPT, size=lambda _: 1)
        self._counted: Cache[InMemoryCounts] = Cache(_KEPT, size=lambda _: 1)

    def dataset(self, levels: int) -> Dataset:
        """Numbers cut into so many levels of equal width between their bounds.

        The cuts follow from the bounds alone, so they are as public as these.
        """
        return self._cut.get(
            levels, lambda: discretise(self._dataset, dict.fromkeys(self.cut_names, levels))
        )

    def counts(self, levels: int) -> InMemoryCounts:
        """Counts of `dataset(levels)`; those of the last few numbers of levels are kept."""
        return self._counted.get(levels, lambda: InMemoryCounts.from_dataset(self.dataset(levels)))
