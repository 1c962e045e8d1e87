"""Discover: the private graph and its privacy cost, next to the non-private graph."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.ui import session, texts
from pages.ui.charts import set_foot
from pages.ui.controls import known
from pages.ui.controls.algorithm import SEED, chosen_algorithm
from pages.ui.controls.data import Loaded, current_data, positions_of, say_no_table
from pages.ui.controls.params import control, epsilon_of, widget_key
from pages.ui.controls.states import current_address
from pages.ui.controls.target import own_choice
from pages.ui.discover import epsilon, exports, knowledge, own, panels, pins, stability
from pages.ui.discover.graphs import Drawn, graphs, selected_edge
from pages.ui.discover.runs import Background, background_of, further_run, reference_run, run
from pages.ui.discover.summary import (
    header,
    measure_line,
    metric_row,
    mixed_sentence,
    power_sentence,
    reroll_button,
)
from pages.ui.expectation import advice_panel, missing_sentence, power_panel
from pages.ui.frame import actions, require_frame
from pages.ui.glossary import linked
from pages.ui.graphs import findings
from pages.ui.layout import picture_buttons, problem, tabbed
from pages.ui.pictures.run import RunPictures, run_lines
from privcore.algorithms import ALGORITHMS, Algorithm, Discovery
from privcore.algorithms.engine import accepts
from privcore.algorithms.search.parameters import DELTA, TARGET
from privcore.algorithms.search.result import described_pairs, named_repeats
from privcore.counts import InMemoryCounts
from privcore.display.answer import columns_words, graph_form, pag_sentence
from privcore.display.findings import repeats_sentences, verdict_counts
from privcore.display.report import price_sentence, reference_sentence
from privcore.display.sentences import one_level_sentence, overruled_sentence, shape_sentence
from privcore.errors import PrivcoreError
from privcore.extras.lab.work import large_work_sentence
from privcore.graphs import PDAG
from privcore.graphs.pdag import PAG
from privcore.measures import Comparison, compare, skeleton_metrics
from privcore.measures.references import (
    REFERENCES,
    Reference,
    base_title,
    has_own_test,
    own_test_title,
    reference_names,
    references_of,
)
from privcore.text import counted, short

require_frame("pages/discover.py")
# Up to this many columns, the run without noise is quick enough to start by itself.
_FEW_COLUMNS = 20


def use(key: str, value: str) -> None:
    st.session_state[key] = value


def ask(loaded: Loaded, values: dict[str, Any]) -> None:
    """Show the advice panel for the chosen ε and δ, or for the default δ if no δ is chosen."""
    advice_panel(loaded, values["epsilon"], values.get("delta") or DELTA.default, use)


def refuse(loaded: Loaded, algorithm: Algorithm) -> None:
    """Explain why the algorithm cannot run on these columns, and offer alternatives."""
    if loaded.dataset.available:
        st.info(
            f"{algorithm.title} cannot handle values missing at random. Choose an algorithm that "
            "can, or treat missing values as a level of their own on the Data page."
        )
        st.button("Use LapMech", on_click=use, args=("algorithm", "lapmech"))
        return
    mixed = loaded.source.holds == "both"
    held = "some of these are numeric" if mixed else "these are numeric"
    st.info(
        f"{algorithm.title} needs categorical columns, and {held}. Choose an algorithm for "
        "numeric columns, or cut the columns into intervals."
    )
    with st.container(horizontal=True):
        st.button("Use Moment search", on_click=use, args=("algorithm", "moment-search"))
        if not mixed:
            st.button("Use PrivPC\\*", on_click=use, args=("algorithm", "privpc-star"))
        if "intervals" in st.session_state and loaded.dataset.recipe is not None:
            st.button("Cut into 4 intervals", on_click=use, args=("intervals", "4"))


def results(loaded: Loaded) -> None:
    algorithm = ALGORITHMS[st.session_state["algorithm"]]
    if not accepts(algorithm, loaded.source):
        st.title("Discover")
        refuse(loaded, algorithm)
        return
    seed = int(st.session_state.get("seed", SEED))
    words = st.container(key="answer", gap="xxsmall")
    key = ""
    with st.container(key="settings"):
        handle, numbers = epsilon.places(algorithm)
    with handle:
        curve = st.container(gap=None)
        if declared := epsilon_of(algorithm):
            key = widget_key(algorithm, declared)
            control(declared, key, bare=True)
    epsilon.numbers(algorithm, numbers)
    if algorithm.private:
        with numbers[0]:
            reroll_button()
    name, values = chosen_algorithm()
    place = st.container(key="graphs-place", gap="xxsmall")
    with st.container(key="after"):
        choices, after = st.container(), st.container()
    background = background_of(loaded, name, values) if key else None
    with place:
        shown = show_run(loaded, name, values, seed, background, words, choices)
    if shown is None:
        return
    private = algorithm.private
    set_foot(run_lines(shown.result, loaded.dataset, seed=seed if private else None, compared=True))
    if private:
        assert background is not None
        with actions():
            picture_buttons(
                shown.pair,
                "save-graphs",
                "Save",
                partial(further_files, loaded, shown.result, values, seed, background),
            )
    if background:
        against = shown.references[shown.kind]
        base = None
        if shown.kind == "truth":
            base = (shown.base_title, skeleton_metrics(shown.base.graph, against).f1)
        background.add(shown.result, values["epsilon"], seed)
        around = epsilon.Around(
            loaded,
            algorithm,
            shown.result,
            values["epsilon"],
            seed,
            key,
            against,
            shown.kind,
            base,
            background,
        )
        with curve:
            epsilon.curve_part(around)
        with place.container(key="epsilon-strip", gap="xxsmall"):
            epsilon.strip_part(around)
    with after:
        details(loaded, shown, seed, values)


def further_files(
    loaded: Loaded, result: Discovery, values: dict[str, Any], seed: int, background: Background
) -> None:
    exports.page_part(loaded, result, values, seed, background)
    session.save_button()


@dataclass(frozen=True)
class Shown(RunPictures):
    """The run on the page; base: the run that is drawn next to it, with its title."""

    base: Discovery
    base_title: str

    @property
    def compared(self) -> list[Comparison]:
        """Comparisons with all references; a run without privacy only with the truth, if known."""
        only_truth = not self.private and "truth" in self.references
        kinds: list[Reference] = ["truth"] if only_truth else list(REFERENCES)
        graph, names = self.result.graph, self.names
        return [compare(graph, self.references[r], names[r]) for r in kinds if r in self.references]


def choose_view(
    loaded: Loaded, result: Discovery, references: dict[str, PDAG]
) -> tuple[Reference, bool, bool]:
    """Draw the view controls; returns the kind of reference, and whether two switches are on.

    The first switch shows the true graph, and the second shows the inconclusive pairs.
    """
    has_truth = "truth" in references
    there = {
        "truth": has_truth,
        "own_test": has_own_test(loaded.source, result),
        # Only released numbers can be put to a graph.
        "mine": result.released is not None,
    }
    offered = [kind for kind in REFERENCES if there.get(kind, True)]
    kind = offered[0]
    # The URL contains these names, so they are the same for every algorithm.
    names = {
        **reference_names(ALGORITHMS[result.algorithm]),
        "same": "same algorithm, no noise",
        "own_test": "the algorithm's own test",
    }
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if ALGORITHMS[result.algorithm].private:
            # From other data; Streamlit would write it to the URL, where it means nothing.
            if st.session_state.get("discover_reference", kind) not in offered:
                del st.session_state["discover_reference"]
            kind = st.segmented_control(
                "Compare with",
                offered,
                default=kind,
                format_func=names.__getitem__,
                required=True,
                key="discover_reference",
                bind="query-params",
                help="The reference for metrics and edge classes. Truth: the graph that "
                "generated the data. Non-private PC: the standard algorithm, the same for every "
                "private one. No noise: the same algorithm and plan, so any difference is due to "
                "the noise. Own test: PC with the algorithm's test and settings, or NOTEARS for "
                "algorithms that make it private. Your graph: a graph that you state, in the "
                "verdicts of this run's numbers. The reference is drawn next to the private graph; "
                "if the reference is the truth, PC's graph is drawn there instead.",
            )
        truth = has_truth and st.toggle(
            "Show the true graph",
            key="discover_truth",
            bind="query-params",
            help="Drawn as a PAG: with the arrows, double arrows and circles that can be "
            "identified when there may be unobserved confounders."
            if has_truth and isinstance(references["truth"], PAG)
            else "Drawn as a CPDAG, with arrows only where data can identify the direction, or as "
            "a DAG if the algorithm directs every edge.",
        )
        unclear = bool(findings.unclear(result)) and st.toggle(
            "Show inconclusive pairs",
            key="discover_unclear",
            bind="query-params",
            help="Draws dotted lines in the private graph for pairs without an edge where a "
            "relevant dependence could have been missed.",
        )
    return kind, truth, unclear


def show_run(
    loaded: Loaded,
    name: str,
    values: dict[str, Any],
    seed: int,
    background: Background | None,
    words: DeltaGenerator,
    choices: DeltaGenerator,
) -> Shown | None:
    """Draw the graphs, and the answer in words; returns the run, or None if it was cancelled.

    background: runs computed in the background. words, choices: containers for the answer and for
    the view controls.
    """
    algorithm = ALGORITHMS[name]
    if isinstance(loaded.source, InMemoryCounts):
        source = loaded.source
        ahead = large_work_sentence(source.n, source.levels, name, values, source.ordered)
        if ahead:
            choices.caption(ahead)
    # Lies over the graphs, so that they keep their place while a run is in progress.
    waiting = st.container(key="waiting")
    with waiting:
        result = run(loaded, name, values, seed, background)
        base = reference_run(loaded, result) if result else None
    if result is None or base is None:
        return None
    # If the truth is unknown, the layout comes from the graph without noise.
    positions_of(loaded, base)
    shortened = reference_sentence(result, base)
    if shortened:
        st.caption(shortened)
    references = references_of(loaded.dataset, result, non_private=base)
    with choices:
        kind, with_truth, with_unclear = choose_view(loaded, result, references)
    title, price = base_title(algorithm), ""
    answer = said = None
    if kind == "mine":
        with choices:
            answer = own.part(loaded, result, seed)
        if answer is None:
            kind = "truth" if "truth" in references else "non_private"
        else:
            references["mine"] = own.drawn(answer, result)
            said = own.said(answer.check, result)
    if kind in ("same", "own_test"):
        with waiting:
            base = further_run(loaded, result, kind)
        if base is None:
            return None
        title = algorithm.title if kind == "same" else own_test_title(algorithm)
        references[kind] = base.graph
    elif kind == "truth" and algorithm.private and loaded.dataset.p <= _FEW_COLUMNS:
        with waiting:
            same = further_run(loaded, result, "same")
        price = price_sentence(result, {**references, "same": same.graph}) if same else ""
    shown = Shown(
        result,
        loaded.dataset,
        positions_of(loaded, result),
        references,
        seed if algorithm.private else None,
        kind,
        base,
        title,
        answer=answer,
        said=said,
    )
    against, before = shown.against_and_before()
    with words:
        header(result, loaded, shown.finding(), price)
        if not result.graph.skeleton:
            more = "No test found a dependence."
            if result.findings:
                pairs = described_pairs(result.graph, result.findings) or []
                more = (
                    f"Of the pairs, {verdict_counts(pairs)}. "
                    f"{missing_sentence(loaded, dict(result.parameters))}"
                )
            st.info(f"No edge remains. {more}".rstrip())
        about = []
        if loaded.dataset.hidden:
            columns = columns_words(loaded.dataset)
            about.append(texts.plain(f"{loaded.dataset.name}, {columns}."))
        if isinstance(references[kind], PAG) and kind == "truth":
            about.append(linked(texts.TRUE_PAG, pag="true PAG"))
        if loaded.dataset.hidden and (supposed := texts.assumed(result)):
            about.append(supposed)
        if about:
            st.caption(" ".join(about))
        if prior := known.sentence(loaded):
            st.caption(texts.plain(prior))
        for repeat in repeats_sentences(named_repeats(result.graph, result.repeats)):
            st.caption(texts.plain(repeat))

    drawn: dict[str, Drawn] = {}
    if answer is not None:
        drawn["Private graph"] = Drawn("private-graph", result.graph, None)
        texts_of = own.texts_of(answer.check, result)
        drawn["Your graph"] = Drawn("reference-graph", references["mine"], before, said, texts_of)
    elif algorithm.private:
        drawn["Private graph"] = Drawn("private-graph", result.graph, against)
        reference_title = shown.names["same"] if kind == "same" else f"Without privacy ({title})"
        drawn[reference_title] = Drawn("reference-graph", base.graph, before)
    else:
        drawn[algorithm.title] = Drawn("reference-graph", result.graph, against)
    if with_truth:
        form = graph_form(algorithm, references["truth"])
        drawn[f"Truth ({form})"] = Drawn("true-graph", references["truth"], None)
    faint = findings.unclear(result) if with_unclear else []
    graphs(loaded, shown, drawn, selected_edge(shown.compared), faint)
    pins.shown(
        pins.Pin(
            pin_name(loaded, result, values, seed),
            measure_line(result.graph, references[kind], shown.names[kind]),
            result.graph,
            positions_of(loaded, result),
            result.tiers,
            current_address(),
            known.held_knowledge(loaded) | own_choice(),
        )
    )
    return shown


def pin_name(loaded: Loaded, result: Discovery, values: dict[str, Any], seed: int) -> str:
    """The name of a pinned run: data set, algorithm, the column asked about, ε and noise seed."""
    title = ALGORITHMS[result.algorithm].title
    asked = f", links of {short(target, 20)}" if (target := values.get(TARGET.name)) else ""
    at = f", ε = {values['epsilon']:g}, noise {seed}" if "epsilon" in values else ""
    return f"{loaded.dataset.name}: {title}{asked}{at}"


def details(loaded: Loaded, shown: Shown, seed: int, values: dict[str, Any]) -> None:
    """Draw the part below the first screen: quality metrics, notes on the run, and panels."""
    result, base, references = shown.result, shown.base, shown.references
    algorithm = ALGORITHMS[result.algorithm]
    private, names = algorithm.private, shown.names
    reference, label = references[shown.kind], names[shown.kind]
    base_title = shown.base_title
    form = graph_form(algorithm, result.graph, reference)
    # One container, so that the tabs below stay in place.
    with st.container():
        metric_row(
            result.graph,
            base.graph if shown.kind == "truth" else None,
            base_title,
            reference,
            label,
            form,
        )
        seen = power_sentence(result, loaded)
        if seen:
            st.caption(linked(seen, power="probability", threshold="Significance level"))
        mixed = mixed_sentence(result, loaded)
        if mixed:
            st.caption(mixed)
        if result.findings:
            st.caption(f"{findings.width_sentence(result)} {findings.no_edge_sentence(result)}")
        if overruled := overruled_sentence(result):
            st.caption(texts.plain(overruled))
        if sentence := pag_sentence(result):
            lines = f"{linked(texts.OF_PAG, pag='A circle')} {sentence}"
        elif algorithm.output == "dag":
            lines = texts.ALL_DIRECTED
        else:
            lines = linked(texts.UNDIRECTED, cpdag="An undirected edge")
        st.caption(f"{lines} {texts.NOT_PRIVATE}")
        if measured := shape_sentence(result):
            st.caption(measured)
        narrow = one_level_sentence(result)
        if narrow:
            st.caption(f":material/warning: {texts.plain(narrow)}")
        judged = st.container()
    comparisons = shown.compared
    has_findings = bool(result.findings)

    def edges() -> None:
        panels.edge_panel(result, comparisons)
        if result.weights is not None:
            panels.weight_panel(result)
        if has_findings:
            findings.pair_panel(result)

    def promise() -> None:
        panels.guarantee_panel(result)
        if private:
            st.subheader("What the run spent")
            panels.budget_panel(result)
        st.subheader("Decisions")
        panels.decision_panel(result)

    def expectation() -> None:
        if has_findings:
            power_panel(loaded, values)
        ask(loaded, values)

    def export() -> None:
        exports.downloads(shown, loaded)
        exports.code(result, loaded, seed)

    contents: dict[str, Callable[[], None]] = {
        "Edges": edges,
        "Background knowledge": lambda: knowledge.panel(
            loaded, lambda: knowledge.gain_part(loaded, result.algorithm, values)
        ),
        "Guarantee & budget": promise,
        stability.TAB: lambda: stability.panel(loaded, result, reference, label),
        **({"What to expect": expectation} if private else {}),
        "Export & code": export,
        "Pinned": pins.pinned_panel,
    }
    opened = tabbed(contents, "discover_tab")
    if "truth" not in references and opened != stability.TAB:
        with judged:
            stability.summary(loaded, result)
    counts = loaded.source
    distinct = (f" ({counts.unique_rows:,} distinct)") if isinstance(counts, InMemoryCounts) else ""
    most = result.orders_run - 1
    given = f", given up to {counted(most, 'other column')}," if most > 0 else ""
    work = f"{counted(result.tests_run, 'test')}{given}"
    if result.weights is not None:
        many = result.tests_run
        noisy = f", {counted(many, 'noisy gradient')}" if many else ""
        work = f"{counted(len(result.convergence), 'iteration')}{noisy}"
    st.caption(
        f"{work} in {1000 * result.seconds:.0f} ms of engine time; {loaded.dataset.n:,} "
        f"rows{distinct}."
    )


with actions():
    pins.pin_button()
try:
    loaded = current_data()
    if loaded is None:
        st.title("Discover")
        say_no_table()
    else:
        results(loaded)
except PrivcoreError as error:
    problem(error)
