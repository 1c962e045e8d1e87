"""Who makes the runs of a sweep: this process, or processes of its own.

The processes are started as modules of their own and spoken to through pipes.  The standard
library's pools start every process by running the caller's main script once more, and in the
dashboard that is a page.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import traceback
from collections import deque
from collections.abc import Callable
from pathlib import Path
from queue import Empty, Queue
from threading import Event, Thread
from typing import NamedTuple, Protocol

from privcore.evaluation.sweeps.cells import Batch, ReferenceGraph, Row, Runner
from privcore.evaluation.sweeps.plan import SweepPlan
from privcore.evaluation.sweeps.runs import Reference

Work = Reference | Batch
# How long a worker works on a batch before it says what it has so far.
BATCH_SECONDS = 0.5


class Failed(NamedTuple):
    """An error of the program, with its traceback."""

    text: str


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
        self._plan = pickle.dumps(plan)
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
                result = _ask(process, work)
            except (OSError, EOFError, pickle.UnpicklingError):
                result = Lost()
                _end(process)
                process = None
            except Exception:
                result = Failed(traceback.format_exc())
                _end(process)
                process = None
            self._results.put((work, result))
        _end(process)

    def _start(self) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "privcore.evaluation.sweeps.process"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=_environment(),
        )
        self._processes.append(process)
        if self._closing.is_set():
            process.kill()
        _write(process, self._plan)
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


def _environment() -> dict[str, str]:
    """The caller's, with this package importable wherever the caller's own path came from."""
    root = str(Path(__file__).resolve().parents[3])
    paths = [root, *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


def _ask(process: subprocess.Popen[bytes], work: Work) -> Result:
    _write(process, pickle.dumps((work, BATCH_SECONDS)))
    assert process.stdout is not None
    result: Result = pickle.load(process.stdout)
    return result


def _write(process: subprocess.Popen[bytes], message: bytes) -> None:
    assert process.stdin is not None
    process.stdin.write(message)
    process.stdin.flush()


def _end(process: subprocess.Popen[bytes] | None) -> None:
    if process is None:
        return
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        try:
            if pipe is not None:
                pipe.close()
        except OSError:
            continue  # Closing flushes what nobody is there to read.
