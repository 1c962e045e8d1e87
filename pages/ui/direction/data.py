"""The two variables of the Direction page: generated, from the current data, or from a file."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable
from dataclasses import replace
from typing import Any

import streamlit as st

from pages.ui.controls.address import choose
from pages.ui.controls.data import Loaded, choose_data, current_data, say_no_table
from pages.ui.controls.params import declared_controls, seed_field
from pages.ui.controls.uploads import uploaded_file, uploads_allowed
from pages.ui.texts import plain
from privcore.errors import DataError
from privcore.extras.pairs import GENERATORS, Pair, PairGenerator, generator_parameters, is_numeric
from privcore.intake import RawTable, build_dataset, read_table
from privcore.intake.reading import ENDINGS, MAX_BYTES
from privcore.intake.triage import number_columns
from privcore.text import short

GENERATED, CURRENT, FILE = "generated", "current data set", "two columns of a file"
_ROWS = [20, 50, 100, 200, 500, 1_000, 2_000, 4_000, 8_000, 10_000]
# Identifies a pair in the session's caches.
Key = tuple[Hashable, ...]


def choose_pair() -> tuple[Pair, Key] | None:
    """Draw the choice of two variables; returns the pair and its key in caches.

    Returns None while the choice is incomplete.
    """
    with st.sidebar:
        source = choose(
            [GENERATED, CURRENT, FILE],
            str.capitalize,
            GENERATED,
            label="Two variables",
            key="pair_source",
            widget=st.radio,
            persist_state="session",
            help="Generated: from a model with a known direction.",
        )
        if source == GENERATED:
            return _generated()
        if source == CURRENT:
            choose_data()
    return _current() if source == CURRENT else _file()


def _generated() -> tuple[Pair, Key]:
    kind = choose(
        GENERATORS,
        str.capitalize,
        GENERATORS[0],
        label="Mechanism",
        key="pair_generator",
        persist_state="session",
        help="How the effect depends on the cause, before noise is added.",
    )
    values = declared_controls(generator_parameters(kind), lambda p, _: f"pair_{kind}_{p.name}")
    rows = st.select_slider(
        "Rows ",
        _ROWS,
        value=2_000,
        key="pair_rows",
        bind="query-params",
        persist_state="session",
        help="Number of records to draw; by default half of them are for testing.",
    )
    seed = seed_field(
        "Data seed ", "pair_data_seed", "Another seed draws other records from the same model."
    )
    key = (kind, *values.values(), rows, seed)
    return _sampled(kind, tuple(values.items()), rows, seed), key


@st.cache_resource(max_entries=20, show_spinner=False)
def _sampled(kind: str, values: tuple[tuple[str, Any], ...], rows: int, seed: int) -> Pair:
    """A generated pair, shared by all sessions because nothing in it is private."""
    return PairGenerator(kind, dict(values)).sample(rows, seed)


def _current() -> tuple[Pair, Key] | None:
    loaded = current_data()
    if loaded is None:
        say_no_table("data other than")
        return None
    dataset = loaded.dataset
    numeric = [c.name for c in dataset.columns if is_numeric(c)]
    raw = _uncut(loaded)
    if raw is not None:
        st.caption(
            "Numeric columns keep the values of the file; intervals apply to the other pages only."
        )
        return _of_table(raw, dataset.name, str(loaded.key), dataset.true_edges)
    if len(numeric) < 2:
        st.info(
            "These data have fewer than two numeric columns, and a direction needs two. Choose "
            "linear-gaussian, nonlinear, or a table of your own."
        )
        return None
    names = _two(numeric, "-".join(map(str, loaded.key)))
    if names is None:
        return None
    return Pair.from_dataset(dataset, *names), (*loaded.key, *names)


def _uncut(loaded: Loaded) -> RawTable | None:
    """The uploaded table as it was read, if it has numbers that were cut into intervals."""
    same = loaded.content is not None and loaded.content is st.session_state.get("upload_bytes")
    if not same or "upload_raw" not in st.session_state:
        return None
    raw: RawTable = st.session_state["upload_raw"][1]
    kept = {column.name for column in loaded.dataset.columns if is_numeric(column)}
    numbers = {column.name for column in number_columns(raw)}
    return raw if len(numbers) > 1 and not numbers <= kept else None


def _two(names: list[str], key: str) -> tuple[str, str] | None:
    left, right = st.columns(2)
    x = left.selectbox("x", names, key=f"pair_x_{key}", format_func=short)
    others = [name for name in names if name != x]
    y = right.selectbox("y", others, key=f"pair_y_{key}_{x}", format_func=short)
    return None if y is None else (x, y)


def _file() -> tuple[Pair, Key] | None:
    """Draw an uploader for this page only, whose file stays in this session's memory.

    Returns the chosen pair and its key, or None while the choice is incomplete.
    """
    file = uploaded_file(
        "Table with at least two numeric columns",
        endings=list(ENDINGS),
        key="pair_file",
        megabytes=MAX_BYTES // 1_000_000,
        help="The file stays on this computer, in memory, until the session ends.",
    )
    if not uploads_allowed():
        return None
    if file is not None:
        digest = hashlib.sha256(file.getvalue()).hexdigest()
        if st.session_state.get("_pair_raw", ("",))[0] != digest:
            raw = read_table(file.getvalue(), file.name)
            st.session_state["_pair_raw"] = (digest, file.name, raw)
    if "_pair_raw" not in st.session_state:
        st.info("Choose a file with a header and at least two numeric columns.")
        return None
    digest, filename, raw = st.session_state["_pair_raw"]
    return _of_table(raw, filename, digest)


def _of_table(
    raw: RawTable, filename: str, digest: str, true_edges: tuple[tuple[str, str], ...] | None = None
) -> tuple[Pair, Key] | None:
    schema = {column.name: column for column in number_columns(raw)}
    if len(schema) < 2:
        raise DataError("The file has fewer than two numeric columns; choose another file.")
    names = _two(list(schema), digest)
    if names is None:
        return None
    bounds = []
    for name, place in zip(names, st.columns(2), strict=True):
        column = schema[name]
        low, high = column.bounds or (float(column.levels[0]), float(column.levels[-1]))
        if low == high:
            raise DataError(
                f"Column {short(name)!r} has the same value in every row; choose another column."
            )
        words = plain(short(name))
        low = place.number_input(f"Lowest {words}", value=low, key=f"pair_low_{digest}_{name}")
        high = place.number_input(f"Highest {words}", value=high, key=f"pair_high_{digest}_{name}")
        bounds.append((low, high))
    # The text and the key contain the values, so a changed bound asks for confirmation again.
    ranges = " and ".join(
        f"{plain(short(name))} from {low!r} to {high!r}"
        for name, (low, high) in zip(names, bounds, strict=True)
    )
    public = st.checkbox(
        f"I knew these bounds without looking at the rows: {ranges}.",
        key=f"pair_public_{digest}_{bounds}",
        help="Confirmed bounds are public. Values outside the bounds are moved to the nearest "
        "bound. No guarantee covers bounds that were read from the data.",
    )
    wanted = [
        replace(schema[name], kind="continuous", levels=(), bounds=ends, bins=None, declared=public)
        for name, ends in zip(names, bounds, strict=True)
    ]
    incomplete = bool(raw.frame[list(names)].isna().any(axis=None))
    drop = incomplete and st.toggle(
        "Leave out rows with missing values",
        key=f"pair_drop_{digest}",
        help="If rows are left out, the guarantee does not cover which rows are complete.",
    )
    if incomplete and not drop:
        raise DataError(
            "Some rows have missing values in these columns; leave these rows out, or choose "
            "other columns."
        )
    dataset = build_dataset(
        raw,
        wanted,
        name=filename,
        missing="drop" if drop else "refuse",
        true_edges=None
        if true_edges is None
        else tuple(edge for edge in true_edges if set(edge) <= set(names)),
    )
    return Pair.from_dataset(dataset, *names), (digest, *names, *bounds, public, drop)
