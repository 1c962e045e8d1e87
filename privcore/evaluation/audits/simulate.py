"""Many runs on both data sets, in this process or in several."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import closing

from privcore.errors import Cancelled
from privcore.evaluation.audits.batches import Batch, batches, perform
from privcore.evaluation.audits.case import Trial
from privcore.evaluation.audits.outputs import Outputs, joined
from privcore.evaluation.audits.workers import in_processes

# With fewer, a process takes longer to start than to make its runs.
_BATCHES_EACH = 8


def simulate(
    trial: Trial,
    runs: int,
    seed: int,
    processes: int = 1,
    progress: Callable[[int, int], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> tuple[Outputs, Outputs]:
    """`runs` runs on D and as many on D′; the same for any number of processes.

    progress: told how many runs of all are done.  Raises Cancelled, between batches, if
    `cancelled` says so, and whatever error the runs raise.
    """
    plan = batches(runs, trial.batch)
    found: dict[Batch, Outputs] = {}
    with closing(_results(trial, seed, plan, processes)) as results:
        for batch, outputs in results:
            found[batch] = outputs
            if progress is not None:
                progress(sum(b.runs for b in found), 2 * runs)
            if cancelled is not None and cancelled():
                raise Cancelled
    one, other = ([found[b] for b in plan if b.side == side] for side in (0, 1))
    return joined(one), joined(other)


def _results(
    trial: Trial, seed: int, plan: list[Batch], processes: int
) -> Generator[tuple[Batch, Outputs]]:
    worthwhile = min(processes, len(plan) // _BATCHES_EACH)
    if worthwhile > 1:
        yield from in_processes(trial, seed, plan, worthwhile)
        return
    for batch in plan:
        yield batch, perform(trial, seed, batch)
