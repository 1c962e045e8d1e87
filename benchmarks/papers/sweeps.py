"""Sweeps read for reproductions: graphs instead of metrics, so that a paper's own can be used."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property

from benchmarks.papers.model import Work
from privcore.algorithms import ALGORITHMS
from privcore.algorithms.engine import checked_parameters
from privcore.errors import DataError
from privcore.extras.lab.sweeps.cells import Runner, graph_of
from privcore.extras.lab.sweeps.settings import Reference, Setting
from privcore.extras.lab.sweeps.sweep import Row, SweepPlan, run_sweep
from privcore.graphs import PDAG, cpdag_of_names
from privcore.measures.comparison import Metrics, ordered_pair_f1, skeleton_metrics
from privcore.measures.references import own_test_settings

# Rows enough to read names and true edges from.
_FEW = 20
# So few runs are mostly over before other processes have started.
_SMALL = 60


@dataclass(frozen=True)
class Found:
    """A run that was not refused.

    graph: what it found.  truth: the CPDAG of the true graph.
    exact: what the non-private algorithm with the same settings finds; its own, if it is that.
    """

    row: Row
    graph: PDAG
    truth: PDAG
    exact: PDAG

    @property
    def against_truth(self) -> Metrics:
        """Metrics of the skeleton against the true one."""
        return skeleton_metrics(self.graph, self.truth)

    @property
    def exchanged(self) -> Metrics:
        """Metrics with the two skeletons exchanged, as if the one of the run were the truth."""
        return skeleton_metrics(self.truth, self.graph)

    @property
    def against_exact(self) -> float:
        """F1 as in Wang, Pang & Song 2020: over ordered pairs, against the non-private graph."""
        return ordered_pair_f1(self.graph, self.exact)


class Measured:
    """The runs of a plan, each with its graph."""

    def __init__(self, plan: SweepPlan) -> None:
        self._plan = plan
        self._runner = Runner(plan)
        self._exact: dict[str, PDAG] = {}

    def runs(self, work: Work) -> Iterator[tuple[Row, Found | None]]:
        """In the order of the plan; None for a refused run, which is reported to `work`."""
        rows = []
        workers = 0 if self._plan.size <= _SMALL else work.workers
        with closing(run_sweep(self._plan, workers=workers)) as stream:
            for row in stream:
                rows.append(row)
                work.tick(len(rows) / self._plan.size)
        for row in sorted(rows, key=lambda row: row["cell"]):
            if row["error"] is not None:
                work.note(f"{row['algorithm']} on {row['data']}: {row['error']}")
                yield row, None
            else:
                yield row, self._found(row)

    @cached_property
    def _data(self) -> list[tuple[tuple[str, ...], PDAG]]:
        loaded = [d.load(None if d.usual_rows is None else _FEW) for d in self._plan.data]
        return [(d.names, cpdag_of_names(d.names, d.true_edges or ())) for d in loaded]

    def _found(self, row: Row) -> Found:
        setting = self._plan.cells[row["cell"]].setting
        names, truth = self._data[setting.data]
        graph = graph_of(names, row["edges"])
        exact = self._reference(setting) if setting.choice.private else graph
        return Found(row, graph, truth, exact)

    def _reference(self, setting: Setting) -> PDAG:
        choice = setting.choice
        values = checked_parameters(choice.algorithm, choice.parameters)
        name, settings = own_test_settings(ALGORITHMS[choice.algorithm], values)
        if name == "pc":
            # As the papers compare: with v-structures from the sets that the search found.
            settings["collider_rule"] = "first"
        wanted = Reference(0, "own_test", setting.data, setting.rows, name, settings)
        key = repr(wanted)
        if key not in self._exact:
            graph = self._runner.reference(wanted).graph
            if graph is None:
                raise DataError(f"{name} refuses what {choice.algorithm} is compared with.")
            self._exact[key] = graph
        return self._exact[key]


def total_of(row: Row) -> float | None:
    """The ε that a private run reports, None where it reports none."""
    epsilon = row["guarantee_epsilon"]
    return None if epsilon is None or math.isinf(epsilon) else float(epsilon)
