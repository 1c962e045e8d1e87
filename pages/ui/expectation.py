"""Expected quality of a run, and the budget for a wanted quality, from public surrogates."""

from __future__ import annotations

from collections.abc import Callable, Hashable

import streamlit as st

from pages.ui.controls.algorithm import chosen_algorithm
from pages.ui.controls.data import Loaded
from pages.ui.controls.known import known_text
from pages.ui.glossary import glossary_note
from pages.ui.running import LiveHooks, cached_result, forget_cancelled, settings_key
from pages.ui.texts import plain
from privcore.errors import PrivcoreError
from privcore.extras.lab.planning.quality_target import epsilon_for_quality, most_runs
from privcore.extras.lab.planning.surrogate import Quality, Shape, Surrogates
from privcore.extras.lab.planning.targets import Reached, epsilon_for_noise


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
