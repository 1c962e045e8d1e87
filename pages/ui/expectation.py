"""What to expect of a run, from public facts: its power and quality, and the ε or algorithm for it.

Quality comes from simulations on public surrogate data, power from the engine.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from pages.ui import charts
from pages.ui.controls.algorithm import chosen_algorithm
from pages.ui.controls.data import Loaded
from pages.ui.controls.known import known_text
from pages.ui.glossary import glossary_note
from pages.ui.running import LiveHooks, cached_result, forget_cancelled, settings_key
from pages.ui.texts import plain, protection_of
from pages.ui.theme import PALETTES, current
from privcore.algorithms import ALGORITHMS
from privcore.algorithms.engine import row_parameters
from privcore.algorithms.moment_search.parameters import MomentSearchParameters
from privcore.algorithms.moment_search.visible import PublicShape, Visible, visible_effects
from privcore.display.sentences import changing_sentence, visible_sentence
from privcore.errors import PrivcoreError
from privcore.extras.lab.planning.adviser import (
    Advice,
    Candidate,
    Reached,
    advise,
    candidates,
    enough,
    epsilon_for_noise,
    epsilon_for_quality,
    most_runs,
)
from privcore.extras.lab.planning.optimality_gap import optimality_gap
from privcore.extras.lab.planning.surrogate import Quality, Shape, Spread, Surrogates

_EPSILONS = np.geomspace(0.01, 30, 36)
_NO_NOISE = 1e4
_TABLES = (
    "Each line starts at the smallest ε at which any dependence can be detected; conditional "
    "tests also need contingency tables that fit the budget."
)
_KNOWS = (
    "The ideal test is designed for this pair and this size of the dependence: up to a constant "
    "factor, no private test can use fewer rows or a smaller ε."
)
_TITLE = "Simulating on public surrogate data"


def quality(loaded: Loaded) -> None:
    """On request, show the quality expected from surrogates; this takes up to a minute."""
    name, values = chosen_algorithm()
    key = ("release-quality", loaded.key, name, settings_key(values))
    if not wished("Simulate the expected quality", key, "release_quality"):
        return
    held = surrogates(loaded)
    expected: Quality | None = cached_result(
        key,
        "Simulating on public surrogate data",
        lambda hooks: held.quality(
            name, values, lambda done: hooks.part(done, len(held.seeds), "simulation")
        ),
    )
    if expected is None:
        return
    if expected.failures:
        st.warning(
            f"{len(expected.failures)} simulations were refused: {plain(expected.failures[0])}"
        )
    if not expected.runs:
        return
    row = st.container(horizontal=True)
    for against, title in (("truth", "the truth"), ("non_private", "non-private")):
        spread = expected.f1[against]["skeleton"]
        shown = f"{spread.mean:.2f}" + (f" ± {spread.sd:.2f}" if expected.runs > 1 else "")
        row.metric(
            f"Expected F1 against {title}",
            shown,
            border=True,
            help=f"Skeleton F1: mean and standard deviation over {expected.runs} random models "
            "with the columns, levels or bounds, and number of rows of your data. Your data "
            f"may be easier or harder. {glossary_note('f1')}",
        )


def surrogates(loaded: Loaded) -> Surrogates:
    """The surrogates for these data, cached so that a change of settings does not remake them."""
    held = st.session_state.get("_surrogates")
    known = known_text(loaded)
    key = (loaded.key, known)
    if held is None or held[0] != key:
        shape = Shape.of(loaded.dataset)
        st.session_state["_surrogates"] = held = (key, Surrogates(shape, knowledge=known))
    simulated: Surrogates = held[1]
    return simulated


def wishes(loaded: Loaded) -> None:
    name, values = chosen_algorithm()
    settings = settings_key({**values, "epsilon": 0})
    left, right = st.columns(2)
    with left:
        target = st.slider("Target skeleton F1", 0.1, 1.0, 0.8, 0.05, key="release_target")
        key: tuple[Hashable, ...] = ("release-wish", loaded.key, name, settings, target)
        if wished("Smallest ε for this F1", key, "release_find_quality"):
            held = surrogates(loaded)
            say(
                key,
                lambda hooks: epsilon_for_quality(
                    held,
                    name,
                    values,
                    target,
                    watch=lambda done: hooks.part(done, most_runs(held), "simulation"),
                ),
            )
    with right:
        share = st.slider(
            "Noise as a share of the test's threshold",
            0.1,
            2.0,
            0.5,
            0.1,
            key="release_share",
            help="Standard deviation of the noise on one test, divided by the test's threshold.",
        )
        key = ("release-noise", loaded.key, name, settings, share)
        if wished("Smallest ε for this share", key, "release_find_noise"):
            say(key, lambda hooks: epsilon_for_noise(Shape.of(loaded.dataset), name, values, share))


def wished(title: str, key: Hashable, widget: str) -> bool:
    """Draw a button that requests an answer; true if it was clicked or the answer is cached."""
    pressed = st.button(title, key=widget, on_click=forget_cancelled)
    return pressed or key in st.session_state.get("_results", {})


def say(key: Hashable, find: Callable[[LiveHooks], Reached]) -> None:
    try:
        reached = cached_result(key, "Simulating at several ε", find)
    except PrivcoreError as error:
        st.warning(plain(str(error)), icon=":material/block:")
        return
    if reached is not None:
        answer = "Not reached." if reached.epsilon is None else f"ε = {reached.epsilon:.3g}."
        st.markdown(f"**{answer}** {reached.note}")


def seen_sentence(loaded: Loaded, parameters: dict[str, Any]) -> str:
    """State the smallest dependence that is likely to be detected."""
    values = _checked(parameters)
    shape = PublicShape.of(loaded.source, values.knowledge)
    on_rows = _on_rows(loaded, parameters, values.epsilon)
    return plain(visible_sentence(shape, on_rows, values.epsilon))


def missing_sentence(loaded: Loaded, parameters: dict[str, Any]) -> str:
    """State changes that would make a clear dependence detectable; empty if none is needed."""
    values = _checked(parameters)
    shape = PublicShape.of(loaded.source, values.knowledge)
    return plain(changing_sentence(shape, _on_rows(loaded, parameters, values.epsilon)))


def gap_sentence(loaded: Loaded, parameters: dict[str, Any]) -> str:
    """State whether rows, budget or algorithm limit the detection of a weak edge.

    Empty for mixed data, which have no surrogates, and for a question about one column. Also empty
    if several rows are protected together, because the bound is known for single rows only.
    """
    plain_case = protection_of(loaded.dataset, parameters).plain
    if loaded.source.holds == "both" or not plain_case or parameters.get("target"):
        return ""
    gap = optimality_gap(surrogates(loaded), _checked(parameters))
    return "" if gap is None else f"**{gap.verdict}** {plain(gap.reason)}"


def _checked(parameters: dict[str, Any]) -> MomentSearchParameters:
    return MomentSearchParameters.checked(parameters, "moment-search")


def _on_rows(loaded: Loaded, parameters: dict[str, Any], epsilon: float) -> MomentSearchParameters:
    """Parameters of the row-level run that guarantees ε for the protected unit."""
    whole = {**parameters, "epsilon": epsilon}
    return _checked(row_parameters("moment-search", whole, loaded.source))


def power_panel(loaded: Loaded, parameters: dict[str, Any]) -> None:
    """Plot the smallest dependence that is detected with 90 % probability, against ε."""
    values = _checked(parameters)
    shape = PublicShape.of(loaded.source, values.knowledge)
    st.markdown(seen_sentence(loaded, parameters))
    effects = [visible_effects(shape, _on_rows(loaded, parameters, float(e))) for e in _EPSILONS]
    without = visible_effects(shape, replace(values, epsilon=_NO_NOISE))
    charts.show(
        _figure(effects, without, values.epsilon, numbers=not shape.levels),
        key="power",
        alt="Smallest dependence detected with 90 % probability, by ε",
    )
    st.caption(
        "Smaller is better. Computed only from the number of rows, the levels or bounds, ε, δ and "
        "the settings; your rows are not used. Only larger dependences are detected if levels are "
        "rare, if values fill only a small part of the range between their bounds, or if columns "
        "depend on many others. " + (_TABLES if shape.levels else "")
    )


def _figure(
    effects: list[Visible], without: Visible, epsilon: float, *, numbers: bool
) -> go.Figure:
    palette = PALETTES[current()]
    named = (
        ("two columns", "alone"),
        ("given one other column", "given_one"),
        ("given two other columns", "given_two"),
    )
    figure = go.Figure()
    for k, (name, field) in enumerate(named[:1] if numbers else named):
        sizes = [getattr(visible, field) for visible in effects]
        if any(size is not None for size in sizes):
            figure.add_scatter(
                x=_EPSILONS,
                y=sizes,
                name=name,
                mode="lines",
                line={"color": palette.series[k], "dash": ("solid", "dash", "dot")[k]},
                hovertemplate="ε = %{x:.3g}: %{y:.2g}<extra>%{fullData.name}</extra>",
            )
    if without.alone is not None:
        figure.add_scatter(
            x=_EPSILONS[[0, -1]],
            y=[without.alone] * 2,
            name="two columns, without noise",
            mode="lines",
            line={"color": palette.muted, "width": 1, "dash": "dashdot"},
            hoverinfo="skip",
        )
    figure.add_vline(x=epsilon, line={"color": palette.text, "width": 1})
    figure.add_annotation(
        # On a logarithmic axis, annotations are placed by the logarithm.
        x=math.log10(epsilon),
        y=1,
        yref="paper",
        text=f"ε = {epsilon:g}",
        showarrow=False,
        xanchor="left",
        yanchor="top",
        font_color=palette.text,
    )
    figure.update_xaxes(type="log", dtick="D2", title="privacy budget ε", fixedrange=True)
    figure.update_yaxes(
        type="log",
        fixedrange=True,
        dtick="D2",
        title="smallest correlation detected" if numbers else "smallest Cramér's V detected",
    )
    figure.update_layout(height=340, legend={"orientation": "h", "y": 1.02, "yanchor": "bottom"})
    return figure


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
