"""Sweeps: many runs from one declaration, in parallel; the rows do not depend on the workers.

plan = SweepPlan((NetworkData("asia"),), ("pc", "priv-pc"), grids={"epsilon": (0.1, 1, 10)})
rows = list(run_sweep(plan))
print(summarise(rows, "truth_skeleton_f1"))
"""

from __future__ import annotations

import os
from collections import Counter, deque
from collections.abc import Callable, Collection, Generator, Iterator
from concurrent.futures import Future
from contextlib import closing
from typing import Any

from privcore.errors import Cancelled, SweepError
from privcore.extras.lab.sweeps.cells import (
    BATCH_SECONDS,
    METRICS,
    Batch,
    ReferenceGraph,
    Row,
    Runner,
    Work,
    columns,
    edges_of,
    in_waves,
)
from privcore.extras.lab.sweeps.data import ExampleData, NetworkData, SweepData, TableData
from privcore.extras.lab.sweeps.plan import SweepPlan
from privcore.extras.lab.sweeps.settings import Cell, Reference
from privcore.extras.lab.sweeps.store import (
    Journal,
    SweepFile,
    best_alike,
    edge_recovery,
    encode,
    frontier,
    lower_is_better,
    read_sweep,
    smallest_epsilon,
    summarise,
    write_rows,
)
from privcore.extras.worker import Crew, Pool

__all__ = [
    "METRICS",
    "Cell",
    "ExampleData",
    "Journal",
    "NetworkData",
    "Row",
    "SweepData",
    "SweepFile",
    "SweepPlan",
    "TableData",
    "best_alike",
    "columns",
    "edge_recovery",
    "edges_of",
    "encode",
    "frontier",
    "lower_is_better",
    "processors",
    "read_sweep",
    "run_sweep",
    "seconds_left",
    "smallest_epsilon",
    "summarise",
    "write_rows",
]

_LARGEST_BATCH = 64
_ATTEMPTS = 3
# Interval of checks for cancellation.
_WAIT_SECONDS = 0.1


def processors() -> int:
    """Number of processors that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


def seconds_left(done: int, total: int, elapsed: float) -> float:
    """Estimated remaining seconds at the average speed so far; NaN before the first run."""
    return elapsed * (total - done) / done if done else float("nan")


def run_sweep(
    plan: SweepPlan,
    *,
    workers: int | None = None,
    scheduler: str | None = None,
    done: Collection[int] = (),
    cancelled: Callable[[], bool] | None = None,
) -> Generator[Row, None, None]:
    """Yield rows as runs finish: first one replicate of every setting, then the next replicate.

    workers: number of processes on this machine, None for one per processor; 0 or 1 for this
        process only.
    scheduler: address of a Dask scheduler, whose workers replace local processes.
    done: numbers (`cell`) of runs that are already finished and are left out.
    cancelled: called several times a second; the sweep stops if it returns true.

    Except for `seconds`, the rows depend only on the plan. Closing the iterator stops the workers.
    Raises Cancelled if `cancelled` returns true, and SweepError if workers cannot be reached or
    crash repeatedly.
    """
    left = in_waves(plan, sorted(set(range(plan.size)) - set(done)))
    if not left:
        return
    cancelling = cancelled or (lambda: False)
    with closing(_crew(plan, workers, scheduler, cancelling, len(left))) as crew:
        yield from _Sweep(plan, crew, left).rows(cancelling)


def _crew(
    plan: SweepPlan,
    workers: int | None,
    scheduler: str | None,
    cancelled: Callable[[], bool],
    runs: int,
) -> Crew:
    if scheduler is not None:
        try:
            from privcore.extras.lab.sweeps.dask import Cluster
        except ModuleNotFoundError as error:
            if error.name != "distributed":
                raise
            raise SweepError("scheduler-needs-package-distributed") from None
        return Cluster(Runner(plan), scheduler)
    count = min(processors() if workers is None else workers, runs)
    if count > 1:
        return Pool(Runner(plan), count)
    return Crew(Runner(plan, cancelled, BATCH_SECONDS / 2))


class _Sweep:
    """Distributes the remaining work; reference runs come before the runs that need them."""

    def __init__(self, plan: SweepPlan, crew: Crew, left: list[int]) -> None:
        self._plan = plan
        self._crew = crew
        self._left = deque(left)
        self._graphs: dict[int, ReferenceGraph] = {}
        # Runs that wait for their reference graph.
        self._waiting: dict[int, list[int]] = {}
        self._again: deque[Work] = deque()
        self._losses: Counter[tuple[bool, int]] = Counter()

    def rows(self, cancelled: Callable[[], bool]) -> Iterator[Row]:
        for done in self._crew.done(self._next, _WAIT_SECONDS):
            for work, future in done:
                yield from self._take(work, future)
            if cancelled():
                raise Cancelled

    def _next(self) -> Work | None:
        if self._again:
            return self._again.popleft()
        size = min(max(len(self._left) // (4 * self._crew.slots), 1), _LARGEST_BATCH)
        ready: list[Cell] = []
        references: dict[int, ReferenceGraph] = {}
        while self._left and len(ready) < size:
            cell = self._plan.cells[self._left[0]]
            wanted = cell.setting.references
            needed = next((number for number in wanted if number not in self._graphs), None)
            if needed is None:
                ready.append(cell)
                self._left.popleft()
                references |= {number: self._graphs[number] for number in wanted}
            elif needed in self._waiting:
                self._waiting[needed].append(self._left.popleft())
            elif ready:
                break
            else:
                self._waiting[needed] = [self._left.popleft()]
                return self._plan.references[needed]
        return Batch(tuple(ready), references) if ready else None

    def _take(self, work: Work, future: Future[Any]) -> Iterator[Row]:
        try:
            result = future.result()
        except self._crew.lost:
            self._retry(work)
            return
        if isinstance(work, Reference):
            self._graphs[work.number] = result
            self._left.extendleft(reversed(self._waiting.pop(work.number)))
        else:
            self._left.extendleft(cell.number for cell in reversed(work.cells[len(result) :]))
            yield from result

    def _retry(self, work: Work) -> None:
        """Repeat the work run by run, to find the run that makes workers crash."""
        if isinstance(work, Batch) and len(work.cells) > 1:
            self._again.extend(Batch((cell,), work.references) for cell in work.cells)
            return
        first = work.cells[0] if isinstance(work, Batch) else work
        key = isinstance(work, Batch), first.number
        self._losses[key] += 1
        if self._losses[key] == _ATTEMPTS:
            raise SweepError(self._lost(work))
        self._again.append(work)

    def _lost(self, work: Work) -> str:
        if isinstance(work, Reference):
            name, data = work.algorithm, self._plan.data[work.data]
        else:
            setting = work.cells[0].setting
            name, data = setting.choice.algorithm, self._plan.data[setting.data]
        return (
            f"Worker processes ended {_ATTEMPTS} times while running {name} on {data.label}; "
            "memory may be short: use fewer workers or fewer rows."
        )
