"""A worker process of a sweep: reads the plan and then tasks, and writes what it made of them."""

from __future__ import annotations

import os
import pickle
import signal
import sys
import traceback

from privcore.evaluation.sweeps.cells import Runner
from privcore.evaluation.sweeps.workers import Failed, Result, perform


def main() -> None:
    """Serve until the caller closes the pipe, or is gone."""
    # Ctrl-C reaches every process of a terminal; the caller decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "wb")
    # Whatever a library prints must not get between the answers.
    os.dup2(2, 1)
    try:
        runner = Runner(pickle.load(sys.stdin.buffer))
        while True:
            work, seconds = pickle.load(sys.stdin.buffer)
            result: Result
            try:
                result = perform(runner, work, seconds)
            except Exception:
                result = Failed(traceback.format_exc())
            pickle.dump(result, answers)
            answers.flush()
    except (EOFError, BrokenPipeError):
        return


if __name__ == "__main__":
    main()
