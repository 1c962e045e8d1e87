"""A former URL, which redirects to the lessons of Learn."""

import streamlit as st

st.switch_page("pages/learn.py", query_params=st.query_params.to_dict())
