"""A real server and a real headless browser.

Without Chromium these tests are skipped, visibly; with CAUSALVEIL_REQUIRE_BROWSER=1 they fail.
"""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from urllib.parse import urlparse

import pytest
from playwright.sync_api import expect, sync_playwright

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
_PATIENCE = 90_000
# What a journey waits for without saying how long: five seconds are enough on idle machines only.
expect.set_options(timeout=30_000)


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
    """`streamlit run app.py` on a free port, with its log."""

    def __init__(self, log):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = log
        with log.open("wb") as out:
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
                stdout=out,
                stderr=subprocess.STDOUT,
            )
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            try:
                with urllib.request.urlopen(f"{self.url}/_stcore/health", timeout=2) as answer:
                    if answer.read() == b"ok":
                        return
            except OSError:
                time.sleep(0.1)
        raise RuntimeError(f"the server did not start: {log.read_text()}")

    def stop(self):
        self.process.terminate()
        self.process.wait(10)
        text = self.log.read_text()
        assert "Traceback" not in text, text
        assert "Please replace" not in text, text


@pytest.fixture
def cold_server(tmp_path):
    """A server that no session has visited."""
    server = Server(tmp_path / "server.log")
    yield server
    server.stop()


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    running = Server(tmp_path_factory.mktemp("server") / "server.log")
    yield running
    running.stop()


@pytest.fixture
def visit(browser):
    """Open a page in a fresh context; afterwards, nothing may have left this machine."""
    contexts, requests, errors = [], [], []

    def open_page(url, *, scheme="light"):
        context = browser.new_context(
            color_scheme=scheme, viewport={"width": 1400, "height": 1000}, accept_downloads=True
        )
        contexts.append(context)
        page = context.new_page()
        page.on("request", lambda request: requests.append(request.url))
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(url)
        return page

    yield open_page
    for context in contexts:
        context.close()
    outside = [u for u in requests if urlparse(u).hostname not in ("127.0.0.1", None)]
    assert outside == []
    assert errors == []


def settle(page, heading):
    """Wait until the page with this heading is drawn and its script has ended."""
    title = page.get_by_role("heading", name=heading, exact=True)
    expect(title.first).to_be_visible(timeout=_PATIENCE)
    idle = page.locator("[data-testid=stApp][data-test-script-state=notRunning]")
    expect(idle).to_be_visible(timeout=_PATIENCE)
    # Parts of the last run that this one does not draw are taken away a moment later.
    expect(page.locator("[data-stale=true]")).to_have_count(0, timeout=_PATIENCE)
    expect(title).to_have_count(1)
    expect(page.locator("[data-testid=stSkeleton]")).to_have_count(0, timeout=_PATIENCE)


def graph(page, title):
    """The frame of a graph, once it is drawn."""
    element = page.locator(f'iframe[title^="{title}"]')
    expect(element).to_be_visible(timeout=_PATIENCE)
    frame = element.element_handle().content_frame()
    frame.wait_for_selector("body[data-ready='1']", timeout=_PATIENCE)
    return frame
