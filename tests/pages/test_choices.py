"""Choices shown in words stand in the address under their names."""

from pages.ui.controls.params import preset
from privcore.algorithms import ALGORITHMS
from tests.messages import label
from tests.pages.opening import clean, open_page

DATA = {"data": "cancer", "rows": "1000"}


def test_words_are_shown_and_the_name_stands_in_the_address():
    app = open_page("discover", **DATA, algorithm="priv-pc")
    box = app.selectbox(key="score")
    assert label("bounded-rank-score") in box.options
    box.set_value("z-star").run()
    assert app.query_params["score"] == "z-star"
    assert app.session_state["score"] == "z-star"
    app.selectbox(key="score").set_value("auto").run()
    assert "score" not in app.query_params


def test_a_link_made_before_sets_the_choice():
    app = open_page("discover", **DATA, algorithm="priv-pc", score="g2-votes")
    assert app.session_state["score"] == "g2-votes"
    assert app.query_params["score"] == "g2-votes"
    assert not any("score=" in w.value for w in app.warning)
    app = open_page("discover", **DATA, algorithm="priv-pc", score="g3")
    assert app.session_state["score"] == "auto"
    assert any("score=g3" in w.value for w in app.warning)


def test_a_name_leaves_the_address_with_its_control_and_comes_back_with_it():
    app = open_page("discover", **DATA, algorithm="priv-pc", score="g2-votes")
    app.selectbox(key="algorithm").set_value("moment-search").run()
    assert "score" not in app.query_params
    clean(app.selectbox(key="algorithm").set_value("priv-pc").run())
    assert app.session_state["score"] == "g2-votes"
    assert app.query_params["score"] == "g2-votes"


def test_a_choice_goes_back_where_its_name_has_gone_from_the_address(monkeypatch):
    app = open_page("discover", **DATA, algorithm="priv-pc", calibration="published")
    del app.query_params["calibration"]
    monkeypatch.setattr("pages.ui.controls.address.stepping", lambda: True)
    app.run()
    assert app.session_state["calibration"] == "proven"


def test_a_run_of_another_page_is_opened_with_its_choices(monkeypatch):
    """Also where the address has said the same before, and another choice was made since."""
    held = {"score": "auto", "_score_written": "g2-votes"}
    monkeypatch.setattr("streamlit.session_state", held)
    address = preset(ALGORITHMS["priv-pc"], {"calibration": "proven", "score": "g2-votes"})
    assert address == {"algorithm": "priv-pc", "score": "g2-votes"}
    assert held == {}


def test_a_choice_of_one_is_not_asked():
    app = open_page("discover", **DATA, algorithm="moment-search")
    assert "Calibration" not in [box.label for box in app.selectbox]
    app = open_page("discover", **DATA, algorithm="priv-pc")
    assert "Calibration" in [box.label for box in app.selectbox]
