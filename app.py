"""CausalVeil: the frame of all pages, with the shared sidebar."""

from pathlib import Path

import streamlit as st

from pages.ui.data import choose_data
from pages.ui.frame import enter_frame
from pages.ui.params import controls
from pages.ui.texts import PUBLISHED_EPSILON, odds_sentence
from privcore.discovery import ALGORITHMS

ICON = Path(__file__).parent / "assets" / "icon.png"

st.set_page_config(
    page_title="CausalVeil", page_icon=str(ICON), layout="wide", initial_sidebar_state="expanded"
)
page = st.navigation(
    [
        st.Page("pages/discover.py", title="Discover", icon=":material/hub:", default=True),
        st.Page("pages/data.py", title="Data", icon=":material/table:"),
    ]
)
enter_frame()
st.logo(str(ICON), size="large", link=None)

with st.sidebar:
    choose_data()
    st.divider()
    names = list(ALGORITHMS)
    name = st.selectbox(
        "Algorithm",
        names,
        index=names.index("priv-pc"),
        key="algorithm",
        bind="query-params",
        help="How the graph is found, and where noise enters.",
    )
    algorithm = ALGORITHMS[name]
    # An asterisk in a title would be read as markup.
    title = algorithm.title.replace("*", "\\*")
    st.caption(f"**{title}.** {algorithm.summary}")
    st.session_state["parameters"] = controls(algorithm)
    if algorithm.private:
        st.number_input(
            "Noise seed",
            0,
            2**31 - 1,
            value=1,
            key="seed",
            bind="query-params",
            persist_state="session",
            help="Simulated noise repeats with the same seed. A release uses secure noise instead.",
        )
        chosen = st.session_state["parameters"]
        if chosen.get("calibration") != "published":
            st.caption(odds_sentence(chosen["epsilon"], chosen.get("delta", 0.0)))
        else:
            st.caption(PUBLISHED_EPSILON[algorithm.published_epsilon])

page.run()
