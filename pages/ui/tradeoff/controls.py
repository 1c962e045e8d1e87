"""The controls of the Trade-off page: algorithms, ε, number of runs, and view."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args

import streamlit as st

from pages.ui.controls.data import Loaded
from pages.ui.controls.known import known_text, sentence
from pages.ui.controls.params import log_grid, number_text, preset
from pages.ui.frame import go
from pages.ui.glossary import glossary_note, term_link
from pages.ui.texts import plain
from privcore.algorithms import ALGORITHMS, Algorithm, Parameter
from privcore.algorithms.engine import accepts
from privcore.algorithms.search.parameters import EPSILON
from privcore.data import StructuralExample
from privcore.extras.lab.sweeps.plan import Calibration
from privcore.extras.lab.sweeps.sweep import (
    ExampleData,
    NetworkData,
    SweepData,
    SweepPlan,
    TableData,
)
from privcore.measures.references import Reference

_USUAL = ("moment-search", "svt-pc", "priv-pc", "em-pc")
_USUAL_NUMBERS = ("moment-search", "privpc-star", "noleaks", "moment-notears")
MEASURES = {"f1": "F1", "precision": "precision", "recall": "recall", "shd": "Hamming distance"}
FOUND = ("adjacent", "directed")
_SEEDS = [3, 5, 10, 20, 50, 100]
_REFERENCES: dict[Reference, str] = {
    "truth": "truth",
    "non_private": "non-private",
    "same": "same algorithm, no noise",
}
_AGAINST: dict[Reference, str] = {
    "truth": "the truth",
    "non_private": "the non-private graph",
    "same": "the same algorithm without noise",
}
_REFERENCE = "sweep_reference"
_KINDS = {"skeleton": "skeleton", "cpdag": "CPDAG"}
_MANTISSAS = {1: (1,), 2: (1, 3), 3: (1, 2, 5), 6: (1, 1.5, 2, 3, 5, 7)}
ROWS_GRID = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000)


@dataclass(frozen=True)
class View:
    """The measure that is drawn.

    metric: a column of a sweep's rows. bounded: whether the metric's values lie in [0, 1].
    """

    metric: str
    title: str
    bounded: bool


def data_of(loaded: Loaded) -> SweepData:
    """The page's data set in the form that a sweep needs."""
    dataset = loaded.dataset
    if loaded.is_network:
        return NetworkData(dataset.name, loaded.seed, dataset.hidden)
    if dataset.recipe is None:
        return TableData(dataset)
    recipe = dict(dataset.recipe)
    cuts = recipe.pop("intervals", None)
    return ExampleData(StructuralExample(recipe.pop("example"), **recipe), loaded.seed, cuts)


def fitting(loaded: Loaded) -> list[Algorithm]:
    """The private algorithms that can run on these columns."""
    return [a for a in ALGORITHMS.values() if a.private and accepts(a, loaded.source)]


def choose_plan(loaded: Loaded) -> SweepPlan | None:
    """Draw the controls; returns the plan of the sweep, None while no algorithm is chosen."""
    private = fitting(loaded)
    usual = _USUAL_NUMBERS if loaded.source.holds == "numbers" else _USUAL
    names = [a.name for a in private]
    chosen = st.multiselect(
        "Algorithms",
        names,
        default=[name for name in usual if name in names],
        key="sweep_algorithms" if usual == _USUAL else "sweep_algorithms_numbers",
        bind="query-params",
        persist_state="session",
        format_func=lambda name: ALGORITHMS[name].title,
        help="Each algorithm runs with its default settings and with the total ε on the axis.",
    )
    grid = log_grid(EPSILON)
    low, high = st.select_slider(
        "Privacy budgets ε, from … to",
        [number_text(v) for v in grid],
        value=("0.1", "20"),
        key="sweep_range",
        bind="query-params",
        persist_state="session",
    )
    density = st.select_slider(
        "Values of ε per factor of ten",
        list(_MANTISSAS),
        value=3,
        key="sweep_density",
        bind="query-params",
        persist_state="session",
    )
    seeds = st.select_slider(
        "Runs of each",
        _SEEDS,
        value=5,
        key="sweep_seeds",
        bind="query-params",
        persist_state="session",
        help="Each run has fresh noise; the data stay the same. For the networks in the Eight "
        "networks view, five runs are shipped with the product; further runs are computed "
        "here.",
    )
    offered: tuple[Calibration, ...] = get_args(Calibration)
    calibrations = st.segmented_control(
        "Calibration",
        offered,
        default=offered[:1],
        selection_mode="multi",
        key="sweep_calibrations",
        bind="query-params",
        persist_state="session",
        help="Published: a paper's own constants, which are not proven. A published ε may be the "
        "cost of one round only, so such runs are not comparable on this axis. "
        f"{glossary_note('calibration')}",
    )
    if not chosen:
        return None
    known = known_text(loaded)
    text = sentence(loaded)
    if text:
        st.caption(plain(text))
    return SweepPlan(
        data=(data_of(loaded),),
        algorithms=("pc", *chosen),
        grids={"epsilon": epsilons_between(grid, float(low), float(high), density)},
        calibrations=tuple(calibrations) or ("proven",),
        rows=() if loaded.dataset.recipe is None and not loaded.is_network else (loaded.dataset.n,),
        settings={"knowledge": known} if known else {},
        seeds=seeds,
        same=_same_is_chosen(),
    )


def _same_is_chosen() -> bool:
    """Whether graphs are compared with the same algorithm without noise.

    The control is drawn after the plan, so until the control is first drawn, its value comes from
    the URL.
    """
    if _REFERENCE in st.session_state:
        return bool(st.session_state[_REFERENCE] == "same")
    return st.query_params.get(_REFERENCE) == _REFERENCES["same"]


def epsilons_between(grid: list[float], low: float, high: float, density: int) -> tuple[float, ...]:
    """Both ends and the round values between them, all from the grid of the ε slider."""
    round_ones = {float(f"{m}e{d}") for d in range(-3, 4) for m in _MANTISSAS[density]}
    return tuple(v for v in grid if low <= v <= high and (v in round_ones or v in (low, high)))


def _spread(values: list[float], count: int) -> tuple[float, ...]:
    """About this many of the values, evenly spaced, including both ends."""
    if len(values) <= count:
        return tuple(values)
    places = [round(i * (len(values) - 1) / (count - 1)) for i in range(count)]
    return tuple(values[place] for place in dict.fromkeys(places))


def choose_view(has_truth: bool) -> View:
    """Draw the choice of a measure; returns the measure to draw."""
    with st.container(horizontal=True):
        references = [r for r in _REFERENCES if has_truth or r != "truth"]
        reference = st.segmented_control(
            "Compare with",
            references,
            default=references[0],
            required=True,
            key=_REFERENCE,
            bind="query-params",
            persist_state="session",
            format_func=_REFERENCES.__getitem__,
            help="Non-private: PC, the same for all algorithms. Same algorithm, no noise: the "
            "noise is the only difference; this comparison needs new runs.",
        )
        kind = st.segmented_control(
            "Part of the graph",
            list(_KINDS),
            default="skeleton",
            required=True,
            key="sweep_kind",
            bind="query-params",
            persist_state="session",
            format_func=_KINDS.__getitem__,
            help="Skeleton: only adjacency counts. CPDAG: directions must be correct too.",
        )
        measure = st.segmented_control(
            "Measure",
            list(MEASURES),
            default="f1",
            required=True,
            key="sweep_measure",
            bind="query-params",
            persist_state="session",
            format_func=MEASURES.__getitem__,
            help="Precision: the share of the graph's edges that are correct. Recall: the share "
            "of the reference's edges that are found. F1: the harmonic mean of precision and "
            f"recall. {term_link('shd')}: the number of pairs whose edges differ.",
        )
    name = "Hamming distance" if measure == "shd" else f"{_KINDS[kind]} {MEASURES[measure]}"
    return View(
        f"{reference}_{kind}_{measure}", f"{name} against {_AGAINST[reference]}", measure != "shd"
    )


def second_parameters(algorithm: Algorithm) -> list[Parameter]:
    """Numeric parameters other than ε that can be the second axis of a map."""
    return [
        p
        for p in algorithm.parameters
        if p.kind in ("float", "int") and p.name not in ("epsilon", "delta")
    ]


def choose_map(loaded: Loaded, plan: SweepPlan) -> tuple[SweepPlan, str, str]:
    """Draw the choice of a map's algorithm and second axis.

    Returns the plan of the sweep, and the name and title of the second axis.
    """
    private = fitting(loaded)
    left, middle = st.columns(2)
    with left:
        names = [a.name for a in private]
        wanted = next((n for n in plan.algorithms if n in names), names[0])
        name = st.selectbox(
            "Algorithm ",
            names,
            index=names.index(wanted),
            key=f"map_algorithm_{wanted}",
            format_func=lambda n: ALGORITHMS[n].title,
        )
    declared = {p.name: p for p in second_parameters(ALGORITHMS[name])}
    others = {n: f"{p.title} ({p.symbol})" for n, p in declared.items()}
    sampled = loaded.is_network or loaded.dataset.recipe is not None
    if sampled:
        others = {"rows": "Rows n", **others}
    with middle:
        other = st.selectbox(
            "ε and", list(others), key=f"map_other_{name}", format_func=others.__getitem__
        )
    grids: dict[str, tuple[Any, ...]] = {"epsilon": _spread(list(plan.grids["epsilon"]), 7)}
    rows = plan.rows
    if other == "rows":
        rows = ROWS_GRID
    else:
        grids[other] = _values(declared[other])
    made = SweepPlan(
        data=plan.data,
        algorithms=(name,),
        grids=grids,
        rows=rows,
        settings=plan.settings,
        seeds=min(plan.seeds, 10),
        same=plan.same,
    )
    return made, other, others[other]


def _values(parameter: Parameter) -> tuple[Any, ...]:
    """Seven values over a parameter's slider, including the default if there is one."""
    if parameter.scale == "log":
        return _spread(log_grid(parameter), 7)
    low, high = parameter.slider or (parameter.low, parameter.high)
    if parameter.kind == "int":
        return _spread([float(v) for v in range(int(low), int(high) + 1)], 7)
    return tuple(round(low + (high - low) * i / 6, 6) for i in range(7))


def open_in_discover(parameters: Mapping[str, Any], algorithm: str, seed: int | None) -> None:
    """Open the Discover page with a run's settings and noise seed."""
    address = preset(ALGORITHMS[algorithm], parameters)
    st.session_state.pop("seed", None)
    if seed is not None:
        address["seed"] = str(seed)
    # The choice of data is on both pages and does not change.
    go("pages/discover.py", address)
