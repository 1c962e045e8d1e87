"""Worker processes that run tasks for the caller and communicate through pipes.

The process pools of the standard library start each process by running the caller's main script
again. In the dashboard this script is a page, so these pools are not used.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path
from threading import Event
from typing import Any


class Lost(RuntimeError):
    """A worker process ended during a task, or could not be started."""


def start(serve: Callable[[Any], Any], *, gently: bool = False) -> subprocess.Popen[bytes]:
    """Start a worker process that answers tasks with `serve`, which must be picklable.

    gently: whether the process runs at the lowest priority, so that it uses only idle processor
    time. Raises Lost if the process cannot be started.
    """
    process, message = None, pickle.dumps(serve)
    try:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "privcore.extras.worker", *(["gently"] if gently else [])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment(),
        )
        _write(process, message)
    except OSError:
        end(process)
        raise Lost from None
    return process


def ask(process: subprocess.Popen[bytes], task: object) -> Any:
    """Send a task to a worker process and return the result of `serve`.

    Raises any error that `serve` raises, and Lost if the process ends before it answers.
    """
    assert process.stdout is not None
    try:
        _write(process, pickle.dumps(task))
        answer = pickle.load(process.stdout)
    except (OSError, EOFError, pickle.UnpicklingError):
        end(process)
        raise Lost from None
    if isinstance(answer, Exception):
        raise answer
    return answer


def end(process: subprocess.Popen[bytes] | None) -> None:
    """Stop a worker process at once, even during a task."""
    if process is None:
        return
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        try:
            if pipe is not None:
                pipe.close()
        except OSError:
            continue  # Closing flushes the pipe, whose reader has ended.


class Crew:
    """Runs tasks in the caller's process, each as soon as it is submitted.

    serve: function that computes the answer to a task.  slots: maximum number of tasks in progress.
    lost: type of the error in a future whose worker ended before the task was done.
    """

    slots = 1
    lost: type[Exception] = Lost

    def __init__(self, serve: Callable[[Any], Any]) -> None:
        self._serve = serve

    def submit(self, task: Any) -> Future[Any]:
        """Start a task; returns the future of its answer."""
        future: Future[Any] = Future()
        try:
            future.set_result(self._serve(task))
        except Exception as error:
            future.set_exception(error)
        return future

    def check(self) -> None:
        """Raise an error if no worker can answer any more."""

    def close(self) -> None:
        """Stop at once, even during a task."""

    def done(
        self, upcoming: Callable[[], Any], seconds: float
    ) -> Iterator[list[tuple[Any, Future[Any]]]]:
        """Yield lists of finished tasks with their futures.

        A list is yielded at least every `seconds` seconds, and may be empty. upcoming: function
        that returns the next task to submit, or None if no task is available until a running task
        is done.
        """
        flying: dict[Future[Any], Any] = {}
        while True:
            while len(flying) < self.slots and (task := upcoming()) is not None:
                flying[self.submit(task)] = task
            if not flying:
                return
            finished, _ = wait(flying, seconds, FIRST_COMPLETED)
            self.check()
            yield [(flying.pop(future), future) for future in finished]


class Pool(Crew):
    """Runs tasks in `count` worker processes; a process that ends is replaced by a new process.

    serve: picklable function that computes the answer to a task.
    """

    def __init__(self, serve: Callable[[Any], Any], count: int) -> None:
        super().__init__(serve)
        self.slots = count
        self._threads = ThreadPoolExecutor(count)
        self._closing = Event()
        self._idle: list[subprocess.Popen[bytes]] = []
        self._processes: list[subprocess.Popen[bytes]] = []

    def submit(self, task: Any) -> Future[Any]:
        return self._threads.submit(self._ask, task)

    def close(self) -> None:
        self._closing.set()
        for process in list(self._processes):
            process.kill()
        self._threads.shutdown(cancel_futures=True)
        for process in self._processes:
            end(process)

    def _ask(self, task: Any) -> Any:
        try:
            process = self._idle.pop()
        except IndexError:
            process = self._start()
        try:
            return ask(process, task)
        finally:
            if process.poll() is None:
                self._idle.append(process)

    def _start(self) -> subprocess.Popen[bytes]:
        process = start(self._serve)
        self._processes.append(process)
        if self._closing.is_set():
            process.kill()
        return process


def environment() -> dict[str, str]:
    """The caller's environment variables, with the root of this package on PYTHONPATH."""
    root = str(Path(__file__).resolve().parents[2])
    paths = [root, *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


def _write(process: subprocess.Popen[bytes], message: bytes) -> None:
    assert process.stdin is not None
    process.stdin.write(message)
    process.stdin.flush()


def main() -> None:
    """Answer tasks until the caller closes the pipe or ends."""
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
            except Exception as error:
                error.add_note(f"in a worker process:\n{traceback.format_exc()}")
                answer = error
            pickle.dump(answer, answers)
            answers.flush()
    except (EOFError, BrokenPipeError):
        return


if __name__ == "__main__":
    main()
