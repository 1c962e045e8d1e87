"""A run as JSON, with its metrics against named references."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from privcore.algorithms import Discovery, Hooks, discover, get_algorithm
from privcore.counts import MixedRows, MomentSource
from privcore.data.model import Described
from privcore.evaluation import evaluate
from privcore.evaluation.references import non_private_settings, true_graph
from privcore.graphs import PDAG
from privcore.graphs.exports import to_json_dict
from privcore.graphs.layout import Positions
from privcore.releases.effect import one_level_columns
from privcore.releases.findings import described_pairs
from privcore.version import __version__


def non_private_reference(
    source: MomentSource | MixedRows, result: Discovery, *, hooks: Hooks | None = None
) -> Discovery:
    """PC (or NOTEARS) without noise, with a run's settings: what privacy is measured against.

    Not private.
    """
    algorithm = get_algorithm(result.algorithm)
    if not algorithm.private:
        return result
    name, settings = non_private_settings(algorithm, result.parameters)
    return discover(source, name, settings, hooks=hooks, keep_trace=False)


def references_of(dataset: Described, non_private: Discovery) -> dict[str, PDAG]:
    """`truth`, if it is known, and `non_private`.

    The true graph is compared as its CPDAG, or as it is with algorithms that claim one DAG.
    """
    references = {}
    if dataset.true_edges is not None:
        algorithm = get_algorithm(non_private.algorithm)
        references["truth"] = true_graph(algorithm, dataset.names, dataset.true_edges)
    references["non_private"] = non_private.graph
    return references


def run_report(
    result: Discovery,
    dataset: Described,
    references: Mapping[str, PDAG],
    *,
    seed: int | None,
    positions: Positions | None = None,
) -> dict[str, Any]:
    """JSON-ready: graph, what was found of pairs and columns, guarantee, cost, metrics, parameters.

    The metrics compare with graphs that are not private, and `spent`, `tests_run`, `orders_run`
    and `seconds` describe the run: for study, not for release.
    """
    return {
        **to_json_dict(result.graph, positions),
        "pairs": described_pairs(result.graph, result.findings),
        "margins": [
            {"column": name, **margin.as_dict()}
            for name, margin in zip(result.graph.nodes, result.margins, strict=False)
        ],
        "one_level": one_level_columns(result),
        "guarantee": result.guarantee.as_dict(),
        "spent": result.spent.as_dict(),
        "weights": None if result.weights is None else result.weights.tolist(),
        "weight_threshold": result.weight_threshold,
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
