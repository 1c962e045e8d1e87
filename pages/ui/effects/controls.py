"""The controls of the Effects page: the question and its budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.ui.controls.address import choose
from pages.ui.controls.algorithm import choose_seed
from pages.ui.controls.data import UPLOAD, Loaded
from pages.ui.controls.known import held_text
from pages.ui.controls.params import control, controls, epsilon_of, values_of, widget_key
from pages.ui.layout import wrapping_columns
from privcore.algorithms import ALGORITHMS
from privcore.data import Dataset
from privcore.data.model import Column
from privcore.display.effects import width_sentence
from privcore.effects import (
    ALGORITHM,
    SHARE,
    EffectPlan,
    Effects,
    Question,
    expected_precision,
)
from privcore.text import short

# Share of ε that the page offers when no share is chosen.
HALF = 0.5


def settings() -> int:
    """Draw the controls of the search (except ε) and the noise seed; returns the seed."""
    algorithm = ALGORITHMS[ALGORITHM]
    st.markdown(f"**{algorithm.title}**", help=algorithm.summary)
    controls(algorithm, ["epsilon"])
    return choose_seed()


def choose_question(loaded: Loaded) -> Question | None:
    """Draw the choice of cause, outcome and levels; None if there are fewer than two columns.

    The choice is stored in the URL, except for a user's own table.
    """
    data = loaded.dataset
    if len(data.names) < 2:
        return None
    pick = _Picker(loaded, public=st.session_state["data"] != UPLOAD)
    first = usual_pair(data)
    places = iter(wrapping_columns("effect-question", 5, least=130))
    with next(places):
        cause = pick("Cause", "cause", data.names, first[0])
    others = [name for name in data.names if name != cause]
    outcome = usual_outcome(data, cause)
    levels = {column.name: column.levels for column in data.columns}
    # The fields are in the order of the sentence that they form.
    compared_at, to_at, outcome_at, level_at = places
    with outcome_at:
        outcome = pick("Outcome", "outcome", others, outcome)
    indexed, level = Question(cause, outcome).on(data.columns), None
    values, results = levels[cause], levels[outcome]
    if results:
        with level_at:
            level = pick("Outcome level", "level", results, results[indexed.level])
    if not values:
        column = data.columns[indexed.cause]
        with compared_at:
            low = _value("From", "from", column)
        with to_at:
            high = _value("To", "to", column)
        if low is None or high is None or low == high:
            return Question(cause, outcome, level=level)
        return Question(cause, outcome, f"{low:.15g}", f"{high:.15g}", level)
    with compared_at:
        compared = pick("From", "from", values, values[indexed.compared])
    rest = [value for value in values if value != compared]
    # Swapped if the comparison is with the default value.
    usual = values[indexed.to] if values[indexed.to] in rest else values[indexed.compared]
    with to_at:
        to = pick("To", "to", rest, usual)
    return Question(cause, outcome, compared, to, level)


def _value(label: str, key: str, column: Column) -> float | None:
    """Draw a field for one of the two values of a cause that is a number."""
    assert column.bounds is not None
    return st.number_input(
        label,
        *column.bounds,
        value=None,
        placeholder="one more unit",
        key=f"{key}_value_{column.name}",
        help=f"A value of {short(column.name, 30)} within its bounds. Without both values, the "
        "effect is that of one more unit.",
    )


@dataclass(frozen=True)
class _Picker:
    """Draws a list of columns or levels; public: whether the choice may appear in the URL."""

    loaded: Loaded
    public: bool

    def __call__(self, label: str, key: str, names: Sequence[str], default: str) -> str:
        if self.public:
            return choose(names, short, default, label=label, key=key, persist_state="session")
        held = f"own_{key}"
        if st.session_state.get(held) not in names:
            st.session_state[held] = default
        picked: str | None = st.selectbox(
            label, names, format_func=short, key=held, persist_state="session"
        )
        assert picked is not None
        return picked


def usual_pair(data: Dataset) -> tuple[str, str]:
    """The default cause (the column with the most descendants, if known) and default outcome."""
    reached = {name: _after(data, name) for name in data.names}
    cause = max(data.names, key=lambda name: len(reached[name]))
    if not reached[cause]:
        levelled = [column.name for column in data.columns if column.levels]
        cause = levelled[0] if len(levelled) > 1 else data.names[0]
    return cause, usual_outcome(data, cause)


def usual_outcome(data: Dataset, cause: str) -> str:
    """The default outcome: a descendant of the cause if known, else a column of the same kind."""
    others = [column for column in data.columns if column.name != cause]
    levels = next(column for column in data.columns if column.name == cause).levels
    after = _after(data, cause)
    ranked = sorted(others, key=lambda c: (c.name not in after, bool(c.levels) != bool(levels)))
    return ranked[0].name


def _after(data: Dataset, cause: str) -> set[str]:
    after, ahead = {cause}, [cause]
    while ahead:
        start = ahead.pop()
        for first, second in data.true_edges or ():
            if first == start and second not in after:
                after.add(second)
                ahead.append(second)
    # A path may pass through hidden columns.
    return after & set(data.names) - {cause}


@dataclass(frozen=True)
class Width:
    """The line on the page that states the gain from a second release.

    place: where the line is.  values: parameters of the search, by name.
    """

    place: DeltaGenerator
    data: Dataset
    question: Question
    values: dict[str, Any]
    share: float

    def say(self, adjustment: Sequence[str] = ()) -> None:
        """State the gain for an adjustment set."""
        share = self.share or HALF
        plan = EffectPlan(self.question, share)
        width = expected_precision(plan, self.data, self.values, adjustment)
        sentence = width_sentence(self.question, width, share)
        nothing = (
            "At 0 there is no second release: the effect uses only the statistics behind the "
            "graph. "
        )
        self.place.caption(sentence if self.share else nothing + sentence)

    def note(self, answer: Effects) -> None:
        """State the gain for the adjustment set of the run."""
        shown = next((effect for effect in answer.shown if effect.affected), None)
        if shown is not None and shown.adjustment:
            self.say(shown.adjustment)


def budget(loaded: Loaded, question: Question) -> tuple[dict[str, Any], float, Width]:
    """Draw the controls of ε and of the share of ε for measuring the effect.

    Returns the values of all parameters of the search, the share, and the line below the controls.
    """
    algorithm = ALGORITHMS[ALGORITHM]
    declared = epsilon_of(algorithm)
    assert declared is not None
    places = wrapping_columns("effect-budget", 2, least=280)
    with places[0]:
        control(declared, widget_key(algorithm, declared))
    values = {**values_of(algorithm), "knowledge": held_text()}
    with places[1]:
        share = float(control(SHARE))
        width = Width(st.empty(), loaded.dataset, question, values, share)
    width.say()
    return values, share, width
