"""A process of its own that does tasks for this one, spoken to through pipes.

The standard library's pools start every process by running the caller's main script once more, and
in the dashboard that is a page.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple


class Failed(NamedTuple):
    """An error of the program, with its traceback."""

    text: str


def start(serve: Callable[[Any], Any], *, gently: bool = False) -> subprocess.Popen[bytes]:
    """A process that holds `serve`, which must be picklable.

    gently: at the lowest priority, so that it takes only time that nobody else wants.
    """
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "privcore.extras.worker", *(["gently"] if gently else [])],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=_environment(),
    )
    try:
        _write(process, pickle.dumps(serve))
    except OSError:
        end(process)
        raise
    return process


def ask(process: subprocess.Popen[bytes], task: object) -> Any:
    """What the process's `serve` makes of a task, or Failed.

    Raises OSError, EOFError or pickle.UnpicklingError where the process ends meanwhile.
    """
    _write(process, pickle.dumps(task))
    assert process.stdout is not None
    return pickle.load(process.stdout)


def end(process: subprocess.Popen[bytes] | None) -> None:
    """Stop at once, whatever it is working on."""
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


def _environment() -> dict[str, str]:
    """The caller's, with this package importable wherever the caller's own path came from."""
    root = str(Path(__file__).resolve().parents[2])
    paths = [root, *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


def _write(process: subprocess.Popen[bytes], message: bytes) -> None:
    assert process.stdin is not None
    process.stdin.write(message)
    process.stdin.flush()


def main() -> None:
    """Serve until the caller closes the pipe, or is gone."""
    # Ctrl-C reaches every process of a terminal; the caller decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if "gently" in sys.argv[1:] and hasattr(os, "nice"):
        os.nice(19)
    answers = os.fdopen(os.dup(1), "wb")
    # Whatever a library prints must not get between the answers.
    os.dup2(2, 1)
    try:
        serve = pickle.load(sys.stdin.buffer)
        while True:
            task = pickle.load(sys.stdin.buffer)
            try:
                answer = serve(task)
            except Exception:
                # By its importable name: here this module is the main one.
                from privcore.extras.worker import Failed as Error

                answer = Error(traceback.format_exc())
            pickle.dump(answer, answers)
            answers.flush()
    except (EOFError, BrokenPipeError):
        return


if __name__ == "__main__":
    main()
