"""The user's own graph on Discover: stated by text, file or clicks, and checked against a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from pages.ui.controls.address import news, write
from pages.ui.controls.data import UPLOAD, Loaded
from pages.ui.controls.uploads import uploaded_file
from pages.ui.discover.knowledge import described, editor
from pages.ui.glossary import linked
from pages.ui.layout import problem
from pages.ui.running import cached_result, settings_key
from pages.ui.texts import plain
from privcore.algorithms import Discovery
from privcore.algorithms.moment_search.parameters import MomentSearchParameters
from privcore.algorithms.moment_search.visible import PublicShape, visible_effects
from privcore.display.graph_check import (
    asked_sentence,
    effect_lines,
    pair_text,
    size_text,
    why_open,
)
from privcore.effects.by_graph import (
    GraphAnswer,
    answered_by,
    check_data,
    check_settings,
    only_columns,
)
from privcore.errors import DataError, PrivcoreError
from privcore.exchange.stated import MAX_BYTES, decoded, read_graph
from privcore.graphs import PDAG
from privcore.graphs.knowledge import Knowledge
from privcore.graphs.pdag import Edge, ordered
from privcore.graphs.stated import StatedGraph
from privcore.measures.graph_check import GraphCheck
from privcore.naming import quoted
from privcore.privacy.mechanisms import SimulatedNoise

_NAME, _TEXT = "own_graph", "_own_graph:"
_EXAMPLE = "smoke -> lung; smoke <-> stress    or the text of DAGitty, Tetrad, GML or JSON"
_ANSWERED, _EDITED = "_own_graph_answered", "_own_graph_edited"
_EDITOR, _FIELD, _FILE, _ALONE = "own_editor", "own_text", "own_file", "own_alone"


def _key(loaded: Loaded) -> str:
    """The session key of the text, the only place that holds the graph of a data set."""
    return f"{_TEXT}{loaded.dataset.name}"


def is_text(key: str) -> bool:
    """Whether a session key holds a graph that a user has stated."""
    return key.startswith(_TEXT)


def forget(loaded: Loaded) -> None:
    """Forget the graph that was stated about these data."""
    st.session_state.pop(_key(loaded), None)


def held_text(loaded: Loaded) -> str:
    """The text of the user's graph for these data; a new text in the URL is stored first."""
    in_url = news(_NAME, "")
    if in_url is not None:
        st.session_state[_key(loaded)] = in_url
    text = str(st.session_state.get(_key(loaded), ""))
    # Column names of a user's table must not appear in the URL.
    write(_NAME, text if st.session_state.get("data") != UPLOAD else "", "")
    return text


def stated(loaded: Loaded) -> StatedGraph | None:
    """The user's graph for these data; None without one that can be read."""
    try:
        return _graph(loaded, held_text(loaded))
    except PrivcoreError:
        return None  # Discover says what is wrong.


def part(loaded: Loaded, result: Discovery, seed: int) -> GraphAnswer | None:
    """Draw the editor and what the numbers say of the graph; None without a graph.

    result: the run whose released numbers answer, at no further cost.
    """
    text, graph = held_text(loaded), None
    try:
        graph = _graph(loaded, text)
    except PrivcoreError as error:
        problem(error)
    with st.expander("State your graph", expanded=graph is None or _EDITED in st.session_state):
        _editor(loaded, text, graph)
    if graph is None:
        return None
    try:
        alone = _alone_wanted(loaded, result, graph)
        answer = (
            _measured_alone(loaded, result, graph, seed)
            if alone
            else answered_by(result, loaded.dataset, graph)
        )
    except PrivcoreError as error:
        problem(error)
        return None
    if answer is not None:
        _verdicts(answer)
    return answer


def drawn(answer: GraphAnswer, result: Discovery) -> PDAG:
    """The user's graph over all columns of the run."""
    graph = answer.check.graph.graph
    both = [(a, b) for a, b, kind in graph.named_edges() if kind == "bidirected"]
    return PDAG.from_names(result.graph.nodes, graph.named_directed(), bidirected=both)


def said(check: GraphCheck, result: Discovery) -> PDAG:
    """What the numbers say, to compare the user's graph with.

    Supported arrows as they are, links without a verdict as lines, and contradicted pairs as lines.
    """
    lines = {pair.pair for pair in check.pairs if pair.arrow and pair.verdict == "inconclusive"}
    lines |= {pair.pair for pair in check.having("contradicted")}
    lines |= {(a, b) for a, b, kind in check.graph.graph.named_edges() if kind == "bidirected"}
    return PDAG.from_names(
        result.graph.nodes, [pair.pair for pair in check.having("supported")], lines
    )


def texts_of(check: GraphCheck, result: Discovery) -> dict[Edge, str]:
    """The verdict on each pair of the user's graph, by the columns of the run."""
    place = {name: k for k, name in enumerate(result.graph.nodes)}
    return {
        ordered(*(place[name] for name in pair.pair)): " ".join(
            filter(None, [pair.verdict, size_text(pair)])
        )
        for pair in check.pairs
    }


def _graph(loaded: Loaded, text: str) -> StatedGraph | None:
    """The graph of a text; raises DataError if it is no graph of these columns."""
    if not text.strip():
        return None
    graph = read_graph(text)
    graph.places(loaded.dataset.names)
    return graph


def _editor(loaded: Loaded, text: str, graph: StatedGraph | None) -> None:
    st.caption(
        "Click a cause and then its effect, or write or upload a graph. `a <-> b` is an unobserved "
        "common cause. Columns that the graph leaves out are not looked at."
    )
    names = loaded.dataset.names
    arrows = [] if graph is None else graph.graph.named_directed()
    known = Knowledge.of(require=";".join(f"{quoted(a)}->{quoted(b)}" for a, b in arrows))
    editor(
        key=_EDITOR,
        data={
            **described(names, known),
            "draw": True,
            "answered": st.session_state.get(_ANSWERED, 0),
        },
        on_act_change=lambda: _act(loaded),
    )
    st.session_state[_FIELD] = text
    st.text_area("Your graph", key=_FIELD, placeholder=_EXAMPLE, on_change=_typed, args=(loaded,))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        uploaded_file(
            "Graph file",
            endings=["txt", "gml", "json", "dag"],
            key=_FILE,
            megabytes=MAX_BYTES // 1_000_000,
            help="The text of DAGitty, Tetrad, GML or JSON.",
            optional=True,
            on_change=lambda: _uploaded(loaded),
        )
        st.button("Clear graph", on_click=_keep, args=(loaded, ""), disabled=not text)


def _keep(loaded: Loaded, text: str) -> None:
    st.session_state[_key(loaded)] = text
    # While a graph is being drawn, its editor stays open.
    st.session_state[_EDITED] = True


def _typed(loaded: Loaded) -> None:
    _keep(loaded, st.session_state[_FIELD])


def _uploaded(loaded: Loaded) -> None:
    file = st.session_state.get(_FILE)
    if file is None:
        return
    try:
        _keep(loaded, decoded(file.getvalue()))
    except DataError as error:
        st.error(plain(str(error)))


def _act(loaded: Loaded) -> None:
    """Add, turn or remove the arrow that was clicked."""
    act = st.session_state[_EDITOR].act
    if not isinstance(act, Mapping) or act.get("do") != "rule":
        return
    st.session_state[_ANSWERED] = act.get("sent", 0)
    try:
        graph = _graph(loaded, str(st.session_state.get(_key(loaded), "")))
    except PrivcoreError:
        return  # The page says what is wrong with the text, which is not lost.
    _keep(loaded, changed(loaded.dataset.names, graph, act))


def changed(names: tuple[str, ...], graph: StatedGraph | None, act: Mapping[str, Any]) -> str:
    """The text of the graph after a click; other edges of the two columns are removed.

    A graph that is left without edges keeps its columns.
    """
    a, b = (names[int(act[end])] for end in ("a", "b"))
    arrow = f"{quoted(a)} -> {quoted(b)}" if act["verb"] == "require" else ""
    lines = [] if graph is None else zip(graph.lines(), _ends(graph), strict=True)
    kept = [line for line, ends in lines if ends != {a, b}]
    return "\n".join([*kept, *filter(None, [arrow])])


def _ends(graph: StatedGraph) -> list[set[str]]:
    """The columns in each of the graph's lines."""
    edges = [*sorted(graph.directed), *sorted(graph.bidirected)]
    joined = [{graph.names[i], graph.names[j]} for i, j in edges]
    return [*joined, *({name} for name in graph.names if not any(name in two for two in joined))]


def _alone_wanted(loaded: Loaded, result: Discovery, graph: StatedGraph) -> bool:
    """Say how much sharper a release of the graph's columns alone is, and offer it."""
    if len(graph.names) == len(loaded.dataset.names):
        return False
    own = only_columns(loaded.dataset, graph)
    asked = _settings_alone(result)
    settings = check_settings(own, asked)
    known = MomentSearchParameters(**{**asked, "measured": settings["measured"]})
    usual = MomentSearchParameters(**result.parameters)
    seen = [
        visible_effects(PublicShape.of_columns(loaded.dataset.n, data.columns), values).alone
        for data, values in ((own, known), (loaded.dataset, usual))
    ]
    if seen[0] is None or (seen[1] is not None and seen[0] > 0.9 * seen[1]):
        return False
    now = "none" if seen[1] is None else f"{seen[1]:.2f} or more"
    return st.toggle(
        f"Measure these {len(graph.names)} columns alone",
        key=_ALONE,
        help=f"This run shows a dependence of {now} between two columns; a release over the "
        f"graph's columns alone shows {seen[0]:.2f} or more. It is a further release, at the same "
        "ε as this run.",
    )


def _settings_alone(result: Discovery) -> dict[str, Any]:
    """The settings of the run, for a release that answers for all columns of the graph."""
    settings = {**result.parameters, "knowledge": "", "target": ""}
    return {**settings, "measured": None} if settings["measured"] == "target" else settings


def _measured_alone(
    loaded: Loaded, result: Discovery, graph: StatedGraph, seed: int
) -> GraphAnswer | None:
    settings = _settings_alone(result)
    key = ("check", loaded.key, settings_key(settings), seed, tuple(graph.lines()))

    def compute(hooks: Any) -> GraphAnswer:
        noise = SimulatedNoise(seed)
        return check_data(loaded.dataset, graph, settings, noise=noise, hooks=hooks)

    return cached_result(key, "Measuring the graph's columns", compute, shared=loaded.is_network)


def _verdicts(answer: GraphAnswer) -> None:
    check = answer.check
    st.caption(
        linked(
            "Each pair is tested given the columns that the graph names, with sampling and noise "
            f"allowed for, at an FDR level of {100 * check.level:g} %. A dependence of at most "
            f"{check.least:g} does not count. Your graph is drawn in these verdicts; they are "
            "computed from released numbers, at no further cost.",
            fdr="FDR level",
        )
    )
    for line in filter(None, [asked_sentence(check), *effect_lines(answer)]):
        st.markdown(plain(line))
    st.dataframe(table(check), hide_index=True, alt="The verdict on each pair of your graph")


def table(check: GraphCheck) -> pd.DataFrame:
    """The verdicts as a table, contradictions first."""
    order = ("contradicted", "not seen", "inconclusive", "agrees", "supported")
    pairs = sorted(check.pairs, key=lambda pair: order.index(pair.verdict))
    return pd.DataFrame(
        [
            {
                "your graph says": pair_text(pair),
                "verdict": pair.verdict,
                "dependence": size_text(pair) or why_open(pair),
                "p-value": _p_text(pair.p_value) if pair.size is not None else "",
            }
            for pair in pairs
        ],
        columns=["your graph says", "verdict", "dependence", "p-value"],
    )


def _p_text(p_value: float) -> str:
    return f"{p_value:.2g}" if p_value > 1e-15 else "below 1e-15"
