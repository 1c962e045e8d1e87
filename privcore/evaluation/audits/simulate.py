"""Many runs on both data sets, in this process or in several."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import Any, NamedTuple

import numpy as np

from privcore.errors import Cancelled
from privcore.evaluation.audits.case import Side, Trial
from privcore.evaluation.audits.outputs import Outputs, joined
from privcore.privacy.mechanisms import SimulatedNoise


class Batch(NamedTuple):
    """So many runs on one side, with the noise of batch `number`."""

    side: Side
    number: int
    runs: int


def batches(runs: int, size: int) -> list[Batch]:
    """Batches of `size` runs, and a smaller last one, on both sides in turn."""
    planned = []
    for number, start in enumerate(range(0, runs, size)):
        sides: tuple[Side, Side] = (0, 1)
        planned += [Batch(side, number, min(size, runs - start)) for side in sides]
    return planned


def perform(trial: Trial, seed: int, batch: Batch) -> Outputs:
    """One batch; its noise follows from the seed, the side and the number alone."""
    noise = SimulatedNoise(np.random.SeedSequence(seed, spawn_key=(batch.side, batch.number)))
    return trial(batch.side, batch.runs, noise)


# Batches of runs in processes of their own.
#
# As in a sweep, the processes are started as modules and spoken to through pipes: the standard
# library's pools start every process by running the caller's main script once more, and in the
# dashboard that is a page.


def in_processes(
    trial: Trial, seed: int, plan: Sequence[Batch], count: int
) -> Iterator[tuple[Batch, Outputs]]:
    """Results as they are made, in any order, the batches dealt out in turn.

    The processes end when all is done or the iterator is closed.  Raises what the runs raise, and
    RuntimeError if a process ends by itself.
    """
    results: Queue[Any] = Queue()
    shares = [list(plan[k::count]) for k in range(count)]
    processes = [_started() for _ in shares]
    threads = [
        Thread(target=_serve, args=(process, (trial, seed, share), results), daemon=True)
        for process, share in zip(processes, shares, strict=True)
    ]
    for thread in threads:
        thread.start()
    try:
        for _ in plan:
            result = results.get()
            if isinstance(result, Exception):
                raise result
            yield result
    finally:
        for process in processes:
            process.kill()
        for thread in threads:
            thread.join(timeout=10)


def _started() -> subprocess.Popen[bytes]:
    root = str(Path(__file__).resolve().parents[3])
    paths = [root, *filter(None, [os.environ.get("PYTHONPATH")])]
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "privcore.evaluation.audits.process"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
    )


def _serve(process: subprocess.Popen[bytes], task: Any, results: Queue[Any]) -> None:
    """Hand a process its share, and pass on what it makes of it."""
    # Around all of it: leaving the process flushes what nobody may be there to read.
    try:
        with process:
            assert process.stdin is not None
            assert process.stdout is not None
            pickle.dump(task, process.stdin)
            process.stdin.flush()
            for _ in task[2]:
                results.put(pickle.load(process.stdout))
    except (OSError, EOFError, pickle.PickleError) as error:
        results.put(RuntimeError(f"a process of the audit ended: {error!r}"))


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
