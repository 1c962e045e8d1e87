"""Discover: the private graph beside the non-private one, and what it cost."""

from collections.abc import Callable
from typing import Any

import streamlit as st

from pages.ui import texts
from pages.ui.controls.data import UPLOAD, Loaded, current_data
from pages.ui.discover import budget as budget_panel
from pages.ui.discover import panels, stability
from pages.ui.discover.advice import advice_panel
from pages.ui.discover.graphs import graphs, selected_edge
from pages.ui.discover.power import power_panel
from pages.ui.discover.runs import base_name, reference_run, run
from pages.ui.discover.summary import header, metric_row
from pages.ui.frame import require_frame
from pages.ui.graphs import findings
from pages.ui.graphs.view import legend_html
from pages.ui.messages import problem
from pages.ui.theme import current
from privcore.algorithms import ALGORITHMS, Algorithm
from privcore.algorithms.engine import accepts
from privcore.algorithms.search.parameters import DELTA
from privcore.algorithms.work import large_work_sentence
from privcore.counts import InMemoryCounts, MixedRows
from privcore.errors import PrivcoreError
from privcore.evaluation import CLASSES, Comparison, compare
from privcore.graphs import PDAG
from privcore.releases import (
    one_level_sentence,
    reference_sentence,
    references_of,
    shape_sentence,
)

require_frame("pages/discover.py")


def use(key: str, value: str) -> None:
    st.session_state[key] = value


def ask(loaded: Loaded, values: dict[str, Any]) -> None:
    """Which algorithm to use at this ε, and at this δ, or the usual one where there is none."""
    advice_panel(loaded, values["epsilon"], values.get("delta") or DELTA.default, use)


def refuse(loaded: Loaded, algorithm: Algorithm) -> None:
    """The algorithm needs levels and these are numbers, or has no form for gaps: the ways out."""
    if loaded.dataset.available:
        st.info(
            f"{algorithm.title} has no form for values that are missing at random. Choose an "
            "algorithm that has one, or make missing values a level of their own on the page Data."
        )
        st.button("Use LapMech", on_click=use, args=("algorithm", "lapmech"))
        return
    mixed = isinstance(loaded.source, MixedRows)
    held = "some of these hold numbers" if mixed else "these hold numbers"
    st.info(
        f"{algorithm.title} needs columns with levels, and {held}. Choose an "
        "algorithm for them, or cut the columns into intervals."
    )
    with st.container(horizontal=True):
        st.button("Use Moment search", on_click=use, args=("algorithm", "moment-search"))
        if not mixed:
            st.button("Use PrivPC\\*", on_click=use, args=("algorithm", "privpc-star"))
        if "intervals" in st.session_state and loaded.dataset.recipe is not None:
            st.button("Cut into 4 intervals", on_click=use, args=("intervals", "4"))


def results(loaded: Loaded) -> None:
    if not accepts(ALGORITHMS[st.session_state["algorithm"]], loaded.source):
        refuse(loaded, ALGORITHMS[st.session_state["algorithm"]])
        return
    name, values = st.session_state["algorithm"], dict(st.session_state["parameters"])
    seed = int(st.session_state.get("seed", 1))
    if isinstance(loaded.source, InMemoryCounts):
        ahead = large_work_sentence(loaded.dataset.n, loaded.source.levels, name, values)
        if ahead:
            st.caption(ahead)
    result = run(loaded, name, values, seed)
    base = reference_run(loaded, result) if result else None
    if result is None or base is None:
        return
    shortened = reference_sentence(result, base)
    if shortened:
        st.caption(shortened)
    references = references_of(loaded.dataset, base)
    header(result, loaded)

    private, base_title = ALGORITHMS[name].private, base_name(result)
    names = {"truth": "truth", "non_private": f"non-private {base_title}"}
    choices = [r for r in ("truth", "non_private") if r in references]
    if not private and "truth" in references:
        choices = ["truth"]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        chosen = st.segmented_control(
            "Compare with",
            choices,
            default=choices[-1] if private else choices[0],
            format_func=names.__getitem__,
            required=True,
            key="discover_reference",
            bind="query-params",
            help="The reference for metrics and edge classes. The non-private graph uses the same "
            "settings without noise; the truth is the graph the data were made from.",
        )
        with_truth = "truth" in references and st.toggle(
            "Show the true graph",
            key="discover_truth",
            bind="query-params",
            help="As its CPDAG, with arrows only where any data could tell the direction; as it is "
            "where the algorithm claims every direction.",
        )
        unclear = findings.unclear(result)
        with_unclear = bool(unclear) and st.toggle(
            "Show pairs that the budget cannot tell",
            key="discover_unclear",
            bind="query-params",
            help="Dotted, in the private graph: pairs without an edge where a dependence worth "
            "seeing would not have been seen.",
        )
    reference, label = references[chosen], names[chosen]
    if not result.graph.skeleton:
        st.info(
            "No edge is left. That is a valid result: with this noise, threshold and number of "
            "rows, every pair was called independent."
        )
    form = ALGORITHMS[name].output.upper()
    metric_row(result.graph, base.graph, base_title, reference, label, form)

    comparisons = [compare(result.graph, references[r], names[r]) for r in choices]
    against = next(c for c in comparisons if c.reference_name == label)
    drawn: dict[str, tuple[PDAG, Comparison | None]] = {}
    title = ALGORITHMS[name].title
    drawn["Private graph" if private else title] = (result.graph, against)
    if private:
        drawn[f"Non-private {base_title}"] = (base.graph, None)
    if with_truth:
        drawn[f"Truth ({form})"] = (references["truth"], None)
    faint = unclear if with_unclear else []
    graphs(loaded, drawn, reference, selected_edge(comparisons), result, faint)
    st.html(legend_html(current(), label, (*CLASSES, "unclear") if faint else CLASSES))
    if result.findings:
        st.caption(f"Thicker lines are surer to be seen again. {findings.apart_sentence(result)}")
    lines = texts.ALL_DIRECTED if form == "DAG" else texts.UNDIRECTED
    st.caption(f"{lines} {texts.NOT_PRIVATE}")
    if result.intervals is not None:
        st.caption(shape_sentence(result))
    narrow = one_level_sentence(result)
    if narrow:
        st.caption(f":material/warning: {texts.plain(narrow)}")
    if "truth" not in references:
        stability.summary(loaded, result)

    contents: dict[str, Callable[[], None]] = {
        "Edges": lambda: panels.edge_panel(result, comparisons),
        **({"Weights": lambda: panels.weight_panel(result)} if result.weights is not None else {}),
        **({"Pairs": lambda: findings.pair_panel(result)} if result.findings else {}),
        "Budget": lambda: budget_panel.budget_panel(result),
        "Decisions": lambda: panels.decision_panel(result),
        stability.TAB: lambda: stability.panel(loaded, result, reference, label),
        "Export & code": lambda: panels.export_panel(result, loaded, references, seed),
        "Guarantee": lambda: panels.guarantee_panel(result),
        **({"What can be seen": lambda: power_panel(loaded, values)} if result.findings else {}),
        **({"Advice": lambda: ask(loaded, values)} if private else {}),
    }
    # Only the open panel is made: a slider move must not wait for the others.
    tabs = st.tabs(list(contents), key="discover_tab", on_change="rerun", bind="query-params")
    for tab, draw in zip(tabs, contents.values(), strict=True):
        if tab.open:
            with tab:
                draw()
    counts = loaded.source
    distinct = f" ({counts.unique_rows:,} distinct)" if isinstance(counts, InMemoryCounts) else ""
    work = f"{result.tests_run:,} tests up to order {max(result.orders_run - 1, 0)}"
    if result.weights is not None:
        noisy = f", {result.tests_run:,} noisy gradients" if result.tests_run else ""
        work = f"{len(result.convergence):,} iterations{noisy}"
    st.caption(
        f"{work} in {1000 * result.seconds:.0f} ms of engine time, on {loaded.dataset.n:,} rows"
        f"{distinct}."
    )


st.title("Discover")
try:
    loaded = current_data()
    if loaded is None:
        st.info(
            f"No table is loaded yet: load one on the Data page, or choose a network instead "
            f"of “{UPLOAD}”."
        )
        st.page_link("pages/data.py", label="Go to Data", icon=":material/table:")
    else:
        results(loaded)
except PrivcoreError as error:
    problem(error)
