"""Release: what can be published? A release is charged first, then computed once and shown.

Everything that this page computes from the exact data is covered by a guarantee. The only
exceptions are values of the domain that were read from the rows, which the page shows until the
data owner confirms or changes them.
"""

import streamlit as st

from pages.ui import expectation
from pages.ui.controls.algorithm import chosen_algorithm
from pages.ui.controls.data import Loaded, current_data, say_no_table
from pages.ui.data import domain
from pages.ui.discover.own import stated
from pages.ui.frame import require_frame
from pages.ui.glossary import term_link
from pages.ui.layout import problem
from pages.ui.release import graphs as released_graphs
from pages.ui.release import panels
from pages.ui.release.archive import archive, check_file
from pages.ui.release.graphs import Shown
from pages.ui.release.panels import Chosen
from pages.ui.texts import plain
from privcore.algorithms import ALGORITHMS
from privcore.data import Dataset
from privcore.effects.by_graph import check_settings, only_columns
from privcore.effects.model import ALGORITHM as CHECKED_BY
from privcore.errors import PrivcoreError, ReleaseError
from privcore.graphs.stated import StatedGraph
from privcore.intake.bought_domain import StatedTable
from privcore.releases.ledger.ledger import Ledger
from privcore.releases.release import release
from privcore.releases.release_check import Check
from privcore.unit import ADDED

require_frame("pages/release.py")


def graph_to_check(loaded: Loaded, subject: Dataset | StatedTable) -> StatedGraph | None:
    """The user's graph, if the release is to measure its columns alone and to check it."""
    name, values = chosen_algorithm()
    graph = stated(loaded) if name == CHECKED_BY and isinstance(subject, Dataset) else None
    if graph is None or values.get("target"):
        return None
    wanted = st.checkbox(
        f"Measure only the {len(graph.names)} columns of your graph, which is stated on Discover; "
        "the certificate then says whether it holds.",
        key="release_graph",
    )
    return graph if wanted else None


def plan(
    own: Loaded, loaded: Loaded, subject: Dataset | StatedTable, graph: StatedGraph | None
) -> Check | None:
    """Check the planned release; returns the charge, or None while something prevents the release.

    own: the data in use. loaded: the data that may be shown. subject: the data to release. graph:
    see `graph_to_check`.
    """
    name, values = chosen_algorithm()
    accepted = tuple(
        caveat
        for caveat in loaded.dataset.notes
        if st.checkbox(
            f"I accept that the guarantee does not cover this: {plain(caveat)}.",
            key=f"release_accept_{caveat}_{loaded.key}",
        )
    )
    try:
        if graph is not None and isinstance(subject, Dataset):
            only = only_columns(subject, graph)
            assert isinstance(only, Dataset)
            subject, values = only, check_settings(only, values)
        check = panels.checked(loaded, subject, name, values, accepted)
    except PrivcoreError as error:
        stated = subject.unconfirmed if isinstance(subject, StatedTable) else subject.undeclared
        question = next((q for q in subject.questions if q.sentence in str(error)), None)
        if stated and question is None and isinstance(error, ReleaseError):
            st.subheader("First: what is public")
            domain.panel(own, where="on the Data page")
            return None
        sentence = (
            str(error) if question is None else f"{question.sentence} Answer this on the Data page."
        )
        st.warning(plain(sentence), icon=":material/block:")
        if question:
            st.page_link("pages/data.py", label="Go to Data", icon=":material/table:")
        return None
    for warning in check.warnings:
        st.warning(plain(warning), icon=":material/warning:")
    return check


def cost(loaded: Loaded, check: Check) -> None:
    """Show the guarantee that a release would have."""
    gap = f", except for this: {'; '.join(map(plain, check.caveats))}" if check.caveats else ""
    st.markdown(
        f"**{plain(ALGORITHMS[st.session_state['algorithm']].title)}** on "
        f"“{plain(loaded.dataset.name)}”: {term_link('epsilon', 'ε')} = {check.epsilon:g}, "
        f"{term_link('delta', 'δ')} = {check.delta:g}, proven, for "
        f"{panels.protects(loaded.dataset)}{gap}."
    )
    if check.split is not None:
        plan = check.split.plan
        st.caption(
            f"Of this cost, ε = {plan.epsilon:.4g} and δ = {plan.delta:.3g} pay for the levels, "
            "bounds and cut points, which are released too. The figures below assume the largest "
            "number of levels that can be bought."
        )


def confirm(
    loaded: Loaded,
    subject: Dataset | StatedTable,
    ledger: Ledger,
    chosen: Chosen,
    check: Check,
    graph: StatedGraph | None,
) -> None:
    """Draw the Release button and its checkboxes; only this button spends budget."""
    shown: list[Shown] = st.session_state.setdefault("_released", [])
    if chosen.refused:
        st.warning(plain(chosen.refused), icon=":material/block:")
    keeps = ALGORITHMS[st.session_state["algorithm"]].again is not None and check.split is None
    keep_numbers = keeps and st.checkbox(
        "Also keep the noisy numbers, in a signed file. The same guarantee covers these numbers. "
        "Anyone can repeat the search at no further privacy cost.",
        value=True,
        key="release_keep_numbers",
    )
    with st.container(border=True, key="release-public"):
        st.markdown("**Taken as public, and stated in the certificate**")
        st.markdown("\n".join(f"- {plain(fact)}" for fact in check.public))
    # The key is the text of the agreement, so a change asks for agreement again.
    deed = chosen.deed(check)
    agreed = st.checkbox(
        deed, key=f"release_agreed_{len(shown)}_{deed}", disabled=bool(chosen.refused)
    )
    st.caption("Stay on this page and do not reload it until the graph appears.")
    free = agreed and not chosen.refused
    if not st.button("Release", type="primary", disabled=not free, icon=":material/publish:"):
        return
    name, values = chosen_algorithm()
    budget = chosen.budget
    with st.spinner("Charging the budget, then running with secure noise"):
        # If the release is refused, the new total remains and nothing of it is spent.
        if chosen.new:
            ledger.set_total(budget.name, budget.epsilon, budget.delta, budget.unit)
        # A paid release is stored at once: any call into Streamlit in between is a
        # point where a click elsewhere could end this run.
        shown.append(
            Shown(
                release(
                    subject,
                    name,
                    values,
                    ledger=ledger,
                    budget=budget.name,
                    content=loaded.content,
                    accepted=check.caveats,
                    keep_numbers=keep_numbers,
                    graph=graph,
                ),
                loaded.positions if loaded.dataset.true_edges and graph is None else None,
                loaded.dataset.name,
            )
        )
    st.rerun()


def steps(own: Loaded) -> None:
    ledger = Ledger()
    in_short = st.container()
    st.header("1. Privacy cost and expected quality")
    loaded, subject = domain.to_release(own, chosen_algorithm()[1])
    graph = graph_to_check(loaded, subject)
    check = plan(own, loaded, subject, graph)
    if check is None:
        with in_short:
            panels.in_short(loaded)
        return
    cost(loaded, check)
    expectation.quality(loaded)
    panels.tools(loaded, check)
    st.header("2. Budget")
    chosen = panels.choose_budget(loaded, subject, ledger, check)
    with in_short:
        panels.in_short(loaded, check, chosen)
    st.header("3. Release")
    confirm(loaded, subject, ledger, chosen, check, graph)


st.title("Release")
st.caption(
    f"Everything that this page computes from the rows is covered by a {term_link('guarantee')}. "
    "The rest, including the expected quality, is computed from what is "
    f"{term_link('public-domain', 'treated as public')}: the number of rows, and the columns with "
    "their levels or bounds."
)
if chosen_algorithm()[1].get("neighbours") == ADDED:
    st.caption(
        "This release hides the number of rows. The figures on this page use the exact number and "
        "are for you only; the certificate states a noisy number."
    )
# First, so that whatever fails below, paid releases stay available.
if released_graphs.released_before():
    st.header("Another release", divider=True)
try:
    loaded = current_data()
    if loaded is None:
        say_no_table()
    else:
        steps(loaded)
except PrivcoreError as error:
    problem(error)
try:
    panels.history(Ledger())
    archive(Ledger())
except PrivcoreError as error:
    problem(error)
check_file()
