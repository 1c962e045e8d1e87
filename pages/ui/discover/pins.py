"""Up to six pinned runs, kept by name so that a user can return to them and compare them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import streamlit as st

from pages.ui.controls.data import UPLOAD
from pages.ui.controls.states import restore
from pages.ui.graphs.view import show_graphs
from pages.ui.texts import plain
from privcore.display.answer import class_words
from privcore.display.drawing import Pane, scene
from privcore.graphs import PDAG
from privcore.measures import compare

PINS = "_pins"
_SHOWN = "_shown_run"
_AT = "_pin_at"
_NAME_LIMIT = 60
MOST = 6
_WORDS = {"extra": "only in this run", "missing": "only in the compared run"}


@dataclass(frozen=True)
class Pin:
    """A pinned run: its name, a line with its quality, and what restores it.

    address: the controls as URL parameters. known: the background knowledge by session key.
    """

    name: str
    measure: str
    graph: PDAG
    positions: Sequence[tuple[float, float]]
    tiers: Sequence[int | None]
    address: dict[str, str]
    known: dict[str, str]


def pins() -> list[Pin]:
    """The session's pinned runs, in the order of pinning."""
    held: list[Pin] = st.session_state.setdefault(PINS, [])
    return held


def shown(pin: Pin) -> None:
    """Record the run on the page, so that a click on Pin keeps this run."""
    st.session_state[_SHOWN] = pin


def forget_own() -> None:
    """Forget the run on the page, and the pinned runs on the user's own table."""
    st.session_state.pop(_SHOWN, None)
    st.session_state[PINS] = [pin for pin in pins() if pin.address.get("data") != UPLOAD]


def pin_button() -> None:
    """Draw the button that pins the shown run."""
    full = len(pins()) >= MOST
    st.button(
        "Pin",
        icon=":material/keep:",
        on_click=_pin,
        key="pin",
        disabled=full,
        help=f"{MOST} runs are pinned; remove one in the tab Pinned first."
        if full
        else "Keep this run under a name.",
    )


def _pin() -> None:
    pin = st.session_state.get(_SHOWN)
    if pin is not None and all(_run(pin) != _run(held) for held in pins()):
        pins().append(pin)
        st.toast(
            f"Pinned: {plain(pin.name)}. Compare it in the Pinned tab.", icon=":material/keep:"
        )


def _run(pin: Pin) -> tuple[dict[str, str], dict[str, str]]:
    return pin.address, pin.known


def step(by: int) -> None:
    """Go to the next (by=1) or the previous (by=-1) pinned run, in presenter mode."""
    held = pins()
    if held:
        _open((st.session_state.get(_AT, -1 if by > 0 else 0) + by) % len(held))


def _open(k: int) -> None:
    """Restore a pinned run; called before any control is drawn."""
    st.session_state[_AT] = k
    st.session_state.update(pins()[k].known)
    restore(pins()[k].address)


def _drop(k: int) -> None:
    del pins()[k]


def _rename(k: int) -> None:
    name = str(st.session_state[f"pin-name-{k}"]).strip()[:_NAME_LIMIT]
    if name:
        pins()[k] = replace(pins()[k], name=name)


def pinned_panel() -> None:
    """Show the pinned runs next to one another, each with a line on its quality."""
    held = pins()
    if not held:
        st.caption("Nothing is pinned yet. The Pin button above keeps the current run.")
        return
    for k, pin in enumerate(held):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.text_input(
                f"Name of pin {k + 1}",
                pin.name,
                key=f"pin-name-{k}",
                on_change=_rename,
                args=(k,),
                label_visibility="collapsed",
                width=300,
                max_chars=_NAME_LIMIT,
            )
            st.button("Open", key=f"pin-open-{k}", on_click=_open, args=(k,))
            st.button("Remove", key=f"pin-drop-{k}", on_click=_drop, args=(k,))
            st.caption(plain(pin.measure), width="stretch")
    against = st.selectbox(
        "Compare with",
        range(len(held)),
        format_func=lambda k: held[k].name,
        key="pin-against",
        help="The edges of the other pinned runs on the same columns are classed by this run.",
    )
    # Graphs over the same columns share a drawing, in the order in which they were pinned.
    for number, nodes in enumerate(dict.fromkeys(pin.graph.nodes for pin in held)):
        alike = [pin for pin in held if pin.graph.nodes == nodes]
        _grid(alike, held[against if against is not None else 0], f"pinned-graphs-{number}")


def _grid(alike: Sequence[Pin], reference: Pin, key: str) -> None:
    panes = []
    for k, pin in enumerate(alike):
        title = f"{pin.name} · {pin.measure}"
        if pin is reference or pin.graph.nodes != reference.graph.nodes:
            panes.append(Pane(f"pin-{k}", title, pin.graph))
            continue
        comparison = compare(pin.graph, reference.graph, reference.name)
        kinds = {(pair.i, pair.j): pair.kind for pair in comparison.pairs}
        alt = f"{title}: {comparison.summary()}"
        panes.append(Pane(f"pin-{k}", title, pin.graph, alt, kinds, reference.graph))
    words = class_words("non_private", *(pin.graph for pin in alike)) | _WORDS
    made = scene(
        alike[0].positions, panes, words=words, reference=reference.name, tiers=alike[0].tiers
    )
    show_graphs(made, key=key)
