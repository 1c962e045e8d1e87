"""Batches of runs in processes of their own.

As in a sweep, the processes are started as modules and spoken to through pipes: the standard
library's pools start every process by running the caller's main script once more, and in the
dashboard that is a page.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import Any

from privcore.evaluation.audits.batches import Batch
from privcore.evaluation.audits.case import Trial
from privcore.evaluation.audits.outputs import Outputs


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
