"""A page opened by its address before the app has run once is sent through `app.py`.

While a folder named `pages` lies beside `app.py`, and until the first `st.navigation` call,
Streamlit runs a page opened by its address on its own, without the frame: the shared sidebar and
the state it sets are not there.  So every page starts with `require_frame`, and `app.py` calls
`enter_frame` after `st.navigation`.
"""

from __future__ import annotations

from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.ui.texts import plain
from pages.ui.theme import PALETTES, current
from privcore.text import short

_HERE = Path(__file__).parent
_ACTIONS = "_actions"
_ASKED = "_address_at_first"
_UNKNOWN = "_unknown_in_address"
_LOGO = """<svg xmlns="http://www.w3.org/2000/svg" width="190" height="40" viewBox="0 0 190 40">
<g fill="none" stroke="{primary}" stroke-width="3" stroke-linecap="round">
<path d="M16 9 L8 30 M16 9 L26 30 M8 30 L26 30" stroke-dasharray="none"/></g>
<g fill="{primary}"><circle cx="16" cy="8" r="6"/><circle cx="7" cy="31" r="6"/>
<circle cx="27" cy="31" r="6"/></g>
<text x="44" y="27" font-family="system-ui, sans-serif" font-size="21" font-weight="700"
fill="{text}">CausalVeil</text></svg>"""
_ENTERED = "_frame_entered"
_WANTED = "_frame_wanted_page"


def require_frame(page: str) -> None:
    """Go to `app.py` and come back when `page` ("pages/discover.py") was opened without it."""
    if not st.session_state.get(_ENTERED):
        st.session_state[_WANTED] = page
        st.switch_page("app.py", query_params=st.query_params.to_dict())


def enter_frame() -> None:
    """Note that the frame is there, and go on to the page that was requested first, if any.

    The parameters in the address are kept both ways.
    """
    st.session_state[_ENTERED] = True
    wanted = st.session_state.pop(_WANTED, None)
    if wanted is not None:
        st.switch_page(wanted, query_params=st.query_params.to_dict())


def dress(*, presenting: bool) -> None:
    """The name, and what all pages share of their looks."""
    palette = PALETTES[current()]
    st.logo(
        _LOGO.format(primary=palette.primary, text=palette.text),
        size="large",
        link=None,
    )
    colours = {"muted": palette.muted, "accent": palette.link, "page": palette.background}
    named = " ".join(f"--{name}: {colour};" for name, colour in colours.items())
    style = f":root {{ {named} }}\n" + (_HERE / "frame.css").read_text("utf-8")
    if presenting:
        style += (_HERE / "frame_present.css").read_text("utf-8")
    st.html(f"<style>{style}</style>")


def set_actions(place: DeltaGenerator) -> None:
    """Where the page of this run may put buttons of its own, in the row at the top."""
    st.session_state[_ACTIONS] = place


def actions() -> DeltaGenerator:
    """The place at the right of the row at the top."""
    place: DeltaGenerator = st.session_state[_ACTIONS]
    return place


def note_address() -> None:
    """Before any control is drawn: what the address says when a session begins."""
    st.session_state.setdefault(_ASKED, st.query_params.to_dict())


def name_unknown(place: DeltaGenerator, page: str) -> None:
    """Once all controls are drawn: name the words of the first address that mean nothing here.

    The sentence stays until another page is opened.
    """
    asked = st.session_state[_ASKED]
    if asked:
        st.session_state[_ASKED] = {}
        ignored = [f"“{short(f'{k}={v}', 60)}”" for k, v in asked.items() if _ignored(k, v)]
        verb = "means" if len(ignored) == 1 else "mean"
        st.session_state[_UNKNOWN] = page, plain(" and ".join(ignored)), verb
    opened, words, verb = st.session_state.get(_UNKNOWN, (page, "", ""))
    if opened != page:
        del st.session_state[_UNKNOWN]
    elif words:
        place.warning(
            f"{words} in the address {verb} nothing here; the usual is shown.",
            icon=":material/link_off:",
        )


def _ignored(name: str, value: str) -> bool:
    """Whether no control of the page has taken this over; Streamlit drops what one cannot hold."""
    if name.startswith("embed"):
        return False
    known = name in st.session_state or f"_{name}_written" in st.session_state
    return not known or (st.query_params.get(name) != value and not _holds(name, value))


def _holds(name: str, value: str) -> bool:
    held = st.session_state.get(name)
    return held is not None and str(held).lower() == value.lower()
