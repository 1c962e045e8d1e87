"""Seconds from a key press to the answer on Discover, and from the URL to the first page.

    python -m benchmarks.dashboard_answers [--data asia,child,alarm] [--wait 45] [--port 0]
        [--first-start]

Starts its own server.  The first page: the sentence and the private graph, just after the
start and three times more, each in a new browser.  Then for each network, after `--wait` seconds in
which runs are made in the background: three times the arrow key on the ε slider, four seconds after
the previous answer; a click on the strip; and a click on the slider's far end, which nothing was
made for.  Each gives the seconds to the sentence and to the private graph.

--first-start: instead, seconds of processor time until the first graph when nothing is compiled
yet, and again: of `python -m privcore discover` on each network, and of the dashboard's first page.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory
from unittest.mock import patch

from playwright.sync_api import Page

from benchmarks import parsed
from benchmarks.dashboard_load import free_port, server
from benchmarks.screenshots import browser

_SENTENCE = ".st-key-answer h1"
_GRAPHS = ".cv[data-ready]"
_PAUSE = 4_000


def first_page(page: Page, address: str) -> str:
    begun = time.monotonic()
    page.goto(address)
    page.wait_for_selector(_SENTENCE, timeout=60_000)
    shown = time.monotonic() - begun
    page.wait_for_selector(_GRAPHS, timeout=60_000)
    return f"{shown:.2f} / {time.monotonic() - begun:.2f}"


def answer(page: Page, act: Callable[[], None]) -> str:
    """Seconds to the sentence and to the graph."""
    sentence = page.locator(_SENTENCE).first
    before = sentence.inner_text()
    run = page.locator(_GRAPHS).first.get_attribute("data-run")
    begun = time.monotonic()
    act()
    while sentence.inner_text() == before and time.monotonic() - begun < 60:
        page.wait_for_timeout(10)
    shown = time.monotonic() - begun
    page.wait_for_selector(f'{_GRAPHS}:not([data-run="{run}"])', timeout=60_000)
    drawn = time.monotonic() - begun
    page.wait_for_timeout(_PAUSE)
    return f"{shown:.2f} / {drawn:.2f}"


def answers(page: Page, address: str, wait: float) -> str:
    first_page(page, address)
    page.wait_for_timeout(1_000 * wait)
    slider = page.get_by_role("slider", name="Privacy budget")

    def press(key: str) -> Callable[[], None]:
        def act() -> None:
            slider.focus()
            page.keyboard.press(key)

        return act

    keys = [answer(page, press("ArrowLeft")) for _ in range(3)]
    strip = answer(page, page.get_by_role("button", name="Go to ε = 3").first.click)
    far = answer(page, press("Home"))
    return f"keys {', '.join(keys)}; strip {strip}; far {far}"


def first_start(networks: list[str], port: int) -> None:
    """Print the processor seconds of first graphs, with an empty cache of compiled code and then
    with a full one.
    """
    for name in networks:
        with empty_cache():
            command = [sys.executable, "-m", "privcore", "discover", "--network", name]
            print(f"{name}: {', '.join(f'{_spent(command):.1f}' for _ in range(2))}", flush=True)
    with empty_cache(), browser() as chromium:
        for when in ("first page, first start", "first page, again"):
            with server(port) as process:
                page = chromium.new_page(viewport={"width": 1280, "height": 800})
                shown = first_page(page, f"http://127.0.0.1:{port}/?data={networks[0]}")
                used = process.cpu_times()
                page.close()
            print(f"{when}: {used.user + used.system:.1f}, {shown} s on the clock", flush=True)


@contextmanager
def empty_cache() -> Iterator[None]:
    with TemporaryDirectory() as folder, patch.dict(os.environ, NUMBA_CACHE_DIR=folder):
        yield


def _spent(command: list[str]) -> float:
    """Processor seconds of a command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", default="asia,child,alarm")
    parser.add_argument("--wait", type=float, default=45.0)
    parser.add_argument("--port", type=int, default=0, help="0: any that is free")
    parser.add_argument("--first-start", action="store_true")
    options = parsed(parser, data="asia", wait=0.0)
    port = options.port or free_port()
    if options.first_start:
        first_start(options.data.split(","), port)
        return
    address = f"http://127.0.0.1:{port}/"
    print("Seconds to the sentence / to the private graph")
    with server(port), browser() as chromium:
        for number in range(1 if options.smallest else 4):
            page = chromium.new_page(viewport={"width": 1280, "height": 800})
            print(f"first page, visit {number + 1}: {first_page(page, address)}", flush=True)
            page.close()
        for name in options.data.split(","):
            page = chromium.new_page(viewport={"width": 1280, "height": 800})
            print(f"{name}: {answers(page, f'{address}?data={name}', options.wait)}", flush=True)
            page.close()


if __name__ == "__main__":
    main()
