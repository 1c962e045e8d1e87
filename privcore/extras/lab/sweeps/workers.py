"""Who makes the runs of a sweep: this process, or processes of its own."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Protocol

from privcore.extras.lab.sweeps.cells import Batch, ReferenceGraph, Row, Runner
from privcore.extras.lab.sweeps.plan import SweepPlan
from privcore.extras.lab.sweeps.runs import Reference
from privcore.extras.worker import Failed, Lost

Work = Reference | Batch
# How long a worker works on a batch before it says what it has so far.
BATCH_SECONDS = 0.5


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


class Server:
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
