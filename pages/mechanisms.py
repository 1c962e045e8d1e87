"""Redirect a former URL to the playground of the Learn page."""

import streamlit as st

st.switch_page("pages/learn.py", query_params={"panel": "noise", **st.query_params.to_dict()})
