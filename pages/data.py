"""Data: what am I looking at, and what of it is public?"""

import pandas as pd
import streamlit as st

from pages.ui import charts, upload
from pages.ui.data import UPLOAD, Loaded, current_data
from pages.ui.frame import require_frame
from privcore.dataset import load_network
from privcore.errors import PrivcoreError
from privcore.text import short

require_frame("pages/data.py")
PREVIEW_ROWS = 200


def what_is_public(loaded: Loaded) -> str:
    """One sentence on what the guarantees take as known."""
    undeclared = loaded.dataset.undeclared
    known = "the number of rows, the column names and the levels of every column in their order"
    if not undeclared:
        return (
            f"Public: {known}. Private: what each row says. Guarantees are about replacing one row."
        )
    return (
        f"Taken as public: {known}. But {len(undeclared)} of {loaded.dataset.p} columns have "
        "levels that were read from the data, which no guarantee covers; declare them if known "
        "beforehand."
    )


def schema(loaded: Loaded) -> None:
    columns = loaded.dataset.columns
    st.dataframe(
        pd.DataFrame(
            {
                "column": column.name,
                "kind": column.kind,
                "number of levels": len(column.levels),
                "levels, in order": ", ".join(short(v, 30) for v in column.levels[:12])
                + (" …" if len(column.levels) > 12 else ""),
                "levels are": "public" if column.declared else "read from the data",
            }
            for column in columns
        ),
        hide_index=True,
        alt="Columns, kinds and public levels",
    )


def preview(loaded: Loaded) -> None:
    dataset = loaded.dataset
    head = {
        column.name: [column.levels[code] for code in values[:PREVIEW_ROWS]]
        for column, values in zip(dataset.columns, dataset.values, strict=True)
    }
    st.caption(f"The first {min(PREVIEW_ROWS, dataset.n):,} of {dataset.n:,} rows. Not private.")
    st.dataframe(pd.DataFrame(head), hide_index=True, alt="First rows")


def pictures(loaded: Loaded) -> None:
    dataset, counts = loaded.dataset, loaded.counts
    names = list(dataset.names)
    key = "-".join(map(str, loaded.key))
    left, right = st.columns(2)
    with left:
        y = st.selectbox("Column", range(dataset.p), format_func=lambda i: short(names[i]),
                         key=f"data_column_{key}")  # fmt: skip
        column = dataset.columns[y]
        charts.show(
            charts.marginal(column.levels, counts.table([y]).tolist(), column.name),
            key="marginal",
            alt=f"Rows for each level of {short(column.name)}",
        )
    with right:
        others = [i for i in range(dataset.p) if i != y]
        x = st.selectbox("given", others, format_func=lambda i: short(names[i]),
                         key=f"data_given_{key}_{y}")  # fmt: skip
        table = pd.DataFrame(
            counts.table([y, x]),
            index=list(column.levels),
            columns=list(dataset.columns[x].levels),
        )
        shares = table / table.sum().where(table.sum() > 0, 1)
        charts.show(
            charts.conditional(shares, names[x], column.name),
            key="conditional",
            alt=f"Distribution of {short(column.name)} for each level of {short(names[x])}",
        )
    st.caption("Exact counts of the data: not private.")


def about(loaded: Loaded) -> None:
    dataset = loaded.dataset
    size, columns, truth = st.columns(3)
    size.metric("Rows", f"{dataset.n:,}", border=True)
    columns.metric("Columns", dataset.p, border=True)
    truth.metric(
        "Edges in the true graph",
        "unknown" if dataset.true_edges is None else len(dataset.true_edges),
        border=True,
    )
    if loaded.is_network:
        network = load_network(dataset.name)
        st.caption(f"{network.title}. {network.citation}. Tables as in: {network.source}")
    st.markdown(what_is_public(loaded))


def show(loaded: Loaded) -> None:
    about(loaded)
    panels = {"Columns": schema, "Rows": preview, "Pictures": pictures}
    tabs = st.tabs(list(panels), key="data_tab", on_change="rerun", bind="query-params")
    for tab, draw in zip(tabs, panels.values(), strict=True):
        if tab.open:
            with tab:
                draw(loaded)


st.title("Data")
if st.session_state["data"] == UPLOAD:
    upload.panel()
else:
    st.caption(f"To load a table of your own, choose “{UPLOAD}” as the data set on the left.")
try:
    loaded = current_data()
    if loaded is not None:
        show(loaded)
except PrivcoreError as error:
    st.error(str(error), icon=":material/error:")
