"""The dashboard under load: response times and memory with one session and with many at once.

    python -m benchmarks.dashboard_load [--sessions 20] [--moves 10] [--pauses 0,3] [--port 0]
        [--data asia] [--rows 100000] [--own-data]

Starts its own server, with its own data folder. One session moves controls, then all of them at
once, each after a pause that follows the answer. Each has its own noise seed, and with --own-data
its own sample.  All are WebSocket sessions but one, a page in Chromium if there is one, which is
also measured alone.  `benchmarks.dashboard_sessions` defines a move and its answer.
The last column is the server's processor time for an answer.

Memory is the server's resident set, as the system reports it.  Streamlit keeps a session for two
minutes after its window was closed, in case it returns, and frees it when a later one leaves;
"after" is measured then. Then the same number of new sessions moves the same controls: the process
may reuse freed memory for them, so only additional memory is a leak.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import psutil
from playwright.async_api import async_playwright

from benchmarks import parsed
from benchmarks.dashboard_sessions import BrowserSession, Session, WireSession
from privcore.releases.ledger.ledger import VARIABLE

_ROOT = Path(__file__).resolve().parents[1]
_BROWSERS = ("chromium", "chromium-browser", "google-chrome")
_KEPT_SECONDS = 125
_NAME = "127.0.0.1"


@contextmanager
def server(port: int) -> Iterator[psutil.Process]:
    """The process of `streamlit run app.py`, which ends with the block."""
    with tempfile.TemporaryDirectory() as folder:
        # Sources that somebody edits meanwhile would be loaded anew under the sessions.
        command = [
            sys.executable,
            "-m",
            "streamlit",
            "run",
            "app.py",
            "--server.port",
            str(port),
            "--server.fileWatcherType",
            "none",
        ]
        with (Path(folder) / "log").open("wb") as log:
            started = subprocess.Popen(
                command,
                cwd=_ROOT,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**os.environ, VARIABLE: folder},
            )
        try:
            _wait(started, port)
            yield psutil.Process(started.pid)
        finally:
            started.terminate()
            started.wait(20)


def _wait(started: subprocess.Popen[bytes], port: int) -> None:
    """Raises SystemExit if the server ends before it answers."""
    while started.poll() is None:
        try:
            with urllib.request.urlopen(f"http://{_NAME}:{port}/_stcore/health", timeout=2):
                return
        except OSError:
            time.sleep(0.1)
    raise SystemExit(f"The server did not start; is port {port} in use?")


def chromium() -> str | None:
    """Where the browser is, None if there is none."""
    return next(filter(None, map(shutil.which, _BROWSERS)), None)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((_NAME, 0))
        return int(probe.getsockname()[1])


async def moved(session: Session, moves: int, pause: float) -> list[float]:
    """Seconds of each answer, pauses left out."""
    seconds = []
    for _ in range(moves):
        await asyncio.sleep(pause)
        seconds.append(await session.move())
    return seconds


def line(what: str, seconds: Sequence[float], work: str = "") -> None:
    """One row of the table; work: the server's processor time for an answer."""
    middle, high = np.quantile(seconds, (0.5, 0.95))
    times = f"{middle:.2f} | {high:.2f} | {max(seconds):.2f}"
    print(f"| {what} | {len(seconds)} | {times} | {work} |", flush=True)


class Load:
    """The measurements, one after the other, on one server."""

    def __init__(self, options: argparse.Namespace, process: psutil.Process, port: int) -> None:
        self._options = options
        self._process = process
        self._address = f"{_NAME}:{port}"
        self._visits = 0

    async def run(self) -> None:
        before = self._memory()
        print("| sessions | answers | median s | 95 % s | worst s | server's work s |")
        print("|---|---|---|---|---|---|")
        async with async_playwright() as playwright:
            path = chromium()
            browser = await playwright.chromium.launch(executable_path=path) if path else None
            sessions: list[Session] = [WireSession(self._address, self._query())]
            line("first visit of the server, WebSocket", [await sessions[0].open()])
            await self._moves("1, WebSocket", sessions, 0)
            one = self._memory()
            if browser:
                sessions.append(BrowserSession(browser, self._address, self._query()))
                line("second visit, Chromium", [await sessions[1].open()])
                await self._moves("1, Chromium", sessions[1:], 0)
            few = self._memory()
            more = [
                WireSession(self._address, self._query())
                for _ in range(len(sessions), self._options.sessions)
            ]
            line(
                f"{len(more)} more visits at once, WebSocket",
                await asyncio.gather(*(session.open() for session in more)),
            )
            sessions += more
            for pause in self._options.pauses:
                await self._moves(f"{len(sessions)}, pauses of {pause:g} s", sessions, pause)
            many = self._memory()
            await asyncio.gather(*(session.close() for session in sessions))
        await asyncio.sleep(0 if self._options.smallest else _KEPT_SECONDS)
        others = [WireSession(self._address, self._query()) for _ in sessions]
        await others[0].open()
        await others[0].close()
        after = self._memory()
        others = others[1:]
        await asyncio.gather(*(session.open() for session in others))
        for _ in self._options.pauses:
            await self._moves(f"{len(others)} others later, pauses of 0 s", others, 0)
        print(
            f"\nServer memory: {before:.0f} MB before any session, {one:.0f} MB with one, "
            f"{many:.0f} MB with {len(sessions)} ({(many - few) / len(more):.1f} MB for each of "
            f"the last {len(more)}), {after:.0f} MB after all were closed, "
            f"{self._memory():.0f} MB with {len(others)} others after that."
        )
        await asyncio.gather(*(session.close() for session in others))

    def _query(self) -> dict[str, str]:
        """The address of the next session's page."""
        self._visits += 1
        chosen = {"data": self._options.data, "rows": str(self._options.rows)}
        if self._options.own_data:
            chosen["data_seed"] = str(self._visits)
        return {**chosen, "seed": str(self._visits)}

    def _memory(self) -> float:
        """The server's, in megabytes."""
        return float(self._process.memory_info().rss) / 1e6

    def _used(self) -> float:
        """The server's processor time, in seconds."""
        times = self._process.cpu_times()
        return float(times.user + times.system)

    async def _moves(self, what: str, sessions: Sequence[Session], pause: float) -> None:
        """Let all sessions move, and print a row, or two if one of many is a browser."""
        used, moves = self._used(), self._options.moves
        found = await asyncio.gather(*(moved(session, moves, pause) for session in sessions))
        work = f"{(self._used() - used) / (moves * len(sessions)):.2f}"
        rows: dict[str, list[float]] = {}
        for session, seconds in zip(sessions, found, strict=True):
            watched = len(sessions) > 1 and isinstance(session, BrowserSession)
            rows.setdefault(", Chromium among them" if watched else "", []).extend(seconds)
        for which, seconds in rows.items():
            line(what + which, seconds, "" if which else work)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sessions", type=int, default=20)
    parser.add_argument("--moves", type=int, default=10)
    parser.add_argument("--pauses", default="0,3", help="seconds before each move")
    parser.add_argument("--port", type=int, default=0, help="0: any that is free")
    parser.add_argument("--data", default="asia")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--own-data", action="store_true", help="a sample for each session")
    options = parsed(parser, sessions=3, moves=5, pauses="0")
    options.pauses = [float(pause) for pause in options.pauses.split(",")]
    if options.sessions < 3:
        parser.error("--sessions must be at least 3.")
    port = options.port or free_port()
    with server(port) as process:
        print(f"load average when it started: {os.getloadavg()[0]:.1f}\n")
        asyncio.run(Load(options, process, port).run())


if __name__ == "__main__":
    main()
