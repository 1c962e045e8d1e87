"""The data set that all pages use: a network, an example, or the session's own upload.

Samples of built-in data are shared between sessions; an upload stays in its session's memory.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import cast

import streamlit as st

from pages.ui.controls.address import choose, news, stepping, write
from pages.ui.controls.params import control, seed_field
from privcore.algorithms import Discovery, Parameter, count
from privcore.counts import AvailableCases, InMemoryCounts, MixedRows, NumericRows
from privcore.data import (
    EXAMPLES,
    NETWORKS,
    NUMERIC_EXAMPLES,
    Dataset,
    StructuralExample,
    example_parameters,
    intervals,
    load_network,
)
from privcore.display.layout import shared_layout
from privcore.graphs import PDAG
from privcore.graphs.pdag import Positions
from privcore.intake.bought_domain import StatedTable
from privcore.text import short

UPLOAD = "your table"
# The key of an opened session's schema, until its table is loaded.
SCHEMA_OF_SESSION = "_schema_of_session"
_NAMED = "_own_table_named"
HIDE = "hide"
UNCUT = "none"
_EXAMPLE_WORDS = {
    "linear-gaussian": "random linear equations",
    "nonlinear": "random curved equations",
    "random-categorical": "random tables",
}
# With these rows of asia, quality falls visibly between ε = 3 and ε = 0.1.
USUAL_ROWS = 5_000
ROWS = [1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000]


@dataclass(frozen=True, eq=False)
class Loaded:
    """A data set, its counts or rows, the layout of its graphs, and its key in caches.

    content: the bytes of the uploaded file, if any. A release recognises the data by these bytes.
    stated: the table whose domain a release buys; None if no domain is to be bought. If there is
        such a table, the data set is for exploration only.
    """

    dataset: Dataset
    source: InMemoryCounts | AvailableCases | NumericRows | MixedRows
    positions: Positions
    is_network: bool
    seed: int
    key: tuple[Hashable, ...]
    content: bytes | None = field(default=None, repr=False)
    stated: StatedTable | None = field(default=None, repr=False)


def layout_of(dataset: Dataset, tiers: Sequence[int | None] = ()) -> Positions:
    """The node layout before any run: from the true DAG if known, else from the column names."""
    dag = None
    if dataset.true_edges:
        dag = PDAG.from_names(dataset.names, dataset.seen_edges).directed
    return shared_layout(dataset.names, dag=dag, tiers=tiers)


def positions_of(loaded: Loaded, result: Discovery) -> Positions:
    """Return the node positions for all graphs of the data, fixed until data or time order change.

    Without a true DAG, the layout is made for the first graph that has edges, so that nodes stay
    in place while ε changes. The time order is that of the run. For a question about one column,
    columns that are not linked with it have no place.
    """
    graph, tiers = result.graph, result.tiers
    known = bool(loaded.dataset.true_edges)
    if known and not tiers:
        return loaded.positions
    wanted = (loaded.key, tiers, result.about)
    key, drawn, positions = st.session_state.get("_positions", (None, False, loaded.positions))
    if key != wanted or (not drawn and graph.skeleton):
        positions = (
            layout_of(loaded.dataset, tiers)
            if known
            else shared_layout(graph.nodes, graph=graph, tiers=tiers)
        )
        st.session_state["_positions"] = wanted, known or bool(graph.skeleton), positions
    return cast(Positions, positions)


def prepare(
    dataset: Dataset,
    *,
    is_network: bool,
    seed: int,
    version: int = 0,
    content: bytes | None = None,
    stated: StatedTable | None = None,
) -> Loaded:
    """Count and lay out a data set; raises DataError if it cannot be counted."""
    return Loaded(
        dataset=dataset,
        source=count(dataset),
        positions=layout_of(dataset),
        is_network=is_network,
        seed=seed,
        key=(
            dataset.name,
            version or dataset.n,
            seed,
            *(dataset.recipe or {}).values(),
            *dataset.hidden,
        ),
        content=content,
        stated=stated,
    )


@st.cache_resource(max_entries=12, show_spinner="Sampling the network")
def sampled(network: str, rows: int, seed: int) -> Loaded:
    """A sample of a built-in network, shared by all sessions because nothing in it is private."""
    return prepare(load_network(network).sample(rows, seed), is_network=True, seed=seed)


@st.cache_resource(max_entries=12, show_spinner=False)
def sampled_without(network: str, rows: int, seed: int, hide: tuple[str, ...]) -> Loaded:
    """The sample from `sampled` without the hidden columns, which remain in the true graph."""
    dataset = sampled(network, rows, seed).dataset.hiding(hide)
    return prepare(dataset, is_network=True, seed=seed)


@st.cache_resource(max_entries=6, show_spinner="Sampling the example")
def sampled_example(example: StructuralExample, cuts: int | None, rows: int, seed: int) -> Loaded:
    """A sample of an example, shared by all sessions because nothing in it is private."""
    dataset = example.sample(rows, seed)
    if cuts is not None:
        dataset = intervals(dataset, cuts)
    return prepare(dataset, is_network=False, seed=seed)


def choose_data() -> None:
    """Draw the controls that choose a data set and how it is sampled."""
    own = _own_words()
    if st.session_state.get(_NAMED) != own and "data" in st.session_state:
        # Set anew, because a browser keeps a choice as the words that it showed.
        st.session_state["data"] = st.session_state["data"]
    st.session_state[_NAMED] = own
    choose(
        [*NETWORKS, *EXAMPLES, UPLOAD],
        partial(_words, own=own),
        "asia",
        label="Data set",
        key="data",
        persist_state="session",
        label_visibility="collapsed",
        width=240,
    )
    if st.session_state["data"] == UPLOAD:
        return
    # The slider below has not yet read a new value from the URL.
    held = None if stepping() else st.session_state.get("rows")
    wanted = str(held or st.query_params.get("rows"))
    rows = next((n for n in ROWS if str(n) == wanted), USUAL_ROWS)
    columns = load_network(st.session_state["data"]).names if _is_network() else ()
    hide = _hidden_columns(columns)
    title = f"{rows:,} rows" + (f", {len(hide)} hidden" if hide else "")
    with st.popover(title, key="sample", icon=":material/tune:"):
        st.caption(
            "A built-in Bayesian network or a random example, newly sampled. Choose "
            f"“{own}” to use the table that you loaded on the Data page."
        )
        if st.session_state["data"] in EXAMPLES:
            _choose_example(st.session_state["data"])
        else:
            _choose_hidden(columns, hide)
        st.select_slider(
            "Rows",
            [f"{n}" for n in ROWS],
            value=str(USUAL_ROWS),
            key="rows",
            bind="query-params",
            persist_state="session",
            help="Number of records to sample. The same number and seed always give the same data.",
        )
        seed_field(
            "Data seed", "data_seed", "Another seed draws another sample from the same model."
        )


def _is_network() -> bool:
    return st.session_state["data"] in NETWORKS


def _hidden_columns(columns: Sequence[str]) -> list[str]:
    """The hidden columns of a network, from the URL if it has a new value.

    Names that the network does not have are ignored; if fewer than two columns would remain, none
    is hidden.
    """
    in_url = news(HIDE, "") if columns else None
    held = st.session_state.get(HIDE, []) if in_url is None else in_url.split(",")
    hide = [name for name in dict.fromkeys(held) if name in columns]
    return hide if len(hide) <= len(columns) - 2 else []


def _choose_hidden(columns: Sequence[str], hide: list[str]) -> None:
    """Choose the hidden columns of a network; the URL stores their names."""
    st.session_state[HIDE] = hide
    chosen = st.multiselect(
        "Hide columns",
        columns,
        key=HIDE,
        persist_state="session",
        max_selections=len(columns) - 2,
        help="Hidden columns are left out of the data but stay in the true graph. Use them to see "
        "the effect of an unobserved confounder.",
    )
    write(HIDE, ",".join(chosen), "")


def _own_words() -> str:
    """The entry of the session's own table: the name of its file once there is one."""
    loaded: Loaded | None = st.session_state.get("upload")
    return UPLOAD if loaded is None else short(loaded.dataset.name, 60)


def _words(name: str, own: str) -> str:
    """A data set's entry in the list: name, subject, and size if known; own: that of `UPLOAD`."""
    if name in NETWORKS:
        network = load_network(name)
        title = network.title[0].lower() + network.title[1:]
        return f"{name} – {title}, {len(network.names)} columns"
    return f"{name} – {_EXAMPLE_WORDS[name]}" if name in EXAMPLES else own


def example_controls() -> dict[str, Parameter]:
    """The parameters of random models that have a control, by its key; seeds are apart."""
    return {
        _density_key(kind) if declared.name == "density" else declared.name: declared
        for kind in EXAMPLES
        for declared in example_parameters(kind)
        if declared.name in ("nodes", "density", "standardised")
    }


def _density_key(kind: str) -> str:
    """The key of the density control: one for each default, because the URL leaves out defaults."""
    return "density" if kind in NUMERIC_EXAMPLES else "table_density"


def _choose_example(kind: str) -> None:
    """Choose a random model, and whether its numeric columns are cut into levels."""
    declared = {p.name: p for p in example_parameters(kind)}
    control(declared["nodes"])
    control(replace(declared["density"], name=_density_key(kind)))
    seed = declared["graph_seed"]
    seed_field(seed.title, seed.name, seed.help, usual=seed.default, most=int(seed.high))
    if "standardised" in declared:
        control(declared["standardised"])
    if kind in NUMERIC_EXAMPLES:
        st.select_slider(
            "Intervals",
            [UNCUT, *map(str, range(2, 11))],
            value=UNCUT,
            key="intervals",
            bind="query-params",
            persist_state="session",
            help="Cut numeric columns into this many intervals of equal width between their "
            "public bounds, for algorithms that need levels.",
        )


def _chosen_example(kind: str) -> Loaded:
    state = st.session_state
    example = StructuralExample(
        kind,
        nodes=int(state["nodes"]),
        density=float(state[_density_key(kind)]),
        graph_seed=int(state["graph_seed"]),
        standardised=bool(state["standardised"]) if kind == "linear-gaussian" else None,
    )
    cuts = state["intervals"] if kind in NUMERIC_EXAMPLES else UNCUT
    return sampled_example(
        example, None if cuts == UNCUT else int(cuts), int(state["rows"]), int(state["data_seed"])
    )


def current_data() -> Loaded | None:
    """The chosen data, or None if no table has been uploaded yet."""
    if st.session_state["data"] == UPLOAD:
        loaded: Loaded | None = st.session_state.get("upload")
        return loaded
    if st.session_state["data"] in EXAMPLES:
        return _chosen_example(st.session_state["data"])
    network, rows = st.session_state["data"], int(st.session_state["rows"])
    seed = int(st.session_state["data_seed"])
    wanted = st.session_state.get(HIDE, ())
    hide = tuple(name for name in load_network(network).names if name in wanted)
    return sampled_without(network, rows, seed, hide) if hide else sampled(network, rows, seed)


def say_no_table(instead: str = "a network instead of") -> None:
    """Say that no table is loaded, and link to the page that loads one.

    instead: what else may be chosen.
    """
    st.info(f"No table is loaded yet. Load one on the Data page, or choose {instead} “{UPLOAD}”.")
    st.page_link("pages/data.py", label="Go to Data", icon=":material/table:")
