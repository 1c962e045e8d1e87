"""Sessions of the dashboard that move controls: over a WebSocket, and in a browser.

Both open Discover at the largest ε of the slider, go down one step with each move (and from the
smallest to the largest), change the algorithm with every fifth move instead, and wait until the
page shows the graph of that run, as `data-run` of the drawing says.  The WebSocket one speaks
Streamlit's own messages as its front end does, so that many of them cost the machine little
compared with the server. The browser measures the experience of a person, including drawing.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from itertools import count, cycle
from typing import Any, Protocol
from urllib.parse import urlencode

from playwright.async_api import Browser, Page
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect

from pages.ui.controls.params import log_grid, number_text
from privcore.algorithms import ALGORITHMS

_EPSILON = next(p for p in ALGORITHMS["moment-search"].parameters if p.name == "epsilon")
# From large to small.
EPSILONS = [number_text(value) for value in reversed(log_grid(_EPSILON))]
_SWITCHES = ("priv-pc", "svt-pc", "em-pc", "curate", "moment-search")
_SWITCH_EVERY = 5
# As the front end does, messages of so many runs are kept, and need not be sent again.
_RUNS_HELD = 2
_FINISHED = ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_EARLY_FOR_RERUN
_LONGEST_MS = 600_000

# The script has ended, and nothing is left of the run before.
_ENDED = """() => {
    const app = document.querySelector('[data-testid=stApp]');
    return app && app.dataset.testScriptState === 'notRunning'
        && !document.querySelector('[data-stale=true], [data-testid=stSkeleton]');
}"""


class Session(Protocol):
    """One visitor of the dashboard."""

    async def open(self) -> float:
        """Seconds until the page is there."""

    async def move(self) -> float:
        """Seconds from a move of a control to its answer."""

    async def close(self) -> None:
        """Leave, as by closing the window."""


def run_of(algorithm: str, epsilon: str) -> str:
    """What the drawing of this run has as `data-run`."""
    return f"{algorithm} {float(epsilon)}"


FIRST = run_of(_SWITCHES[-1], EPSILONS[0])


def moves() -> Iterator[tuple[str, str, str]]:
    """The key of a control, its new value, and the run that follows, without end.

    They begin after the run `FIRST`.
    """
    epsilons, switches = cycle(EPSILONS), cycle(_SWITCHES)
    epsilon, algorithm = next(epsilons), _SWITCHES[-1]
    for number in count(1):
        if number % _SWITCH_EVERY:
            epsilon = next(epsilons)
            yield "epsilon", epsilon, run_of(algorithm, epsilon)
        else:
            algorithm = next(switches)
            yield "algorithm", algorithm, run_of(algorithm, epsilon)


class WireSession:
    """A session over a WebSocket; raises RuntimeError if an answer is not that of its move."""

    def __init__(self, address: str, query: dict[str, str]) -> None:
        """address: of the server, as host:port.  query: what the address of the page says."""
        self._address = address
        self._query = urlencode({**query, "epsilon": EPSILONS[0]})
        self._moves = moves()
        self._controls: dict[str, tuple[str, str]] = {}
        self._elements: list[Any] = []
        self._held: list[dict[str, ForwardMsg]] = []
        self._socket: ClientConnection | None = None

    async def open(self) -> float:
        start = time.perf_counter()
        self._socket = await connect(
            f"ws://{self._address}/_stcore/stream", subprotocols=["streamlit"], max_size=None
        )
        await self._run(FIRST)
        return time.perf_counter() - start

    async def move(self) -> float:
        key, value, run = next(self._moves)
        kind = "slider" if key == "epsilon" else "selectbox"
        widgets = (getattr(e, kind) for e in self._elements if e.WhichOneof("type") == kind)
        identity = next(widget.id for widget in widgets if widget.id.endswith(f"-{key}"))
        self._controls[identity] = kind, value if kind == "slider" else ALGORITHMS[value].title
        start = time.perf_counter()
        await self._run(run)
        return time.perf_counter() - start

    async def close(self) -> None:
        if self._socket:
            await self._socket.close()

    async def _run(self, expected: str) -> None:
        """Send what the controls say, and take in messages until the script has ended.

        Raises RuntimeError unless the page then shows the graphs of the expected run.
        """
        if self._socket is None:
            raise RuntimeError("Open the session before anything is moved.")
        message = BackMsg()
        state = message.rerun_script
        state.query_string = self._query
        state.cached_message_hashes.extend(key for run in self._held for key in run)
        for identity, (kind, value) in self._controls.items():
            widget = state.widget_states.widgets.add(id=identity)
            if kind == "slider":
                widget.string_array_value.data.append(value)
            else:
                widget.string_value = value
        await self._socket.send(message.SerializeToString())
        known = {key: kept for run in self._held for key, kept in run.items()}
        elements: list[Any] = []
        held: dict[str, ForwardMsg] = {}
        ended = None
        while ended != ForwardMsg.FINISHED_SUCCESSFULLY:
            answer = ForwardMsg.FromString(bytes(await self._socket.recv()))
            if answer.WhichOneof("type") == "ref_hash":
                answer = known[answer.ref_hash]
            if answer.metadata.cacheable:
                held[answer.hash] = known[answer.hash] = answer
            match answer.WhichOneof("type"):
                case "new_session":
                    elements = []
                case "delta":
                    elements.append(answer.delta.new_element)
                case "script_finished":
                    ended = answer.script_finished
                    if ended not in _FINISHED:
                        raise RuntimeError(f"The script ended with status {ended}.")
        self._held = [held, *self._held][:_RUNS_HELD]
        self._elements = elements
        if any(e.WhichOneof("type") == "exception" for e in elements):
            raise RuntimeError("The answer shows an error.")
        drawn = [e.bidi_component for e in elements if e.WhichOneof("type") == "bidi_component"]
        runs = [json.loads(each.json).get("run") for each in drawn if each.json]
        if expected not in runs:
            raise RuntimeError(f"The answer has no graph of the run {expected}; it has {runs}.")


class BrowserSession:
    """A page in a browser that is running, with cookies of its own."""

    def __init__(self, browser: Browser, address: str, query: dict[str, str]) -> None:
        self._browser = browser
        self._moves = moves()
        self._url = f"http://{address}/?{urlencode({**query, 'epsilon': EPSILONS[0]})}"
        self._page: Page | None = None

    async def open(self) -> float:
        start = time.perf_counter()
        context = await self._browser.new_context(viewport={"width": 1400, "height": 1000})
        self._page = await context.new_page()
        await self._page.goto(self._url)
        await self._shown(self._page, FIRST)
        return time.perf_counter() - start

    async def move(self) -> float:
        if self._page is None:
            raise RuntimeError("Open the session before anything is moved.")
        key, value, run = next(self._moves)
        control = self._page.locator(f".st-key-{key}")
        if key == "epsilon":
            slider = control.get_by_role("slider")
            await slider.focus()
            start = time.perf_counter()
            await slider.press("End" if value == EPSILONS[0] else "ArrowLeft")
        else:
            title = ALGORITHMS[value].title
            box = control.get_by_role("combobox")
            await box.click()
            await box.fill(title)
            option = self._page.get_by_role("option", name=title, exact=True)
            start = time.perf_counter()
            await option.click()
        await self._shown(self._page, run)
        return time.perf_counter() - start

    async def close(self) -> None:
        if self._page:
            await self._page.context.close()

    async def _shown(self, page: Page, run: str) -> None:
        """Wait for the graphs of the run, and for the end of the script."""
        drawn = page.locator(f'.cv[data-ready][data-run="{run}"] .pane').first
        await drawn.wait_for(timeout=_LONGEST_MS)
        await page.wait_for_function(_ENDED, timeout=_LONGEST_MS)
