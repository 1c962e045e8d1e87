"""The sensitivity playground: an editable table, and the effect of changing a record."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from pages.ui.learn.parts import LEGEND, Values, draw
from pages.ui.theme import PALETTES, current
from privcore.extras.teaching.sensitivity import (
    LEVELS,
    Moves,
    playground_code,
    sensitivity_playground,
)


def show(result: Moves, values: Values, key: str) -> str:
    """Show the editable table and its results; returns the code for the edited table."""
    result = edit_table(result, f"{key}-{values['preset']}-{values['rows']}")
    draw(moves(result), f"{key}-moves", "Change in each score, with its bounds")
    moves_table(result)
    return playground_code(result.playground)


def edit_table(start: Moves, key: str) -> Moves:
    """Draw the table and the replacement for one record, both editable; returns the new scores.

    Raises PrivcoreError for invalid values.
    """
    table = start.playground
    left, right = st.columns([3, 2])
    number = {
        name: st.column_config.NumberColumn(min_value=0, max_value=LEVELS - 1, step=1, help=words)
        for name, words in (
            ("x", "Tested against y."),
            ("y", "Tested against x."),
            ("z", "The conditioning variable: each value is a stratum."),
        )
    }
    with left:
        st.markdown("**Before**: change any value.")
        edited = st.data_editor(
            pd.DataFrame(table.rows, columns=list("xyz"), index=range(1, len(table.rows) + 1)),
            column_config={"_index": st.column_config.NumberColumn("record"), **number},
            key=f"{key}-rows",
            height=220,
        )
    with right:
        st.markdown("**After**: this record is replaced.")
        changed = st.data_editor(
            pd.DataFrame([(table.changed + 1, *table.replacement)], columns=["record", *"xyz"]),
            column_config={
                "record": st.column_config.NumberColumn(
                    min_value=1, max_value=len(table.rows), step=1, help="Which record is replaced."
                ),
                **number,
            },
            hide_index=True,
            key=f"{key}-change",
        )
        st.caption(
            "This row replaces the record, so the public number of rows, n, does not change. All "
            "scores are for x and y given z. Your changes are not stored in the URL, but the code "
            "below contains them."
        )
    move = changed.iloc[0]
    rows = edited.astype(object).to_numpy().tolist()
    return sensitivity_playground(rows, move["record"] - 1, [move[name] for name in "xyz"])


def moves(scores: Moves) -> go.Figure:
    """Chart of the change in each score, next to its bounds; red if a bound is exceeded."""
    palette = PALETTES[current()]
    kept = [s for s in scores.scores if s.proven is not None or s.published is not None][::-1]
    names = [s.name for s in kept]
    broken = [s.broken for s in kept]
    # Spearman's published constants lie far to the right of all others.
    reach = 1.15 * max([s.proven or 0 for s in kept] + [s.move for s in kept])
    figure = go.Figure()
    figure.add_bar(
        x=[s.move for s in kept],
        y=names,
        orientation="h",
        name="moved by",
        marker_color=[palette.series[1] if b else palette.series[0] for b in broken],
        hovertemplate="%{y} moved by %{x:.3f}<extra></extra>",
        width=0.55,
    )
    for name, values, symbol, colour in (
        ("proven bound", [s.proven for s in kept], "line-ns-open", palette.series[2]),
        ("published constant", [s.published for s in kept], "x-thin-open", palette.text),
    ):
        figure.add_scatter(
            x=[v if v is not None and v <= reach else None for v in values],
            y=names,
            mode="markers",
            name=name,
            marker={
                "symbol": symbol,
                "size": 18 if symbol.startswith("line") else 11,
                "color": colour,
                "line": {"width": 3, "color": colour},
            },
            hovertemplate=f"%{{y}}: {name} %{{x:.3f}}<extra></extra>",
        )
    figure.update_layout(
        height=380,
        legend=LEGEND,
        showlegend=True,
        xaxis={"title": "change when the record is replaced", "range": [0, reach]},
        yaxis={"type": "category"},
    )
    return figure


def moves_table(scores: Moves) -> None:
    """Table of each score before and after, with bounds; red where a published bound is broken."""
    palette = PALETTES[current()]
    table = pd.DataFrame(
        [
            {
                "score": s.title,
                "before": s.before,
                "after": s.after,
                "moved by": s.move,
                "proven bound": s.proven,
                "published constant": s.published,
                "verdict": "published constant broken"
                if s.broken
                else "no bound"
                if s.proven is None and s.published is None
                else "holds here",
            }
            for s in scores.scores
        ]
    )
    red = f"color: {palette.series[1]}; font-weight: bold"
    numbers = ["before", "after", "moved by", "proven bound", "published constant"]
    styled = table.style.map(lambda v: red if v.endswith("broken") else "", subset=["verdict"])
    st.dataframe(
        styled.format(precision=3, subset=pd.Index(numbers)),
        hide_index=True,
        alt="Scores before and after",
    )
    st.caption("The table also lists the constants that lie beyond the right edge of the chart.")
    for score in scores.scores:
        if score.broken:
            st.error(
                f"{score.title} moved by {score.move:.3f}, but the paper's constant is only "
                f"{score.published:.3f}: {score.flaw}.",
                icon=":material/gpp_bad:",
            )
