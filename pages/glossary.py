"""Glossary: the words that the pages use, each in plain sentences, searchable and linked."""

import streamlit as st

from pages.ui.frame import require_frame
from pages.ui.glossary import body, heading
from pages.ui.texts import plain
from privcore.teaching.glossary import Term, glossary, is_written

require_frame("pages/glossary.py")


def show(terms: list[Term]) -> None:
    """Terms in two columns, in reading order."""
    half = (len(terms) + 1) // 2
    for place, part in zip(st.columns(2, gap="large"), (terms[:half], terms[half:]), strict=True):
        for term in part:
            place.markdown(f"{heading(term)}  \n{body(term)}")


def show_all() -> None:
    st.session_state["glossary_search"] = ""
    st.query_params.pop("term", None)


st.title("Glossary")
terms = glossary()
asked = st.query_params.get("term", "")
words = st.text_input(
    "Search",
    key="glossary_search",
    placeholder="a word or a symbol, such as ε, skeleton, zCDP",
    icon=":material/search:",
    label_visibility="collapsed",
)
if words:
    matching = [term for term in terms.values() if term.matches(words)]
    # What is called so first, then what mentions it.
    matching.sort(key=lambda term: not Term(term.name, term.title, "", term.symbol).matches(words))
    if matching:
        show(matching)
    else:
        st.info(
            f"No term has “{plain(words)}”. Try a shorter word, or clear the search to see all.",
            icon=":material/search_off:",
        )
else:
    if asked in terms:
        with st.container(border=True):
            st.subheader(plain(terms[asked].title), anchor=False)
            st.markdown(f"{heading(terms[asked])}  \n{body(terms[asked])}")
            st.button("All terms", on_click=show_all, icon=":material/list:")
    elif asked:
        st.warning(f"The glossary has no term “{plain(asked)}”; here are all.")
    if asked not in terms:
        show([term for term in terms.values() if is_written(term.name)])
        st.subheader("Parameters of the algorithms", anchor=False)
        show([term for term in terms.values() if not is_written(term.name)])
