"""The references for runs: the truth, PC, and two variants of the run itself without noise."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate
from operator import mul
from typing import Any, Literal, get_args

from privcore.algorithms import Discovery, discover, get_algorithm
from privcore.algorithms.engine import checked_parameters
from privcore.algorithms.search.model import Algorithm, Hooks
from privcore.counts import Source, has_levels
from privcore.data.model import Described
from privcore.errors import ParameterError
from privcore.graphs import PDAG, cpdag_of_dag
from privcore.graphs.equivalence import pag_of_dag
from privcore.graphs.knowledge import Knowledge
from privcore.privacy.mechanisms import NoNoise
from privcore.text import short

# Names of references in reports, rows and URLs.  non_private: PC, which is the same for all
# algorithms on a table; same: the run's own algorithm without noise; own_test: PC with the
# algorithm's own test and settings, or NOTEARS for algorithms that make it private.  mine: a graph
# that the user states.
Reference = Literal["truth", "non_private", "same", "own_test", "mine"]
REFERENCES: tuple[Reference, ...] = get_args(Reference)
# References that are runs, the usual algorithm first.
NonPrivate = Literal["non_private", "same", "own_test"]
NON_PRIVATE: tuple[NonPrivate, ...] = get_args(NonPrivate)

_ABOUT_DATA = ("knowledge", "hidden_causes", "target")


def reference_names(algorithm: Algorithm) -> dict[Reference, str]:
    """The display names of the references for an algorithm's runs."""
    return {
        "truth": "truth",
        "non_private": "non-private PC",
        "same": f"{algorithm.title} without noise",
        "own_test": f"non-private {own_test_title(algorithm)}",
        "mine": "your graph",
    }


def own_test_title(algorithm: Algorithm) -> str:
    """What the reference "own_test" runs, such as "PC with Priv-PC's test"."""
    if algorithm.reference_algorithm == "pc":
        return f"PC with {algorithm.title}'s test"
    return algorithm.reference_algorithm.upper()


def base_title(algorithm: Algorithm) -> str:
    """What a run is compared with, as a word: PC, or the algorithm itself if it is not private."""
    return "PC" if algorithm.private else algorithm.name.upper()


def true_graph(
    algorithm: Algorithm,
    names: Sequence[str],
    edges: Iterable[tuple[str, str]],
    knowledge: str = "",
    *,
    hidden_causes: bool = False,
    target: str = "",
) -> PDAG:
    """The best graph that an algorithm can find: the true DAG, its CPDAG, or a PAG.

    edges: (cause, effect). Columns that occur in edges but not in `names` are hidden; the true
    graph over the other columns is then a PAG, as it is for a run with `hidden_causes`. knowledge:
    the run's background knowledge; if the true DAG agrees with the knowledge, the directions that
    follow are included. target: the column that the run is about, if it is about one alone.
    """
    edges = tuple(edges)
    if target:
        whole = true_graph(algorithm, names, edges, knowledge, hidden_causes=hidden_causes)
        return whole.near(names.index(target))
    hidden = {name for edge in edges for name in edge} - set(names)
    if hidden or hidden_causes:
        return _true_pag(tuple(names), edges, tuple(sorted(hidden)), knowledge)
    true = PDAG.from_names(names, edges)
    if algorithm.output == "dag":
        return true
    cpdag = cpdag_of_dag(names, true.directed)
    known = Knowledge.read(knowledge).on(names)
    return cpdag if known.violation(true) else known.completed(cpdag)


@lru_cache(maxsize=64)
def _true_pag(
    names: tuple[str, ...],
    edges: tuple[tuple[str, str], ...],
    hidden: tuple[str, ...],
    knowledge: str,
) -> PDAG:
    everything = (*names, *hidden)
    place = {name: k for k, name in enumerate(everything)}
    arrows = [(place[a], place[b]) for a, b in edges]
    unseen = range(len(names), len(everything))
    return pag_of_dag(everything, arrows, unseen, Knowledge.read(knowledge).on(names))


def yardstick_settings(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of PC as the reference for all algorithms.

    They are PC's defaults, so that the test follows from the kinds of columns, with what a run's
    parameters say about the data: background knowledge, and unobserved confounders.
    """
    return {name: parameters[name] for name in _ABOUT_DATA if parameters.get(name)}


def own_test_settings(
    algorithm: Algorithm, parameters: Mapping[str, Any]
) -> tuple[str, dict[str, Any]]:
    """The algorithm that a private algorithm builds on, and its settings for the same test."""
    settings = algorithm.reference(parameters)
    return algorithm.reference_algorithm, {**yardstick_settings(parameters), **settings}


# Most tests of PC as a reference, and cells of a test's table: about a minute of work.
_TESTS = 500_000


MOST_CELLS = 2_000_000


def non_private_reference(
    source: Source,
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
            "no-such-reference", reference=short(reference), choices=", ".join(NON_PRIVATE)
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
    return run_reference(source, *settings_of(result, reference), hooks=hooks)


def run_reference(
    source: Source,
    algorithm: str,
    settings: Mapping[str, Any],
    *,
    hooks: Hooks | None = None,
) -> Discovery:
    """Run PC or NOTEARS without noise; PC has the limits that `non_private_reference` states."""
    if algorithm != "pc" or not has_levels(source):
        return discover(source, algorithm, settings, hooks=hooks, keep_trace=False)
    order = checked_parameters("pc", settings)["max_order"]
    orders = [k for k in (order, _largest_order(source.levels)) if k is not None]
    limited = {**settings, "max_order": min(orders, default=None)}
    return discover(source, "pc", limited, hooks=hooks, keep_trace=False, test_limit=_TESTS)


def settings_of(result: Discovery, reference: NonPrivate) -> tuple[str, dict[str, Any]]:
    """The algorithm and the settings of the reference "non_private" or "own_test" of a run."""
    if reference == "non_private":
        return "pc", yardstick_settings(result.parameters)
    name, settings = own_test_settings(get_algorithm(result.algorithm), result.parameters)
    return name, {**settings, "score": "lines"} if result.in_lines else settings


def has_own_test(source: Source, result: Discovery) -> bool:
    """Whether PC with the test of a run is another algorithm than PC for these data."""
    if result.noise == "none":
        return False
    name, own = settings_of(result, "own_test")
    usual = "fisher-z" if source.holds == "numbers" else "g2"
    return name != "pc" or (own.get("score") or usual) != usual


def _largest_order(levels: tuple[int, ...]) -> int | None:
    """The largest order at which no test has more than `MOST_CELLS` cells; None for no limit."""
    sizes = accumulate(sorted(levels, reverse=True), mul)
    fitting = sum(size <= MOST_CELLS for size in sizes)
    return None if fitting == len(levels) else max(fitting - 2, 0)


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
            target=result.about,
        )
    return references | {kind: run.graph for kind, run in runs.items() if run is not None}
