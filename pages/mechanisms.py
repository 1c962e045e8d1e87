"""Mechanisms: how each private step works, with controls that answer at once."""

import streamlit as st

from pages.ui.controls.address import choose
from pages.ui.frame import require_frame
from pages.ui.glossary import term_link, terms_of_panel
from pages.ui.mechanisms.panels import controls, show_panel
from pages.ui.messages import problem
from privcore.errors import PrivcoreError
from privcore.extras.teaching import PANELS

require_frame("pages/mechanisms.py")
st.title("Mechanisms")
st.markdown(
    "What private algorithms are made of, one step at a time; all of it is simulated. The controls "
    "are in the sidebar."
)
name = choose(
    list(PANELS),
    lambda n: PANELS[n].title,
    next(iter(PANELS)),
    key="panel",
    widget=st.segmented_control,
    label="Panel",
    required=True,
    persist_state="session",
    label_visibility="collapsed",
)
panel = PANELS[name]
st.header(panel.question, anchor=False)
try:
    with st.sidebar:
        st.markdown(f"**{panel.title}**")
        values = controls(panel, panel.name)
    if words := panel.words(values):
        st.markdown(words)
    show_panel(panel, values, panel.name)
    if names := terms_of_panel(panel.name):
        st.markdown(f"Words of this panel: {', '.join(term_link(name) for name in names)}.")
except PrivcoreError as error:
    problem(error)
