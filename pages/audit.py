"""Audit: test a privacy guarantee with many runs on two neighbouring data sets."""

from typing import Any

import pandas as pd
import streamlit as st

from pages.ui import charts
from pages.ui.audit import charts as audit_charts
from pages.ui.controls.address import chosen, news, write
from pages.ui.controls.params import number_text, seed_field
from pages.ui.frame import require_frame
from pages.ui.layout import problem
from pages.ui.running import LiveHooks, cached_result, settings_key
from pages.ui.texts import plain
from privcore.display.sentences import precise_percent
from privcore.errors import PrivcoreError
from privcore.extras.audits import (
    AUDITS,
    MECHANISMS,
    PAIRWISE,
    PLANTED,
    RELEASES,
    UNITS,
    AuditCase,
    AuditResult,
    Outputs,
    audit,
    find_audit,
    simulate,
)
from privcore.extras.audits.statistics import thing

require_frame("pages/audit.py")
KINDS = {
    "algorithms": AUDITS,
    "released numbers": RELEASES,
    "mechanisms": MECHANISMS,
    "several rows each": UNITS,
    "directions": PAIRWISE,
    "planted bugs": PLANTED,
}
USUAL = {
    "algorithms": "priv-pc",
    "released numbers": "moment-search-whole-counts",
    "directions": "hsic-root-both",
}
# In this process: a slider must not wait for worker processes to start.
RUNS = [1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000]
EPSILONS = [number_text(v) for v in (0.1, 0.2, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0)]
PICTURE_RUNS = (200, 4_000)


def open_case() -> None:
    """Select the audit named in the URL (`?case=NAME`), and the kind that contains this audit."""
    name = news("case", "")
    if not name:
        return
    try:
        find_audit(name)
    except PrivcoreError as error:
        problem(error)
        return
    kind = next(kind for kind, cases in KINDS.items() if name in cases)
    st.session_state["audit_kind"] = kind
    st.session_state[case_key(kind)] = name


def case_key(kind: str) -> str:
    """The session key of the control that chooses among the audits of one kind."""
    return f"audit_{kind.split()[0]}"


def choose() -> tuple[AuditCase, dict[str, Any]]:
    """Draw the controls; returns the chosen audit and its settings (ε, runs and seed)."""
    open_case()
    st.session_state.setdefault("audit_kind", "algorithms")
    kind = chosen(
        st.radio(
            "Audit of",
            list(KINDS),
            key="audit_kind",
            persist_state="session",
            help="Algorithms: complete runs on tiny data. Released numbers: the noisy statistics "
            "that an algorithm releases before any search. Mechanisms: the building blocks of "
            "the algorithms. Several rows each: data in which one person has five rows. "
            "Directions: the releases that decide which of two variables is the cause. Planted "
            "bugs: broken variants, to check that an audit catches the bug.",
        )
    )
    cases = KINDS[kind]
    names = list(cases)
    st.session_state.setdefault(case_key(kind), USUAL.get(kind, names[0]))
    name = st.selectbox(
        "Subject of the audit",
        names,
        key=case_key(kind),
        persist_state="session",
        format_func=lambda n: cases[n].title,
    )
    write("case", name, "")
    case = cases[name]
    epsilon = st.select_slider(
        "Claimed ε",
        EPSILONS,
        value=number_text(case.epsilon),
        key="audit_epsilon",
        bind="query-params",
        persist_state="session",
        help="The algorithm runs with this total ε. The audit tests whether the guarantee holds.",
    )
    runs = st.select_slider(
        "Runs on each data set",
        RUNS,
        value=5_000,
        key="audit_runs",
        bind="query-params",
        persist_state="session",
        help="With more runs, the lower bound comes closer to the true ε. A quarter of the runs "
        "are used to fit a score, a quarter to choose the event, and half to test the event.",
    )
    seed = seed_field("Seed", "audit_seed")
    return case, {"epsilon": float(epsilon), "runs": int(runs), "seed": seed}


def verdict(result: AuditResult) -> None:
    caught = result.verdict == "violated"
    bound = (
        f"the runs show that the true ε is at least {result.epsilon_lower:.3g} (at "
        f"{precise_percent(result.confidence)} confidence); the claim is {result.epsilon:g}"
    )
    if caught:
        st.error(f"Violated: {bound}.", icon=":material/gpp_bad:")
    else:
        st.success(f"No violation found: {bound}.", icon=":material/gpp_good:")
    row = st.container(horizontal=True)
    row.metric("Claimed ε", f"{result.epsilon:g}", border=True)
    row.metric(
        "Lower bound on ε",
        f"{result.epsilon_lower:.3f}",
        border=True,
        help="Lower bound on the true ε, from exact (Clopper–Pearson) confidence bounds on the "
        "probabilities of an event that was chosen on separate runs.",
    )
    row.metric(
        "Bound as a share of the claim",
        f"{100 * result.ratio:.0f} %",
        border=True,
        help="Near 100 %: the claim is tight on these data. Lower: other data or more runs might "
        "give a larger bound.",
    )
    row.metric(
        "Largest possible bound",
        f"{result.most_visible:.2f}",
        border=True,
        help="Approximately the largest lower bound on ε that this number of runs can give, for "
        "any mechanism.",
    )


def details(case: AuditCase, result: AuditResult, seed: int) -> None:
    left, right = st.columns(2)
    with left:
        charts.show(
            audit_charts.against_claim(result),
            key="audit-claim",
            alt="Lower bound on ε against the claim",
        )
    with right:
        if result.events:
            charts.show(
                audit_charts.probabilities(result.events[0]),
                key="audit-event",
                alt="Probability of the event on both data sets",
            )
    if result.events:
        st.markdown(f"**Event 1:** {plain(sentence(result.events[0].plainly))}")
    else:
        st.markdown("**No event:** all runs gave the same output.")
    if case.protects:
        st.markdown(f"**Protected:** {case.protects}")
    st.markdown(f"**Data sets:** {case.neighbours}")
    if case.flaw:
        st.markdown(f"**The bug:** {case.flaw}")
    st.caption(
        "An audit can refute a guarantee but never prove one. A correct mechanism is flagged in "
        f"at most {precise_percent(1 - result.confidence)} of audits. {result.runs:,} runs on each "
        f"data set in {result.seconds:.1f} s, seed {result.seed}. Half of the runs are used to "
        "choose the events, and the other half to test the events."
    )
    few, many = PICTURE_RUNS
    runs = max(few, min(many, case.ci_runs // 2))
    outputs: tuple[Outputs, Outputs] | None = cached_result(
        ("audit-picture", case.kind, case.name, result.epsilon, seed),
        "Drawing outputs",
        lambda hooks: simulate(case.make(result.epsilon, result.delta), runs, seed, 1),
        shared=True,
    )
    if outputs is not None:
        names = [name for name in outputs[0].features if name in outputs[1].features]
        if names:
            name = st.selectbox(
                "Feature of the output",
                names,
                key=f"audit_feature_{case.name}",
                format_func=lambda each: sentence(thing(each)).removesuffix("."),
            )
            charts.show(
                audit_charts.two_histograms(
                    outputs[0].features[name], outputs[1].features[name], name
                ),
                key="audit-histogram",
                alt=f"{thing(name)}, on both data sets",
            )
    events_table(result)


def events_table(result: AuditResult) -> None:
    """Show each tested event in words, its frequency on both data sets, and its bound on ε."""
    if not result.events:
        return
    st.markdown("**Events tested**")
    rows = []
    for number, event in enumerate(result.events, start=1):
        there = {event.favours: event.hits, "D′" if event.favours == "D" else "D": event.other_hits}
        rows.append(
            {
                "no.": f"{number}",
                "event": plain(sentence(event.plainly)),
                "on D": f"{there['D']:,} of {event.runs:,}",
                "on D′": f"{there['D′']:,} of {event.runs:,}",
                "shows ε ≥": f"{event.epsilon_lower:.3f}",
            }
        )
    # This kind of table wraps text: an event may be a long sentence.
    st.table(pd.DataFrame(rows).set_index("no."))
    with st.expander("The same events in the audit's own notation"):
        for number, event in enumerate(result.events, start=1):
            st.text(f"{number}. {event.words}")


def sentence(text: str) -> str:
    """Turn a phrase into a sentence: capitalize the first letter and add a full stop."""
    return f"{text[:1].upper()}{text[1:]}."


st.title("Audit")
st.caption(
    "Does the code keep its guarantee? An audit runs the code many times on each of two data sets. "
    "They differ in one record, or in all rows of one person, and are the most revealing pair "
    "known. If some result is more than e^ε times as likely on one data set as on the other, the "
    "claim is false."
)
try:
    with st.sidebar:
        case, settings = choose()

    def compute(hooks: LiveHooks) -> AuditResult:
        def progress(done: int, total: int) -> None:
            hooks.update(done / max(total, 1), f"{done:,} of {total:,} runs")

        return audit(case, **settings, progress=progress)

    result = cached_result(
        ("audit", case.kind, case.name, settings_key(settings)),
        f"Auditing {case.title}",
        compute,
        shared=True,
    )
    if result is not None:
        verdict(result)
        details(case, result, settings["seed"])
except PrivcoreError as error:
    problem(error)
