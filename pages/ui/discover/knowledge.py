"""The Background knowledge panel: a time order of columns, and forbidden or required edges."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import streamlit as st

from pages.ui.controls import known
from pages.ui.controls.data import Loaded
from pages.ui.controls.uploads import uploaded_file
from pages.ui.expectation import surrogates, wished
from pages.ui.glossary import linked
from pages.ui.layout import problem
from pages.ui.running import cached_result, settings_key
from pages.ui.texts import plain
from pages.ui.theme import PALETTES, current
from privcore.data.network import TIERS
from privcore.errors import ParameterError, PrivcoreError
from privcore.exchange.knowledge_files import parse_knowledge
from privcore.extras.lab.planning.knowledge_gain import knowledge_gain, most_gain_runs
from privcore.graphs.knowledge import Knowledge, Mark, Statement, statement

_HERE = Path(__file__).parent
# Draws the knowledge, or with `draw` the arrows of a graph.
editor = st.components.v2.component(
    "causalveil_knowledge",
    html='<div class="root"></div>\n<!-- drawn by knowledge.js -->\n',
    css=(_HERE / "knowledge.css").read_text("utf-8"),
    js=(_HERE / "knowledge.js").read_text("utf-8"),
)
_KEY = "known_editor"
# The number of the editor's last request, so that the editor knows which of its orders is answered.
_ANSWERED = "_known_answered"
# Possible statements about two columns: the verb and the mark, and the words.
_RULES: dict[str, tuple[str, Mark]] = {
    "has no edge with": ("forbid", "--"),
    "is not a parent of": ("forbid", "->"),
    "has an edge with": ("require", "--"),
    "is a parent of": ("require", "->"),
}


def panel(loaded: Loaded, show_gain: Callable[[], None] = lambda: None) -> None:
    """Draw the panel; show_gain: a callback that shows how much the knowledge helps."""
    now = known.held(loaded)
    st.caption(
        linked(
            "Order the columns in time, so that no arrow points backwards. Forbid or require "
            "edges: click an edge in a graph above, or choose two columns. Every graph then "
            "respects this knowledge, and algorithms that test pair by pair spend no budget on "
            "pairs that the knowledge decides. The knowledge is treated as public, so it must not "
            "come from these rows.",
            **{"background-knowledge": "Order the columns in time"},
        )
    )
    if refused := known.problem_of(loaded):
        problem(ParameterError(refused))
    names = loaded.dataset.names
    editor(
        key=_KEY,
        data={**described(names, now), "answered": st.session_state.get(_ANSWERED, 0)},
        on_act_change=lambda: _act(loaded),
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.selectbox("Column", names, key="known_first", width=180)
        st.selectbox("Rule", list(_RULES), key="known_rule", width=180)
        st.selectbox("Other column", names, index=1, key="known_second", width=180)
        st.button("Add", on_click=_add, args=(loaded,))
    with st.container(horizontal=True):
        st.button(
            "Undo",
            icon=":material/undo:",
            on_click=known.undo,
            args=(loaded,),
            disabled=not known.can_undo(loaded),
        )
        st.button("Clear", on_click=known.keep, args=(loaded, Knowledge()), disabled=not now)
        tiers = TIERS.get(loaded.dataset.name) if loaded.is_network else None
        if tiers:
            st.button(
                "Use an order from the literature",
                on_click=_take,
                args=(loaded, lambda: Knowledge.of(tiers=tiers)),
            )
        with st.popover("From a file"):
            file = uploaded_file(
                "Background knowledge, or an expert's graph",
                endings=["json", "txt", "csv", "gml", "bif"],
                key="known_file",
                megabytes=5,
                help="JSON as saved here, a Tetrad knowledge file, CSV with the columns "
                "column,tier or from,to,rule, or a graph whose edges are required (Tetrad, "
                "DAGitty, GML, BIF).",
            )
            if file is not None:
                st.button("Apply", on_click=_from_file, args=(loaded, file))
        st.download_button(
            "Save as JSON", now.text, "knowledge.json", "application/json", disabled=not now
        )
    if now:
        show_gain()


def gain_part(loaded: Loaded, algorithm: str, values: Mapping[str, Any]) -> None:
    """On request, compute which increase in ε would help as much as the background knowledge."""
    if "epsilon" not in values or values.get("calibration") == "published":
        return
    key = ("worth", loaded.key, algorithm, settings_key(dict(values)))
    if not wished("What does this knowledge gain?", key, "known_worth"):
        return
    try:
        held = surrogates(loaded)
        many = most_gain_runs(held)
        gain = cached_result(
            key,
            "Simulating on public surrogate data",
            lambda hooks: knowledge_gain(
                held, algorithm, values, lambda done: hooks.part(done, many, "simulation")
            ),
        )
    except PrivcoreError as error:
        st.warning(plain(str(error)), icon=":material/block:")
        return
    if gain is not None:
        st.markdown(gain.sentence)


def described(names: tuple[str, ...], now: Knowledge) -> dict[str, Any]:
    """The editor's data: column names, and tiers and rules that refer to columns by number."""
    index = {name: i for i, name in enumerate(names)}
    rules = [("forbid", rule) for rule in sorted(now.forbidden)]
    rules += [("require", rule) for rule in sorted(now.required)]
    return {
        "names": list(names),
        "tiers": [sorted(index[name] for name in tier) for tier in now.tiers],
        "rules": [
            {"verb": verb, "a": index[rule.a], "mark": rule.mark, "b": index[rule.b]}
            for verb, rule in rules
        ],
        "muted": PALETTES[current()].muted,
    }


def changed(names: tuple[str, ...], now: Knowledge, act: Mapping[str, Any]) -> Knowledge:
    """The knowledge after one edit; raises ParameterError for a contradiction or unknown edit."""
    try:
        # Every request holds the whole order, so that none depends on those before.
        tiers = tuple(tuple(names[int(i)] for i in tier) for tier in act["tiers"])
        now = Knowledge(tiers, now.forbidden, now.required)
        if act["do"] == "order":
            return now
        mark: Mark = "->" if act["mark"] == "->" else "--"
        rule = statement(names[int(act["a"])], mark, names[int(act["b"])])
        verb = {"forbid": "forbid", "require": "require", "": ""}[act["verb"]]
    except (KeyError, TypeError, ValueError, IndexError):
        raise ParameterError("The editor sent an unknown request; reload the page.") from None
    return with_rule(now, verb, rule)


def with_rule(now: Knowledge, verb: str, rule: Statement) -> Knowledge:
    """Replace all statements about the two columns of `rule` by this rule.

    verb: "forbid" or "require"; "" only removes the statements.
    """
    ends = {rule.a, rule.b}
    forbidden, required = (
        {other for other in own if {other.a, other.b} != ends}
        for own in (now.forbidden, now.required)
    )
    if verb:
        (forbidden if verb == "forbid" else required).add(rule)
    return Knowledge(now.tiers, frozenset(forbidden), frozenset(required))


def _act(loaded: Loaded) -> None:
    act = st.session_state[_KEY].act
    if isinstance(act, Mapping):
        st.session_state[_ANSWERED] = act.get("sent", 0)
        _take(loaded, lambda: changed(loaded.dataset.names, known.held(loaded), act))


def _add(loaded: Loaded) -> None:
    first, rule, second = (
        st.session_state[f"known_{name}"] for name in ("first", "rule", "second")
    )
    verb, mark = _RULES[rule]
    _take(loaded, lambda: with_rule(known.held(loaded), verb, statement(first, mark, second)))


def _from_file(loaded: Loaded, file: Any) -> None:
    def read() -> Knowledge:
        knowledge = parse_knowledge(file.getvalue(), file.name)
        knowledge.on(loaded.dataset.names)
        return knowledge

    _take(loaded, read)


def _take(loaded: Loaded, make: Callable[[], Knowledge]) -> None:
    """Store the result of `make`, or the reason why it is refused."""
    try:
        known.keep(loaded, make())
    except PrivcoreError as error:
        known.set_problem(loaded, str(error))
