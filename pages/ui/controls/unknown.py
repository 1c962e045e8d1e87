"""Words in the address that none of a page's controls has: named, where Streamlit drops them."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import streamlit as st

from pages.ui.texts import plain
from privcore.text import short

_KEPT = "_unknown_in_address"
_LISTED = 6


def name_unknown(page: str, known: Mapping[str, Collection[str]]) -> None:
    """Before any control of the page is drawn: one sentence for each value that it does not have.

    known: the values of each of the page's own parameters, as the address says them.  Streamlit
    takes an unknown value out of the address, so that the sentence is kept for the session, until
    the address has one that is known or another page is opened.
    """
    opened, told = st.session_state.get(_KEPT, (page, {}))
    told = dict(told) if opened == page else {}
    for name, values in known.items():
        asked = st.query_params.get_all(name)
        strange = next((value for value in asked if value not in values), None)
        if strange is not None:
            told[name] = _sentence(name, strange, list(values))
        elif asked:
            told.pop(name, None)
    st.session_state[_KEPT] = (page, told)
    for sentence in told.values():
        st.warning(sentence, icon=":material/link_off:")


def _sentence(name: str, value: str, values: list[str]) -> str:
    listed = ", ".join(values[:_LISTED]) + (", …" if len(values) > _LISTED else "")
    return plain(
        f"The address has {name} “{short(value, 40)}”, which there is not (there are "
        f"{listed}); it is left out."
    )
