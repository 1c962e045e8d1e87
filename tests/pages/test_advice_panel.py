"""The panel Advice of the page Discover."""

from privcore.evaluation.planning.surrogate import Surrogates
from tests.pages.test_app import clean, start


def press(app, label):
    return clean(next(b for b in app.button if b.label.startswith(label)).click().run())


def test_advice_is_asked_for_and_followed(monkeypatch):
    """On two surrogates for each algorithm; the page draws five."""
    monkeypatch.setattr("pages.ui.expectation.Surrogates", lambda shape: Surrogates(shape, (1, 2)))
    app = clean(
        start(data="cancer", rows="1000", algorithm="svt-pc", discover_tab="Advice", epsilon="2")
    )
    assert not any("At ε = 2 use" in m.value for m in app.markdown)
    app = press(app, "Which algorithm at ε = 2?")
    sentence = next(m.value for m in app.markdown if "At ε = 2 use" in m.value)
    title = sentence.split("**")[1]
    assert app.session_state["algorithm"] == "svt-pc"
    follow = [b.label for b in app.button if b.label == f"Use {title}"]
    assert follow == ([] if title == "SVT-PC" else [f"Use {title}"])
    app.slider(key="advice_target").set_value(0.2).run()
    app = press(app, "Which ε would")
    assert any("mean skeleton F1 against the truth of surrogates" in m.value for m in app.markdown)
    if follow:
        app = press(app, "Use ")
        assert app.session_state["algorithm"] != "svt-pc"


def test_a_run_that_is_not_private_needs_no_advice():
    app = clean(start(data="cancer", rows="1000", algorithm="pc", discover_tab="Advice"))
    assert "Advice" not in [tab.label for tab in app.tabs]
