"""Seconds from a key press to the answer on Discover, and from the URL to the first page.

    python -m benchmarks.dashboard_answers [--data asia,child,alarm] [--wait 45] [--port 0]

Starts its own server.  The first page: the sentence and the private graph, just after the
start and three times more, each in a new browser.  Then for each network, after `--wait` seconds in
which runs are made in the background: three times the arrow key on the ε slider, four seconds after
the previous answer; a click on the strip; and a click on the slider's far end, which nothing was
made for.  Each gives the seconds to the sentence and to the private graph.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

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


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", default="asia,child,alarm")
    parser.add_argument("--wait", type=float, default=45.0)
    parser.add_argument("--port", type=int, default=0, help="0: any that is free")
    options = parsed(parser, data="asia", wait=0.0)
    port = options.port or free_port()
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
