"""The panel Advice of the page Discover."""

import pytest

from privcore.extras.lab.planning.surrogate import Surrogates
from tests.messages import label, shows
from tests.pages.opening import clean, open_table, press, start
from tests.pages.test_findings_page import MIXED


@pytest.mark.long
def test_advice_is_asked_for_and_followed(monkeypatch):
    """On two surrogates for each algorithm; the page draws five."""
    monkeypatch.setattr(
        "pages.ui.expectation.Surrogates",
        lambda shape, knowledge: Surrogates(shape, (1, 2), knowledge),
    )
    app = start(
        data="cancer", rows="1000", algorithm="svt-pc", discover_tab="What to expect", epsilon="2"
    )
    assert not any(shows(m.value, "advice-at", epsilon=2) for m in app.markdown)
    app = press(app, label("which-algorithm-at-epsilon", epsilon=2))
    sentence = next(m.value for m in app.markdown if shows(m.value, "advice-at", epsilon=2))
    title = sentence.split("**")[1]
    assert app.session_state["algorithm"] == "svt-pc"
    follow = [b.label for b in app.button if b.label == f"Use {title}"]
    assert follow == ([] if title == "SVT-PC" else [f"Use {title}"])
    app.slider(key="advice_target").set_value(0.2).run()
    app = press(app, "Which ε would")
    assert any(shows(m.value, "advice-of-surrogates") for m in app.markdown)
    if follow:
        app = press(app, "Use ")
        assert app.session_state["algorithm"] != "svt-pc"


def limits(app):
    """The verdicts on what limits weak edges, in the page's order."""
    return [m.value for m in (*app.caption, *app.markdown) if label("weak-edges") in m.value]


@pytest.mark.long
def test_what_limits_weak_edges_is_said_without_asking_and_follows_the_budget():
    """In the tab, whatever the algorithm; beside a run and in the other tab, of moment search."""
    for epsilon, message in (
        ("0.1", label("algorithm-is-the-limit")),
        ("1", label("nothing-in-the-way")),
    ):
        app = start(data="asia", rows="100000", discover_tab="What to expect", epsilon=epsilon)
        assert len(limits(app)) == 2
        assert all(message in sentence for sentence in limits(app))
    few = {"data": "asia", "rows": "1000", "discover_tab": "What to expect"}
    for algorithm, many in (("moment-search", 2), ("svt-pc", 1)):
        app = start(algorithm=algorithm, **few)
        assert len(limits(app)) == many
        assert all(shows(sentence, "no-test-sees-one", rows="1,000") for sentence in limits(app))
    app = start(data="asia", discover_tab=label("what-to-expect"))
    assert len(limits(app)) == 2


@pytest.mark.long
def test_numbers_have_limits_too_and_a_mixed_table_has_none_stated():
    app = start(data="linear-gaussian", rows="2000", discover_tab="What to expect")
    assert len(limits(app)) == 2
    assert all(shows(sentence, "correlation-seen") for sentence in limits(app))
    app = open_table(MIXED, use=False, algorithm="moment-search", discover_tab="What to expect")
    app.toggle(key="upload_uncut").set_value(True).run()
    press(app, label("use-table"))
    app.switch_page("pages/discover.py").run()
    assert any("as −1 and 1" in c.value for c in clean(app).caption)
    assert any(b.label.startswith(label("which-algorithm")) for b in app.button)
    assert limits(app) == []


def test_a_run_that_is_not_private_needs_no_advice():
    app = start(data="cancer", rows="1000", algorithm="pc", discover_tab="What to expect")
    assert label("what-to-expect") not in [tab.label for tab in app.tabs]
