"""Redirect a page that was opened by its own URL through `app.py`.

Because a folder named `pages` is next to `app.py`, Streamlit runs a page that is opened by its own
URL without `app.py`, until the first `st.navigation` call. The page would then lack the frame, the
shared sidebar and the sidebar's state. So every page starts with `require_frame`, and `app.py`
calls `enter_frame` after `st.navigation`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.runtime.scriptrunner import get_script_run_ctx

from pages.ui.texts import plain
from pages.ui.theme import PALETTES, current
from privcore.text import short

_HERE = Path(__file__).parent
_ACTIONS = "_actions"
_FIRST_QUERY = "_address_at_first"
_UNKNOWN = "_unknown_in_address"
_OPENED = "_page_of_last_run"
_LOGO = """<svg xmlns="http://www.w3.org/2000/svg" width="190" height="40" viewBox="0 0 190 40">
<g fill="none" stroke="{primary}" stroke-width="3" stroke-linecap="round">
<path d="M16 9 L8 30 M16 9 L26 30 M8 30 L26 30" stroke-dasharray="none"/></g>
<g fill="{primary}"><circle cx="16" cy="8" r="6"/><circle cx="7" cy="31" r="6"/>
<circle cx="27" cy="31" r="6"/></g>
<text x="44" y="27" font-family="system-ui, sans-serif" font-size="21" font-weight="700"
fill="{text}">CausalVeil</text></svg>"""
_ENTERED = "_frame_entered"
_WANTED = "_frame_wanted_page"


def go(page: str, address: Mapping[str, str] | None = None) -> NoReturn:
    """Open another page.

    page: its path, such as "pages/discover.py".  address: URL parameters that the page reads; the
    choices of this session are written to the URL by the page itself.
    """
    # With None, Streamlit refuses to clear parameters that are bound to a widget.
    st.switch_page(page, query_params=dict(address or {}))


def redirect(page: str, **address: str) -> NoReturn:
    """Open another page at the start of a session, with the URL parameters of this one."""
    go(page, {**address, **st.query_params.to_dict()})


def require_frame(page: str) -> None:
    """If `page` was opened without `app.py`, redirect through `app.py` and back to `page`.

    page: the path of the page, such as "pages/discover.py".
    """
    if not st.session_state.get(_ENTERED):
        st.session_state[_WANTED] = page
        redirect("app.py")


def enter_frame() -> None:
    """Record that the frame is present, and go to the page that was originally requested, if any.

    Every redirect keeps the URL parameters.
    """
    st.session_state[_ENTERED] = True
    wanted = st.session_state.pop(_WANTED, None)
    if wanted is not None:
        redirect(wanted)


def dress(*, presenting: bool) -> None:
    """Add the logo and the styles that all pages share."""
    palette = PALETTES[current()]
    st.logo(_LOGO.format(primary=palette.primary, text=palette.text), size="large", link=None)
    colours = {"muted": palette.muted, "accent": palette.link, "page": palette.background}
    named = " ".join(f"--{name}: {colour};" for name, colour in colours.items())
    style = f":root {{ {named} }}\n" + (_HERE / "frame.css").read_text("utf-8")
    if presenting:
        style += (_HERE / "frame_present.css").read_text("utf-8")
    st.html(f"<style>{style}</style>")


def set_actions(place: DeltaGenerator) -> None:
    """Store the container for the page's own buttons, which is in the top row."""
    st.session_state[_ACTIONS] = place


def actions() -> DeltaGenerator:
    """The container for the page's own buttons, at the right of the top row."""
    place: DeltaGenerator = st.session_state[_ACTIONS]
    return place


def note_address() -> None:
    """Record the URL parameters at the start of a session; called before any control is drawn."""
    st.session_state.setdefault(_FIRST_QUERY, st.query_params.to_dict())


def keep_values(page: str) -> None:
    """Let the controls of a page that has just been opened keep their values on the next page.

    Called last. Streamlit 1.67 takes a control's value to another page only if the control was
    drawn in an earlier run too; a value from a link would be lost if the user moves on at once.
    page: the path of the page.
    """
    context = get_script_run_ctx()
    if context is not None and st.session_state.get(_OPENED) != page:
        st.session_state[_OPENED] = page
        # What Streamlit itself does at the start of the next run, too late if that is another
        # page. Not after every run: presses since then would count as already answered.
        context.session_state._state._compact_state()


def name_unknown(place: DeltaGenerator, page: str) -> None:
    """Report unknown parameters in the first URL; called after all controls are drawn.

    The message stays until another page is opened.
    """
    query = st.session_state[_FIRST_QUERY]
    # Without a table, most controls are not drawn yet.
    waits = st.session_state.get("data") == "your table" and "upload" not in st.session_state
    if query and not waits:
        st.session_state[_FIRST_QUERY] = {}
        ignored = [f"“{short(f'{k}={v}', 60)}”" for k, v in query.items() if _ignored(k, v)]
        st.session_state[_UNKNOWN] = page, plain(" and ".join(ignored))
    opened, words = st.session_state.get(_UNKNOWN, (page, ""))
    if opened != page:
        del st.session_state[_UNKNOWN]
    elif words:
        place.warning(
            f"Ignored in the URL: {words}. The default is shown.", icon=":material/link_off:"
        )


def _ignored(name: str, value: str) -> bool:
    """Whether no control of the page uses this parameter; Streamlit drops invalid values."""
    if name.startswith("embed"):
        return False
    known = name in st.session_state or f"_{name}_written" in st.session_state
    return not known or (st.query_params.get(name) != value and not _holds(name, value))


def _holds(name: str, value: str) -> bool:
    held = st.session_state.get(name)
    return held is not None and str(held).lower() == value.lower()
