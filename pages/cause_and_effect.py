"""Redirect a former URL to the Direction page."""

import streamlit as st

st.switch_page("pages/direction.py", query_params=st.query_params.to_dict())
