"""A table whose levels and bounds are bought: with simulated noise to explore, anew to release."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from pages.ui.controls.data import Loaded
from pages.ui.texts import plain
from privcore.data import ColumnSchema, Dataset
from privcore.data.domain import domain_lines, domain_of
from privcore.data.private_domain import DomainPlan, buy_domain, plan_domain
from privcore.data.private_domain.buying import rows_off
from privcore.data.private_domain.plan import SHARE
from privcore.data.private_domain.table import StatedTable
from privcore.privacy.mechanisms import SimulatedNoise

# Of a domain, where the run has no δ of its own, and where none is chosen yet.
_DELTA = 1e-6
_SEED = 1


def chosen_share() -> float | None:
    """The switch, and the share that it buys for; None where nothing is bought."""
    on = st.toggle(
        "Buy levels, bounds and cut points",
        key="upload_buy",
        persist_state="session",
        help="For what nobody knows beforehand: a release takes them from the rows with noise, for "
        "a share of its ε and δ. Of each column only what it is, into how many intervals it is "
        "cut, and whether missing values are a level has to be known.",
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
    """What a schema says of a column that is to be bought."""
    return replace(column, levels=(), bounds=None, cut_points=())


def plan_of(table: StatedTable) -> DomainPlan:
    """What the chosen share of the ε and δ in the sidebar buys."""
    parameters: dict[str, Any] = st.session_state.get("parameters", {})
    share = table.purchase.share
    epsilon = share * float(parameters.get("epsilon", 1.0))
    delta = share * float(parameters.get("delta", 0.0) or _DELTA)
    return plan_domain(table.bought, table.n, epsilon, delta)


def explored(table: StatedTable) -> Dataset:
    """The table under a domain that is bought with simulated noise, to be looked at only."""
    plan = plan_of(table)
    dataset = table.with_domain(buy_domain(table.bought_cells, plan, SimulatedNoise(_SEED)))
    note = (
        f"levels and bounds were bought with simulated noise at ε = {plan.epsilon:g} for "
        "exploring, which is not part of this run's ε: not covered"
    )
    return replace(dataset, notes=(*dataset.notes, note))


def to_release(loaded: Loaded, parameters: dict[str, Any]) -> tuple[Loaded, Dataset | StatedTable]:
    """What a page may show before a release, and what is released.

    Of a domain that is to be bought only the largest one is shown: it follows from what is public.
    """
    table = loaded.stated
    if table is None:
        return loaded, loaded.dataset
    own = None if parameters.get("delta") else _DELTA
    table = replace(table, purchase=replace(table.purchase, delta=own))
    largest = table.largest()
    return replace(loaded, dataset=largest, key=(*loaded.key, "largest")), table


def shown_domain(loaded: Loaded) -> None:
    """What is stated of every column, and what simulated noise made of it."""
    table = loaded.stated
    if table is None:
        return
    share = table.purchase.share
    cut = [column for column in table.bought if column.bins is not None]
    cost = ""
    if cut:
        off = rows_off(cut[0], plan_of(table))
        cost = (
            f" A cut point is off by up to {off:,} of the {table.n:,} rows, in nine cases of ten; "
            "a larger share or fewer intervals make that less."
        )
    st.markdown(
        "Of each column only its kind is taken as known. What is shown here was bought with "
        f"simulated noise, to explore: a release buys anew, for {share:.0%} of its ε and δ, and "
        f"its certificate holds what it got.{cost} Confirm the kinds only if you knew them without "
        "looking at these rows."
    )
    lines = dict(domain_lines(domain_of(loaded.dataset.columns)))
    st.table(
        pd.DataFrame(
            {
                "column": plain(column.name),
                "stated": plain(_stated(column)),
                "bought to explore": plain(lines[column.name]),
            }
            for column in table.schema
        ).set_index("column")
    )


def _stated(column: ColumnSchema) -> str:
    cut = f", cut into {column.bins} intervals" if column.bins and not column.levels else ""
    return f"{column.kind}{cut}{', with a level for missing values' * column.missing}"
