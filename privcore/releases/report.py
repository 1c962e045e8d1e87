"""The report of a run as JSON, with metrics that compare its graph with reference graphs."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate
from operator import mul
from typing import Any

from privcore.algorithms import Discovery, Hooks, discover, get_algorithm
from privcore.algorithms.engine import checked_parameters
from privcore.counts import MixedRows, MomentSource, has_levels, has_numbers
from privcore.data.model import Described
from privcore.errors import ParameterError
from privcore.graphs import PDAG
from privcore.graphs.described import to_json_dict
from privcore.graphs.layout import Positions
from privcore.independence import get_score
from privcore.measures import compare, evaluate
from privcore.measures.price import link_count, noise_cost_sentence, noise_sentence
from privcore.measures.references import (
    NON_PRIVATE,
    NonPrivate,
    own_test_settings,
    true_graph,
    yardstick_settings,
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

    reference: "non_private" is PC, the same for every algorithm: its test follows from the kinds of
    the columns, G² for levels and Fisher's z for numbers.  "own_test" is PC with the test and the
    settings of the run (or NOTEARS); if the run summarised columns by a few numbers, PC tests these
    numbers.  "same" is the run's own algorithm in the limit of large ε, with the plan for the
    actual ε (`privcore.privacy.mechanisms.no_noise`), so that it differs from the run only by the
    effect of noise.  A run without noise is its own reference.

    PC stops after 500,000 tests, or before the order at which tables of the columns with the most
    levels would become too large; `reference_sentence` states where PC stopped.  "same" stops after
    500,000 tests, or after the number of tests in the run if that number is larger or the run
    reached its limit on tests.  Raises ParameterError for an unknown reference.
    """
    if reference not in NON_PRIVATE:
        raise ParameterError(
            f"There is no reference {short(reference)!r}; choose one of {', '.join(NON_PRIVATE)}."
        )
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
    return run_reference(source, *_settings(result, reference), hooks=hooks)


def run_reference(
    source: MomentSource | MixedRows,
    algorithm: str,
    settings: Mapping[str, Any],
    *,
    hooks: Hooks | None = None,
) -> Discovery:
    """Run PC or NOTEARS without noise; PC has the limits that `non_private_reference` states."""
    if algorithm != "pc" or isinstance(source, MixedRows) or not has_levels(source):
        return discover(source, algorithm, settings, hooks=hooks, keep_trace=False)
    order = checked_parameters("pc", settings)["max_order"]
    orders = [k for k in (order, _largest_order(source.levels)) if k is not None]
    limited = {**settings, "max_order": min(orders, default=None)}
    return discover(source, "pc", limited, hooks=hooks, keep_trace=False, test_limit=_TESTS)


def _settings(result: Discovery, reference: NonPrivate) -> tuple[str, dict[str, Any]]:
    if reference == "non_private":
        return "pc", yardstick_settings(result.parameters)
    name, settings = own_test_settings(get_algorithm(result.algorithm), result.parameters)
    return name, {**settings, "score": "lines"} if result.in_lines else settings


def has_own_test(source: MomentSource | MixedRows, result: Discovery) -> bool:
    """Whether PC with the test of a run is another algorithm than PC for these data."""
    if result.noise == "none":
        return False
    name, own = _settings(result, "own_test")
    numeric = not isinstance(source, MixedRows) and has_numbers(source)
    usual = "fisher-z" if numeric else "g2"
    return name != "pc" or (own.get("score") or usual) != usual


def _largest_order(levels: tuple[int, ...]) -> int | None:
    """The largest order at which no test has more than `_CELLS` cells; None for no limit."""
    sizes = accumulate(sorted(levels, reverse=True), mul)
    fitting = sum(size <= _CELLS for size in sizes)
    return None if fitting == len(levels) else max(fitting - 2, 0)


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
    asked = checked_parameters("pc", _settings(result, kind)[1])["max_order"]
    # An order that the settings ask for is not due to the size of tables.
    if order in (None, asked) or reference.orders_run <= order:
        return ""
    return (
        f"PC without noise conditions on no more than {counted(order, 'column')} here: with these "
        f"levels, tables for larger sets would have more than {_CELLS:,} cells."
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


def references_of(
    dataset: Described, result: Discovery, **runs: Discovery | None
) -> dict[str, PDAG]:
    """The reference graphs of a run by name: `truth` if known, and the graphs of `runs`.

    runs: results of `non_private_reference` by kind; None is left out.  The true graph is a CPDAG
    or PAG, with the directions that follow from background knowledge, or a DAG for algorithms that
    output a DAG.
    """
    references = {}
    if dataset.true_edges is not None:
        settings = result.parameters
        references["truth"] = true_graph(
            get_algorithm(result.algorithm),
            dataset.names,
            dataset.true_edges,
            settings["knowledge"],
            hidden_causes=settings.get("hidden_causes", False),
        )
    return references | {kind: run.graph for kind, run in runs.items() if run is not None}


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
