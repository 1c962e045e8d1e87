"""A real server and a real headless browser, one of each for every process that tests.

Without Chromium these tests are skipped, visibly; with CAUSALVEIL_REQUIRE_BROWSER=1 they fail.
"""

import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlparse

import pytest
from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import TimeoutError as PlaywrightTimeout
from playwright.sync_api import expect, sync_playwright

from tests.messages import label

ROOT = Path(__file__).resolve().parents[2]
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

# Milliseconds that a page may take, the first one of a server on a busy machine included.
_PATIENCE = 120_000
# What a journey waits for without saying how long, be it a click: five seconds, or half a minute,
# are enough on idle machines only.
_UNSAID = 60_000
expect.set_options(timeout=_UNSAID)


@pytest.fixture(scope="session")
def browser():
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        reason = "no Chromium on this machine: the browser journeys were not made"
        if os.environ.get("CAUSALVEIL_REQUIRE_BROWSER"):
            pytest.fail(reason)
        pytest.skip(reason)
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield running
        running.close()


class Server:
    """`streamlit run app.py` on a free port, with its log, and ledgers in a folder of its own."""

    def __init__(self, folder, *, beside=False):
        self.data, self.log = folder / "data", folder / "server.log"
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        with self.log.open("wb") as out:
            self.process = subprocess.Popen(
                [
                    sys.executable,
                    "-m",
                    "streamlit",
                    "run",
                    "app.py",
                    "--server.port",
                    str(self.port),
                    # Other tests write beside it, faster than a watcher follows.
                    "--server.fileWatcherType",
                    "none",
                ],
                cwd=ROOT,
                env={
                    **os.environ,
                    "CAUSALVEIL_DATA_DIR": str(self.data),
                    # Runs beside the page take time from all other tests.
                    "CAUSALVEIL_BESIDE": "on" if beside else "off",
                },
                stdout=out,
                stderr=subprocess.STDOUT,
            )
        deadline = time.monotonic() + _PATIENCE / 1000
        while time.monotonic() < deadline:
            try:
                with urllib.request.urlopen(f"{self.url}/_stcore/health", timeout=2) as answer:
                    if answer.read() == b"ok":
                        return
            except OSError:
                time.sleep(0.1)
        raise RuntimeError(f"the server did not start: {self.log.read_text()}")

    def stop(self):
        self.process.terminate()
        self.process.wait(_PATIENCE / 1000)
        text = self.log.read_text()
        # A tab that closes while the server writes to it makes Streamlit's own socket complain.
        faults = text.split("Traceback (most recent call last)")[1:]
        assert all("starlette_websocket.py" in fault for fault in faults), text
        assert "Please replace" not in text, text


@pytest.fixture
def cold_server(tmp_path):
    """A server that no session has visited."""
    server = Server(tmp_path)
    yield server
    server.stop()


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    running = Server(tmp_path_factory.mktemp("server"))
    yield running
    running.stop()


@pytest.fixture(scope="session")
def lively_server(tmp_path_factory):
    """A server whose pages make further runs beside them."""
    running = Server(tmp_path_factory.mktemp("lively"), beside=True)
    yield running
    running.stop()


_VIEW = {"viewport": {"width": 1400, "height": 1000}, "accept_downloads": True}


@pytest.fixture(scope="session")
def tabs(browser):
    """A tab for each colour scheme that all journeys share: it has Streamlit's scripts compiled."""
    return {}


@pytest.fixture
def visit(browser, tabs):
    """Open a page, which is a session of its own; afterwards, nothing may have left this machine.

    The first visit of a journey is in the shared tab, others each in a browser context of theirs,
    as is one that a script is put into.
    """
    contexts, pages, requests, errors = [], [], [], []

    def asked(request):
        requests.append(request.url)

    def failed(error):
        errors.append(str(error))

    def context_of(scheme):
        made = browser.new_context(color_scheme=scheme, **_VIEW)
        made.set_default_timeout(_UNSAID)
        return made

    def open_page(url, *, scheme="light", script=None):
        page = tabs.get(scheme)
        if script or page in pages:
            contexts.append(context_of(scheme))
            page = contexts[-1].new_page()
            page.add_init_script(script or "")
        elif page is None or page.is_closed():
            page = tabs[scheme] = context_of(scheme).new_page()
        pages.append(page)
        page.on("request", asked)
        page.on("pageerror", failed)
        page.goto(url)
        return page

    yield open_page
    for context in contexts:
        context.close()
    for page in tabs.values():
        if not page.is_closed():
            for other in page.context.pages:
                if other is not page:
                    other.close()
            # The session ends here, as it does when a tab is closed.
            with suppress(PlaywrightError):
                page.evaluate("sessionStorage.clear()")
            page.goto("about:blank")
            page.context.clear_cookies()
            if page in pages:
                page.remove_listener("request", asked)
                page.remove_listener("pageerror", failed)
    outside = [u for u in requests if urlparse(u).hostname not in ("127.0.0.1", None)]
    assert outside == []
    assert errors == []


def settle(page, heading):
    """Wait until the page with this heading is drawn and its script has ended.

    heading: "Discover" also stands for the answer, which is that page's heading once it has one, as
    it is on Effects.
    """
    title = page.get_by_role("heading", name=heading, exact=True)
    if heading in ("Discover", "Effects"):
        title = title.or_(page.locator(".st-key-answer h1"))
    expect(title.first).to_be_visible(timeout=_PATIENCE)
    idle = page.locator("[data-testid=stApp][data-test-script-state=notRunning]")
    expect(idle).to_be_visible(timeout=_PATIENCE)
    # Parts of the last run that this one does not draw are taken away a moment later.
    expect(page.locator("[data-stale=true]")).to_have_count(0, timeout=_PATIENCE)
    expect(title).to_have_count(1)
    expect(page.locator("[data-testid=stSkeleton]")).to_have_count(0, timeout=_PATIENCE)


def upload(page, path):
    """Load a table on the page Data and use it as it is proposed."""
    page.locator("input[type=file]").first.set_input_files(path)
    page.get_by_role("button", name=label("use-table")).click(timeout=_PATIENCE)
    # Leaving before the click has arrived would leave without the table.
    expect(page.get_by_text(label("table-ready")).first).to_be_visible(timeout=_PATIENCE)


def press(button, opened):
    """Click until `opened` is visible, as a person would.

    On a busy machine the page still moves: a click falls beside a button, and a list closes again.
    """
    deadline = time.monotonic() + _PATIENCE / 1000
    while not opened.is_visible() and time.monotonic() < deadline:
        with suppress(PlaywrightTimeout):
            button.click(timeout=5_000)
        with suppress(PlaywrightTimeout):
            opened.wait_for(timeout=10_000)
    expect(opened).to_be_visible()


def graph(page, title):
    """The pane of a graph, once it is drawn."""
    heading = page.get_by_role("heading", name=re.compile(f"^{re.escape(title)}"))
    pane = page.locator(".cv[data-ready] .pane", has=heading).first
    expect(pane).to_be_visible(timeout=_PATIENCE)
    return pane


def columns(pane):
    """The columns that a graph shows: numbers, names, middles of their boxes, and whether faded."""
    drawn = pane.locator("[data-node]").evaluate_all(
        """nodes => nodes.map((node) => {
             const shape = node.querySelector("rect, circle").getBoundingClientRect();
             return [Number(node.dataset.node), node.querySelector("title").textContent,
               Math.round(shape.x + shape.width / 2), Math.round(shape.y + shape.height / 2),
               node.classList.contains("away")]; })"""
    )
    return {number: (name, x, y, away) for number, name, x, y, away in drawn}


def links(pane, *, of="plain match undirected reversed extra"):
    """The pairs that a graph shows, by number; of: their classes."""
    drawn = pane.locator("[data-pair]").evaluate_all(
        "pairs => pairs.map((pair) => [pair.dataset.pair, pair.dataset.kind])"
    )
    return {tuple(map(int, pair.split("-"))) for pair, kind in drawn if kind in of.split()}
