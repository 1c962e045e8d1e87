"""The panel that recommends an algorithm before any budget is spent."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable

import pandas as pd
import streamlit as st

from pages.ui.controls.data import Loaded
from pages.ui.controls.known import known_text
from pages.ui.discover.power import gap_sentence
from pages.ui.expectation import say, surrogates, wished
from pages.ui.running import cached_result
from pages.ui.texts import plain
from privcore.algorithms import ALGORITHMS
from privcore.errors import PrivcoreError
from privcore.extras.lab.planning.adviser import Advice, Candidate, advise, candidates, enough
from privcore.extras.lab.planning.quality_target import most_runs
from privcore.extras.lab.planning.surrogate import Spread

_KNOWS = (
    "The ideal test is designed for this pair and this size of the dependence: up to a constant "
    "factor, no private test can use fewer rows or a smaller ε."
)
_TITLE = "Simulating on public surrogate data"


def advice_panel(
    loaded: Loaded, epsilon: float, delta: float, use: Callable[[str, str], None]
) -> None:
    """Draw the panel that compares algorithms by simulation.

    use: a callback that sets a control of the page, such as the algorithm.
    """
    st.caption(
        "The button simulates every private algorithm with default settings on random models. The "
        "models have the same number of rows as your data, and the same columns with their levels "
        "or bounds. The simulations do not use your rows, so they cost no privacy; your data may "
        "be easier or harder."
    )
    limit = gap_sentence(loaded, {"epsilon": epsilon, "delta": delta})
    if limit:
        st.markdown(f"{limit} {_KNOWS}")
    known = known_text(loaded)
    key: tuple[Hashable, ...] = ("advice", loaded.key, epsilon, delta, known)
    if not wished(f"Which algorithm at ε = {epsilon:g}?", key, "advice_ask"):
        return
    try:
        held = surrogates(loaded)
        many = len(candidates(held.shape)) * len(held.seeds)
        advice = cached_result(
            key,
            _TITLE,
            lambda hooks: advise(
                held, epsilon, delta, watch=lambda done: hooks.part(done, many, "simulation")
            ),
        )
        if advice is not None:
            answer(loaded, advice, epsilon, delta, use)
    except PrivcoreError as error:
        st.warning(plain(str(error)), icon=":material/block:")


def answer(
    loaded: Loaded, advice: Advice, epsilon: float, delta: float, use: Callable[[str, str], None]
) -> None:
    best = advice.best
    if best is None:
        st.warning(
            "No algorithm can run on these columns; leave some out, or cut them into intervals."
        )
        return
    title = plain(ALGORITHMS[best.algorithm].title)
    st.markdown(
        f"At ε = {epsilon:g} use **{title}**: its skeleton F1 is about {best.skeleton.mean:.2f}, "
        f"and its CPDAG F1 is about {best.cpdag.mean:.2f}, in {advice.runs} simulations of each "
        "algorithm."
    )
    others = [plain(ALGORITHMS[c.algorithm].title) for c in advice.close if c is not best]
    if others:
        st.caption(f"Not clearly worse in skeleton F1: {', '.join(others)}.")
    if st.session_state["algorithm"] != best.algorithm:
        st.button(f"Use {title}", on_click=use, args=("algorithm", best.algorithm))
    st.dataframe(
        pd.DataFrame([row(c) for c in advice.candidates]),
        hide_index=True,
        alt="Expected quality of each algorithm",
    )
    target = st.slider("Target skeleton F1", 0.1, 1.0, 0.9, 0.05, key="advice_target")
    key = ("advice-epsilon", loaded.key, best.algorithm, delta, target, known_text(loaded))
    if wished(f"Which ε would {title} need?", key, "advice_enough"):
        held = surrogates(loaded)
        say(
            key,
            lambda hooks: enough(
                held,
                best.algorithm,
                delta,
                target,
                watch=lambda done: hooks.part(done, most_runs(held), "simulation"),
            ),
        )


def row(candidate: Candidate) -> dict[str, str]:
    return {
        "algorithm": ALGORITHMS[candidate.algorithm].title,
        "skeleton F1": spread(candidate.skeleton),
        "CPDAG F1": spread(candidate.cpdag),
        "remark": f"refused: {candidate.refused}" if candidate.refused else "",
    }


def spread(value: Spread) -> str:
    if math.isnan(value.mean):
        return "–"
    return f"{value.mean:.2f}" + ("" if math.isnan(value.sd) else f" ± {value.sd:.2f}")
