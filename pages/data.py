"""Data: which table is in use, and which facts about it are public?"""

from functools import partial
from typing import cast

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.ui import charts, session
from pages.ui.controls.algorithm import chosen_algorithm
from pages.ui.controls.data import UPLOAD, Loaded, current_data
from pages.ui.data import charts as data_charts
from pages.ui.data import domain, upload
from pages.ui.frame import require_frame
from pages.ui.layout import problem, tabbed
from pages.ui.texts import plain, protection_of
from privcore.algorithms.moment_search.parameters import MomentSearchParameters
from privcore.algorithms.moment_search.visible import PublicShape
from privcore.algorithms.search.parameters import MIXED_LEVELS
from privcore.counts import AvailableCases, InMemoryCounts, MixedRows, NumericRows
from privcore.data import Dataset, load_network
from privcore.display.answer import columns_words
from privcore.errors import PrivcoreError
from privcore.text import short
from privcore.unit import ADDED

require_frame("pages/data.py")
PREVIEW_ROWS = 200


def what_is_public(loaded: Loaded) -> str:
    """State what the guarantees treat as public, and what they protect."""
    dataset = loaded.dataset
    if loaded.stated is not None:
        return (
            "Public: the number of rows, and the name and kind of each column. Levels, bounds and "
            "cut points are bought with part of the budget; the rows are private."
        )
    noun = dataset.public_noun
    whom = protection_of(dataset, chosen_algorithm()[1])
    rows = "" if whom.relation == ADDED else "the number of rows, "
    known = f"{rows}the column names and the {noun} of every column"
    if noun != "bounds":
        known += " in their order"
    if not dataset.undeclared:
        if whom.plain:
            about = "the replacement of one row"
        else:
            about = f"tables that differ in {plain(whom.sentence)}"
        return f"Public: {known}. Private: the values in each row. Guarantees cover {about}."
    return (
        f"Treated as public: {known}. But the {noun} of {len(dataset.undeclared)} of {dataset.p} "
        "columns were read from the data, so no guarantee covers them. If you knew the values "
        "beforehand, confirm them under “What is public”."
        + ("" if whom.plain else f" Protected: {plain(whom.sentence)}.")
    )


def schema(loaded: Loaded) -> None:
    columns = loaded.dataset.columns
    usual = MomentSearchParameters.checked({}, "moment-search")
    measured: tuple[str, ...] = ()
    if not isinstance(loaded.source, AvailableCases):
        measured = PublicShape.of(loaded.source).measured_as(usual)
    rows: list[dict[str, object]] = []
    for column in columns:
        row: dict[str, object] = {"column": column.name, "kind": column.kind}
        if column.bounds is not None:
            row |= {"lower bound": column.bounds[0], "upper bound": column.bounds[1]}
            noun = "bounds"
        else:
            row |= {
                "number of levels": len(column.levels),
                "levels, in order": ", ".join(short(v, 30) for v in column.levels[:12])
                + (" …" if len(column.levels) > 12 else ""),
            }
            noun = "levels"
        if measured:
            row[f"measured at ε = {usual.epsilon:g} as"] = measured[len(rows)]
        row[f"{noun} are"] = "public" if column.declared else "read from the data"
        rows.append(row)
    number = st.column_config.NumberColumn(format="%.4g")
    st.dataframe(
        pd.DataFrame(rows),
        hide_index=True,
        alt="Columns, kinds, and public levels or bounds",
        column_config={"lower bound": number, "upper bound": number},
    )


def preview(loaded: Loaded) -> None:
    dataset = loaded.dataset
    head = {
        column.name: [column.levels[code] for code in values[:PREVIEW_ROWS]]
        if column.is_categorical
        else values[:PREVIEW_ROWS]
        for column, values in zip(dataset.columns, dataset.values, strict=True)
    }
    st.caption(f"The first {min(PREVIEW_ROWS, dataset.n):,} of {dataset.n:,} rows. Not private.")
    st.dataframe(pd.DataFrame(head), hide_index=True, alt="First rows")


def pictures(loaded: Loaded) -> None:
    """Draw a chart of one column, and a chart of this column against another column."""
    dataset, source = loaded.dataset, loaded.source
    if isinstance(source, MixedRows):
        cut = MIXED_LEVELS.default
        st.caption(f"Numeric columns are shown in {cut} intervals of equal width.")
        dataset, source = source.dataset(cut), source.counts(cut)
    elif isinstance(source, AvailableCases):
        source = cast(InMemoryCounts, source.own_level)
    categorical = isinstance(source, InMemoryCounts)
    names = list(dataset.names)
    key = "-".join(map(str, loaded.key))
    left, right = st.columns(2)
    columns = range(dataset.p)
    y = left.selectbox(
        "Column", columns, format_func=lambda i: short(names[i]), key=f"data_column_{key}"
    )
    x = right.selectbox(
        "given" if categorical else "against",
        [i for i in columns if i != y],
        format_func=lambda i: short(names[i]),
        key=f"data_given_{key}_{y}",
    )
    if isinstance(source, InMemoryCounts):
        level_pictures(dataset, source, x, y, left, right)
    else:
        number_pictures(dataset, source, x, y, left, right)


def level_pictures(
    dataset: Dataset,
    counts: InMemoryCounts,
    x: int,
    y: int,
    left: DeltaGenerator,
    right: DeltaGenerator,
) -> None:
    column, other = dataset.columns[y], dataset.columns[x]
    with left:
        charts.show(
            data_charts.marginal(column.levels, counts.table([y]).tolist(), column.name),
            key="marginal",
            alt=f"Rows for each level of {short(column.name)}",
        )
    with right:
        table = pd.DataFrame(
            counts.table([y, x]), index=list(column.levels), columns=list(other.levels)
        )
        probabilities = table / table.sum().where(table.sum() > 0, 1)
        charts.show(
            data_charts.conditional(probabilities, other.name, column.name),
            key="conditional",
            alt=f"Distribution of {short(column.name)} for each level of {short(other.name)}",
        )
    st.caption("Exact counts: not private.")


def number_pictures(
    dataset: Dataset, rows: NumericRows, x: int, y: int, left: DeltaGenerator, right: DeltaGenerator
) -> None:
    column, other = dataset.columns[y], dataset.columns[x]
    with left:
        charts.show(
            data_charts.histogram(dataset.values[y], rows.bounds[y], column.name),
            key="histogram",
            alt=f"Rows for each interval of {short(column.name)}",
        )
    with right:
        charts.show(
            data_charts.scatter(
                np.column_stack([dataset.values[x], dataset.values[y]]),
                [rows.bounds[x], rows.bounds[y]],
                [other.name, column.name],
            ),
            key="scatter",
            alt=f"Scatter plot of {short(column.name)} against {short(other.name)}",
        )
    shown = min(dataset.n, data_charts.SCATTER_POINTS)
    st.caption(
        "The axes end at the bounds; values outside the bounds are moved to the nearest bound. The "
        f"right-hand chart shows {shown:,} of {dataset.n:,} rows. Exact values: not private."
    )


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
        st.caption(f"{network.title}. {network.citation}. Probability tables: {network.source}")
        if dataset.hidden:
            st.caption(f"{plain(columns_words(dataset))}. Hidden columns stay in the true graph.")
    elif dataset.recipe is not None:
        st.caption(f"{dataset.source}.")
    st.markdown(what_is_public(loaded))


def show(loaded: Loaded) -> None:
    about(loaded)
    own = "upload_used" in st.session_state and st.session_state["data"] == UPLOAD
    first = {"What is public": domain.panel} if own else {"Columns": schema}
    contents = {**first, "Rows": preview, "Charts": pictures}
    tabbed({name: partial(draw, loaded) for name, draw in contents.items()}, "data_tab")


st.title("Data")
upload.panel()
session.open_panel()
try:
    # Below the proposals for one table, nothing is shown of another.
    if not upload.waits() and (loaded := current_data()) is not None:
        show(loaded)
except PrivcoreError as error:
    problem(error)
