"""What every source of counts can do, in memory or not."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from privcore.mechanisms.noise import NoiseSource

Table = NDArray[np.int64]


class CountSource(Protocol):
    """Contingency tables of categorical columns.

    names, levels: per column, its name and its public number of levels; n: number of rows.
    caveats: sentences that limit what a guarantee about these rows covers (`Dataset.caveats`).
    """

    names: tuple[str, ...]
    levels: tuple[int, ...]
    n: int
    caveats: tuple[str, ...]

    def table(self, columns: Sequence[int]) -> Table:
        """Counts over the given columns, shape = their levels in the order asked."""
        ...

    def conditional_tables(self, x: int, y: int, given: Sequence[int]) -> Table:
        """The table of x and y in each stratum of `given` that has rows.

        Shape (strata, levels[x], levels[y]); strata without rows are left out.
        """
        ...

    def subsample(self, size: int, noise: NoiseSource) -> CountSource:
        """A source over `size` rows drawn without replacement."""
        ...

    def remember(self, key: Hashable, compute: Callable[[], float]) -> float:
        """`compute()`, kept for later calls with the same key: scores that do not change."""
        ...
