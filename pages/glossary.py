"""Glossary: the terms on the pages, explained in plain language, with links and a search."""

from dataclasses import replace

import streamlit as st

from pages.ui.frame import require_frame
from pages.ui.glossary import body, heading
from pages.ui.texts import plain
from privcore.extras.teaching.glossary import Term, glossary, is_written
from privcore.text import short

require_frame("pages/glossary.py")


TERMS, PARAMETERS = "Terms", "Parameters of the algorithms"


def show(terms: list[Term]) -> None:
    """Show terms in two columns, filling the left column first."""
    half = (len(terms) + 1) // 2
    for place, part in zip(st.columns(2, gap="large"), (terms[:half], terms[half:]), strict=True):
        for term in part:
            place.markdown(f"{heading(term)}  \n{body(term)}")


def show_matching(words: str) -> None:
    """Show the terms that match a search: first matches in the title, then in the text."""
    matching = [term for term in terms.values() if term.matches(words)]
    matching.sort(key=lambda term: not replace(term, text="", field="").matches(words))
    if matching:
        show(matching)
    else:
        st.info(
            f"No term matches “{plain(words)}”. Try a shorter word, or clear the search to "
            "see all terms.",
            icon=":material/search_off:",
        )


def show_wanted(term: Term) -> None:
    with st.container(border=True):
        symbol = f" · {plain(term.symbol)}" if term.symbol else ""
        st.header(f"{plain(term.title)}{symbol}", anchor=False)
        st.markdown(body(term))
    st.button("All terms", on_click=st.query_params.clear, icon=":material/list:")


st.title("Glossary")
terms = glossary()
wanted = st.query_params.get("term", "")
# So that the frame does not report it as an unknown parameter.
st.session_state["_term_written"] = wanted
words = st.text_input(
    "Search",
    key="glossary_search",
    placeholder="a word or a symbol, such as ε, skeleton, zCDP",
    icon=":material/search:",
    label_visibility="collapsed",
)
if words.strip():
    show_matching(words)
elif wanted in terms:
    show_wanted(terms[wanted])
else:
    if wanted:
        st.warning(
            f"The glossary has no term “{plain(short(wanted))}”; all terms are listed below."
        )
    kind = st.segmented_control(
        "Which",
        [TERMS, PARAMETERS],
        default=TERMS,
        required=True,
        key="glossary_kind",
        label_visibility="collapsed",
    )
    show([term for term in terms.values() if is_written(term.name) == (kind == TERMS)])
