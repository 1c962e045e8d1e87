"""Pages to share."""

from __future__ import annotations

from typing import Any

from privcore.algorithms import get_algorithm
from privcore.algorithms.engine import source_of
from privcore.algorithms.registry import RECOMMENDED
from privcore.api.tables import Table, dataset_of
from privcore.releases.interactive import (
    RUNS,
    check_may_be_sent,
    run_series,
)
from privcore.releases.interactive import interactive_page as page_of


def interactive_page(
    data: Table,
    algorithm: str = RECOMMENDED,
    *,
    seed: int = 1,
    runs: int = RUNS,
    explored: str = "",
    **parameters: Any,
) -> str:
    """A page to share: both graphs over ε in one self-contained HTML file.

    Args:
        data: a network, an example or a sample; or a table of your own, as `read_table` takes it.
        algorithm: a name of `privcore.ALGORITHMS`.
        seed: of the simulated noise, the same at every ε.
        runs: number of runs at each ε, with the noise of further seeds, for the curve.
        explored: for a table of your own, "this page is not private", word for word: the page is
            then marked as exploration.  Pages of releases are made by `causalveil search-again`
            and `verify`.
        **parameters: of the algorithm; the page opens at epsilon.

    Returns:
        The text of the file, the same for the same arguments; up to a few hundred kB.

    Raises:
        ReleaseError: for a table of your own without this confirmation.
        ParameterError: for an unknown algorithm or parameter, or a value that it does not take.

    Example:
        >>> from privcore import load_network
        >>> page = interactive_page(load_network("cancer").sample(2_000, seed=1), "svt-pc", runs=1)
        >>> page[:15], "https://" in page
        ('<!DOCTYPE html>', False)
    """
    get_algorithm(algorithm)
    dataset = dataset_of(data)
    check_may_be_sent(dataset, explored)
    source = source_of(dataset)
    return page_of(run_series(dataset, source, algorithm, parameters, seed=seed, runs=runs))
