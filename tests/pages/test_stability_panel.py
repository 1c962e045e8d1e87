"""A table without a truth is judged on the page Discover: by a button, and in the tab Stability."""

import numpy as np
import pandas as pd
import pytest

from pages.ui.discover import stability
from tests.messages import label, reads, shows
from tests.pages.opening import clean, open_table, press, start, told

SMALL = {"data": "cancer", "rows": "2000"}


def chain():
    rng = np.random.default_rng(0)
    a = rng.random(3_000) < 0.5
    b = a ^ (rng.random(3_000) < 0.1)
    frame = pd.DataFrame({"a_$x$": a, "b": b, "rare": rng.random(3_000) < 0.03})
    return frame.replace({True: "yes", False: "no"}).to_csv(index=False).encode()


def button(app, label):
    return next((b for b in app.button if b.label == label), None)


@pytest.fixture
def own():
    """Discover on an uploaded table."""
    app = open_table(chain())
    app.switch_page("pages/discover.py").run()
    return clean(app)


@pytest.mark.long
def test_a_table_of_one_s_own_is_judged_when_somebody_wants_it(own, monkeypatch):
    judged, inner = [], stability.judge
    monkeypatch.setattr(stability, "judge", lambda *a, **k: judged.append(1) or inner(*a, **k))
    own.run()
    assert button(own, "Open Stability") is None
    assert judged == []
    press(own, label("judge-graph"))
    assert shows(told(clean(own)), "rolls")
    assert shows(told(own), "many-runs-not-private")
    assert button(own, label("judge-graph")) is None
    press(own, "Open Stability")
    clean(own)
    assert own.session_state["discover_tab"] == "Stability"
    assert any("over halves" in d.value for d in own.dataframe)
    assert told(own).count(label("rolls-over", rolls=20)) == 1
    # Another roll is judged by the same runs.
    press(own, label("re-roll"))
    assert label("rolls-over", rolls=20) in told(clean(own))
    assert judged == [1]


def test_a_column_of_nearly_one_level_is_named_under_the_graphs(own):
    captions = " ".join(c.value for c in own.caption).replace("\\", "")
    assert shows(captions, "column-level-holds", name="rare", share=9)
    assert shows(captions, "share-estimated")


def test_data_asks_about_a_column_of_nearly_one_level():
    app = open_table(chain(), use=False)
    why = app.dataframe[0].value["why"]
    assert any(shows(text, "nearly-constant", share=97) for text in why)
    assert reads(app.header[0].value, "columns-used-and-a-look", used=3, look=1)


def test_a_network_has_a_truth_and_needs_no_button():
    app = start(**SMALL)
    assert button(app, label("judge-graph")) is None


@pytest.mark.long
def test_the_tab_has_both_frequencies_and_what_the_budget_cannot_tell():
    app = start(**SMALL, epsilon="10", algorithm="moment-search", discover_tab="Stability")
    assert shows(told(app), "rolls", rolls=20)
    assert shows(told(app), "halves-agree")
    assert shows(told(app), "verdict-unclear")
    table = next(d.value for d in app.dataframe if "over halves" in d.value)
    assert {"pair", label("over-rolls"), "over halves", "verdict"} <= set(table)
    assert table["over halves"].between(0, 1).all()
    assert shows(set(table["verdict"]), "verdict-unclear")
    assert list(table["verdict"][table["verdict"] == "edge"].index) == list(
        range((table["verdict"] == "edge").sum())
    )


@pytest.mark.long
def test_edges_that_halves_seldom_have_are_named():
    shown = {"data": "survey", "rows": "5000", "epsilon": "0.2", "measured": "levels"}
    app = start(**shown, discover_tab="Stability")
    table = next(d.value for d in app.dataframe if "over halves" in d.value)
    seldom = table[(table["verdict"] == "edge") & (table["over halves"] < 0.5)]
    assert len(seldom)
    warnings = " ".join(w.value for w in app.warning).replace("\\", "")
    assert shows(warnings, "seldom-edges")


def test_pc_has_halves_only():
    app = start(**SMALL, algorithm="pc", discover_tab="Stability")
    table = next(d.value for d in app.dataframe if "over halves" in d.value)
    assert label("over-rolls") not in table
    assert any(shows(c.value, "no-noise-to-roll") for c in app.caption)


def test_a_table_that_cannot_be_halved_is_one_sentence():
    content = b"a,b\n0,1\n1,0\n1,1\n"
    app = open_table(content, algorithm="pc")
    app.switch_page("pages/discover.py").run()
    press(app, label("judge-graph"))
    assert [w.value for w in clean(app).warning] == [
        label("too-few-rows-to-halve", rows=3, least="4")
    ]
