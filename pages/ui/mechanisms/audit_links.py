"""Ways to the page Audit from a mechanism that it knows."""

from __future__ import annotations

import streamlit as st


def catch_on_the_audit_page(name: str, *, broken: bool) -> None:
    """A button that opens the audit of a planted bug, or of the correct sparse vector."""
    text = "Catch it on the Audit page" if broken else "Audit the correct one"
    if st.button(text, icon=":material/policy:", key=f"to-audit-{name}"):
        case = name if broken else "sparse-vector"
        st.switch_page("pages/audit.py", query_params={"case": case})
