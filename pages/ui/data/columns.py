"""The proposal for each column, in one table that can be filtered and edited."""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

import pandas as pd
import streamlit as st

from pages.ui.texts import plain
from privcore.algorithms.moment_search.parameters import MomentSearchParameters
from privcore.algorithms.moment_search.visible import PublicShape
from privcore.errors import DataError, PrivcoreError
from privcore.extras.lab.work import WIDE, wide_sentence
from privcore.intake import ColumnSchema, RawTable
from privcore.intake.coding import column_of
from privcore.intake.proposing import LEAVE_OUT, Proposal
from privcore.intake.repeated import repeated_columns
from privcore.intake.triage import codes_of, drawn_by_name
from privcore.text import counted, short

EDITED = "as edited"
_MANY = 12
_EXAMPLES = 3


def summary(schema: Sequence[ColumnSchema], proposals: Sequence[Proposal]) -> str:
    """State in words how many columns are used, need review, and are left out."""
    used = sum(column.include for column in schema)
    to_review = sum(
        bool(proposal.problem) and column.include
        for column, proposal in zip(schema, proposals, strict=True)
    )
    review = f" ({to_review} to review)" if to_review else ""
    left_out = f", {len(schema) - used} left out" if used < len(schema) else ""
    return f"{counted(used, 'column')} used{review}{left_out}"


def codes(raw: RawTable, proposals: Sequence[Proposal]) -> set[str]:
    """Draw checkboxes for codes of missing values; returns the codes that are real values.

    proposals: the proposals under which every code means a missing value.
    """
    values: set[str] = set()
    listed = codes_of(raw, proposals)
    if not listed:
        return values
    st.markdown("**Treated as missing.** Untick codes that are real values.")
    places = st.container(horizontal=True)
    for code, (columns, rows) in sorted(listed.items(), key=lambda item: -item[1][1])[:_MANY]:
        where = f"{counted(columns, 'column')}, {counted(rows, 'cell')}"
        if not places.checkbox(
            f"`{code.replace('`', ' ')}` in {where}",
            value=True,
            key=f"upload_code_{st.session_state['upload_raw'][0][0][:12]}_{code}",
            persist_state="session",
        ):
            values.add(code)
    return values


def table(raw: RawTable) -> None:
    """Draw the table of proposals, and controls that change several columns at once."""
    schema: list[ColumnSchema] = st.session_state["upload_schema"]
    proposals: list[Proposal] = st.session_state["upload_proposals"]
    taken = [taken_as(*each) for each in zip(schema, proposals, strict=True)]
    shown = _shown(schema, taken) if len(schema) > _MANY else list(range(len(schema)))
    _choose_some(schema)
    examples, measured = _examples(raw), _measured(schema, len(raw.frame))
    frame = pd.DataFrame(
        {
            "column": schema[at].name,
            "taken as": taken[at],
            "example values": examples[schema[at].name],
            "why": " ".join(filter(None, (_problem(proposals[at]), proposals[at].reason))),
            "measured as": measured.get(schema[at].name, ""),
        }
        for at in shown
    )
    version = st.session_state["upload_edits"]
    key = f"upload_columns_{version}_{hash(tuple(shown))}"
    st.data_editor(
        frame,
        hide_index=True,
        num_rows="fixed",
        key=key,
        disabled=["column", "example values", "why", "measured as"],
        on_change=_take_edited,
        args=(key, shown),
        column_config={
            "column": st.column_config.TextColumn(width="small"),
            "taken as": st.column_config.SelectboxColumn(
                options=_labels(proposals),
                required=True,
                width="small",
                help="Double-click to change. A kind that does not fit the column is refused.",
            ),
            "example values": st.column_config.TextColumn(
                width="small", help="The most frequent values. Only you see them."
            ),
            "why": st.column_config.TextColumn(width="large"),
            "measured as": st.column_config.TextColumn(
                width="small", help="How moment search measures the column at ε = 1."
            ),
        },
    )
    if refused := st.session_state.pop("upload_refused", ""):
        st.error(refused, icon=":material/error:")
    _repeats(raw, schema)


def check_width(schema: Sequence[ColumnSchema]) -> None:
    """Raise DataError if more columns are used than a search accepts."""
    used = sum(column.include for column in schema)
    if used > WIDE:
        raise DataError(wide_sentence(used, "choose by name, by kind or at random above the table"))


def taken_as(column: ColumnSchema, proposal: Proposal) -> str:
    """The label of a column's kind, or a note that the column was edited."""
    if not column.include:
        return LEAVE_OUT
    # Whether missing values are a level is chosen for all columns at once.
    current = replace(column, declared=False, missing=False)
    ways = ((way.label, replace(way.schema, missing=False)) for way in proposal.ways)
    return next((label for label, schema in ways if schema == current), EDITED)


def _problem(proposal: Proposal) -> str:
    return f"{proposal.problem[0].upper()}{proposal.problem[1:]}." if proposal.problem else ""


def _labels(proposals: Sequence[Proposal]) -> list[str]:
    return list(dict.fromkeys([*(way.label for p in proposals for way in p.ways), EDITED]))


def _shown(schema: Sequence[ColumnSchema], taken: Sequence[str]) -> list[int]:
    """Draw a filter and a control for the kind of all columns shown; returns their positions."""
    name, kind, way, apply = st.columns([3, 3, 3, 2], vertical_alignment="bottom")
    pattern = name.text_input(
        "Show columns called", placeholder="part of a name, or q*", key="upload_filter"
    )
    kinds = kind.multiselect("taken as", list(dict.fromkeys(taken)), key="upload_filter_kind")
    shown = [
        at
        for at, column in enumerate(schema)
        if _matches(column.name, pattern) and (not kinds or taken[at] in kinds)
    ]
    proposals: list[Proposal] = st.session_state["upload_proposals"]
    labels = _labels([proposals[at] for at in shown])[:-1]
    if labels:
        chosen = way.selectbox(f"Treat all {len(shown)} as", labels, key="upload_take_all")
        apply.button(
            "Apply", on_click=_take, args=(shown, chosen), key="upload_apply", width="stretch"
        )
    return shown


def _matches(name: str, pattern: str) -> bool:
    pattern = pattern.strip().casefold()
    if not pattern:
        return True
    wild = any(sign in pattern for sign in "*?[")
    return fnmatch.fnmatch(name.casefold(), pattern if wild else f"*{pattern}*")


def _choose_some(schema: Sequence[ColumnSchema]) -> None:
    """If the table is too wide, draw controls that keep some columns, chosen at random."""
    used = [at for at, column in enumerate(schema) if column.include]
    if len(used) <= WIDE:
        return
    number, keep = st.columns([2, 3], vertical_alignment="bottom")
    count = number.number_input("Keep at random", 2, WIDE, 200, key="upload_at_random")
    keep.button("Leave out the others", on_click=_keep_some, args=(used, int(count)))


def _keep_some(used: Sequence[int], count: int) -> None:
    schema = st.session_state["upload_schema"]
    kept = drawn_by_name([schema[at].name for at in used], count)
    _take([at for at in used if schema[at].name not in kept], LEAVE_OUT)


def _take(places: Sequence[int], label: str) -> None:
    """Set the kind of several columns; report the columns for which this kind is impossible."""
    schema = list(st.session_state["upload_schema"])
    proposals: list[Proposal] = st.session_state["upload_proposals"]
    cannot = []
    for at in places:
        way = next((way for way in proposals[at].ways if way.label == label), None)
        if way is not None:
            schema[at] = way.schema
        elif label != EDITED:
            cannot.append(at)
    if cannot:
        first = proposals[cannot[0]]
        listed = ", ".join(way.label for way in first.ways)
        others = f", and {len(cannot) - 1} more" if len(cannot) > 1 else ""
        st.session_state["upload_refused"] = (
            f"“{short(first.name, 40)}”{others} cannot be treated as {label}; choose one of these "
            f"kinds: {listed}."
        )
    st.session_state["upload_schema"] = schema
    st.session_state["upload_edits"] += 1


def _take_edited(key: str, shown: Sequence[int]) -> None:
    for row, change in st.session_state[key]["edited_rows"].items():
        if "taken as" in change:
            _take([shown[int(row)]], change["taken as"])


def _examples(raw: RawTable) -> dict[str, str]:
    """The most frequent values of each column, cached in this session with the table."""
    held: tuple[RawTable, dict[str, str]] | None = st.session_state.get("upload_examples")
    if held is None or held[0] is not raw:
        texts = {}
        for name in raw.names:
            counts = raw.frame[name].value_counts()
            most = [short(str(text), 20) for text in counts[counts > 0].index[:_EXAMPLES]]
            texts[name] = ", ".join(most) + " …" * (len(counts) > _EXAMPLES)
        held = st.session_state["upload_examples"] = (raw, texts)
    return held[1]


def _repeats(raw: RawTable, schema: Sequence[ColumnSchema]) -> None:
    """Say which columns repeat others, each with a button that leaves it out."""
    held: tuple[RawTable, list[ColumnSchema], dict[str, str]] | None
    held = st.session_state.get("upload_repeats")
    if held is None or held[0] is not raw or held[1] != schema:
        found = repeated_columns(raw, schema)
        held = st.session_state["upload_repeats"] = (raw, list(schema), found)
    places = {column.name: at for at, column in enumerate(schema)}
    for name, first in list(held[2].items())[:_MANY]:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(
                f"**{plain(short(name))}** repeats **{plain(short(first))}**: a search takes both "
                "as one column."
            )
            st.button(
                f"Leave out {plain(short(name, 20))}",
                on_click=_take,
                args=([places[name]], LEAVE_OUT),
                key=f"upload_repeat_{name}",
            )


def _measured(schema: Sequence[ColumnSchema], rows: int) -> dict[str, str]:
    """How moment search with default settings measures each column that is used."""
    used = [column for column in schema if column.include]
    if not 2 <= len(used) <= WIDE:
        return {}
    with suppress(PrivcoreError):
        shape = PublicShape.of_columns(rows, [column_of(column) for column in used])
        words = shape.measured_as(MomentSearchParameters.checked({}, "moment-search"))
        return {column.name: text for column, text in zip(used, words, strict=True)}
    return {}
