"""The panels of the Release page: the summary, the budget, planning tools and the ledger."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, get_args

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from pages.ui import charts, expectation
from pages.ui.controls.algorithm import chosen_algorithm
from pages.ui.controls.data import Loaded
from pages.ui.glossary import glossary_note, term_link
from pages.ui.layout import download
from pages.ui.running import cached_result, settings_key
from pages.ui.texts import odds_sentence, plain, protection_of
from pages.ui.theme import PALETTES, current
from privcore.algorithms import ALGORITHMS
from privcore.algorithms.moment_search.parameters import WHOLE
from privcore.algorithms.protecting import Protection
from privcore.data import Dataset
from privcore.data.model import Described
from privcore.errors import ParameterError, PrivcoreError
from privcore.intake.bought_domain import StatedTable
from privcore.privacy.accounting.accountants import by_rounds, side_by_side
from privcore.releases.ledger.entries import (
    Budget,
    Spending,
    TotalUnit,
    checked_name,
    checked_total,
    spending_of,
)
from privcore.releases.ledger.ledger import Ledger
from privcore.releases.release import owner_of
from privcore.releases.release_check import Check, check_release
from privcore.text import counted
from privcore.unit import ADDED

NEW = "a new budget …"
# The proposed total ε and δ of a new budget, if they cover the release.
_TOTAL = (3.0, 1e-5)
_MOST_DELTA = 0.5
_LESS_IN_ZCDP = (
    "Gaussian noise, which needs a δ, often costs less in zCDP at the same ε; moment search uses "
    f"Gaussian noise if “{WHOLE.title}” is 0."
)


@dataclass(frozen=True)
class Chosen:
    """The budget to which a release will be charged.

    state: the budget and the spending so far. new: whether the release will create the budget.
    refused: why the budget cannot be charged, as one sentence; empty if it can be charged.
    """

    state: Spending
    new: bool
    refused: str

    @property
    def budget(self) -> Budget:
        return self.state.budget

    @property
    def total(self) -> str:
        return f"(ε = {self.budget.epsilon:g}, δ = {self.budget.delta:g})"

    def deed(self, check: Check) -> str:
        """The text of the checkbox with which the user agrees to the charge."""
        cost, name = f"(ε = {check.epsilon:g}, δ = {check.delta:g})", plain(self.budget.name)
        charged = f"Charge {cost} to “{name}”"
        if self.new:
            charged = f"Create the budget “{name}” of {self.total}, charge {cost} to it,"
        return f"{charged} and run once with secure noise. This cannot be undone."


def checked(
    loaded: Loaded,
    subject: Dataset | StatedTable,
    name: str,
    values: dict[str, Any],
    accepted: tuple[str, ...],
) -> Check:
    """Rehearse a release and return its charge, cached in the session.

    subject: the table to release, identified by `loaded.key` and its columns. accepted: caveats
    that the user accepts.
    """
    names = subject.names if isinstance(subject, Dataset) else ()
    verified = cached_result(
        ("release-check", loaded.key, names, name, settings_key(values), accepted),
        "Rehearsing on public surrogate data",
        lambda hooks: check_release(subject, name, values, accepted=accepted),
    )
    if verified is None:
        raise ParameterError("The rehearsal was cancelled; change a setting to start it again.")
    return verified


def in_short(loaded: Loaded, check: Check | None = None, chosen: Chosen | None = None) -> None:
    """Show the summary: what is released, for whom, who is protected, and the cost.

    check, chosen: None while something must be resolved first.
    """
    dataset = loaded.dataset
    title = plain(ALGORITHMS[st.session_state["algorithm"]].title)
    target = plain(str(chosen_algorithm()[1].get("target") or ""))
    asked = f"The links of {target} among" if target else "One graph over"
    what, whom, cost = st.columns(3, border=True)
    with what:
        st.markdown("**What is released**")
        st.markdown(
            f"{asked} the {dataset.p:,} columns of “{plain(dataset.name)}”, computed once "
            f"by {title}, with a {term_link('certificate', 'signed certificate')}. No rows are "
            "released."
        )
    with whom:
        st.markdown("**For whom**")
        st.markdown(
            "Anyone to whom you give the graph. Whatever else a reader knows, the guarantee "
            f"protects {_each(dataset)}."
        )
        if check is not None:
            st.caption(
                odds_sentence(check.epsilon, check.delta, "the released graph", _whom(dataset))
            )
    with cost:
        st.markdown("**What it costs**")
        if check is None or chosen is None:
            st.markdown("Not known yet: something below must be resolved first.")
        else:
            st.markdown(f"(ε = {check.epsilon:g}, δ = {check.delta:g}), permanently.")
            st.caption(_paid_from(chosen))


def _whom(dataset: Described) -> Protection:
    return protection_of(dataset, chosen_algorithm()[1])


def _each(dataset: Described) -> str:
    """The protected units, without the number of rows if that is private."""
    whom = _whom(dataset)
    if whom.unit.rows > 1:
        return f"every {plain(whom.unit.name)}, with up to {whom.unit.rows:,} rows"
    if whom.relation == ADDED:
        return "every record, and whether it is in the table at all"
    return f"each of the {dataset.n:,} records"


def protects(dataset: Described) -> str:
    """The neighbouring tables that the guarantee covers, as the end of a sentence."""
    whom = _whom(dataset)
    if whom.plain:
        replacing = term_link("neighbours", "the replacement of one")
        return f"{replacing} of {dataset.n:,} records"
    return f"{term_link('neighbours', 'neighbours')} that differ in {plain(whom.sentence)}"


def _paid_from(chosen: Chosen) -> str:
    if chosen.new:
        return f"From a new budget with a total of {chosen.total}, set below by the data owner."
    share = f"{100 * _share_spent(chosen.state):.0f} %"
    name = plain(chosen.budget.name)
    unit = "" if chosen.budget.rho is None else ", counted in zCDP"
    return (
        f"From the budget “{name}” with a total of {chosen.total}, of which {share} is spent{unit}."
    )


def _share_spent(state: Spending) -> float:
    """The spent share of a budget's total, in the budget's unit."""
    budget = state.budget
    if budget.rho is not None and state.rho is not None:
        return state.rho / budget.rho
    return max(state.epsilon / budget.epsilon, state.delta / budget.delta if budget.delta else 0.0)


def choose_budget(
    loaded: Loaded, subject: Dataset | StatedTable, ledger: Ledger, check: Check
) -> Chosen:
    """Choose a budget of the ledger, or the total of a new one that the release creates."""
    names = [budget.name for budget in ledger.budgets()]
    proposed = PurePath(loaded.dataset.name).stem
    owner = _owner(loaded, subject, ledger) if names else None
    usual = owner or proposed
    chosen = NEW
    if names:
        chosen = st.selectbox(
            "Budget",
            [*names, NEW],
            # Data that no budget names are not charged to that of other data unasked.
            index=[*names, usual].index(usual),
            key=f"release_budget_{loaded.key}_{owner}_{len(names)}",
            help="The data owner sets a budget's total. Data that were once charged to a budget "
            "stay with this budget.",
        )
    if chosen == NEW:
        state, refused = _new_budget(proposed, names, check)
    else:
        state, refused = ledger.spending(chosen), ""
        spending(ledger, state)
    if owner not in (None, state.budget.name):
        refused = (
            f"These data belong to the budget “{owner}”, to which they were charged before; "
            "choose that budget."
        )
    return Chosen(state, chosen == NEW, refused or uncovered(state, check))


def _owner(loaded: Loaded, subject: Dataset | StatedTable, ledger: Ledger) -> str | None:
    """The budget to which these data were charged before, looked up once after each charge."""
    return cached_result(
        ("owner", loaded.key, str(ledger.path), len(ledger.charges())),
        "Looking up these data in the ledger",
        lambda hooks: owner_of(subject, ledger, loaded.content),
    )


def _new_budget(proposed: str, names: list[str], check: Check) -> tuple[Spending, str]:
    """Draw the fields for a new budget, preset so that the budget covers the release.

    Returns the budget without charges, and why it cannot be created (empty if it can).
    """
    enough = max(_TOTAL[0], check.epsilon), min(max(_TOTAL[1], check.delta), _MOST_DELTA)
    unit = "basic" if uncovered(_unspent("", *enough, "zcdp"), check) else "zcdp"
    values = {"name": proposed, "epsilon": enough[0], "delta": enough[1], "unit": unit}
    for key, value in values.items():
        _propose(f"release_{key}", value)
    name, epsilon, delta, added = st.columns([3, 2, 2, 3])
    title = name.text_input("Name of the data set's budget", key="release_name").strip()
    total = epsilon.number_input("Total ε", 0.001, 1e6, key="release_epsilon")
    fails = delta.number_input("Total δ", 0.0, _MOST_DELTA, format="%.2e", key="release_delta")
    kind: TotalUnit = added.selectbox(
        "Composition",
        get_args(TotalUnit),
        key="release_unit",
        format_func={"zcdp": "in zCDP, then converted", "basic": "as ε and δ"}.__getitem__,
        help="zCDP allows more releases in the long run; ε and δ suit a few large releases. "
        f"{glossary_note('zcdp')}",
    )
    st.caption(
        "The budget is created with the release and applies to every later release of these data."
    )
    try:
        if not title:
            raise ParameterError("The budget needs a name; enter one.")
        if title in names:
            raise ParameterError(
                f"The budget {title!r} already exists: choose it above. Its owner can change the "
                "total with `python -m privcore ledger total`."
            )
        return _unspent(checked_name(title), total, fails, kind), ""
    except PrivcoreError as error:
        return spending_of(Budget(title, "basic", total, fails, None, "", ""), []), str(error)


def _unspent(name: str, epsilon: float, delta: float, unit: TotalUnit) -> Spending:
    """The state of a budget before any charge; raises ParameterError for an impossible total."""
    rho = checked_total(epsilon, delta, unit)
    return spending_of(Budget(name, unit, epsilon, delta, rho, "", ""), [])


def _propose(key: str, value: object) -> None:
    """Keep a field at the proposed value until the user changes it."""
    if st.session_state.get(key) in (None, st.session_state.get(f"_{key}")):
        st.session_state[key] = value
    st.session_state[f"_{key}"] = value


def spending(ledger: Ledger, state: Spending) -> None:
    """Show how much of a budget remains."""
    budget = state.budget
    if budget.rho is not None and state.rho is not None:
        unit = f"ρ = {state.rho:.4g} of {budget.rho:.4g}"
    else:
        unit = f"ε = {state.epsilon:.4g} of {budget.epsilon:.4g}"
        unit += f", δ = {state.delta:.3g} of {budget.delta:.3g}"
    spent = f"Spent by {counted(state.charges, 'charge')}: {unit}"
    st.progress(min(_share_spent(state), 1.0), spent)
    st.caption(
        f"{limit_sentence(state)} The ledger's file is {plain(str(ledger.path))}; set "
        "CAUSALVEIL_DATA_DIR to store the ledger elsewhere."
    )


def limit_sentence(state: Spending) -> str:
    """State the budget's total, and a bound on its charges by the other kind of composition.

    Basic composition and zCDP bound the same privacy loss, but only the bound in the budget's own
    unit limits the charges.
    """
    budget = state.budget
    total = f"(ε = {budget.epsilon:g}, δ = {budget.delta:g})"
    zcdp = state.zcdp_epsilon
    if budget.rho is None:
        limit = f"The total is {total}; the sums of ε and δ over all charges may not exceed it."
        if not state.charges or zcdp is None:
            return limit
        bound = (
            f"zCDP bounds the privacy loss of these charges by ε = {zcdp:.4g} at δ = "
            f"{budget.delta:g}"
        )
    else:
        limit = (
            f"The total is {total}, which is ρ = {budget.rho:.4g}; the sum of ρ over all charges "
            "may not exceed it."
        )
        if not state.charges or zcdp is None:
            return limit
        limit += f" The ρ spent so far converts to ε = {zcdp:.4g} at δ = {budget.delta:g}."
        bound = (
            f"By basic composition the charges add up to ε = {state.epsilon:.4g} with δ = "
            f"{state.delta:.3g}"
        )
    return f"{limit} {bound}. This bound is also valid, but it does not limit the charges."


def uncovered(left: Spending, check: Check) -> str:
    """State why a budget does not cover a release; empty if it does. The ledger checks again."""
    if left.left_rho is not None:
        if check.rho is None:
            return (
                "This budget is in zCDP, and the cost of these settings in zCDP is unknown; "
                "choose other settings, or a budget in ε and δ."
            )
        if check.rho <= left.left_rho:
            return ""
        short = (
            f"This release costs ρ = {check.rho:.4g}, but only {left.left_rho:.4g} is left; choose "
            "a smaller ε."
        )
        return short if check.delta else f"{short} {_LESS_IN_ZCDP}"
    pairs = (("ε", check.epsilon, left.left_epsilon), ("δ", check.delta, left.left_delta))
    for symbol, wanted, rest in pairs:
        if rest is not None and wanted > rest:
            return (
                f"This release costs {symbol} = {wanted:.4g}, but only {rest:.4g} is left; choose "
                "a smaller value."
            )
    return ""


def tools(loaded: Loaded, check: Check) -> None:
    """Show tools: the ε for a wanted quality, and this plan under every accountant."""
    with st.expander("Which ε would be enough?"):
        expectation.wishes(loaded)
    with st.expander("This run under each accountant"):
        accountants(check)


def accountants(check: Check) -> None:
    if not check.planned:
        st.info("This plan has no repeated steps, so there are no accountants to compare.")
        return
    delta = check.delta or 1e-6
    rows = side_by_side(list(check.planned), delta)
    st.dataframe(
        pd.DataFrame(
            [
                {
                    "accountant": row.name,
                    "ε": "–" if row.epsilon is None else f"{row.epsilon:.4g}",
                    "note": row.note,
                }
                for row in rows
            ]
        ),
        hide_index=True,
        alt="This plan under each accountant",
    )
    st.caption(
        f"The table gives the ε of each {term_link('accountant', 'accountant')} for the whole run "
        f"at δ = {delta:g}. Each ε is a valid bound. The guarantee and the charge are (ε = "
        f"{check.epsilon:g}, δ = {check.delta:g})."
    )
    event = max(check.planned, key=lambda e: e.count)
    # A record changes two cells of one table: there are no rounds to draw.
    if event.count > 2:
        charts.show(
            rounds_figure(event, delta), key="release-rounds", alt="ε against the number of steps"
        )


def rounds_figure(event: Any, delta: float) -> go.Figure:
    """Chart of ε under every accountant against the number of equal steps."""
    palette = PALETTES[current()]
    most = event.count
    counts = sorted({max(1, round(most * k / 40)) for k in range(1, 41)})
    figure = go.Figure()
    for number, line in enumerate(by_rounds(event, counts, delta)):
        figure.add_scatter(
            x=line.counts,
            y=line.epsilons,
            name=line.name,
            mode="lines",
            line={
                "color": palette.series[number % len(palette.series)],
                "dash": ("solid", "dash")[number // len(palette.series)],
            },
            hovertemplate="after step %{x}: ε = %{y:.3g}<extra>%{fullData.name}</extra>",
        )
    figure.update_layout(
        height=360,
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom"},
        xaxis={"title": "steps of the plan's most frequent kind"},
        yaxis={"title": f"ε at δ = {delta:g}", "rangemode": "tozero"},
    )
    return figure


def history(ledger: Ledger) -> None:
    """Show all charges, and the ledger as a file."""
    st.header("Ledger")
    charges = ledger.charges()
    if not charges:
        st.caption(f"Nothing has been released yet; the {term_link('ledger')} is empty.")
        return
    st.dataframe(
        pd.DataFrame(
            [
                {
                    "no.": c.sequence,
                    "time (UTC)": c.time,
                    "budget": c.budget,
                    "algorithm": ALGORITHMS[c.algorithm].title
                    if c.algorithm in ALGORITHMS
                    else c.algorithm,
                    "ε": c.epsilon,
                    "δ": c.delta,
                    "ρ": c.rho,
                    "state": c.state_words,
                }
                for c in reversed(charges)
            ]
        ),
        hide_index=True,
        alt="All charges",
        column_config={
            "δ": st.column_config.NumberColumn(format="%.3g"),
            "ρ": st.column_config.NumberColumn(format="%.4g"),
        },
    )
    with st.container(horizontal=True):
        download("Ledger as CSV", ledger.export("csv"), "ledger.csv", "ledger-csv")
        download("Ledger as JSON", ledger.export("json"), "ledger.json", "ledger-json")
    st.caption(
        f"A release is charged first, then computed. The {term_link('ledger')} never refunds a "
        "charge, even if the release fails."
    )
