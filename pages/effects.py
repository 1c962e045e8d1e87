"""Effects: the causal effect of one column on another, computed from private statistics."""

from collections.abc import Callable

import streamlit as st

from pages.ui import texts
from pages.ui.charts import set_foot
from pages.ui.controls import known
from pages.ui.controls.data import Loaded, current_data, say_no_table
from pages.ui.discover.panels import guarantee_panel
from pages.ui.effects import exports, result
from pages.ui.effects.controls import budget, choose_question, settings
from pages.ui.effects.runs import compared, run
from pages.ui.frame import require_frame
from pages.ui.layout import problem, tabbed
from pages.ui.pictures.run import run_lines
from privcore.errors import PrivcoreError

require_frame("pages/effects.py")
TITLE = "Effects"
# The line below a slider stays close to it.
STYLE = """
.st-key-effect-budget [data-testid=stSlider] { margin-bottom: -1.3rem; }
.st-key-effect-graph { padding: 0.35rem 0.6rem; }
.st-key-effect-graph h2 { font-size: 0.95rem; padding: 0; }
.st-key-effect-graph [data-testid=stHeading] { margin-bottom: 0.3rem; min-height: 1.3rem; }
.st-key-effect-graph [data-testid=stElementContainer]:has(h2) { height: auto; flex: none; }
"""


def results(loaded: Loaded) -> None:
    with st.sidebar:
        seed = settings()
    st.html(f"<style>{STYLE}</style>")
    with st.container(key="effect-choices", gap="xsmall"):
        question = choose_question(loaded)
        if question is None:
            st.title(TITLE)
            st.info(
                "An effect needs two columns; this table has fewer. Choose other data, or load "
                "another table on the Data page."
            )
            return
        values, share, width = budget(loaded, question)
    words = st.container(key="answer", gap="xxsmall")
    answer = run(loaded, question, values, share, seed)
    if answer is None:
        words.title(TITLE)
        return
    width.note(answer)
    other = compared(loaded, answer)
    set_foot(run_lines(answer.result, loaded.dataset, seed=seed, compared=True))
    with words:
        result.header(answer, loaded)
        if prior := known.sentence(loaded):
            st.caption(texts.plain(prior))
    result.pictures(answer, other, loaded)
    contents: dict[str, Callable[[], None]] = {
        "Each possible set of parents": lambda: result.parents_panel(answer),
        **(
            {"Probabilities": lambda: result.means_panel(answer)}
            if any(effect.means for effect in answer.shown)
            else {}
        ),
        "What is promised": lambda: guarantee_panel(answer.result),
        "Export": lambda: exports.panel(answer, loaded, values, share, seed),
    }
    with st.container(key="after"):
        tabbed(contents, "effects_tab")


try:
    loaded = current_data()
    if loaded is None:
        st.title(TITLE)
        say_no_table()
    else:
        results(loaded)
except PrivcoreError as error:
    st.title(TITLE)
    problem(error)
