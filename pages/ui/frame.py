"""A page opened by its address before the app has run once is sent through `app.py`.

While a folder named `pages` lies beside `app.py`, and until the first `st.navigation` call,
Streamlit runs a page opened by its address on its own, without the frame: the shared sidebar and
the state it sets are not there.  So every page starts with `require_frame`, and `app.py` calls
`enter_frame` after `st.navigation`.
"""

from __future__ import annotations

import streamlit as st

_ENTERED = "_frame_entered"
_WANTED = "_frame_wanted_page"


def require_frame(page: str) -> None:
    """Go to `app.py` and come back when `page` ("pages/discover.py") was opened without it."""
    if not st.session_state.get(_ENTERED):
        st.session_state[_WANTED] = page
        st.switch_page("app.py", query_params=st.query_params.to_dict())


def enter_frame() -> None:
    """Note that the frame is there, and go on to the page that was requested first, if any.

    The parameters in the address are kept both ways.
    """
    st.session_state[_ENTERED] = True
    wanted = st.session_state.pop(_WANTED, None)
    if wanted is not None:
        st.switch_page(wanted, query_params=st.query_params.to_dict())
