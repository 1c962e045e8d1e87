"""Discover: the private graph beside the non-private one, and what it cost."""

import uuid
from collections.abc import Callable
from typing import Any

import streamlit as st

from pages.ui import findings, panels, tables, texts
from pages.ui.advice import advice_panel
from pages.ui.data import UPLOAD, Loaded, current_data
from pages.ui.frame import require_frame
from pages.ui.graph_view import graph_html, legend_html, show_graph
from pages.ui.power import power_panel, seen_sentence
from pages.ui.running import LiveHooks, kept
from pages.ui.theme import EDGES, current
from privcore.counts import InMemoryCounts, MixedRows
from privcore.discovery import ALGORITHMS, Algorithm, Discovery, discover
from privcore.discovery.engine import accepts, cut_sentence
from privcore.discovery.parameters import DELTA
from privcore.discovery.work import large_work_sentence
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
from privcore.reporting import (
    effect_sentence,
    large_delta_sentence,
    non_private_reference,
    references_of,
)

require_frame("pages/discover.py")


def base_name(result: Discovery) -> str:
    """The non-private algorithm that a run is compared with, such as "PC"."""
    return {"pc": "PC", "notears": "NOTEARS"}[ALGORITHMS[result.algorithm].reference_algorithm]


def run(loaded: Loaded, name: str, values: dict[str, Any], seed: int) -> Discovery | None:
    def compute(hooks: LiveHooks) -> Discovery:
        chosen = seed if ALGORITHMS[name].private else None
        return discover(loaded.source, name, values, seed=chosen, hooks=hooks)

    key = (
        "run",
        loaded.key,
        name,
        panels.settings_key(values),
        seed if ALGORITHMS[name].private else 0,
    )
    return kept(key, f"Running {ALGORITHMS[name].title}", compute)


def reference_run(loaded: Loaded, result: Discovery) -> Discovery | None:
    if result.noise == "none":
        return result
    key = ("reference", loaded.key, panels.settings_key(dict(result.parameters)))
    return kept(
        key,
        f"Running non-private {base_name(result)}",
        lambda hooks: non_private_reference(loaded.source, result, hooks=hooks),
    )


def next_noise() -> None:
    st.session_state["seed"] = st.session_state.get("seed", 1) + 1


def header(result: Discovery, loaded: Loaded) -> None:
    algorithm = ALGORITHMS[result.algorithm]
    left, right = st.columns([5, 1], vertical_alignment="center")
    with left:
        st.markdown(f"**{texts.guarantee_sentence(result.guarantee, algorithm)}**")
        if result.findings:
            st.caption(seen_sentence(loaded, dict(result.parameters)))
        else:
            st.caption(effect_sentence(result, loaded.dataset.n))
        if isinstance(loaded.source, MixedRows):
            cut = texts.plain(cut_sentence(loaded.source, result.parameters))
            st.caption(
                f"For this run {cut}: what happens within a level is not seen, so that weak "
                "dependences of numbers may be missed. More settings has the number of levels."
            )
        warning = large_delta_sentence(result.guarantee, loaded.dataset.n)
        if warning:
            st.warning(warning, icon=":material/warning:")
        if result.stopped:
            st.warning(texts.stopped_sentence(result), icon=":material/hourglass_bottom:")
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


def metric_row(
    graph: PDAG, base: PDAG, base_title: str, reference: PDAG, reference_name: str, form: str
) -> None:
    """Quality against the reference, with the change from the non-private graph.

    form: of the graphs, CPDAG or DAG.
    """
    here, before = skeleton_metrics(graph, reference), skeleton_metrics(base, reference)
    marks, marks_before = cpdag_metrics(graph, reference), cpdag_metrics(base, reference)
    shown: list[tuple[str, str, Metrics, Metrics, str]] = [
        ("Skeleton F1", "f1", here, before, "2·TP / (2·TP + FP + FN) over adjacent pairs."),
        ("Precision", "precision", here, before, "Share of the graph's pairs that are right."),
        ("Recall", "recall", here, before, "Share of the reference's pairs that are found."),
        (f"{form} F1", "f1", marks, marks_before, "As F1, but directions must be right too."),
        ("Hamming distance", "shd", marks, marks_before, "Pairs whose edge differs (SHD)."),
    ]
    row = st.container(horizontal=True)
    for title, name, now, then, text in shown:
        value, old = getattr(now, name), getattr(then, name)
        digits = ".0f" if name == "shd" else ".3f"
        change = None if graph == base else f"{value - old:+{digits}} vs {base_title}"
        row.metric(
            title,
            f"{value:{digits}}",
            f"same as {base_title}" if change and value == old else change,
            delta_color="off" if value == old else "inverse" if name == "shd" else "normal",
            delta_arrow="off" if value == old else "auto",
            help=f"{text} Against {reference_name}.",
            border=True,
        )


def graphs(
    loaded: Loaded, drawn: dict[str, tuple[PDAG, Comparison | None]], base: PDAG,
    highlight: tuple[int, int] | None, result: Discovery, faint: list[tuple[int, int]],
) -> None:  # fmt: skip
    """The graphs side by side on one layout, linked in selection and view.

    result: the run that the first one is of.  faint: pairs drawn there that it cannot tell.
    """
    channel = st.session_state.setdefault("_channel", f"discover-{uuid.uuid4()}")
    height = 420 if loaded.dataset.p <= 12 else 560
    for column, (title, (graph, comparison)) in zip(
        st.columns(len(drawn)), drawn.items(), strict=True
    ):
        with column:
            st.subheader(title)
            styles = {}
            own = graph is result.graph
            if comparison:
                styles = {
                    (pair.i, pair.j): findings.styled(
                        EDGES[current()][pair.kind].saying(
                            f"{pair.kind}: here {pair.here}; {comparison.reference_name}: "
                            f"{pair.reference}"
                        ),
                        result.findings.get((pair.i, pair.j)) if own else None,
                    )
                    for pair in comparison.pairs
                }
            summary = comparison.summary() if comparison else f"{len(graph.skeleton)} edges"
            page = graph_html(
                graph,
                loaded.positions,
                edge_styles=styles,
                reference=base if comparison else None,
                unclear=faint if own else (),
                theme=current(),
                channel=channel,
                highlight=highlight,
                height=height,
                caption=title,
            )
            show_graph(page, height=height, alt=f"{title}: {summary}")
            st.caption(summary)


def selected_edge(comparisons: list[Comparison]) -> tuple[int, int] | None:
    """The pair whose row is selected in the edge table, which is drawn below the graphs."""
    state = st.session_state.get("discover_edges")
    rows = state["selection"]["rows"] if state else []
    pairs = tables.edge_pairs(comparisons)
    return pairs[rows[0]] if rows and rows[0] < len(pairs) else None


def use(key: str, value: str) -> None:
    st.session_state[key] = value


def ask(loaded: Loaded, values: dict[str, Any]) -> None:
    """Which algorithm to use at this ε, and at this δ, or the usual one where there is none."""
    advice_panel(loaded, values["epsilon"], values.get("delta") or DELTA.default, use)


def refuse(loaded: Loaded, algorithm: Algorithm) -> None:
    """These columns hold numbers and the algorithm needs levels: offer the ways out."""
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

    contents: dict[str, Callable[[], None]] = {
        "Edges": lambda: panels.edge_panel(result, comparisons),
        **({"Weights": lambda: panels.weight_panel(result)} if result.weights is not None else {}),
        **({"Pairs": lambda: findings.pair_panel(result)} if result.findings else {}),
        "Budget": lambda: panels.budget_panel(result),
        "Decisions": lambda: panels.decision_panel(result),
        "Stability": lambda: panels.stability_panel(loaded, result, reference, label),
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
        st.info(f"No table is loaded yet: load one on the Data page, or choose a network instead "
                f"of “{UPLOAD}”.")  # fmt: skip
        st.page_link("pages/data.py", label="Go to Data", icon=":material/table:")
    else:
        results(loaded)
except PrivcoreError as error:
    st.error(str(error), icon=":material/error:")
