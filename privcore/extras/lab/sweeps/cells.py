"""Make the runs of a sweep and return them as rows; used by workers in any process."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import unquote

from privcore.algorithms import count, discover, get_algorithm
from privcore.algorithms.search.model import NoHooks
from privcore.algorithms.search.result import Discovery
from privcore.counts import AvailableCases, InMemoryCounts, MixedRows, NumericRows
from privcore.counts.source import Cache
from privcore.errors import PrivcoreError
from privcore.extras.lab.sweeps.plan import SweepPlan
from privcore.extras.lab.sweeps.settings import Cell, Reference
from privcore.graphs import PDAG
from privcore.graphs.pdag import MARKS, Kind, build_graph
from privcore.measures.comparison import cpdag_metrics, skeleton_metrics
from privcore.measures.references import NonPrivate, run_reference, true_graph
from privcore.privacy.mechanisms import NoNoise
from privcore.threads import one_thread

Row = dict[str, Any]
MEASURES = ("precision", "recall", "f1", "shd")
METRICS = tuple(
    f"{reference}_{graph}_{measure}"
    for reference in ("truth", "non_private", "same")
    for graph in ("skeleton", "cpdag")
    for measure in MEASURES
)
# Columns of a row that describe the outcome of the run.
OUTCOMES = (
    *METRICS,
    "guarantee_epsilon",
    "guarantee_delta",
    "tests_run",
    "orders_run",
    "stopped",
    "edges",
    "error",
    "seconds",
)
_CALLED: dict[NonPrivate, str] = {
    "non_private": "Non-private reference",
    "same": "The same algorithm without noise",
}
# How long a worker works on a batch before it returns its rows so far.
BATCH_SECONDS = 0.5
# Numeric rows take n·p numbers; counts also have caches of tables.
_KEPT_BYTES = 2 << 30
_COUNTS_BYTES = 64 << 20


def columns(plan: SweepPlan) -> tuple[str, ...]:
    """Names of a row's entries, in order.

    cell: number of the run in the plan. epsilon, delta and the swept parameters: the requested
    values, None if the algorithm lacks the parameter. guarantee_epsilon, guarantee_delta: ε and δ
    of a private run's guarantee; with the published calibration, the values computed after the run.
    edges: see `edges_of`. error: the reason why a run or a reference was refused. seconds: engine
    time. Measures against the same algorithm without noise are included only if the plan requires
    such measures.
    """
    kept = [name for name in OUTCOMES if plan.same or not name.startswith("same_")]
    return (
        "cell",
        "data",
        "data_seed",
        "rows",
        "algorithm",
        "calibration",
        "epsilon",
        "delta",
        *plan.swept,
        "replicate",
        "seed",
        *kept,
    )


class Loaded(NamedTuple):
    """The counts of one data set, and the edges of its true graph if known."""

    source: InMemoryCounts | AvailableCases | NumericRows | MixedRows
    true_edges: tuple[tuple[str, str], ...] | None


class ReferenceGraph(NamedTuple):
    """The graph of a non-private run, or the reason why there is none."""

    graph: PDAG | None
    problem: str | None = None


class Batch(NamedTuple):
    """A batch of runs, with the reference graphs by their number in the plan."""

    cells: tuple[Cell, ...]
    references: Mapping[int, ReferenceGraph]


Work = Reference | Batch


class _Asking(NoHooks):
    """Hooks that let the caller cancel a run."""

    def __init__(self, cancelled: Callable[[], bool]) -> None:
        self._cancelled = cancelled

    def cancelled(self) -> bool:
        return self._cancelled()


class Runner:
    """Makes the runs of one plan; data are loaded and counted once, and cached.

    cancelled: called during runs; a run stops if it returns true. seconds: how long to work on a
    batch before returning the finished rows.
    """

    def __init__(
        self,
        plan: SweepPlan,
        cancelled: Callable[[], bool] | None = None,
        seconds: float = BATCH_SECONDS,
    ) -> None:
        self._plan, self._seconds = plan, seconds
        self._hooks = _Asking(cancelled) if cancelled else NoHooks()
        self._loaded: Cache[Loaded] = Cache(_KEPT_BYTES, _bytes)
        self._truths: dict[tuple[int, str, str, bool, str], PDAG] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        # Another process loads and counts the data again.
        return Runner, (self._plan,)

    def __call__(self, work: Work) -> ReferenceGraph | list[Row]:
        """Do one task: compute a reference graph, or the first rows of a batch."""
        return self.rows(work) if isinstance(work, Batch) else self.reference(work)

    def reference(self, wanted: Reference) -> ReferenceGraph:
        """Compute the graph of one of the plan's references."""
        with one_thread():
            try:
                source = self._load(wanted.data, wanted.rows).source
                if wanted.kind != "same":
                    algorithm, settings = wanted.algorithm, wanted.settings
                    result = run_reference(source, algorithm, settings, hooks=self._hooks)
                else:
                    result = discover(
                        source,
                        wanted.algorithm,
                        wanted.settings,
                        noise=NoNoise(),
                        hooks=self._hooks,
                        keep_trace=False,
                    )
            except PrivcoreError as error:
                return ReferenceGraph(None, str(error))
        return ReferenceGraph(result.graph)

    def rows(self, batch: Batch) -> list[Row]:
        """Make the first runs of a batch, at least one, until the time is over; returns their rows.

        Linear algebra uses one thread, since the rounding of results may depend on the number of
        threads.
        """
        rows: list[Row] = []
        end = time.monotonic() + self._seconds
        with one_thread():
            for cell in batch.cells:
                rows.append(self.row(cell, batch.references))
                if time.monotonic() > end:
                    break
        return rows

    def _load(self, data: int, rows: int | None) -> Loaded:
        def load() -> Loaded:
            dataset = self._plan.data[data].load(rows)
            return Loaded(count(dataset), dataset.true_edges)

        return self._loaded.get((data, rows), load)

    def row(self, cell: Cell, references: Mapping[int, ReferenceGraph]) -> Row:
        """Make one run and return its row; if the run is refused, `error` is the reason."""
        setting, choice = cell.setting, cell.setting.choice
        data = self._plan.data[setting.data]
        row: Row = dict.fromkeys(columns(self._plan))
        row |= {
            "cell": cell.number,
            "data": data.label,
            "data_seed": data.seed,
            "rows": setting.rows,
            "algorithm": choice.algorithm,
            "calibration": choice.calibration,
            "replicate": cell.replicate,
            "seed": cell.seed,
            **choice.shown,
        }
        try:
            loaded = self._load(setting.data, setting.rows)
            row["rows"] = loaded.source.n
            if choice.problem:
                row["error"] = choice.problem
                return row
            run = discover(
                loaded.source,
                choice.algorithm,
                choice.parameters,
                seed=cell.seed,
                hooks=self._hooks,
                keep_trace=False,
            )
        except PrivcoreError as error:
            row["error"] = str(error)
            return row
        against: dict[str, PDAG] = {}
        if not choice.private:
            against = dict.fromkeys(self._plan.kinds, run.graph)
        if loaded.true_edges is not None:
            against["truth"] = self._truth(setting.data, loaded, run)
        for number in setting.references:
            kind, reference = self._plan.references[number].kind, references[number]
            if reference.graph is None:
                row["error"] = f"{_CALLED[kind]}: {reference.problem}"
            else:
                against[kind] = reference.graph
        return row | _measured(run, against)

    def _truth(self, data: int, loaded: Loaded, run: Discovery) -> PDAG:
        algorithm = get_algorithm(run.algorithm)
        known, hidden = run.parameters["knowledge"], run.parameters.get("hidden_causes", False)
        key = (data, algorithm.output, known, hidden, run.about)
        if key not in self._truths:
            edges = loaded.true_edges or ()
            self._truths[key] = true_graph(
                algorithm, run.graph.nodes, edges, known, hidden_causes=hidden, target=run.about
            )
        return self._truths[key]


def _measured(run: Discovery, against: Mapping[str, PDAG]) -> Row:
    promised = run.guarantee.as_dict()
    private = promised["calibration"] != "none"
    row: Row = {
        "guarantee_epsilon": promised["epsilon"],
        "guarantee_delta": promised["delta"] if private else None,
        "tests_run": run.tests_run,
        "orders_run": run.orders_run,
        "stopped": run.stopped,
        "edges": edges_text(run.graph),
        "seconds": run.seconds,
    }
    return row | compared(run.graph, against)


def compared(graph: PDAG, against: Mapping[str, PDAG]) -> Row:
    """The entries of a row that compare `graph` with others; against: reference graphs by name."""
    row: Row = {}
    for name, other in against.items():
        for kind, metrics in (
            ("skeleton", skeleton_metrics(graph, other)),
            ("cpdag", cpdag_metrics(graph, other)),
        ):
            row |= {f"{name}_{kind}_{measure}": getattr(metrics, measure) for measure in MEASURES}
    return row


# A circle is @, as in DAGitty: a name may end in the letter o.
_SIGNS: dict[Kind, str] = {kind: mark.replace("o", "@") for kind, mark in MARKS.items()}
_KINDS = {sign: kind for kind, sign in _SIGNS.items()}


def edges_text(graph: PDAG) -> str:
    """The sorted edges as text, such as "smoke->lung tub--either"; `edges_of` reads this text.

    Characters that could be mistaken for a mark of an edge, or for a formula in a spreadsheet, are
    written as in a URL, such as %20.
    """
    return " ".join(
        f"{_escaped(a)}{_SIGNS[kind]}{_escaped(b)}" for a, b, kind in graph.named_edges()
    )


def edges_of(text: str) -> list[tuple[str, str, Kind]]:
    """Read the text of `edges_text`; returns (from, to, kind) for each edge."""
    edges: list[tuple[str, str, Kind]] = []
    for edge in text.split():
        a, sign, b = re.split("([<@]?-[->@])", edge)
        edges.append((unquote(a), unquote(b), _KINDS[sign]))
    return edges


def graph_of(names: Sequence[str], text: str) -> PDAG:
    """Read the text of `edges_text`; returns the graph with the nodes `names`."""
    return build_graph(names, edges_of(text))


def _escaped(name: str) -> str:
    def code(match: re.Match[str]) -> str:
        return "".join(f"%{byte:02X}" for byte in match.group().encode())

    return re.sub(r"[^\w.]", code, name)


def _bytes(loaded: Loaded) -> int:
    source = loaded.source
    if not isinstance(source, InMemoryCounts):
        return 8 * source.n * len(source.names)
    return 8 * source.unique_rows * len(source.names) + _COUNTS_BYTES


def in_waves(plan: SweepPlan, left: Sequence[int]) -> list[int]:
    """Sort the runs `left`: first one replicate of every setting, then the next replicate.

    In this order, partial results cover all settings early, and the remaining time is estimated
    from all kinds of run.
    """
    return sorted(left, key=lambda number: (plan.cells[number].replicate, number))
