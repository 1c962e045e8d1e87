"""The page Audit, through Streamlit's own test harness."""

import json

import pytest

from privcore.extras import audits as audit
from privcore.extras.audits import AUDITS, MECHANISMS, PAIRWISE, PLANTED, RELEASES, UNITS
from tests.examples import few
from tests.messages import begins, label, shows
from tests.pages.opening import clean, open_page

ALL = [
    *(("algorithms", name) for name in AUDITS),
    *(("released numbers", name) for name in RELEASES),
    *(("mechanisms", name) for name in MECHANISMS),
    *((label("several-rows-each"), name) for name in UNITS),
    *(("planted bugs", name) for name in PLANTED),
]


def start(name, **query):
    return open_page("audit", timeout=300, **{"case": name, "audit_runs": "1000", **query})


@pytest.fixture
def short(monkeypatch):
    """Audits and histograms of so few runs say little, and are drawn like others."""
    whole, simulated = audit.audit, audit.simulate

    def shortened(case, *, runs, **settings):
        return whole(case, runs=min(runs, 60), **settings)

    def pictured(trial, runs, seed, processes):
        return simulated(trial, min(runs, 60), seed, processes)

    monkeypatch.setattr("privcore.extras.audits.audit", shortened)
    monkeypatch.setattr("privcore.extras.audits.simulate", pictured)


@pytest.mark.long
@pytest.mark.usefixtures("short")
@pytest.mark.parametrize(
    ("kind", "name"),
    [
        *few([case for case in ALL if "moment-search" not in case[1]], 6),
        *(pytest.param(*c, marks=pytest.mark.long) for c in ALL if "moment-search" in c[1]),
    ],
)
def test_every_registered_audit_is_drawn(kind, name):
    app = start(name)
    assert app.session_state["audit_kind"] == kind
    assert app.selectbox(key=f"audit_{kind.split()[0]}").value == name
    answers = [*app.success, *app.error]
    assert len(answers) == 1
    assert shows(answers[0].value, "true-epsilon-at-least", confidence=95)
    assert len(app.get("plotly_chart")) >= 1


def test_a_planted_bug_is_told_and_caught():
    app = start("half-noise")
    assert app.error[0].value.startswith("Violated")
    assert any(m.value.startswith("**The bug:**") for m in app.markdown)


def test_who_is_protected_is_told_where_it_is_a_person():
    text = " ".join(m.value for m in start("lapmech-person").markdown)
    assert shows(text, "protected", unit="person", rows=5)
    assert "**Protected:**" not in " ".join(m.value for m in start("laplace").markdown)


@pytest.mark.long
def test_the_address_follows_the_controls_and_the_controls_a_new_address():
    app = start("quantile")
    app.selectbox(key="audit_mechanisms").select("exponential").run()
    assert app.query_params["case"] == "exponential"
    assert app.selectbox(key="audit_mechanisms").value == "exponential"
    app.query_params["case"] = "reused-threshold"
    app.run()
    assert app.session_state["audit_kind"] == "planted bugs"
    assert app.selectbox(key="audit_planted").value == "reused-threshold"


@pytest.mark.long
def test_an_unknown_case_is_one_sentence_above_the_usual_audit():
    app = start("no-such-case")
    assert begins(next(e.value for e in app.error), "no-such-audit", name="no-such-case")
    assert app.selectbox(key="audit_algorithms").value == "priv-pc"
    assert app.success


@pytest.mark.long
@pytest.mark.usefixtures("short")
def test_every_kind_of_release_of_directions_is_drawn():
    app = start("private-curves")
    choice = app.selectbox(key="audit_directions")
    assert set(choice.options) == {case.title for case in PAIRWISE.values()}
    for name in ("private-regression", "hsic-test", "iqr-both", "iqr-ptr-test", "kendall-training"):
        clean(app.selectbox(key="audit_directions").select(name).run())
        assert len([*app.success, *app.error]) == 1
        assert len(app.get("plotly_chart")) >= 1


@pytest.mark.long
def test_events_are_said_in_sentences_and_pictures_name_their_axes():
    app = start("priv-pc")
    text = " ".join(m.value for m in app.markdown)
    assert "**Event 1:** " in text
    shown = app.table[0].value
    assert list(shown.columns) == ["event", "on D", "on D′", "shows ε ≥"]
    for inside in (" given {", "?", "score -", "score +", "(spent)"):
        assert not any(inside in sentence for sentence in shown["event"])
    options = app.selectbox(key="audit_feature_priv-pc").options
    assert label("budget-spent") in options
    assert not any(option.endswith("?") or "{" in option for option in options)
    for chart in (json.loads(e.proto.spec) for e in app.get("plotly_chart")):
        assert chart["layout"]["title"]["text"]
        assert chart["layout"]["xaxis"]["title"]["text"]
        assert chart["layout"]["yaxis"]["title"]["text"]


def test_an_unknown_word_in_the_address_is_named():
    app = start("laplace", audit_runs="7")
    assert any(shows(w.value, "in-url", what="“audit\\_runs=7”") for w in app.warning)
