"""A process of an audit: reads its batches, and writes the runs of each."""

from __future__ import annotations

import os
import pickle
import signal
import sys
from typing import Any

from privcore.evaluation.audits.simulate import perform


def main() -> None:
    """Serve one task, until it is done or the caller is gone."""
    # Ctrl-C reaches every process of a terminal; the caller decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "wb")
    # Whatever a library prints must not get between the answers.
    os.dup2(2, 1)
    try:
        trial, seed, plan = pickle.load(sys.stdin.buffer)
        for batch in plan:
            answer: Any
            try:
                answer = batch, perform(trial, seed, batch)
            except Exception as error:
                answer = error
            pickle.dump(answer, answers)
            answers.flush()
    except (EOFError, BrokenPipeError):
        return


if __name__ == "__main__":
    main()
