"""A session in one file, and the session that a reload of the browser's tab would lose.

The file has settings as in a URL, background knowledge, pinned runs, and what is stated about the
columns of a user's table; never rows. After a reload, the last session is offered from the memory
of the server, in which it stays for half an hour.
"""

from __future__ import annotations

import json
import threading
import time
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.ui.controls import known
from pages.ui.controls.data import SCHEMA_OF_SESSION, UPLOAD, Loaded
from pages.ui.controls.states import current_address, restore
from pages.ui.controls.target import OWN
from pages.ui.controls.uploads import uploaded_file, uploads_allowed
from pages.ui.discover import own as own_graph
from pages.ui.discover import pins
from pages.ui.layout import download, problem
from pages.ui.texts import plain
from privcore.errors import DataError, PrivcoreError
from privcore.graphs.knowledge import Knowledge
from privcore.graphs.pdag import from_json_dict, to_json_dict
from privcore.intake.schema import read_schema, schema_json
from privcore.strict_json import JsonFault, read_json
from privcore.text import counted, short
from privcore.version import __version__

MEGABYTES = 5
_FORMAT = 1
# Of the keys that begin with upload_: files, editors and buttons, which a page cannot set, and the
# confirmation, whose box is ticked from what was confirmed.
_NOT_KEPT = (
    *("upload_file_", "upload_schema_file", "upload_truth", "upload_editor_", "upload_columns_"),
    *("upload_apply", "upload_letters_", "upload_confirm_", "upload_repeat"),
)
_SECONDS = 1800.0
_SESSIONS = 8


def session_text() -> str:
    """The session as JSON; see the top of this module."""
    state = st.session_state
    table = None
    if state["data"] == UPLOAD and "upload_used" in state:
        columns = json.loads(schema_json(state["upload_used"]))
        table = {"file": short(state["upload_used_of"][1], 200), "schema": columns}
    document = {
        "causalveil": "session",
        "format": _FORMAT,
        "version": __version__,
        "address": current_address(),
        "known": {k: v for k, v in state.to_dict().items() if _not_in_url(k) and v},
        "pins": [
            {
                "name": pin.name,
                "measure": pin.measure,
                "graph": to_json_dict(pin.graph),
                "positions": [[float(x), float(y)] for x, y in pin.positions],
                "tiers": list(pin.tiers),
                "address": pin.address,
                "known": pin.known,
            }
            for pin in pins.pins()
        ],
        "table": table,
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def open_session(content: bytes) -> str:
    """Restore a session from its file, from the next run on.

    Returns a sentence on what comes next.  Raises DataError for a file that is no session.
    """
    try:
        document = read_json(content)
    except JsonFault as fault:
        raise DataError(f"The file of a session {fault}.") from fault
    if not isinstance(document, dict) or document.get("causalveil") != "session":
        raise DataError("This file is no session; choose a file that Save → Session wrote.")
    if document.get("format") != _FORMAT:
        raise DataError("This session is of a later version; open it with that version.")
    try:
        address = _address(document["address"])
        knowledge = _known(document["known"])
        pinned = [_pin(described) for described in document["pins"][: pins.MOST]]
        table = document["table"]
        schema = None if table is None else read_schema(json.dumps(table["schema"]).encode())
        name = "" if table is None else short(str(table["file"]), 60)
        # Half of a surrogate pair cannot be sent to a browser.
        json.dumps(document, ensure_ascii=False).encode()
    except (KeyError, TypeError, ValueError, AttributeError, PrivcoreError) as error:
        raise DataError("This session's file is damaged; save the session again.") from error
    st.session_state.update(knowledge)
    restore(address)
    st.session_state[pins.PINS] = pinned
    if schema is None:
        st.session_state.pop(SCHEMA_OF_SESSION, None)
        return "The session is open."
    st.session_state[SCHEMA_OF_SESSION] = schema
    return (
        f"The session is open. It is about the table “{name}”: load it below, if it is not in use."
    )


def _pin(described: Mapping[str, Any]) -> pins.Pin:
    graph = from_json_dict(described["graph"])
    # Not all that `float` reads is finite; a number of JSON is.
    positions = [(x + 0.0, y + 0.0) for x, y in described["positions"]]
    tiers = [None if tier is None else int(tier) for tier in described["tiers"]]
    if len(positions) != len(graph.nodes) or len(tiers) not in (0, len(graph.nodes)):
        raise ValueError("a node has no place")
    return pins.Pin(
        str(described["name"])[:60],
        str(described["measure"])[:200],
        graph,
        positions,
        tiers,
        _address(described["address"]),
        _known(described["known"]),
    )


def _address(held: Mapping[str, Any]) -> dict[str, str]:
    return {str(name): str(text) for name, text in held.items()}


def _known(held: Mapping[str, Any]) -> dict[str, str]:
    texts = {k: Knowledge.read(text).text for k, text in held.items() if known.is_text(k)}
    return texts | {k: str(text) for k, text in held.items() if k == OWN or own_graph.is_text(k)}


def _not_in_url(key: str) -> bool:
    """Whether a session key holds a choice that names columns of the user."""
    return known.is_text(key) or key == OWN or own_graph.is_text(key)


def save_button() -> None:
    """Draw the button that saves the session."""
    download(
        "Session",
        # Made now: a function would be called outside of the session.
        session_text(),
        "session.json",
        "save-session",
        width="stretch",
        help="Settings, background knowledge, pinned runs, and what is stated about the columns; "
        "never rows. Open it on the Data page.",
    )
    own: Loaded | None = st.session_state.get("upload")
    used = st.session_state["data"] == UPLOAD and own is not None and own.stated is None
    if used and own is not None and own.dataset.undeclared:
        st.caption(
            f"The file of the session has {own.dataset.public_noun} that were read from the rows "
            "and that you have not confirmed as public."
        )


def open_panel() -> None:
    """Draw the uploader that opens a saved session."""
    key = f"session_file_{st.session_state.get('_session_round', 0)}"

    def opened() -> None:
        file = st.session_state[key]
        if file is None:
            return
        # An uploader keeps its file, and would open it again.
        st.session_state["_session_round"] = st.session_state.get("_session_round", 0) + 1
        try:
            st.session_state["_session_said"] = open_session(file.getvalue())
        except DataError as error:
            st.session_state["_session_problem"] = str(error)

    if not uploads_allowed():
        return
    with st.expander("Open a saved session", icon=":material/folder_open:"):
        uploaded_file(
            "Session",
            endings=["json"],
            key=key,
            megabytes=MEGABYTES,
            help="A file that Save → Session wrote on Discover.",
            optional=True,
            on_change=opened,
        )
    if trouble := st.session_state.pop("_session_problem", ""):
        problem(trouble)


def say_opened(place: DeltaGenerator, page: str) -> None:
    """State that a session was opened, and what comes next, until another page is opened."""
    if page != "data":
        st.session_state.pop("_session_said", "")
    elif said := st.session_state.get("_session_said", ""):
        place.info(plain(said), icon=":material/folder_open:")
        if SCHEMA_OF_SESSION not in st.session_state:
            place.page_link("pages/discover.py", label="Go to Discover", icon=":material/hub:")


# ---- after a reload


@dataclass(frozen=True)
class _Kept:
    until: float
    state: Mapping[str, Any]


class _Memory(OrderedDict[str, _Kept]):
    """The last sessions by the identifier of their tab, which only that tab and the server know."""

    watched = False

    def watch(self) -> None:
        """Drop what is old, and look again while something is left; called with the lock."""
        now = time.monotonic()
        for tab in [tab for tab, held in self.items() if held.until <= now]:
            del self[tab]
        self.watched = bool(self)
        if self:
            first = min(held.until for held in self.values())
            timer = threading.Timer(first - now + 1, self._look)
            timer.daemon = True
            timer.start()

    def _look(self) -> None:
        with _LOCK:
            self.watch()


@st.cache_resource(show_spinner=False)
def _kept() -> _Memory:
    return _Memory()


_LOCK = threading.Lock()


def worth_keeping() -> bool:
    """Whether a reload would lose something that the URL does not have."""
    state = st.session_state
    texts = any(_not_in_url(k) and v for k, v in state.to_dict().items())
    own = state.get("data") == UPLOAD
    return "upload" in state or bool(state.get(pins.PINS)) or (own and texts)


def remember(tab: str | None) -> None:
    """Keep what a reload of this tab would lose; called after the page is drawn."""
    if tab is None:
        return
    with _LOCK:
        if not worth_keeping():
            # What a fresh session has not yet taken up stays on offer; what was given up goes.
            if st.session_state.pop("_remembered", False):
                _kept().pop(tab, None)
            return
        state = {
            key: value
            for key, value in st.session_state.to_dict().items()
            if _not_in_url(key) or (key.startswith("upload") and not key.startswith(_NOT_KEPT))
        }
        # A copy, for a duplicated tab has the same identifier, and pins of its own.
        state[pins.PINS] = list(pins.pins())
        st.session_state["_remembered"] = True
        kept = _kept()
        kept[tab] = _Kept(time.monotonic() + _SECONDS, state)
        kept.move_to_end(tab)
        while len(kept) > _SESSIONS:
            kept.popitem(last=False)
        if not kept.watched:
            kept.watch()


def offer(tab: str | None, place: DeltaGenerator) -> None:
    """Offer the session that this tab had before it was reloaded."""
    if tab is None or worth_keeping():
        return
    held = _kept().get(tab)
    if held is None or held.until < time.monotonic():
        return
    parts = []
    if "upload_used_of" in held.state:
        parts.append(f"the table “{plain(short(held.state['upload_used_of'][1], 60))}”")
    if many := len(held.state.get(pins.PINS, ())):
        parts.append(counted(many, "pinned run"))
    about = f" with {' and '.join(parts)}" if parts else ""
    with place.container(horizontal=True, vertical_alignment="center", key="last-session"):
        st.markdown(
            f"The page was reloaded. Your session{about} is still in memory.", width="content"
        )
        st.button("Continue it", type="primary", on_click=_take, args=(held.state,))
        st.button("Forget it", on_click=_drop, args=(tab,))


def _take(state: Mapping[str, Any]) -> None:
    st.session_state.update({**state, pins.PINS: list(state[pins.PINS])})
    if "upload" in state:
        st.session_state["data"] = UPLOAD


def _drop(tab: str) -> None:
    with _LOCK:
        _kept().pop(tab, None)
