"""Redirect a former URL to the lessons of the Learn page."""

import streamlit as st

st.switch_page("pages/learn.py", query_params=st.query_params.to_dict())
