"""The choice of an algorithm, its parameters, and the noise."""

from __future__ import annotations

import re
from typing import Any

import streamlit as st

from pages.ui.controls.address import choose
from pages.ui.controls.data import current_data
from pages.ui.controls.known import held_text
from pages.ui.controls.params import controls, main_numbers, seed_field, values_of
from pages.ui.controls.target import choose_target, held_target, takes_target
from pages.ui.texts import PUBLISHED_EPSILON, odds_sentence, protection_of
from privcore.algorithms import ALGORITHMS
from privcore.algorithms.engine import planned_delta
from privcore.algorithms.protecting import Protection
from privcore.algorithms.registry import RECOMMENDED
from privcore.display.sentences import ONE_ROW
from privcore.errors import PrivcoreError

# With this seed the first view is typical: of 30 seeds, its F1 are nearest to the mean at each ε.
SEED = 5


def pick_algorithm() -> None:
    """Choose an algorithm by its title; the URL stores its name."""
    choose(
        sorted(ALGORITHMS, key=lambda name: name != RECOMMENDED),
        _entry,
        RECOMMENDED,
        label="Algorithm",
        key="algorithm",
        persist_state="session",
        label_visibility="collapsed",
        width=210,
    )


def _entry(name: str) -> str:
    """An algorithm's entry in the list: its title, from whom it is, and what it does."""
    algorithm = ALGORITHMS[name]
    whose = "recommended, ours" if name == RECOMMENDED else short_citation(algorithm.citation)
    return f"{algorithm.title} – {whose}: {algorithm.line}"


def short_citation(citation: str) -> str:
    """The first authors and the year of a citation.

    >>> short_citation("Wang, Pang & Song 2020, Section 1")
    'Wang et al. 2020'
    """
    found = re.match(r"([^\W\d]+)(.*?) (\d{4})", citation)
    if found is None:
        return citation
    first, more, year = found.groups()
    return f"{first}{' et al.' if more else ''} {year}"


def chosen_algorithm() -> tuple[str, dict[str, Any]]:
    """The name of the chosen algorithm, and its parameters' values as their controls hold them."""
    name = st.session_state["algorithm"]
    values = {**values_of(ALGORITHMS[name]), "knowledge": held_text()}
    if takes_target(ALGORITHMS[name]):
        values["target"] = held_target()
    return name, values


def set_algorithm(*, seeded: bool = True, with_numbers: bool = True) -> None:
    """Draw the chosen algorithm's controls.

    seeded: whether the page simulates noise from a seed. with_numbers: whether to draw the controls
    of `main_numbers` too; if not, the page draws them.
    """
    name = st.session_state["algorithm"]
    algorithm = ALGORITHMS[name]
    # An asterisk in a title would be read as markup.
    title = algorithm.title.replace("*", "\\*")
    st.markdown(f"**{title}**", help=algorithm.summary)
    if takes_target(algorithm):
        choose_target()
    controls(algorithm, () if with_numbers else [p.name for p in main_numbers(algorithm)])
    if algorithm.private:
        if seeded:
            choose_seed()
        if not with_numbers:
            return
        chosen = values_of(algorithm)
        if chosen.get("calibration") != "published":
            odds = odds_sentence(chosen["epsilon"], _delta(name, chosen), whom=_whom(chosen))
            st.caption(odds)
        else:
            st.caption(PUBLISHED_EPSILON[algorithm.published_epsilon])


def _whom(chosen: dict[str, Any]) -> Protection:
    try:
        loaded = current_data()
    except PrivcoreError:
        loaded = None  # The page says what is wrong.
    return ONE_ROW if loaded is None else protection_of(loaded.dataset, chosen)


def _delta(name: str, chosen: dict[str, Any]) -> float:
    """δ of the guarantee: 0 if the algorithm needs no δ on these data, else the chosen δ."""
    try:
        loaded = current_data()
        if loaded is not None:
            return planned_delta(name, chosen, loaded.source)
    except PrivcoreError:
        pass  # The page says what is wrong.
    return float(chosen.get("delta", 0.0))


def choose_seed() -> int:
    """Draw the field for the seed of the simulated noise, which all pages share; returns it."""
    return seed_field(
        "Noise seed",
        "seed",
        "The same seed gives the same simulated noise. A release uses secure noise instead.",
        usual=SEED,
        most=2**53 - 1,
    )
