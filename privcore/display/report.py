"""The report of a run as JSON, with metrics that compare its graph with reference graphs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from privcore.algorithms import Discovery, get_algorithm
from privcore.algorithms.engine import checked_parameters
from privcore.algorithms.search.result import described_pairs, named_repeats
from privcore.data.model import Described
from privcore.display.sentences import (
    link_count,
    noise_cost_sentence,
    noise_sentence,
    one_level_columns,
)
from privcore.graphs import PDAG
from privcore.graphs.pdag import Positions, to_json_dict
from privcore.independence import get_score
from privcore.measures import compare, evaluate
from privcore.measures.references import (
    MOST_CELLS,
    NonPrivate,
    settings_of,
)
from privcore.text import counted
from privcore.version import __version__


def reference_sentence(
    result: Discovery, reference: Discovery, kind: NonPrivate = "non_private"
) -> str:
    """A sentence on where the non-private search stopped early; empty if it did not.

    kind: the kind of the reference, as for `non_private_reference`.
    """
    if reference is result:
        return ""
    same = kind == "same"
    if reference.stopped == "work":
        title = get_algorithm(reference.algorithm).title if same else reference.algorithm.upper()
        return f"{title} without noise was stopped after {counted(reference.tests_run, 'test')}."
    if same or reference.algorithm != "pc":
        return ""
    order = reference.parameters["max_order"]
    asked = checked_parameters("pc", settings_of(result, kind)[1])["max_order"]
    # An order that the settings ask for is not due to the size of tables.
    if order in (None, asked) or reference.orders_run <= order:
        return ""
    return (
        f"PC without noise conditions on no more than {counted(order, 'column')} here: with these "
        f"levels, tables for larger sets would have more than {MOST_CELLS:,} cells."
    )


def reference_name(result: Discovery, reference: Discovery) -> str:
    """The reference "non_private" or "own_test" of a run in words, with PC's test.

    Example: "PC without privacy, with Priv-PC's test, Z* (stratified Kendall, bounded)".
    """
    title = reference.algorithm.upper()
    if reference.algorithm != "pc":
        return f"{title} without privacy"
    stated = reference.parameters["score"]
    score = get_score(stated or ("fisher-z" if reference.unit == "|Z|" else "g2"))
    if stated is None or reference is result:
        return f"{title} without privacy, with the test {score.title}"
    own = get_algorithm(result.algorithm).title
    return f"{title} without privacy, with {own}'s test, {score.title}"


def price_sentence(result: Discovery, references: Mapping[str, PDAG]) -> str:
    """A sentence on what the same algorithm finds without noise, and so on the cost of noise.

    references: the graphs from `references_of`; the sentence is empty if `same` is not among them.
    """
    if "same" not in references:
        return ""
    title = get_algorithm(result.algorithm).title
    if "truth" not in references:
        return noise_sentence(link_count(compare(result.graph, references["same"], "same")), title)
    private, same = (
        link_count(compare(graph, references["truth"], "truth"))
        for graph in (result.graph, references["same"])
    )
    return noise_cost_sentence(private, same, title)


def run_report(
    result: Discovery,
    dataset: Described,
    references: Mapping[str, PDAG],
    *,
    seed: int | None,
    positions: Positions | None = None,
) -> dict[str, Any]:
    """The report of a run, JSON-ready: graph, findings, guarantee, cost, metrics, parameters.

    The report is for study, not for release: the metrics use graphs that are not private, and no
    guarantee covers `spent`, `tests_run`, `orders_run` and `seconds`.
    """
    return {
        **to_json_dict(result.graph, positions),
        "pairs": described_pairs(result.graph, result.findings),
        "margins": [
            {"column": name, **margin.as_dict()}
            for name, margin in zip(result.graph.nodes, result.margins, strict=False)
        ],
        "one_level": one_level_columns(result),
        "intervals": result.intervals,
        "settled": result.settled,
        "hidden_stage": result.hidden_stage,
        "repeats": named_repeats(result.graph, result.repeats),
        "overruled": [
            [result.graph.nodes[node] for node in triple] for triple in sorted(result.overruled)
        ],
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
