"""CausalVeil: the frame of all pages, with the menu and the shared controls."""

import gc
from pathlib import Path

import streamlit as st

from pages.ui import session
from pages.ui.charts import address_foot, set_foot
from pages.ui.controls.address import leave_out_infinite, leave_out_undrawn
from pages.ui.controls.algorithm import pick_algorithm, set_algorithm
from pages.ui.controls.data import choose_data
from pages.ui.frame import dress, enter_frame, keep_values, name_unknown, note_address, set_actions
from pages.ui.keys import keys, presenting
from privcore import kernels
from privcore.files import no_core_files

no_core_files()


@st.cache_resource(show_spinner=False)
def keep_out_of_collections(*, kernels: bool) -> None:
    """Exclude imported objects from the garbage collection that Streamlit triggers after each run.

    Otherwise a collection takes longer than most runs. Called once at the start and once after the
    kernels are loaded.
    """
    gc.collect()
    gc.freeze()


ICON = Path(__file__).parent / "assets" / "icon.png"

# Off in .streamlit/config.toml, so that nobody sees a menu of file names before this one.
st.set_option("client.showSidebarNavigation", True)
st.set_page_config(
    page_title="CausalVeil", page_icon=str(ICON), layout="wide", initial_sidebar_state=240
)
data_page = st.Page("pages/data.py", title="Data", icon=":material/table:")
discover_page = st.Page("pages/discover.py", title="Discover", icon=":material/hub:", default=True)
effects_page = st.Page("pages/effects.py", title="Effects", icon=":material/arrow_split:")
tradeoff_page = st.Page("pages/tradeoff.py", title="Trade-off", icon=":material/balance:")
pair_page = st.Page("pages/direction.py", title="Direction", icon=":material/east:")
release_page = st.Page("pages/release.py", title="Release", icon=":material/verified:")
page = st.navigation(
    {
        "Explore": [data_page, discover_page, effects_page, tradeoff_page, pair_page],
        "Release": [
            release_page,
            st.Page("pages/audit.py", title="Audit", icon=":material/policy:"),
        ],
        "Learn": [
            st.Page("pages/learn.py", title="Learn", icon=":material/school:"),
            st.Page("pages/papers.py", title="Papers", icon=":material/menu_book:"),
            # Linked from Learn and from the help of every control.
            st.Page("pages/glossary.py", title="Glossary", visibility="hidden"),
            # Former URLs, which redirect.
            *(
                st.Page(f"pages/{name}.py", visibility="hidden")
                for name in ("cause_and_effect", "lessons", "mechanisms")
            ),
        ],
    }
)
enter_frame()
note_address()
leave_out_infinite()
set_foot(address_foot(page.title, st.query_params.to_dict()))
dress(presenting=presenting() and page is discover_page)

notes, notes_of_session = st.empty(), st.container()
with_data = page in (data_page, discover_page, effects_page, tradeoff_page, release_page)
with_algorithm = with_data and page not in (effects_page, tradeoff_page)
# Without data the row contains only the listener for the browser's keys.
row = "top-row" if with_data else "hidden-row"
with st.container(horizontal=True, vertical_alignment="center", key=row):
    if with_data:
        choose_data()
    if with_algorithm:
        pick_algorithm()
    set_actions(
        st.container(
            horizontal=True, horizontal_alignment="right", width="stretch", key="top-actions"
        )
    )
    tab = keys(presents=page is discover_page, keeps=session.worth_keeping())
session.offer(tab, notes_of_session)
session.say_opened(notes_of_session, page.url_path)
if with_algorithm:
    with st.sidebar:
        set_algorithm(seeded=page is not release_page, with_numbers=page is not discover_page)

page.run()
leave_out_undrawn()
name_unknown(notes, page.url_path)
session.remember(tab)
# After the page, which would otherwise wait for it: loading continues in the background.
loading = kernels.start()
keep_out_of_collections(kernels=not loading.is_alive())
keep_values(page.url_path)
