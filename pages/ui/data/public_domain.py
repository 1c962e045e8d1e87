"""The public domain of a user's table: the page shows all values, and the owner confirms them."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import streamlit as st

from pages.ui.controls.data import Loaded, prepare
from pages.ui.data import private_domain
from pages.ui.layout import download
from pages.ui.texts import plain
from privcore.data import Dataset
from privcore.data.domain import domain_lines, domain_of
from privcore.intake import ColumnSchema
from privcore.intake.bought import StatedTable
from privcore.intake.schema import confirmation, schema_json

_CONFIRMED = "upload_confirmed"


def confirmed(schema: list[ColumnSchema]) -> bool:
    """Whether exactly these values were confirmed in this session."""
    return confirmation(schema) in st.session_state.get(_CONFIRMED, set())


def confirm(schema: list[ColumnSchema]) -> None:
    """Record that the owner has confirmed these values."""
    st.session_state.setdefault(_CONFIRMED, set()).add(confirmation(schema))


def _stated(column: ColumnSchema) -> ColumnSchema:
    """What is said of a column's values: not who said it, nor what becomes of missing ones."""
    return replace(column, missing=False, declared=False)


def panel(loaded: Loaded, *, where: str = "above") -> None:
    """Show every level, bound and cut point of the table in use, and ask the owner to confirm them.

    where: words that say where the owner can change the values, such as "above".
    """
    schema: list[ColumnSchema] = st.session_state["upload_used"]
    if loaded.stated is not None:
        private_domain.shown_domain(loaded)
        _agreement(loaded, schema, "I knew all of these kinds without looking at the rows.")
        return
    guessed = [_stated(column) for column in st.session_state["upload_guessed"]]
    st.markdown(
        "These values are part of every guarantee and of the certificate of a release. Confirm "
        "them only if you knew all of them without looking at these rows: the largest value of a "
        f"column belongs to a person. If you did not know a value, change it {where}."
    )
    lines = domain_lines(domain_of(loaded.dataset.columns))
    used = {column.name: column for column in schema}
    st.container(key="public-values").table(
        pd.DataFrame(
            {
                "column": plain(name),
                "public values": plain(text),
                "comparison with these rows": "as read from the rows"
                if _stated(used[name]) in guessed
                else "changed",
            }
            for name, text in lines
        ).set_index("column")
    )
    _agreement(
        loaded, schema, "I knew all of these values without looking at the rows: they are public."
    )


def _agreement(loaded: Loaded, schema: list[ColumnSchema], words: str) -> None:
    """Draw the checkbox with which the owner confirms the values, and a download of the schema."""
    agreed = not (loaded.dataset.undeclared if loaded.stated is None else loaded.stated.unconfirmed)
    # The key depends on the values, so a changed value asks for confirmation again.
    st.checkbox(
        words,
        value=agreed,
        key=f"upload_confirm_{confirmation(schema)}",
        on_change=_answered,
        args=(schema,),
    )
    download(
        "Schema (JSON)",
        schema_json(schema, confirmed=confirmed(schema)),
        "schema.json",
        "save-schema",
        icon=":material/download:",
        help="Use this file with `python -m privcore release --schema`, or upload it together "
        "with the table next time.",
    )


def _answered(schema: list[ColumnSchema]) -> None:
    """Mark the values of the table in use as public, or as no longer public."""
    agreed = bool(st.session_state[f"upload_confirm_{confirmation(schema)}"])
    if agreed:
        confirm(schema)
    else:
        st.session_state[_CONFIRMED].discard(confirmation(schema))
    loaded: Loaded = st.session_state["upload"]
    if loaded.stated is not None:
        use(loaded.dataset, loaded.content, stated(loaded.stated, schema))
        return
    columns = tuple(replace(column, declared=agreed) for column in loaded.dataset.columns)
    use(replace(loaded.dataset, columns=columns), loaded.content)


def stated(table: StatedTable, schema: list[ColumnSchema]) -> StatedTable:
    """The table with its kinds marked as declared if the owner confirmed them."""
    public = confirmed(schema)
    return replace(table, schema=tuple(replace(column, declared=public) for column in table.schema))


def use(dataset: Dataset, content: bytes | None, table: StatedTable | None = None) -> None:
    """Store a data set as the user's own table in this session, and drop cached results."""
    version = st.session_state["upload_version"] = st.session_state.get("upload_version", 0) + 1
    st.session_state["upload"] = prepare(
        dataset,
        is_network=False,
        seed=0,
        version=10**9 + version,
        content=content,
        stated=table,
    )
    st.session_state.pop("_results", None)
