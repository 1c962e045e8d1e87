"""HTML pages for sharing results."""

from __future__ import annotations

from typing import Any

from privcore.algorithms import get_algorithm
from privcore.algorithms.engine import source_of
from privcore.algorithms.registry import RECOMMENDED
from privcore.display.interactive import (
    RUNS,
    check_may_be_sent,
    run_series,
)
from privcore.display.interactive import interactive_page as page_of
from privcore.faces.api.runs import Table, dataset_of


def interactive_page(
    data: Table,
    algorithm: str = RECOMMENDED,
    *,
    seed: int = 1,
    runs: int = RUNS,
    explored: str = "",
    **parameters: Any,
) -> str:
    """Make a page to share: the private and non-private graphs at several ε, in one HTML file.

    Args:
        data: data from a network, an example or a sample; or your own table, in any form that
            `read_table` accepts.
        algorithm: a name in `privcore.ALGORITHMS`.
        seed: seed of the simulated noise, the same at every ε.
        runs: number of runs at each ε, from which the curve is drawn; their seeds count up from
            `seed`.
        explored: for your own table, exactly the words "this page is not private"; the page is
            then marked as exploration.  Pages of releases are made by `causalveil search-again`
            and `causalveil verify`.
        **parameters: parameters of the algorithm; the page opens at the value of epsilon.

    Returns:
        The HTML text, up to a few hundred kB.  Equal arguments give equal text.

    Raises:
        ReleaseError: for your own table without these words in `explored`.
        ParameterError: for an unknown algorithm or parameter, or an invalid value.

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
