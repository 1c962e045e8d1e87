"""The domain of a user's table: public values that the owner confirms, or a domain to be bought.

What is to be bought is explored here with simulated noise, and bought again by a release.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from pages.ui.controls.data import Loaded, prepare
from pages.ui.controls.params import values_of
from pages.ui.layout import download
from pages.ui.texts import plain
from privcore.algorithms import ALGORITHMS
from privcore.data import Dataset
from privcore.data.domain import domain_lines, domain_of
from privcore.intake import ColumnSchema
from privcore.intake.bought_domain import DomainPlan, StatedTable, buy_domain, plan_domain, rows_off
from privcore.intake.schema import confirmation, schema_json
from privcore.privacy.mechanisms import SimulatedNoise
from privcore.releases.private_domain import SHARE

_CONFIRMED = "upload_confirmed"
# δ of a domain, if the run has no δ of its own or none is chosen yet.
_DELTA = 1e-6
_SEED = 1


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
        shown_domain(loaded)
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
        dataset, is_network=False, seed=0, version=10**9 + version, content=content, stated=table
    )
    st.session_state.pop("_results", None)


def chosen_share() -> float | None:
    """Draw the switch for buying a domain; returns the domain's share of ε and δ.

    Returns None if the switch is off.
    """
    on = st.toggle(
        "Buy levels, bounds and cut points",
        key="upload_buy",
        persist_state="session",
        help="If nobody knows these values beforehand, a release can estimate them from the rows "
        "with noise, for a share of its ε and δ. For each column you only need to know the "
        "kind, the number of intervals, and whether missing values are a level.",
    )
    if not on:
        return None
    return float(
        st.slider(
            f"{SHARE.title}, of ε and δ",
            0.05,
            0.95,
            SHARE.default,
            0.05,
            key="upload_share",
            persist_state="session",
            help=SHARE.help,
        )
    )


def kind_alone(column: ColumnSchema) -> ColumnSchema:
    """A column's schema entry without levels, bounds and cut points, which are to be bought."""
    return replace(column, levels=(), bounds=None, cut_points=())


def plan_of(table: StatedTable) -> DomainPlan:
    """The plan for buying the domain with the chosen share of the ε and δ in the sidebar."""
    parameters = values_of(ALGORITHMS[st.session_state["algorithm"]])
    share = table.purchase.share
    epsilon = share * float(parameters.get("epsilon", 1.0))
    delta = share * float(parameters.get("delta", 0.0) or _DELTA)
    return plan_domain(table.bought, table.n, epsilon, delta)


def explored(table: StatedTable) -> Dataset:
    """The table with a domain bought with simulated noise, for exploration only."""
    plan = plan_of(table)
    dataset = table.with_domain(buy_domain(table.bought_cells, plan, SimulatedNoise(_SEED)))
    note = (
        f"levels and bounds were bought with simulated noise at ε = {plan.epsilon:g} for "
        "exploration, and this ε is not part of the run's ε"
    )
    return replace(dataset, notes=(*dataset.notes, note))


def to_release(loaded: Loaded, parameters: dict[str, Any]) -> tuple[Loaded, Dataset | StatedTable]:
    """The data that a page may show before a release, and the data to release.

    If a domain is to be bought, the page may show only the largest possible domain, which follows
    from public facts.
    """
    table = loaded.stated
    if table is None:
        return loaded, loaded.dataset
    own = None if parameters.get("delta") else _DELTA
    table = replace(table, purchase=replace(table.purchase, delta=own))
    largest = table.largest()
    return replace(loaded, dataset=largest, key=(*loaded.key, "largest")), table


def shown_domain(loaded: Loaded) -> None:
    """Show the stated kind of every column, and its domain bought with simulated noise."""
    table = loaded.stated
    if table is None:
        return
    share = table.purchase.share
    cut = [column for column in table.bought if column.bins is not None]
    cost = ""
    if cut:
        off = rows_off(cut[0], plan_of(table))
        cost = (
            f" A cut point is off by at most {off:,} of the {table.n:,} rows with 90 % "
            "probability; a larger share or fewer intervals reduce the error."
        )
    st.markdown(
        "Only each column's kind is treated as public. The values below were bought with "
        f"simulated noise, for exploration. A release buys new values for {share:.0%} of its ε "
        f"and δ, and states them in its certificate.{cost} Confirm the kinds only if you knew "
        "them without looking at these rows."
    )
    lines = dict(domain_lines(domain_of(loaded.dataset.columns)))
    st.table(
        pd.DataFrame(
            {
                "column": plain(column.name),
                "stated": plain(_stated_words(column)),
                "bought for exploration": plain(lines[column.name]),
            }
            for column in table.schema
        ).set_index("column")
    )


def _stated_words(column: ColumnSchema) -> str:
    cut = f", cut into {column.bins} intervals" if column.bins and not column.levels else ""
    return f"{column.kind}{cut}{', with a level for missing values' * column.missing}"
