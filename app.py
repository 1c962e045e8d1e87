"""CausalVeil: the frame of all pages, with the shared sidebar."""

from pathlib import Path

import streamlit as st

from pages.ui.controls.address import leave_out_infinite
from pages.ui.controls.algorithm import choose_algorithm
from pages.ui.controls.data import choose_data
from pages.ui.frame import enter_frame
from privcore.kernels import compiled

ICON = Path(__file__).parent / "assets" / "icon.png"

st.set_page_config(
    page_title="CausalVeil", page_icon=str(ICON), layout="wide", initial_sidebar_state="auto"
)
# Pages that draw controls of their own in the sidebar, or none, in place of an algorithm's.
pair_page = st.Page("pages/cause_and_effect.py", title="Cause and effect", icon=":material/east:")
tradeoff_page = st.Page("pages/tradeoff.py", title="Trade-off", icon=":material/balance:")
mechanisms_page = st.Page("pages/mechanisms.py", title="Mechanisms", icon=":material/functions:")
lessons_page = st.Page("pages/lessons.py", title="Lessons", icon=":material/school:")
glossary_page = st.Page("pages/glossary.py", title="Glossary", icon=":material/dictionary:")
release_page = st.Page("pages/release.py", title="Release", icon=":material/verified:")
audit_page = st.Page("pages/audit.py", title="Audit", icon=":material/policy:")
papers_page = st.Page("pages/papers.py", title="Papers", icon=":material/menu_book:")
page = st.navigation(
    [
        st.Page("pages/discover.py", title="Discover", icon=":material/hub:", default=True),
        tradeoff_page,
        pair_page,
        mechanisms_page,
        lessons_page,
        glossary_page,
        st.Page("pages/data.py", title="Data", icon=":material/table:"),
        release_page,
        audit_page,
        papers_page,
    ]
)
enter_frame()
leave_out_infinite()
st.logo(str(ICON), size="large", link=None)

without_data = (pair_page, audit_page, papers_page, mechanisms_page, lessons_page, glossary_page)
with st.sidebar:
    if page not in without_data:
        choose_data()
    if page not in (*without_data, tradeoff_page):
        st.divider()
        choose_algorithm(seeded=page is not release_page)

page.run()
# After the page, which would otherwise wait for part of it: loading goes on in the background.
compiled.start()
