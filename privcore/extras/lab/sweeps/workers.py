"""Who makes the runs of a sweep: this process, or processes of its own."""

from __future__ import annotations

import pickle
import subprocess
import traceback
from collections import deque
from collections.abc import Callable
from queue import Empty, Queue
from threading import Event, Thread
from typing import NamedTuple, Protocol

from privcore.extras.lab.sweeps.cells import Batch, ReferenceGraph, Row, Runner
from privcore.extras.lab.sweeps.plan import SweepPlan
from privcore.extras.lab.sweeps.runs import Reference
from privcore.extras.worker import Failed, ask, end, start

Work = Reference | Batch
# How long a worker works on a batch before it says what it has so far.
BATCH_SECONDS = 0.5


class Lost(NamedTuple):
    """The process ended while it worked."""


Result = ReferenceGraph | list[Row] | Failed | Lost


class Crew(Protocol):
    """Workers of one plan.

    slots: how many tasks to hand out at a time.
    """

    slots: int

    def submit(self, work: Work) -> None:
        """Hand out a reference or a batch."""
        ...

    def finished(self, seconds: float) -> list[tuple[Work, Result]]:
        """What was finished since it was last asked; waits at most that long for the first."""
        ...

    def close(self) -> None:
        """Stop at once, whatever is being worked on."""
        ...


def perform(runner: Runner, work: Work, seconds: float) -> ReferenceGraph | list[Row]:
    """One task: a reference, or the first rows of a batch."""
    return runner.rows(work, seconds) if isinstance(work, Batch) else runner.reference(work)


class _Server:
    """What a worker process holds: the plan, whose references it makes once."""

    def __init__(self, plan: SweepPlan) -> None:
        self._plan = plan
        self._runner: Runner | None = None

    def __call__(self, work: Work) -> ReferenceGraph | list[Row]:
        self._runner = self._runner or Runner(self._plan)
        return perform(self._runner, work, BATCH_SECONDS)


class Here:
    """No worker: tasks are done in this process when the results are taken."""

    slots = 1

    def __init__(self, plan: SweepPlan, cancelled: Callable[[], bool] | None) -> None:
        self._runner = Runner(plan, cancelled)
        self._tasks: deque[Work] = deque()

    def submit(self, work: Work) -> None:
        self._tasks.append(work)

    def finished(self, seconds: float) -> list[tuple[Work, Result]]:
        work = self._tasks.popleft()
        return [(work, perform(self._runner, work, seconds))]

    def close(self) -> None:
        self._tasks.clear()


class Processes:
    """So many processes on this machine; one that ends is replaced by a new one."""

    def __init__(self, plan: SweepPlan, count: int) -> None:
        self.slots = count
        self._plan = plan
        self._tasks: Queue[Work | None] = Queue()
        self._results: Queue[tuple[Work, Result]] = Queue()
        self._closing = Event()
        self._processes: list[subprocess.Popen[bytes]] = []
        self._threads = [Thread(target=self._serve, daemon=True) for _ in range(count)]
        for thread in self._threads:
            thread.start()

    def submit(self, work: Work) -> None:
        self._tasks.put(work)

    def finished(self, seconds: float) -> list[tuple[Work, Result]]:
        return waiting_in(self._results, seconds)

    def close(self) -> None:
        self._closing.set()
        for process in self._processes:
            process.kill()
        for _ in self._threads:
            self._tasks.put(None)
        for thread in self._threads:
            thread.join(timeout=10)

    def _serve(self) -> None:
        """Look after one process: hand it tasks, and start another if it ends.

        Every task is answered, whatever happens, so that nobody waits for ever.
        """
        process = None
        while (work := self._tasks.get()) is not None and not self._closing.is_set():
            result: Result
            try:
                process = process or self._start()
                result = ask(process, work)
            except (OSError, EOFError, pickle.UnpicklingError):
                result = Lost()
                end(process)
                process = None
            except Exception:
                result = Failed(traceback.format_exc())
                end(process)
                process = None
            self._results.put((work, result))
        end(process)

    def _start(self) -> subprocess.Popen[bytes]:
        process = start(_Server(self._plan))
        self._processes.append(process)
        if self._closing.is_set():
            process.kill()
        return process


def waiting_in(results: Queue[tuple[Work, Result]], seconds: float) -> list[tuple[Work, Result]]:
    """All that a queue holds; waits at most so long for the first."""
    taken = []
    try:
        taken.append(results.get(timeout=seconds))
        while True:
            taken.append(results.get_nowait())
    except Empty:
        return taken
