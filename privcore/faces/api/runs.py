"""One run of an algorithm."""

from __future__ import annotations

from typing import Any

from privcore.algorithms import engine, get_algorithm
from privcore.algorithms.registry import RECOMMENDED
from privcore.algorithms.search.result import Discovery
from privcore.faces.api.tables import Table, dataset_of
from privcore.privacy.mechanisms import SecureNoise


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
