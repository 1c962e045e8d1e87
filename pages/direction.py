"""Direction: a private answer to the question of which of two columns causes the other."""

import streamlit as st

from pages.ui.controls.algorithm import choose_seed
from pages.ui.controls.params import declared_controls
from pages.ui.direction.accuracy import accuracy_panel, epsilon_panel, penalty_panel
from pages.ui.direction.data import Key, choose_pair
from pages.ui.direction.result import guarantee_panel, headline, pictures, scores_panel
from pages.ui.frame import require_frame
from pages.ui.layout import problem, tabbed
from pages.ui.running import cached_result, settings_key
from privcore.errors import PrivcoreError
from privcore.extras.pairs import PARAMETERS, Pair, infer

require_frame("pages/direction.py")


def results(pair: Pair, key: Key) -> None:
    with st.sidebar:
        st.divider()
        values = declared_controls(PARAMETERS, lambda p, _: f"direction_{p.name}")
        seed = choose_seed()
    result = cached_result(
        ("direction", key, settings_key(values), seed),
        "Inferring the direction",
        lambda hooks: infer(pair, values, seed=seed),
    )
    if result is None:
        return
    headline(result, pair)
    pictures(result, pair)
    tabbed(
        {
            "Scores": lambda: scores_panel(result, pair),
            "Decision against ε": lambda: epsilon_panel(pair, key, values, seed),
            "Decision against λ": lambda: penalty_panel(pair, key, values, seed),
            "Accuracy": accuracy_panel,
            "Guarantee": lambda: guarantee_panel(result),
        },
        "pair_tab",
    )
    st.caption(
        f"{result.n_train:,} training and {result.n_test:,} test records, "
        f"{1000 * result.seconds:.0f} ms of engine time. The noise is simulated from a seed for "
        "exploration; this is not a release."
    )


st.title("Direction")
st.markdown("Which of two columns causes the other?")
try:
    chosen = choose_pair()
    if chosen is not None:
        results(*chosen)
except PrivcoreError as error:
    problem(error)
