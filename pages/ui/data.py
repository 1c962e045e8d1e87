"""The data set that all pages look at: a built-in network or the session's own upload.

Samples of built-in networks are shared between sessions; an upload stays in its session's memory.
"""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from privcore.counts import InMemoryCounts
from privcore.dataset import NETWORKS, Dataset, load_network
from privcore.discovery import count
from privcore.graphs import PDAG
from privcore.graphs.layout import Positions, shared_layout

UPLOAD = "your table"
ROWS = [1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000]


@dataclass(frozen=True, eq=False)
class Loaded:
    """A data set, its counts, where its nodes go, and how to name it."""

    dataset: Dataset
    counts: InMemoryCounts
    positions: Positions
    is_network: bool
    seed: int
    key: tuple[str, int, int]


def layout_of(dataset: Dataset) -> Positions:
    """Fixed for a data set: from its true DAG if that is known, never from a run."""
    dag = None
    if dataset.true_edges:
        dag = PDAG.from_names(dataset.names, dataset.true_edges).directed
    return shared_layout(dataset.names, dag=dag)


def prepare(dataset: Dataset, *, is_network: bool, seed: int, version: int = 0) -> Loaded:
    """Count and lay out a data set; raises DataError if it cannot be counted."""
    return Loaded(
        dataset=dataset,
        counts=count(dataset),
        positions=layout_of(dataset),
        is_network=is_network,
        seed=seed,
        key=(dataset.name, version or dataset.n, seed),
    )


@st.cache_resource(max_entries=12, show_spinner="Sampling the network")
def sampled(network: str, rows: int, seed: int) -> Loaded:
    """A built-in network's sample, shared by all sessions: nothing of it is private."""
    return prepare(load_network(network).sample(rows, seed), is_network=True, seed=seed)


def choose_data() -> None:
    """The sidebar's choice of data."""
    st.selectbox(
        "Data set",
        [*NETWORKS, UPLOAD],
        index=NETWORKS.index("asia"),
        key="data",
        bind="query-params",
        help="A built-in Bayesian network, sampled afresh, or the table loaded on the Data page.",
    )
    if st.session_state["data"] != UPLOAD:
        st.select_slider(
            "Rows", [f"{n}" for n in ROWS], value="100000", key="rows", bind="query-params",
            persist_state="session",
            help="Records to sample. The same rows and seed always give the same data.",
        )  # fmt: skip
        st.number_input(
            "Data seed", 0, 2**31 - 1, value=1, key="data_seed", bind="query-params",
            persist_state="session",
            help="Another seed draws another sample from the same network.",
        )  # fmt: skip


def current_data() -> Loaded | None:
    """The chosen data, or None if it is an upload that is not there yet."""
    if st.session_state["data"] == UPLOAD:
        loaded: Loaded | None = st.session_state.get("upload")
        return loaded
    return sampled(
        st.session_state["data"], int(st.session_state["rows"]), int(st.session_state["data_seed"])
    )
