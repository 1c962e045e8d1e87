"""How the file is read: the reader's findings, and questions for the owner."""

from __future__ import annotations

from contextlib import suppress

import streamlit as st

from pages.ui.texts import plain
from privcore.errors import DataError
from privcore.intake import RawTable
from privcore.intake.reading import ENCODINGS, ReadingOptions
from privcore.intake.spreadsheets import is_spreadsheet, read_sheet
from privcore.text import short

_DETECT = "detect"
_VALUES, _NAMES = "A row of values", "The names of the columns"
_PREVIEW = 4


def stated_options(table: str) -> ReadingOptions:
    """The reading options that the owner chose for a file; table: the file's identifier."""
    state = st.session_state
    encoding = state.get(f"upload_encoding_{table}", _DETECT)
    first = state.get(f"upload_header_{table}")
    return ReadingOptions(
        None if encoding == _DETECT else encoding,
        None if first is None else first == _NAMES,
        state.get(f"upload_sheet_{table}"),
        int(state.get(f"upload_last_{table}", 0)),
    )


def settings(table: str, raw: RawTable | None) -> None:
    """Draw the options for reading a file.

    raw: the table, or None if the file is unreadable.
    """
    text = raw is None or bool(raw.encoding)
    if not text and not (raw and raw.sheets):
        return
    with st.popover("How the file is read", icon=":material/description:"):
        if text:
            st.selectbox(
                "Encoding",
                [_DETECT, *ENCODINGS],
                key=f"upload_encoding_{table}",
                persist_state="session",
                help="Choose an encoding if letters look wrong; it cannot always be detected.",
            )
        st.number_input(
            "Rows at the end to leave out",
            0,
            1_000,
            key=f"upload_last_{table}",
            persist_state="session",
            help="For example, a row of totals, which does not belong to a person.",
        )
        _first_row(table)


def _first_row(table: str) -> None:
    st.segmented_control(
        "The first row is", [_VALUES, _NAMES], key=f"upload_header_{table}", persist_state="session"
    )


def sheet(table: str, content: bytes, raw: RawTable | None) -> None:
    """Draw the choice of a sheet if the file has several sheets.

    raw: the table, or None if the file is unreadable.
    """
    names: tuple[str, ...] = () if raw is None else raw.sheets
    if raw is None and is_spreadsheet(content):
        # If a sheet holds no table, another sheet may.
        with suppress(DataError):
            names = read_sheet(content).names
    if len(names) > 1:
        st.selectbox(
            "Sheet",
            names,
            index=None,
            placeholder="the first sheet that holds a table",
            format_func=lambda name: short(name, 60),
            key=f"upload_sheet_{table}",
            persist_state="session",
        )


def findings(table: str, raw: RawTable) -> None:
    """Show the reader's findings, and questions with buttons to answer them."""
    for question in (each for each in raw.questions if each.topic == "header"):
        st.warning(
            f"{plain(question.sentence)} If this row belongs to a person, its values must not "
            "become column names. What does the first row contain?",
            icon=":material/help:",
        )
        st.dataframe(raw.frame.head(_PREVIEW), hide_index=True, alt="First rows")
        places = st.container(horizontal=True)
        for answer in (_VALUES, _NAMES):
            places.button(answer, on_click=_say_first, args=(table, answer))
    if raw.readings:
        st.warning(
            "More than one encoding is possible. Which one is right?", icon=":material/help:"
        )
        for place, (encoding, words) in zip(
            st.columns(min(4, len(raw.readings))), raw.readings, strict=False
        ):
            place.text("\n".join(short(word, 30) for word in words))
            place.button(
                f"{encoding}",
                key=f"upload_letters_{encoding}",
                on_click=_say_encoding,
                args=(table, encoding),
            )
    for note in raw.notes:
        st.caption(plain(note))
    if raw.totals:
        rows = (
            "row looks like a total" if raw.totals == 1 else f"{raw.totals} rows look like totals"
        )
        st.warning(
            f"The last {rows}. A row of totals does not belong to a person and should be left out.",
            icon=":material/help:",
        )
        st.button("Leave out", on_click=_leave_last, args=(table, raw.totals))


def _say_first(table: str, answer: str) -> None:
    st.session_state[f"upload_header_{table}"] = answer


def _say_encoding(table: str, encoding: str) -> None:
    st.session_state[f"upload_encoding_{table}"] = encoding


def _leave_last(table: str, rows: int) -> None:
    st.session_state[f"upload_last_{table}"] = rows
