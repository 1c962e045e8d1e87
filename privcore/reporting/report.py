"""A run as JSON, with its metrics against named references."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from privcore import __version__
from privcore.counts import MomentSource
from privcore.dataset import Dataset
from privcore.discovery import Discovery, Hooks, discover, get_algorithm
from privcore.evaluation import evaluate
from privcore.graphs import PDAG, cpdag_of_names
from privcore.graphs.exports import to_json_dict
from privcore.graphs.layout import Positions


def non_private_reference(
    source: MomentSource, result: Discovery, *, hooks: Hooks | None = None
) -> Discovery:
    """PC without noise, with the score and settings of a run: what privacy is measured against.

    Not private.
    """
    settings = get_algorithm(result.algorithm).reference(result.parameters)
    return discover(source, "pc", settings, hooks=hooks, keep_trace=False)


def references_of(dataset: Dataset, non_private: Discovery) -> dict[str, PDAG]:
    """`truth` (the true DAG's CPDAG, if it is known) and `non_private`."""
    references = {}
    if dataset.true_edges is not None:
        references["truth"] = cpdag_of_names(dataset.names, dataset.true_edges)
    references["non_private"] = non_private.graph
    return references


def run_report(
    result: Discovery,
    dataset: Dataset,
    references: Mapping[str, PDAG],
    *,
    seed: int | None,
    positions: Positions | None = None,
) -> dict[str, Any]:
    """JSON-ready: graph, guarantee, cost, metrics, parameters.

    The metrics compare with graphs that are not private, and `spent`, `tests_run`, `orders_run`
    and `seconds` describe the run: for study, not for release.
    """
    return {
        **to_json_dict(result.graph, positions),
        "guarantee": result.guarantee.as_dict(),
        "spent": result.spent.as_dict(),
        "tests_run": result.tests_run,
        "orders_run": result.orders_run,
        "stopped": result.stopped,
        "unreached": result.unreached.as_dict() if result.unreached else None,
        "seconds": result.seconds,
        "metrics": evaluate(result.graph, references),
        "algorithm": result.algorithm,
        "parameters": dict(result.parameters),
        "data": {"name": dataset.name, "rows": dataset.n, "columns": dataset.p},
        "noise": result.noise,
        "seed": seed,
        "version": __version__,
    }
