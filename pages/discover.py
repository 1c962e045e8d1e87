"""Discover: the private graph beside the non-private one, and what it cost."""

import uuid
from collections import Counter
from collections.abc import Callable
from typing import Any

import streamlit as st

from pages.ui import charts, exports, tables, texts
from pages.ui.data import UPLOAD, Loaded, current_data
from pages.ui.frame import require_frame
from pages.ui.graph_view import graph_html, legend_html, show_graph
from pages.ui.running import LiveHooks, kept
from pages.ui.theme import EDGES, current
from privcore.discovery import ALGORITHMS, Discovery, discover
from privcore.errors import PrivcoreError
from privcore.evaluation import (
    CLASSES,
    Comparison,
    Metrics,
    compare,
    cpdag_metrics,
    skeleton_metrics,
)
from privcore.graphs import PDAG
from privcore.reporting import non_private_reference, references_of

require_frame("pages/discover.py")
NAMES = {"truth": "truth", "non_private": "non-private PC"}


def settings_key(values: dict[str, Any]) -> tuple[tuple[str, Any], ...]:
    return tuple(sorted(values.items()))


def run(loaded: Loaded, name: str, values: dict[str, Any], seed: int) -> Discovery | None:
    def compute(hooks: LiveHooks) -> Discovery:
        chosen = seed if ALGORITHMS[name].private else None
        return discover(
            loaded.counts, name, values, seed=chosen, hooks=hooks, caveats=loaded.caveats
        )

    key = ("run", loaded.key, name, settings_key(values), seed if ALGORITHMS[name].private else 0)
    return kept(key, f"Running {ALGORITHMS[name].title}", compute)


def reference_run(loaded: Loaded, result: Discovery) -> Discovery | None:
    if result.algorithm == "pc":
        return result
    key = ("reference", loaded.key, settings_key(dict(result.parameters)))
    return kept(
        key,
        "Running non-private PC",
        lambda hooks: non_private_reference(loaded.counts, result, hooks=hooks),
    )


def unit_of(result: Discovery) -> str:
    """What the budget is planned in."""
    return "rounds" if any(s.phase == "sieve" for s in result.trace) else "tests"


def next_noise() -> None:
    st.session_state["seed"] = st.session_state.get("seed", 1) + 1


def header(result: Discovery, loaded: Loaded) -> None:
    algorithm = ALGORITHMS[result.algorithm]
    unit = unit_of(result)
    left, right = st.columns([5, 1], vertical_alignment="center")
    with left:
        st.markdown(f"**{texts.guarantee_sentence(result.guarantee, algorithm)}**")
        if result.stopped:
            st.warning(
                f"The {result.spent.planned_rounds:,} {unit} that were paid for are used up, so "
                f"the search ended at order {result.orders_run - 1}. Pairs that are left stay "
                "adjacent; plan more of them under More settings, or raise ε.",
                icon=":material/hourglass_bottom:",
            )
        if result.guarantee.calibration == "proven" and result.guarantee.epsilon >= 5:
            st.warning(
                f"ε = {result.guarantee.epsilon:g} promises little: probabilities may change by a "
                f"factor of up to e^ε.",
                icon=":material/warning:",
            )
    if algorithm.private:
        right.button(
            "Re-roll noise",
            icon=":material/casino:",
            on_click=next_noise,
            width="stretch",
            help="The same settings with the next noise seed. For exploring; each release of "
            "another roll would be a new charge.",
        )


def metric_row(graph: PDAG, base: PDAG, reference: PDAG, reference_name: str) -> None:
    """Quality against the reference, with the change from non-private PC."""
    here, before = skeleton_metrics(graph, reference), skeleton_metrics(base, reference)
    marks, marks_before = cpdag_metrics(graph, reference), cpdag_metrics(base, reference)
    shown: list[tuple[str, str, Metrics, Metrics, str]] = [
        ("Skeleton F1", "f1", here, before, "2·TP / (2·TP + FP + FN) over adjacent pairs."),
        ("Precision", "precision", here, before, "Share of the graph's pairs that are right."),
        ("Recall", "recall", here, before, "Share of the reference's pairs that are found."),
        ("CPDAG F1", "f1", marks, marks_before, "As F1, but directions must be right too."),
        ("Hamming distance", "shd", marks, marks_before, "Pairs whose edge differs (SHD)."),
    ]
    for column, (title, name, now, then, text) in zip(st.columns(5), shown, strict=True):
        value, old = getattr(now, name), getattr(then, name)
        digits = ".0f" if name == "shd" else ".3f"
        change = None if graph == base else f"{value - old:+{digits}} vs PC"
        column.metric(
            title,
            f"{value:{digits}}",
            "same as PC" if change and value == old else change,
            delta_color="off" if value == old else "inverse" if name == "shd" else "normal",
            delta_arrow="off" if value == old else "auto",
            help=f"{text} Against {reference_name}.",
            border=True,
        )


def graphs(
    loaded: Loaded, drawn: dict[str, tuple[PDAG, Comparison | None]], base: PDAG,
    highlight: tuple[int, int] | None,
) -> None:  # fmt: skip
    """The graphs side by side on one layout, linked in selection and view."""
    channel = st.session_state.setdefault("_channel", f"discover-{uuid.uuid4()}")
    height = 420 if loaded.dataset.p <= 12 else 560
    for column, (title, (graph, comparison)) in zip(
        st.columns(len(drawn)), drawn.items(), strict=True
    ):
        with column:
            st.subheader(title)
            styles = {}
            if comparison:
                styles = {
                    (pair.i, pair.j): EDGES[current()][pair.kind].saying(
                        f"{pair.kind}: here {pair.here}; {comparison.reference_name}: "
                        f"{pair.reference}"
                    )
                    for pair in comparison.pairs
                }
            summary = comparison.summary() if comparison else f"{len(graph.skeleton)} edges"
            page = graph_html(
                graph,
                loaded.positions,
                edge_styles=styles,
                reference=base if comparison else None,
                theme=current(),
                channel=channel,
                highlight=highlight,
                height=height,
                caption=title,
            )
            show_graph(page, height=height, alt=f"{title}: {summary}")
            st.caption(summary)


def stability_panel(
    loaded: Loaded, result: Discovery, reference: PDAG, reference_name: str
) -> None:
    if result.noise == "none":
        st.info("PC has no noise, so every run gives the same graph.")
        return
    rolls = int(
        st.select_slider(
            "Rolls", ["20", "50", "100", "200", "500"], value="50", key="discover_rolls",
            bind="query-params",
            help="Runs with the same settings and other noise seeds.",
        )
    )  # fmt: skip
    values = dict(result.parameters)

    def compute(hooks: LiveHooks) -> Counter[tuple[int, int]]:
        seen: Counter[tuple[int, int]] = Counter()
        for roll in range(rolls):
            hooks.update(roll / rolls, f"roll {roll + 1} of {rolls}")
            found = discover(
                loaded.counts, result.algorithm, values, seed=10_000_019 + roll, keep_trace=False
            )
            seen.update(found.graph.skeleton)
        return seen

    key = ("stability", loaded.key, result.algorithm, settings_key(values), rolls)
    seen = kept(key, f"Rolling the noise {rolls} times", compute)
    if seen is None:
        return
    pairs = set(seen) | reference.skeleton
    frame = tables.stability(
        result.graph, {pair: seen[pair] / rolls for pair in pairs}, reference, reference_name
    )
    st.caption(
        f"How often each pair is adjacent over {rolls} rolls of the noise on the same data: the "
        "spread comes from the mechanism, not from sampling."
    )
    st.dataframe(
        frame,
        hide_index=True,
        column_config={
            "adjacent in": st.column_config.ProgressColumn(
                "adjacent in", min_value=0, max_value=1, format="percent"
            )
        },
        alt="Frequency of each pair over rolls of the noise",
    )


def edge_panel(result: Discovery, comparisons: list[Comparison]) -> None:
    st.caption("Select a row to mark the pair in the graphs.")
    st.dataframe(
        tables.edges(result.graph, comparisons, result),
        hide_index=True,
        on_select="rerun",
        selection_mode="single-row",
        key="discover_edges",
        alt="Edges and their classes",
    )


def export_panel(result: Discovery, loaded: Loaded, references: dict[str, PDAG], seed: int) -> None:
    exports.downloads(
        result, loaded, references, seed if ALGORITHMS[result.algorithm].private else None
    )
    exports.code(result, loaded, seed)


def budget_panel(result: Discovery) -> None:
    spent = result.spent
    if spent.unit == "none":
        st.info("PC is not private and spends nothing, because it promises nothing.")
        return
    symbol = "ρ" if spent.unit == "rho" else "ε"
    noun = unit_of(result)
    charts.show(
        charts.budget_bar(result), key="budget", alt="Shares of the budget by order and step"
    )
    if spent.total:
        st.text(
            f"Used {spent.used:.4g} of the planned {spent.total:.4g} {symbol} in "
            f"{spent.rounds:,} of {spent.planned_rounds:,} planned {noun} "
            f"({result.guarantee.accountant}). The promise is the plan's total, however much of it "
            "a run happens to use."
        )
    else:
        st.text(
            f"{spent.rounds:,} rounds at ε = {result.parameters['epsilon']:g} each: their sum is "
            f"{spent.used:.4g}; {result.guarantee.accountant} gives "
            f"{result.guarantee.epsilon:.4g} at δ = {result.guarantee.delta:g}."
        )


def decision_panel(result: Discovery) -> None:
    st.caption(
        "Every question the search asked. Scores are exact: this log is not private. "
        + (
            f"The first {tables.LOG_LIMIT:,} of {len(result.trace):,} are shown."
            if len(result.trace) > tables.LOG_LIMIT
            else ""
        )
    )
    st.dataframe(tables.decisions(result), hide_index=True, alt="Decision log", height=420)


def guarantee_panel(result: Discovery) -> None:
    guarantee = result.guarantee
    algorithm = ALGORITHMS[result.algorithm]
    if guarantee.calibration == "none":
        st.markdown(guarantee.caveats[0])
    else:
        st.markdown(texts.odds_sentence(guarantee.epsilon, guarantee.delta))
        st.markdown(
            f"- **Calibration:** {guarantee.calibration}\n"
            f"- **Neighbours:** {guarantee.neighbours}\n"
            f"- **Accountant:** {guarantee.accountant}\n"
            f"- **Taken as public:** {'; '.join(guarantee.public)}\n"
            f"- **Proof:** {guarantee.proof or 'none'}"
        )
        for caveat in guarantee.caveats:
            st.text(f"Limit: {caveat}.")
        st.caption(texts.SIMULATED)
    st.dataframe(
        tables.parameters(algorithm.parameters, dict(result.parameters)),
        hide_index=True,
        alt="Parameters of the run",
    )
    st.caption(f"Source: {algorithm.citation}")


def selected_edge(comparisons: list[Comparison]) -> tuple[int, int] | None:
    """The pair whose row is selected in the edge table, which is drawn below the graphs."""
    state = st.session_state.get("discover_edges")
    rows = state["selection"]["rows"] if state else []
    pairs = tables.edge_pairs(comparisons)
    return pairs[rows[0]] if rows and rows[0] < len(pairs) else None


def results(loaded: Loaded) -> None:
    name, values = st.session_state["algorithm"], dict(st.session_state["parameters"])
    seed = int(st.session_state.get("seed", 1))
    result = run(loaded, name, values, seed)
    base = reference_run(loaded, result) if result else None
    if result is None or base is None:
        return
    references = references_of(loaded.dataset, base)
    header(result, loaded)

    choices = [r for r in ("truth", "non_private") if r in references]
    if name == "pc" and "truth" in references:
        choices = ["truth"]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        chosen = st.segmented_control(
            "Compare with",
            choices,
            default=choices[-1] if name != "pc" else choices[0],
            format_func=NAMES.__getitem__,
            required=True,
            key="discover_reference",
            bind="query-params",
            help="The reference for metrics and edge classes. Non-private PC uses the same score "
            "and settings without noise; the truth is the graph the data were made from.",
        )
        with_truth = "truth" in references and st.toggle(
            "Show the true graph",
            key="discover_truth",
            bind="query-params",
            help="As its CPDAG: with arrows only where any data could tell the direction.",
        )
    reference, label = references[chosen], NAMES[chosen]
    if not result.graph.skeleton:
        st.info(
            "No edge was found. That is a valid result: at this ε and number of rows no dependence "
            "stands out from the threshold."
        )
    metric_row(result.graph, base.graph, reference, label)

    comparisons = [compare(result.graph, references[r], NAMES[r]) for r in choices]
    against = next(c for c in comparisons if c.reference_name == label)
    drawn: dict[str, tuple[PDAG, Comparison | None]] = {}
    title = ALGORITHMS[name].title
    drawn["Private graph" if ALGORITHMS[name].private else title] = (result.graph, against)
    if name != "pc":
        drawn["Non-private PC"] = (base.graph, None)
    if with_truth:
        drawn["Truth (CPDAG)"] = (references["truth"], None)
    graphs(loaded, drawn, reference, selected_edge(comparisons))
    st.html(legend_html(current(), label, CLASSES))
    st.caption(f"{texts.UNDIRECTED} {texts.NOT_PRIVATE}")

    panels: dict[str, Callable[[], None]] = {
        "Edges": lambda: edge_panel(result, comparisons),
        "Budget": lambda: budget_panel(result),
        "Decisions": lambda: decision_panel(result),
        "Stability": lambda: stability_panel(loaded, result, reference, label),
        "Export & code": lambda: export_panel(result, loaded, references, seed),
        "Guarantee": lambda: guarantee_panel(result),
    }
    # Only the open panel is made: a slider move must not wait for the others.
    tabs = st.tabs(list(panels), key="discover_tab", on_change="rerun", bind="query-params")
    for tab, draw in zip(tabs, panels.values(), strict=True):
        if tab.open:
            with tab:
                draw()
    st.caption(
        f"{result.tests_run:,} tests up to order {max(result.orders_run - 1, 0)} in "
        f"{1000 * result.seconds:.0f} ms of engine time, on {loaded.dataset.n:,} rows "
        f"({loaded.counts.unique_rows:,} distinct)."
    )


st.title("Discover")
try:
    loaded = current_data()
    if loaded is None:
        st.info(f"No table is loaded yet: load one on the Data page, or choose a network instead "
                f"of “{UPLOAD}”.")  # fmt: skip
        st.page_link("pages/data.py", label="Go to Data", icon=":material/table:")
    else:
        results(loaded)
except PrivcoreError as error:
    st.error(str(error), icon=":material/error:")
