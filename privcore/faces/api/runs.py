"""One run of an algorithm, on a data set or on any table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

from privcore.algorithms import engine, get_algorithm
from privcore.algorithms.registry import RECOMMENDED
from privcore.algorithms.search.result import Discovery
from privcore.data import Dataset
from privcore.privacy.mechanisms import SecureNoise

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from privcore.intake import ColumnSchema

Table = Union[Dataset, "pd.DataFrame", Path, str]


def dataset_of(data: Table, schema: Sequence[ColumnSchema] | None = None) -> Dataset:
    """The data set that `read_table` makes from a table; a data set is returned unchanged."""
    if isinstance(data, Dataset):
        return data
    # Imported here, as a built-in network needs no reader of files.
    from privcore.faces.api.tables import read_table

    return read_table(data, schema=schema)


def discover(
    data: Table, algorithm: str = RECOMMENDED, *, seed: int | None = None, **parameters: Any
) -> Discovery:
    """Discover a causal graph.

    Args:
        data: a data set, or any table that `read_table` accepts.
        algorithm: a name in `privcore.ALGORITHMS`.
        seed: seed of the simulated noise, for repeatable runs.  Without a seed the noise is secure:
            such a run can be published, though only `release` records what was spent.
        **parameters: parameters of the algorithm, such as epsilon; parameters that are left out
            have their defaults.

    Returns:
        The graph (`graph`), its guarantee (`guarantee`), the budget spent (`spent`), and for some
        algorithms a finding for each pair of columns (`findings`).  `trace` is not private.

    Raises:
        ParameterError: for an unknown algorithm or parameter, or an invalid value.
        DataError: for data that the algorithm cannot use.

    Example:
        >>> from privcore import load_network
        >>> result = discover(load_network("asia").sample(5_000, seed=1), "pc", threshold=0.01)
        >>> result.graph.nodes[:3]
        ('asia', 'tub', 'smoke')
    """
    noise = None
    if seed is None and get_algorithm(algorithm).private:
        noise = SecureNoise()
    return engine.discover(
        dataset_of(data), algorithm, parameters, seed=seed, noise=noise, keep_trace=seed is not None
    )
