"""Many runs on both data sets, in this process or in several."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from typing import NamedTuple

import numpy as np

from privcore.errors import Cancelled
from privcore.extras.audits.case import Side, Trial
from privcore.extras.audits.outputs import Outputs, joined
from privcore.extras.worker import Pool
from privcore.privacy.mechanisms import SimulatedNoise


class Batch(NamedTuple):
    """So many runs on one side, with the noise of batch `number`."""

    side: Side
    number: int
    runs: int


def batches(runs: int, size: int) -> list[Batch]:
    """Batches of `size` runs, and a smaller last one, on both sides in turn."""
    planned = []
    for number, begin in enumerate(range(0, runs, size)):
        sides: tuple[Side, Side] = (0, 1)
        planned += [Batch(side, number, min(size, runs - begin)) for side in sides]
    return planned


def perform(trial: Trial, seed: int, batch: Batch) -> Outputs:
    """One batch; its noise follows from the seed, the side and the number alone."""
    noise = SimulatedNoise(np.random.SeedSequence(seed, spawn_key=(batch.side, batch.number)))
    return trial(batch.side, batch.runs, noise)


class _Runs:
    """What a process of an audit holds: makes one batch, and answers with what goes wrong too."""

    def __init__(self, trial: Trial, seed: int) -> None:
        self._trial, self._seed = trial, seed

    def __call__(self, batch: Batch) -> Outputs | Exception:
        try:
            return perform(self._trial, self._seed, batch)
        except Exception as error:
            return error


def in_processes(
    trial: Trial, seed: int, plan: Sequence[Batch], count: int
) -> Iterator[tuple[Batch, Outputs]]:
    """Results as they are made, in any order.

    The processes end when all is done or the iterator is closed.  Raises what the runs raise, and
    RuntimeError if a process ends by itself.
    """
    with closing(Pool(_Runs(trial, seed), count)) as pool:
        for batch in plan:
            pool.submit(batch)
        left = len(plan)
        while left:
            for batch, result in pool.finished(None):
                left -= 1
                if isinstance(result, Exception):
                    raise result
                if not isinstance(result, Outputs):
                    raise RuntimeError(f"a process of the audit ended: {result!r}")
                yield batch, result


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
    by_batch: dict[Batch, Outputs] = {}
    with closing(_results(trial, seed, plan, processes)) as results:
        for batch, outputs in results:
            by_batch[batch] = outputs
            if progress is not None:
                progress(sum(b.runs for b in by_batch), 2 * runs)
            if cancelled is not None and cancelled():
                raise Cancelled
    one, other = ([by_batch[b] for b in plan if b.side == side] for side in (0, 1))
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
