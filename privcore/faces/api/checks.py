"""Whether a table, or a release, agrees with a graph of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from privcore.data.model import Column
from privcore.effects.by_graph import GraphAnswer, PublicFacts, answered_by, check_data
from privcore.exchange.stated import read_graph
from privcore.faces.api.runs import Table, dataset_of
from privcore.graphs.pdag import PDAG
from privcore.graphs.stated import StatedGraph
from privcore.measures.graph_check import LEVEL, SIZE
from privcore.privacy.mechanisms import SecureNoise, SimulatedNoise
from privcore.releases.release_file import ReleaseFile, read_release_file, search_files


def check_graph(
    data: Table,
    graph: StatedGraph | PDAG | Path | str | Any,
    epsilon: float = 1.0,
    *,
    exposure: str | None = None,
    outcome: str | None = None,
    level: float = LEVEL.default,
    size: float = SIZE.default,
    seed: int | None = None,
    **parameters: Any,
) -> GraphAnswer:
    """Test a causal graph on private data: what it implies, its arrows, and its effect.

    Moment search measures the graph's columns alone, so with little noise; the rest is computed
    from the released numbers.

    Args:
        data: a data set, or any table that `read_table` accepts.
        graph: a file or a text of DAGitty, Tetrad, GML or JSON, edges such as
            "a -> b; b -> c; a <-> c", or an object of networkx or pgmpy.  Nodes that DAGitty calls
            latent are unobserved.
        epsilon: the privacy loss of the release.
        exposure, outcome: the columns of the effect of interest, if the graph does not state them.
        level: the FDR level of contradictions, and of supported arrows.
        size: the smallest dependence of interest, as a partial correlation.
        seed: seed of the simulated noise, for repeatable runs.  Without a seed the noise is secure.
        **parameters: further parameters of moment search, such as delta.

    Returns:
        The verdict on each pair of columns (`check`), the effect by each adjustment set
        (`effects`), and the run with its guarantee (`result`).

    Raises:
        DataError: for a text that is no graph, a cycle, an unknown column, or a graph with fewer
            than two observed columns.
        ParameterError: for an invalid parameter.

    Example:
        >>> from privcore import load_network
        >>> data = load_network("asia").sample(20_000, seed=1)
        >>> answer = check_graph(data, "smoke -> lung; smoke -> bronc; lung -> bronc", seed=1)
        >>> [(pair.pair, pair.verdict) for pair in answer.check.pairs if pair.arrow][:2]
        [(('smoke', 'lung'), 'supported'), (('smoke', 'bronc'), 'supported')]
    """
    stated = read_graph(graph).asking(exposure, outcome)
    noise = SecureNoise() if seed is None else SimulatedNoise(seed)
    settings = {"epsilon": epsilon, **parameters}
    return check_data(dataset_of(data), stated, settings, noise=noise, level=level, size=size)


def check_release(
    file: ReleaseFile | Path | str,
    graph: StatedGraph | PDAG | Path | str | Any,
    *,
    exposure: str | None = None,
    outcome: str | None = None,
    level: float = LEVEL.default,
    size: float = SIZE.default,
) -> GraphAnswer:
    """Like `check_graph`, but from the numbers of a release file, at no further cost.

    Raises CertificateError for a file that is not a release file.
    """
    read = file if isinstance(file, ReleaseFile) else read_release_file(file)
    stated = read_graph(graph).asking(exposure, outcome)
    columns = tuple(
        Column(
            name=column["name"],
            kind=column["kind"],
            levels=tuple(column["levels"]),
            bounds=column["bounds"] and tuple(column["bounds"]),
        )
        for column in read.columns
    )
    facts = PublicFacts(columns, read.statistics.n)
    return answered_by(search_files([read]), facts, stated, level=level, size=size)
