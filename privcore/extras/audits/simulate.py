"""Make many runs on both data sets, in this process or in several."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from functools import partial
from typing import NamedTuple

import numpy as np

from privcore.errors import Cancelled
from privcore.extras.audits.case import Side, Trial
from privcore.extras.audits.outputs import Outputs, joined
from privcore.extras.worker import Crew, Pool
from privcore.privacy.mechanisms import SimulatedNoise


class Batch(NamedTuple):
    """A batch of `runs` runs on one data set, with the noise source of batch `number`."""

    side: Side
    number: int
    runs: int


def batches(runs: int, size: int) -> list[Batch]:
    """Batches of `size` runs, alternating between D and D′; the last batches may be smaller."""
    planned = []
    for number, begin in enumerate(range(0, runs, size)):
        sides: tuple[Side, Side] = (0, 1)
        planned += [Batch(side, number, min(size, runs - begin)) for side in sides]
    return planned


def perform(trial: Trial, seed: int, batch: Batch) -> Outputs:
    """The outputs of one batch; the noise depends only on seed, `batch.side` and `batch.number`."""
    noise = SimulatedNoise(np.random.SeedSequence(seed, spawn_key=(batch.side, batch.number)))
    return trial(batch.side, batch.runs, noise)


# With fewer runs, a process takes longer to start than to run.
_BATCHES_EACH = 8
# Seconds between checks whether to continue.
_WAIT_SECONDS = 0.1


def simulate(
    trial: Trial,
    runs: int,
    seed: int,
    processes: int = 1,
    progress: Callable[[int, int], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> tuple[Outputs, Outputs]:
    """Make `runs` runs on D and `runs` runs on D′; the outputs do not depend on `processes`.

    progress: called with the number of finished runs and the number of all runs.  Raises Cancelled
    between batches once `cancelled` returns True, Lost if a process ends unexpectedly, and any
    error raised in a run.
    """
    plan = batches(runs, trial.batch)
    worthwhile = min(processes, len(plan) // _BATCHES_EACH)
    serve, left = partial(perform, trial, seed), iter(plan)
    by_batch: dict[Batch, Outputs] = {}
    with closing(Pool(serve, worthwhile) if worthwhile > 1 else Crew(serve)) as crew:
        for done in crew.done(lambda: next(left, None), _WAIT_SECONDS):
            by_batch |= {batch: future.result() for batch, future in done}
            if done and progress is not None:
                progress(sum(b.runs for b in by_batch), 2 * runs)
            if cancelled is not None and cancelled():
                raise Cancelled
    one, other = ([by_batch[b] for b in plan if b.side == side] for side in (0, 1))
    return joined(one), joined(other)
