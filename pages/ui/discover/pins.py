"""Pinned runs, kept by name so that a user can return to them and compare them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from pages.ui.graphs.view import show_graphs
from pages.ui.texts import plain
from privcore.graphs import PDAG
from privcore.graphs.drawing import Pane, scene
from privcore.measures import CLASSES, compare

_PINS = "_pins"
_SHOWN = "_shown_run"
_AT = "_pin_at"
_NAME_LIMIT = 60


@dataclass(frozen=True)
class Pin:
    """A pinned run: its name, its answer in words, and the state of the controls."""

    name: str
    sentence: str
    graph: PDAG
    positions: Sequence[tuple[float, float]]
    controls: dict[str, Any]


def pins() -> list[Pin]:
    """The session's pinned runs, in the order of pinning."""
    held: list[Pin] = st.session_state.setdefault(_PINS, [])
    return held


def shown(pin: Pin) -> None:
    """Record the run on the page, so that a click on Pin keeps this run."""
    st.session_state[_SHOWN] = pin


def pin_button() -> None:
    """Draw the button that pins the shown run."""
    st.button(
        "Pin", icon=":material/keep:", on_click=_pin, key="pin", help="Keep this run under a name."
    )


def _pin() -> None:
    pin = st.session_state.get(_SHOWN)
    if pin is not None and all(pin.controls != held.controls for held in pins()):
        pins().append(pin)
        st.toast(
            (f"Pinned: {plain(pin.name)}. Compare it in the Pinned tab."), icon=":material/keep:"
        )


def step(by: int) -> None:
    """Go to the next (by=1) or the previous (by=-1) pinned run, in presenter mode."""
    held = pins()
    if held:
        _open((st.session_state.get(_AT, -1 if by > 0 else 0) + by) % len(held))


def _open(k: int) -> None:
    """Restore a pinned run; called before any control is drawn."""
    st.session_state[_AT] = k
    st.session_state.update(pins()[k].controls)


def _drop(k: int) -> None:
    del pins()[k]


def _rename(k: int) -> None:
    name = str(st.session_state[f"pin-name-{k}"]).strip()[:_NAME_LIMIT]
    if name:
        pins()[k] = replace(pins()[k], name=name)


def pinned_panel() -> None:
    """Show the pinned runs, and compare two of them side by side."""
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
            st.markdown(pin.sentence, width="stretch")
    alike = [pin for pin in held if pin.graph.nodes == held[-1].graph.nodes]
    if len(alike) < 2:
        st.caption("Pin a second run on the same columns to compare the two runs.")
        return
    numbers = range(len(alike))
    left, right = st.columns(2)
    choices = []
    for column, label, index in (
        (left, "Compare", len(alike) - 2),
        (right, "with", len(alike) - 1),
    ):
        choices.append(
            column.selectbox(
                label,
                numbers,
                index=index,
                format_func=lambda k: alike[k].name,
                key=f"pin-{label}",
            )
        )
    first, second = (alike[k] for k in choices)
    comparison = compare(first.graph, second.graph, second.name)
    kinds = {(pair.i, pair.j): pair.kind for pair in comparison.pairs}
    panes = [
        Pane("first-pin", first.name, first.graph, kinds=kinds, reference=second.graph),
        Pane("second-pin", second.name, second.graph),
    ]
    words: dict[str, str] = {kind: kind for kind in CLASSES}
    made = scene(first.positions, panes, words=words, reference=second.name)
    show_graphs(made, key="pinned-graphs")
    st.markdown(plain(f"{first.name} against {second.name}: {comparison.summary()}."))
