"""The answer of the Effects page: a sentence, a chart with a row for each effect, and tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from pages.ui import charts
from pages.ui import texts as all_texts
from pages.ui.charts import label
from pages.ui.controls.data import Loaded, positions_of
from pages.ui.discover.summary import reroll_button
from pages.ui.effects import texts
from pages.ui.effects.controls import HALF
from pages.ui.effects.runs import Compared
from pages.ui.graphs.view import show_graphs
from pages.ui.theme import PALETTES, current
from privcore.display.drawing import Pane, scene
from privcore.display.effects import headline
from privcore.effects import SHARE, Effect, Effects, Estimate, Question
from privcore.graphs.pdag import PAG
from privcore.privacy.accounting.guarantee import large_delta_sentence
from privcore.text import counted, percent, short

# Maximum number of effects in the chart, and of those by other graphs.
MOST_ROWS, MOST_OTHERS = 8, 3
_ROW, _AROUND = 50, 96
Kind = Literal["shown", "other", "whole", "exact"]


def header(answer: Effects, loaded: Loaded) -> None:
    """Show the answer in one sentence, and the guarantee."""
    st.title(all_texts.plain(headline(answer)), anchor=False)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(texts.promise(answer.guarantee), width="content")
        reroll_button()
    warning = large_delta_sentence(answer.guarantee, loaded.dataset.n)
    if warning:
        st.warning(warning, icon=":material/warning:")
    if answer.lacks_release:
        st.button(
            "Reserve half of ε for a second release",
            key="effect-reserve",
            icon=":material/add:",
            on_click=_reserve,
        )
    if answer.guarantee.caveats:
        caveat = all_texts.plain(answer.guarantee.caveats[0])
        st.caption(f":material/warning: The guarantee has a caveat: {caveat}.")


def _reserve() -> None:
    st.session_state[SHARE.name] = HALF


def pictures(answer: Effects, other: Compared, loaded: Loaded) -> None:
    """Show the effects with their intervals, next to the graph they are computed from."""
    rows, more = rows_of(answer)
    if rows:
        rows += comparison_rows(answer, other)
    left, right = st.columns([3, 2], gap="small")
    with left:
        effects_picture(answer, other, rows, more)
    with right.container(key="effect-graph", gap=None):
        graph = answer.result.graph
        pair = [
            graph.nodes.index(name) for name in (answer.question.cause, answer.question.outcome)
        ]
        pane = Pane("private-graph", "Private graph", graph, repeats=answer.result.repeats)
        made = scene(
            positions_of(loaded, answer.result),
            [pane],
            selected=(min(pair), max(pair)),
            tiers=answer.result.tiers,
        )
        show_graphs(made, key="effect-graphs", focus="{}-to-{}".format(*pair))
    if narrower := texts.open_sentence(answer):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.caption(all_texts.plain(narrower), width="content")
            st.page_link(
                "pages/discover.py",
                label="Add background knowledge",
                icon=":material/edit_note:",
                query_params={"discover_tab": "Background knowledge"},
            )


def effects_picture(answer: Effects, other: Compared, rows: list[Row], more: int) -> None:
    """Chart the effects under the graph, under other graphs, combined, and without privacy.

    more: number of effects that the chart omits.
    """
    if not rows:
        st.info("There is nothing to draw: no effect can be determined from the release.")
        return
    question, truth = answer.question, None
    if other.truth is not None:
        value = texts.scaled(question, other.truth)
        truth = value, f"truth {texts.amount(question, other.truth)}"
    charts.show(
        intervals(rows, texts.axis_title(question), truth),
        key="effects",
        alt="Effects with their 95 % intervals: "
        + "; ".join(f"{row.amount} {row.words}" for row in rows),
    )
    lines = [texts.HOW_TO_READ]
    if any(row.kind == "other" for row in rows):
        lines.append(
            "Grey: effects under less probable graphs, with the probability of these graphs."
        )
    if more:
        lines.append(f"{counted(more, 'more effect is', 'more effects are')} in the table below.")
    if other.exact or other.truth is not None:
        what = " and ".join(
            word
            for word, there in (
                ("the row without privacy", other.exact),
                ("the truth", other.truth is not None),
            )
            if there
        )
        lines.append(f"Not private: {what}.")
    if other.refused:
        lines.append(f"The row without privacy is missing: {other.refused}")
    st.caption(all_texts.plain(" ".join(lines)))


def rows_of(answer: Effects) -> tuple[list[Row], int]:
    """The chart's rows, one for each distinct effect, and the number of omitted rows."""
    question, rows = answer.question, []
    together = texts.groups(answer.effects)
    within = sum(any(effect.shown for effect in group) for group in together)
    for group in together[: min(MOST_ROWS, within + MOST_OTHERS)]:
        first, shown = group[0], any(effect.shown for effect in group)
        words = texts.case(question, group)
        if not shown:
            share = sum(effect.probability for effect in group)
            words = f"({percent(min(share, 1.0))}) {words}"
        kind: Kind = "shown" if shown else "other"
        rows.append(_row(question, first, words, kind))
    return rows, len(together) - len(rows)


def comparison_rows(answer: Effects, other: Compared) -> list[Row]:
    """The chart's rows for all effects combined and for the effects without privacy."""
    question, rows = answer.question, []
    # The single effect of a PAG has this interval already.
    if answer.interval is not None and not isinstance(answer.result.graph, PAG):
        low, high = answer.interval
        ends = texts.scaled(question, low), texts.scaled(question, high)
        amount = texts.between(question, low, high)
        rows.append(Row(amount, "over all possible directions (95 %)", (), *ends, "whole"))
    stated = [effect.estimate for effect in other.exact if effect.estimate is not None]
    if stated:
        values = sorted({round(estimate.value, 9) for estimate in stated})
        points = tuple(texts.scaled(question, value) for value in values)
        least, most = values[0], values[-1]
        amount = texts.amount(question, least)
        if texts.amount(question, most) != amount:
            amount = texts.between(question, least, most)
        ends = (
            texts.scaled(question, min(estimate.low for estimate in stated)),
            texts.scaled(question, max(estimate.high for estimate in stated)),
        )
        rows.append(Row(amount, f"without privacy ({other.title})", points, *ends, "exact"))
    return rows


def _row(question: Question, effect: Effect, words: str, kind: Kind) -> Row:
    estimate = effect.estimate
    if estimate is None:
        return Row("not measured", words, (), None, None, kind)
    point, low, high = (texts.scaled(question, value) for value in estimate)
    if not effect.affected:
        return Row("no change", words, (point,), None, None, kind)
    return Row(texts.amount(question, estimate.value), words, (point,), low, high, kind)


def parents_panel(answer: Effects) -> None:
    """Show every set of parents, with its adjustment set and why this set is valid."""
    if isinstance(answer.result.graph, PAG):
        if not answer.effects:
            st.caption(all_texts.plain(answer.reason))
            return
        st.caption(
            "The graph allows unobserved confounders. The adjustment is valid for all confounders "
            "that the graph allows; the interval is valid if the private graph is correct."
        )
        st.dataframe(parents_table(answer), hide_index=True, alt="The adjustment")
        return
    st.caption(
        all_texts.plain(
            f"The adjustment set depends on the parents of {short(answer.question.cause, 30)}. "
            "The table shows the effect for each possible set of parents."
        )
    )
    st.dataframe(
        parents_table(answer),
        hide_index=True,
        alt="Each possible set of parents",
        column_config={
            "probability": st.column_config.TextColumn(
                help="Posterior probability of the graphs with these parents, given the release."
            ),
            "why": st.column_config.TextColumn(width="large"),
        },
    )


def parents_table(answer: Effects) -> pd.DataFrame:
    """The table of effects as text, with one row for each set of parents."""
    question = answer.question
    unit = "" if question.level is None else " (points)"
    rows = []
    for effect in answer.effects:
        estimate = effect.estimate
        others = [s for s in effect.valid if s != effect.adjustment]
        rows.append(
            {
                "parents": "any" if effect.parents is None else _names(effect.parents),
                f"effect{unit}": "not measured"
                if estimate is None
                else texts.amount(question, estimate.value)
                if effect.affected
                else "none",
                f"95 %{unit}": ""
                if estimate is None or not effect.affected
                else texts.between(question, estimate.low, estimate.high),
                "adjusted for": _names(effect.adjustment) if effect.affected else "",
                "other valid sets": "; ".join(map(_names, others)),
                "probability": percent(effect.probability),
                "in the graph": "yes" if effect.shown else "no",
                "why": effect.reason,
            }
        )
    return pd.DataFrame(rows)


def _names(names: tuple[str, ...]) -> str:
    return ", ".join(names) or "(nothing)"


def means_panel(answer: Effects) -> None:
    """Show the probability of the outcome at each of the two values of the cause."""
    question, rows, table = answer.question, [], []
    cause, outcome = short(question.cause, 18), short(question.outcome, 18)
    for group in texts.groups(answer.shown):
        means = group[0].means
        if means is None:
            continue
        case = texts.case(question, group)
        for value, mean in zip((question.compared, question.to), means, strict=True):
            setting = f"{cause} set to {short(value, 18)}"
            point, low, high = (100 * end for end in mean)
            rows.append(Row(f"{point:.1f} %", f"{setting}, {case}", (point,), low, high, "shown"))
            table.append(
                {
                    "case": case,
                    "cause": setting,
                    f"P({outcome} = {short(question.level, 18)})": f"{point:.1f} %",
                    "95 %": _percents(mean),
                }
            )
    title = f"probability of {outcome} = {short(question.level, 18)}, in per cent"
    charts.show(
        intervals(rows[: 2 * MOST_ROWS], title, None),
        key="effect-means",
        alt="Probability of the outcome at each of the two values of the cause",
    )
    st.dataframe(pd.DataFrame(table), hide_index=True, alt="Probability of the outcome")


def _percents(mean: Estimate) -> str:
    return f"{100 * mean.low:.1f} to {100 * mean.high:.1f} %"


@dataclass(frozen=True)
class Row:
    """A row of the chart, with its label above.

    amount: the number as text, at the start of the label. points: best estimates, in the units of
    the axis. low, high: ends of the interval, possibly infinite; None if there is no interval.
    kind: effects under the graph ("shown"), under other graphs ("other"), under all possible
    graphs together ("whole"), or from the exact rows ("exact").
    """

    amount: str
    words: str
    points: tuple[float, ...]
    low: float | None
    high: float | None
    kind: Kind


def intervals(rows: Sequence[Row], x_title: str, truth: tuple[float, str] | None) -> go.Figure:
    """Chart with a row for each effect and a line at zero; truth: the true effect and its label."""
    palette = PALETTES[current()]
    colours = {
        "shown": palette.series[0],
        "other": palette.muted,
        "whole": palette.text,
        "exact": palette.series[1],
    }
    low, high = _reach(rows, truth)
    figure = go.Figure()
    for number, row in enumerate(rows):
        colour = colours[row.kind]
        if row.low is not None and row.high is not None:
            figure.add_scatter(
                x=[max(row.low, low), min(row.high, high)],
                y=[number, number],
                mode="lines+markers",
                line={"color": colour, "width": 6 if row.kind == "whole" else 2.5},
                marker={"symbol": "line-ns", "size": 12, "line": {"color": colour, "width": 2}},
                hovertemplate=f"{label(row.amount, 60)}<extra></extra>",
                showlegend=False,
            )
        if row.points:
            figure.add_scatter(
                x=list(row.points),
                y=[number] * len(row.points),
                mode="markers",
                marker={
                    "color": colour,
                    "size": 11,
                    "symbol": "diamond-open" if row.kind == "exact" else "circle",
                },
                hovertemplate=f"{label(row.amount, 60)}<extra></extra>",
                showlegend=False,
            )
        figure.add_annotation(
            x=0,
            xref="paper",
            xanchor="left",
            y=number - 0.4,
            text=f"<b>{label(row.amount, 40)}</b> {label(row.words, 90)}",
            showarrow=False,
            bgcolor=palette.background,
            borderpad=1,
            font={"color": palette.text, "size": 11.5},
        )
    _line(figure, 0.0, palette.muted, "solid", 1)
    if truth is not None:
        _line(figure, truth[0], palette.series[2], "dash", 2)
        figure.add_annotation(
            x=truth[0],
            y=len(rows) - 0.2,
            xanchor="right" if truth[0] > (low + high) / 2 else "left",
            text=label(truth[1], 40),
            showarrow=False,
            font={"color": palette.series[2], "size": 12},
        )
    # The label of the truth goes below the last row, where there is room.
    below = 0.45 if truth is None else -0.1
    figure.update_layout(
        height=round(_AROUND + _ROW * (len(rows) - below)),
        margin={"t": 30},
        showlegend=False,
        xaxis={"title": label(x_title, 200), "range": [low, high], "zeroline": False},
        yaxis={"visible": False, "range": [len(rows) - below, -0.65]},
    )
    return figure


def _line(figure: go.Figure, at: float, colour: str, dash: str, width: int) -> None:
    """A vertical line behind everything else."""
    figure.add_shape(
        type="line",
        x0=at,
        x1=at,
        y0=0,
        y1=1,
        yref="paper",
        layer="below",
        line={"color": colour, "width": width, "dash": dash},
    )


def _reach(rows: Sequence[Row], truth: tuple[float, str] | None) -> tuple[float, float]:
    """The limits of the axis: they include zero, the truth, and all finite interval ends."""
    ends = [0.0, *([truth[0]] if truth else [])]
    for row in rows:
        ends += [*row.points, *(e for e in (row.low, row.high) if e is not None)]
    finite = [end for end in ends if math.isfinite(end)]
    low, high = min(finite), max(finite)
    room = 0.07 * (high - low) or 1.0
    return low - room, high + room
