"""Trade-off: how much quality does privacy cost, for every algorithm at every ε?"""

import streamlit as st

from pages.ui.controls.data import Loaded, current_data, say_no_table
from pages.ui.frame import require_frame
from pages.ui.glossary import term_link
from pages.ui.layout import problem
from pages.ui.texts import plain
from pages.ui.tradeoff.controls import choose_plan, choose_view
from pages.ui.tradeoff.quality import quality_view
from pages.ui.tradeoff.sweeping import sweep_of
from pages.ui.tradeoff.views import (
    edges_view,
    effort_view,
    eight_networks_view,
    map_view,
    table_view,
)
from privcore.display.answer import columns_words
from privcore.errors import PrivcoreError

require_frame("pages/tradeoff.py")
VIEWS = [
    "Quality",
    "Eight networks",
    "Two parameters",
    "Edges",
    "Tests and time",
    "Table & download",
]


def results(loaded: Loaded) -> None:
    with st.sidebar:
        plan = choose_plan(loaded)
    if plan is None:
        st.info("Choose at least one algorithm on the left.")
        return
    chosen = st.segmented_control(
        "View",
        VIEWS,
        default=VIEWS[0],
        required=True,
        key="sweep_view",
        bind="query-params",
        label_visibility="collapsed",
    )
    if chosen == "Eight networks":
        eight_networks_view()
        return
    has_truth = loaded.dataset.true_edges is not None
    if chosen == "Two parameters":
        map_view(loaded, plan, choose_view(has_truth))
        return
    sweep = sweep_of(plan)
    if chosen == "Quality":
        quality_view(sweep, choose_view(has_truth))
    elif chosen == "Edges":
        edges_view(loaded, sweep)
    elif chosen == "Tests and time":
        effort_view(sweep)
    else:
        table_view(sweep, choose_view(has_truth))


st.title("Trade-off")
st.caption(
    f"Quality of each algorithm's graph at each {term_link('epsilon', 'privacy budget ε')}: the "
    f"{term_link('f1')} of the {term_link('skeleton')}, or of the {term_link('cpdag', 'CPDAG')}, "
    "for which directions count too."
)
try:
    loaded = current_data()
    if loaded is None:
        say_no_table()
    else:
        if loaded.dataset.hidden:
            about = plain(f"{loaded.dataset.name}, {columns_words(loaded.dataset)}.")
            st.caption(
                f"{about} The true graph is a {term_link('pag', 'PAG')}: where directions count, "
                "the marks at both ends of an edge are compared."
            )
        results(loaded)
except PrivcoreError as error:
    problem(error)
