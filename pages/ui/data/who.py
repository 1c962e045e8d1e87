"""Who is protected: each row, or all rows of one person together."""

from __future__ import annotations

import streamlit as st

from pages.ui.texts import plain
from privcore.intake import RawTable
from privcore.intake.proposing import Proposal
from privcore.intake.units import Bounded, bounded, likely_columns
from privcore.text import short
from privcore.unit import MOST_ROWS, noun_of

_EACH, _PERSONS = "Each row is a different person", "Rows belong to persons"
_ROWS = 5


def answered(raw: RawTable) -> RawTable:
    """The table; it has the owner's answer if the owner stated that rows are different persons."""
    table = str(st.session_state["upload_raw"][0][0])[:12]
    each_row = st.session_state.get(f"upload_who_{table}") == _EACH
    return raw.answered("persons") if each_row else raw


def choose(raw: RawTable, proposals: list[Proposal]) -> Bounded | None:
    """Draw the choice of who is protected; returns the table with a limit on each person's rows.

    Returns None unless the owner states that rows belong to persons. proposals: one proposal for
    every column of the table. Raises DataError if the chosen column does not name a person in
    every row.
    """
    # Another table has other columns, so the choice starts again.
    table = str(st.session_state["upload_raw"][0][0])[:12]
    question = next((each for each in raw.questions if each.topic == "persons"), None)
    if question is not None:
        noun = short(noun_of(question.column), 30)
        st.warning(
            f"Column {plain(short(question.column, 40))} repeats values, like an identifier of "
            f"persons. Should each row be protected, or all rows of each {plain(noun)} together?",
            icon=":material/help:",
        )
    persons = st.radio(
        "Who is protected",
        [_EACH, _PERSONS],
        # Only the owner knows this, so there is no default.
        index=0 if question is None else None,
        captions=[
            "The values of one row are protected. A person with several rows is less well "
            "protected.",
            "All rows of one person are protected, up to a maximum number. This needs more noise.",
        ],
        key=f"upload_who_{table}",
        persist_state="session",
        horizontal=True,
        help="Several rows of one patient, customer or household reveal more than one row does. "
        "If a column identifies the person, all rows of one person can be protected "
        "together, with more noise.",
    )
    if persons != _PERSONS:
        return None
    names = likely_columns(proposals)
    left, right = st.columns(2)
    column = left.selectbox(
        "Column that identifies the person",
        names,
        format_func=lambda name: short(name, 60),
        key=f"upload_unit_{table}",
        persist_state="session",
        help="For example, patient_id. This column only identifies persons; it is not in the "
        "graph.",
    )
    rows = right.number_input(
        "Maximum number of rows of one person",
        1,
        MOST_ROWS,
        value=_ROWS,
        key=f"upload_unit_rows_{table}",
        persist_state="session",
        help="If a person has more rows than this, a hash of the identifier chooses the rows to "
        "keep. Noise grows with this number; choose the number without looking at the rows.",
    )
    key = (st.session_state["upload_raw"][0], column, int(rows))
    held: tuple[object, Bounded] | None = st.session_state.get("upload_bounded")
    if held is None or held[0] != key:
        held = (key, bounded(raw, column, int(rows)))
        st.session_state["upload_bounded"] = held
    st.caption(
        f"{plain(held[1].sentence)} The number of rows left out is exact: it is for you only."
        if held[1].left_out
        else plain(held[1].sentence)
    )
    return held[1]
