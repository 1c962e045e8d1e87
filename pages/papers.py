"""Papers: can we reproduce the literature? Published tables and figures next to our results."""

from functools import partial
from typing import Literal

import pandas as pd
import streamlit as st

from pages.ui import charts
from pages.ui.controls.address import chosen, news, write
from pages.ui.frame import require_frame
from pages.ui.layout import download, problem
from pages.ui.papers import charts as paper_charts
from pages.ui.running import LiveHooks, cached_result
from pages.ui.texts import plain
from privcore.errors import PrivcoreError
from privcore.extras.lab.reliability import shipped_reliability
from privcore.extras.lab.reproductions import (
    NAMES,
    SERIES,
    TIMED,
    Item,
    Reproduced,
    Shipped,
    as_csv,
    as_json,
    as_texts,
    has_program,
    quick_result,
    series_of,
    shipped,
)
from privcore.text import counted, short

require_frame("pages/papers.py")
ITEMS = {name: shipped(name).item for name in NAMES}
PAPERS = {item.paper.name: item.paper for item in ITEMS.values()}
KINDS = {
    "proven": "proven (solid)",
    "published": "published, not proven (dashed)",
    "exact": "no privacy (dotted)",
}
# Characters in a table row above which the table is wider than a page of 1280 pixels.
WIDEST = 110


def items_of(paper: str) -> list[str]:
    return [name for name, item in ITEMS.items() if item.paper.name == paper]


def most_telling(paper: str) -> str:
    """The item to show first: the paper's first figure or, if there is none, its first table."""
    items = items_of(paper)
    return next((name for name in items if ITEMS[name].figure is not None), items[0])


def choose() -> Item:
    """Draw the choice of a paper, and of one of its tables or figures; returns the chosen item.

    The URL stores the choice.
    """
    # Not bound by Streamlit, which would write the item's title to the URL; titles are not unique.
    first = most_telling(next(iter(PAPERS)))
    wanted = news("item", first) or st.session_state.get("item", first)
    name = wanted if wanted in ITEMS else first
    if wanted != name:
        here = ITEMS[name]
        st.info(
            f"There is no item “{plain(short(wanted, 40))}”; showing {here.item} of "
            f"{plain(here.paper.title)} instead."
        )
    st.session_state["item"], st.session_state["paper"] = name, ITEMS[name].paper.name

    def first_item() -> None:
        st.session_state["item"] = most_telling(st.session_state["paper"])

    left, right = st.columns([2, 3])
    with left:
        st.selectbox(
            "Paper",
            list(PAPERS),
            key="paper",
            on_change=first_item,
            format_func=lambda p: PAPERS[p].title,
        )
    with right:
        item = chosen(
            st.segmented_control(
                "Table or figure",
                items_of(ITEMS[name].paper.name),
                required=True,
                key="item",
                wrap=True,
                format_func=lambda n: ITEMS[n].item,
            )
        )
    write("item", item, "")
    return ITEMS[item]


def rerun(item: Item) -> Shipped | None:
    """On request, recompute the item with few replicates.

    Returns None if nobody requested the run, or if the run was cancelled.
    """
    requested = st.session_state.setdefault("_made_here", set())
    if item.name not in requested:
        return None

    def compute(hooks: LiveHooks) -> Shipped:
        def tick(share: float) -> None:
            hooks.update(share, f"{100 * share:.0f} % done ({counted(item.quick, 'replicate')})")

        return quick_result(item.name, tick)

    return cached_result(("reproduction", item.name), f"Reproducing {item.item}", compute)


def measures_of(item: Item, result: Reproduced) -> list[str]:
    """The distinct values in the item's column "measure"; empty if there is no such column."""
    if "measure" not in item.columns:
        return []
    place = item.columns.index("measure")
    return list(dict.fromkeys(str(line.case[place]) for line in result.lines))


def picture(item: Item, result: Reproduced) -> None:
    there = [name for name in KINDS if name in series_of(result.lines)]
    measures, lines = measures_of(item, result), result.lines
    with st.container(horizontal=True):
        if len(measures) > 1:
            chosen = st.segmented_control(
                "Measure",
                measures,
                default=measures[0],
                required=True,
                key=f"measure_{item.name}",
                wrap=True,
            )
            lines = tuple(line for line in lines if chosen in line.case)
        series = st.pills(
            "Lines",
            there,
            selection_mode="multi",
            default=there[:2],
            key=f"series_{item.name}",
            wrap=True,
            format_func=lambda name: KINDS[name],
        )
    if not series:
        st.info("Choose at least one kind of line.")
        return
    charts.show(
        paper_charts.reproduction_figure(item, lines, series),
        key=f"paper-{item.name}",
        alt=f"Our results in the form of {item.item}",
    )


def table(item: Item, result: Reproduced) -> None:
    head, *body = as_texts(item, result.lines)
    frame = pd.DataFrame(body, columns=head)
    height: Literal["content"] | int = "content" if len(body) <= 40 else 600
    alt = f"{item.item}: published values and our values"
    wide = sum(max(map(len, column)) for column in zip(head, *body, strict=True)) > WIDEST
    if wide and item.figure is None:
        # Wraps text, where the other kind would be cut off at the page's edge.
        st.table(frame.map(plain), hide_index=True, height=height, alt=alt)
    else:
        st.dataframe(frame, hide_index=True, height=height, alt=alt)
    there = series_of(result.lines)
    spread = any(mean.sd for line in result.lines for mean in line.ours.values())
    notes = [
        f"“{SERIES['published']}”: the paper's own constants, which give no proven guarantee."
        if "published" in there
        else "",
        f"“{SERIES['proven']}”: our constants, derived and tested." if "proven" in there else "",
        f"Numbers: mean ± standard deviation over {counted(result.runs, 'run')}." if spread else "",
        TIMED if item.timed else "",
        "Computed from exact data and simulated noise: not private.",
    ]
    st.caption(" ".join(filter(None, notes)))


def sentences(title: str, lines: tuple[str, ...]) -> None:
    if lines:
        st.markdown("\n".join([f"**{title}**", "", *(f"- {line}" for line in lines)]))


def provenance(shown: Shipped, *, just_now: bool) -> None:
    runs = f"seed {shown.result.seed}, {counted(shown.result.runs, 'run')} for each number"
    if just_now:
        st.caption(f"Computed here just now: {runs}.")
    else:
        st.caption(
            f"Shipped with the product. Computed by version {shown.version} on {shown.made}, "
            f"{runs}, with this command:"
        )
    st.code(shown.command, language="bash")


def buttons(shown: Shipped) -> None:
    item, result = shown.item, shown.result
    if not has_program():
        st.caption("Results can be recomputed only in a source checkout.")
    with st.container(horizontal=True):
        if has_program():
            st.button(
                "Run it again here",
                icon=":material/refresh:",
                key=f"again_{item.name}",
                on_click=lambda: st.session_state["_made_here"].add(item.name),
                help=f"A quick run on this machine. Replicates for each number: {item.quick}.",
            )
        rows = partial(as_csv, item, result.lines)
        download("CSV", rows, f"{item.name}.csv", f"csv_{item.name}")
        download("JSON", lambda: as_json(shown), f"{item.name}.json", f"json_{item.name}")


def show(item: Item) -> None:
    st.header(item.item)
    st.markdown(item.shows)
    shown = shipped(item.name)
    if shown.made is None:
        unmade(shown)
        return
    fresh = rerun(item)
    if fresh is not None:
        which = st.segmented_control(
            "Result",
            ["shipped", "made here"],
            default="made here",
            required=True,
            key=f"which_{item.name}",
        )
        if which == "made here":
            shown = fresh
        else:
            fresh = None
    result = shown.result
    if item.figure is not None:
        picture(item, result)
        with st.expander("Numbers"):
            table(item, result)
    else:
        table(item, result)
    st.markdown(f"*{item.paper.citation}*")
    sentences("What the paper says", item.says)
    sentences("Why our results differ", item.differences)
    sentences("Refused", result.refused)
    provenance(shown, just_now=fresh is not None)
    buttons(shown)


def unmade(held: Shipped) -> None:
    """Show an item whose data are not shipped: the user has to supply the file."""
    item = held.item
    printed = [[*map(str, line.case), line.paper] for line in held.result.lines]
    st.dataframe(
        pd.DataFrame(printed, columns=[*item.columns, "paper"]),
        hide_index=True,
        alt=f"{item.item} as published",
    )
    st.markdown(f"*{item.paper.citation}*")
    sentences("What the paper says", item.says)
    sentences("Why our results differ", item.differences)
    st.info("The data are not shipped. If you have the file, this command computes our results:")
    st.code(f"python -m privcore reproduce {item.name} --table FILE", language="bash")


def our_probabilities() -> None:
    """Show how well the edge and arrow probabilities of our own algorithm are calibrated."""
    held = shipped_reliability()
    st.header("Are our probabilities calibrated?")
    st.markdown(
        "If moment search counts all combinations of levels, it states a probability for each "
        "edge and each arrow. If these probabilities are calibrated, about 80 of 100 edges with a "
        "stated probability of 80 % are true, and the curves follow the dotted line."
    )
    charts.show(
        paper_charts.reliability_figure(held.edges, held.arrows),
        key="paper-reliability",
        alt="Share of edges and arrows that are true, by stated probability",
    )
    st.caption(
        f"On {held.about}. Expected calibration error: {held.edges.error:.3f} for edges and "
        f"{held.arrows.error:.3f} for arrows. An arrow is true if the true graph has the same "
        f"arrow. Computed from simulated data: not private. Computed by version {held.version} "
        "with this command:"
    )
    st.code(f"{held.command}", language="bash")


st.title("Papers")
st.caption(
    "The tables and figures of the papers behind the algorithms, with the published results next "
    "to our results for the same settings. Our results are in the papers' own calibration and in "
    "the proven calibration."
)
try:
    show(choose())
except PrivcoreError as error:
    problem(error)
our_probabilities()
