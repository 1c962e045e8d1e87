"""A table whose domain is bought: here with simulated noise, and again by a release."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from pages.ui.controls.data import Loaded
from pages.ui.controls.params import values_of
from pages.ui.texts import plain
from privcore.algorithms import ALGORITHMS
from privcore.data import Dataset
from privcore.data.domain import domain_lines, domain_of
from privcore.intake import ColumnSchema
from privcore.intake.bought import DomainPlan, StatedTable, buy_domain, plan_domain, rows_off
from privcore.privacy.mechanisms import SimulatedNoise
from privcore.releases.private_domain import SHARE

# δ of a domain, if the run has no δ of its own or none is chosen yet.
_DELTA = 1e-6
_SEED = 1


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
                "stated": plain(_stated(column)),
                "bought for exploration": plain(lines[column.name]),
            }
            for column in table.schema
        ).set_index("column")
    )


def _stated(column: ColumnSchema) -> str:
    cut = f", cut into {column.bins} intervals" if column.bins and not column.levels else ""
    return f"{column.kind}{cut}{', with a level for missing values' * column.missing}"
