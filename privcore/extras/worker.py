"""Processes that do tasks for this one, spoken to through pipes.

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
from queue import Empty, Queue
from threading import Event, Thread
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T")


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


class Lost(NamedTuple):
    """The process ended while it worked."""


class Pool:
    """So many processes; one that ends is replaced by a new one.

    serve: what each of them holds, which must be picklable.  slots: how many tasks at a time.
    """

    def __init__(self, serve: Callable[[Any], Any], count: int) -> None:
        self.slots = count
        self._serve = serve
        self._tasks: Queue[Any] = Queue()
        self._results: Queue[tuple[Any, Any]] = Queue()
        self._closing = Event()
        self._processes: list[subprocess.Popen[bytes]] = []
        self._threads = [Thread(target=self._attend, daemon=True) for _ in range(count)]
        for thread in self._threads:
            thread.start()

    def submit(self, task: Any) -> None:
        """Hand out a task, which is not None."""
        self._tasks.put(task)

    def finished(self, seconds: float | None) -> list[tuple[Any, Any]]:
        """Tasks and their answers, Failed or Lost; waits at most that long for the first."""
        return waiting_in(self._results, seconds)

    def close(self) -> None:
        """Stop at once, whatever is being worked on."""
        self._closing.set()
        for process in self._processes:
            process.kill()
        for _ in self._threads:
            self._tasks.put(None)
        for thread in self._threads:
            thread.join(timeout=10)

    def _attend(self) -> None:
        """Look after one process: hand it tasks, and start another if it ends.

        Every task is answered, whatever happens, so that nobody waits for ever.
        """
        process = None
        while (task := self._tasks.get()) is not None and not self._closing.is_set():
            result: Any
            try:
                process = process or self._start()
                result = ask(process, task)
            except (OSError, EOFError, pickle.UnpicklingError):
                result = Lost()
                end(process)
                process = None
            except Exception:
                result = Failed(traceback.format_exc())
                end(process)
                process = None
            self._results.put((task, result))
        end(process)

    def _start(self) -> subprocess.Popen[bytes]:
        process = start(self._serve)
        self._processes.append(process)
        if self._closing.is_set():
            process.kill()
        return process


def waiting_in(results: Queue[T], seconds: float | None) -> list[T]:
    """All that a queue holds; waits at most so long for the first, for ever if None."""
    taken = []
    try:
        taken.append(results.get(timeout=seconds))
        while True:
            taken.append(results.get_nowait())
    except Empty:
        return taken


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
