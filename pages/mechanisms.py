"""A former URL, which redirects to the playground of Learn."""

import streamlit as st

st.switch_page("pages/learn.py", query_params={"panel": "noise", **st.query_params.to_dict()})
