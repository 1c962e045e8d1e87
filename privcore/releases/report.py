"""The report of a run as JSON, with metrics that compare its graph with reference graphs."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate
from operator import mul
from typing import Any

from privcore.algorithms import Discovery, Hooks, discover, get_algorithm
from privcore.counts import MixedRows, MomentSource, has_levels
from privcore.data.model import Described
from privcore.errors import ParameterError
from privcore.graphs import PDAG
from privcore.graphs.exports import to_json_dict
from privcore.graphs.layout import Positions
from privcore.independence import get_score
from privcore.measures import compare, evaluate
from privcore.measures.price import link_count, noise_and_gain_sentence, noise_sentence
from privcore.measures.references import (
    NON_PRIVATE,
    NonPrivate,
    non_private_settings,
    true_graph,
)
from privcore.privacy.mechanisms import NoNoise
from privcore.releases.effect import one_level_columns
from privcore.releases.findings import described_pairs
from privcore.text import counted, short
from privcore.version import __version__

# Most tests of PC as a reference, and cells of a test's table: about a minute of work.
_TESTS = 500_000
_CELLS = 2_000_000


def non_private_reference(
    source: MomentSource | MixedRows,
    result: Discovery,
    *,
    reference: NonPrivate = "non_private",
    hooks: Hooks | None = None,
) -> Discovery:
    """Run without noise, as a reference for a private run; the result is not private.

    reference: "non_private" is PC (or NOTEARS) with the run's settings, the usual alternative.
    "same" is the run's own algorithm in the limit of large ε, with the plan for the actual ε
    (`privcore.privacy.mechanisms.no_noise`), so that it differs from the run only by the effect of
    noise.  A run without noise is its own reference.

    PC stops after 500,000 tests, or before the order at which tables of the columns with the most
    levels would become too large; `reference_sentence` states where PC stopped.  If a run
    summarised columns by a few numbers, PC tests these numbers.  "same" stops after 500,000 tests,
    or after the number of tests in the run if that number is larger or the run reached its limit on
    tests.  Raises ParameterError for an unknown reference.
    """
    if reference not in NON_PRIVATE:
        raise ParameterError(
            f"There is no reference {short(reference)!r}; choose one of {', '.join(NON_PRIVATE)}."
        )
    algorithm = get_algorithm(result.algorithm)
    if result.noise == "none":
        return result
    if reference == "same":
        ended = result.stopped == "work"
        return discover(
            source,
            result.algorithm,
            result.parameters,
            noise=NoNoise(),
            hooks=hooks,
            keep_trace=False,
            test_limit=result.tests_run if ended else max(_TESTS, result.tests_run),
        )
    name, settings = non_private_settings(algorithm, result.parameters)
    if result.in_lines:
        settings["score"] = "lines"
    if name != "pc" or isinstance(source, MixedRows) or not has_levels(source):
        return discover(source, name, settings, hooks=hooks, keep_trace=False)
    orders = [
        k for k in (settings.get("max_order"), _largest_order(source.levels)) if k is not None
    ]
    settings["max_order"] = min(orders, default=None)
    return discover(source, name, settings, hooks=hooks, keep_trace=False, test_limit=_TESTS)


def _largest_order(levels: tuple[int, ...]) -> int | None:
    """The largest order at which no test has more than `_CELLS` cells; None for no limit."""
    sizes = accumulate(sorted(levels, reverse=True), mul)
    fitting = sum(size <= _CELLS for size in sizes)
    return None if fitting == len(levels) else max(fitting - 2, 0)


def reference_sentence(result: Discovery, reference: Discovery) -> str:
    """A sentence on where the non-private search stopped early; empty if it did not."""
    if reference is result:
        return ""
    same = reference.algorithm == result.algorithm
    if reference.stopped == "work":
        title = get_algorithm(reference.algorithm).title if same else reference.algorithm.upper()
        return f"{title} without noise was stopped after {counted(reference.tests_run, 'test')}."
    if same:
        return ""
    order = reference.parameters.get("max_order")
    # An order set by the algorithm's own reference is not due to the size of tables.
    _, settings = non_private_settings(get_algorithm(result.algorithm), result.parameters)
    if order is None or order == settings.get("max_order"):
        return ""
    if reference.orders_run <= order:
        return ""
    return (
        f"PC without noise conditions on no more than {counted(order, 'column')} here: with these "
        f"levels, tables for larger sets would have more than {_CELLS:,} cells."
    )


def reference_name(result: Discovery, reference: Discovery) -> str:
    """The reference of a run in words, with PC's test, from `non_private_reference`.

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


def references_of(
    dataset: Described, non_private: Discovery, same: Discovery | None = None
) -> dict[str, PDAG]:
    """The reference graphs by name: `non_private`, `truth` if known, and `same` if given.

    non_private, same: results of `non_private_reference`.  The true graph is a CPDAG or PAG, with
    the directions that follow from background knowledge, or a DAG for algorithms that output a DAG.
    """
    references = {}
    if dataset.true_edges is not None:
        algorithm = get_algorithm(non_private.algorithm)
        settings = non_private.parameters
        references["truth"] = true_graph(
            algorithm,
            dataset.names,
            dataset.true_edges,
            settings["knowledge"],
            hidden_causes=settings.get("hidden_causes", False),
        )
    references["non_private"] = non_private.graph
    if same is not None:
        references["same"] = same.graph
    return references


def price_sentence(result: Discovery, references: Mapping[str, PDAG]) -> str:
    """A sentence on the cost of noise and, if the truth is known, the gain from the algorithm.

    references: the graphs from `references_of`; the sentence is empty if `same` is not among them.
    """
    if "same" not in references:
        return ""
    algorithm = get_algorithm(result.algorithm)
    if "truth" not in references:
        private = link_count(compare(result.graph, references["same"], "same"))
        return noise_sentence(private, algorithm.title)
    private, same, usual = (
        link_count(compare(graph, references["truth"], "truth"))
        for graph in (result.graph, references["same"], references["non_private"])
    )
    return noise_and_gain_sentence(private, same, usual, algorithm.reference_algorithm.upper())


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
