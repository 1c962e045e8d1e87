"""Panels of Mechanisms as a page shows them; Lessons embeds the same ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from pages.ui.controls.params import declared_controls
from pages.ui.mechanisms import pictures as first
from pages.ui.mechanisms import pictures_more as more
from pages.ui.mechanisms.parts import Values
from pages.ui.mechanisms.playground import edit_table
from privcore.teaching import Panel
from privcore.teaching.allocation import Allocation
from privcore.teaching.composition import CompositionCurves
from privcore.teaching.equivalence import EquivalenceClass
from privcore.teaching.noise import NoisePicture
from privcore.teaching.p_space import PAgainstZ
from privcore.teaching.per_test import PerTestBudget
from privcore.teaching.runs import Runs
from privcore.teaching.selection import Selections
from privcore.teaching.sensitivity import Moves, playground_code
from privcore.teaching.sieve import SieveErrors
from privcore.teaching.sparse_vector import Stream
from privcore.teaching.subsampling import SubsamplingCurves

PICTURES: dict[type, Callable[[Any, Values, str], None]] = {
    NoisePicture: first.show_noise,
    Stream: first.show_stream,
    SieveErrors: first.show_sieve,
    SubsamplingCurves: first.show_subsampling,
    Moves: first.show_moves,
    PAgainstZ: more.show_p_space,
    CompositionCurves: more.show_composition,
    Allocation: more.show_allocation,
    Selections: more.show_selection,
    EquivalenceClass: more.show_equivalence,
    PerTestBudget: more.show_per_test,
    Runs: more.show_runs,
}


def controls(panel: Panel, prefix: str) -> dict[str, Any]:
    """The live controls; their values stand in the address under prefix_name."""
    start = prefix.replace("-", "_")
    return declared_controls(panel.parameters, lambda p, _: f"{start}_{p.name}")


def show_panel(panel: Panel, values: Values, key: str) -> None:
    """Pictures, formula, sentence, source and code.  Raises PrivcoreError."""
    result = panel.compute(values)
    code = panel.code(values)
    if isinstance(result, Moves):
        result = edit_table(result, f"{key}-{values['preset']}-{values['rows']}")
        code = playground_code(result.playground)
    PICTURES[type(result)](result, values, key)
    st.latex(panel.formula)
    st.markdown(panel.sentence)
    st.caption(f"Source: {panel.source}.")
    with st.expander("Code for this", icon=":material/code:"):
        st.code(code, language="python")
