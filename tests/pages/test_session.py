"""A session goes into one file and comes back, without rows; a reload can take up the last one."""

import json

import pytest

from pages.ui import session
from privcore.errors import DataError
from tests.messages import label
from tests.pages.opening import TABLE, clean, drawings, open_page, open_table, press, start


@pytest.fixture
def written(monkeypatch):
    """The files that the page offers to save, the last one last."""
    texts = []
    inner = session.session_text
    monkeypatch.setattr(session, "session_text", lambda: texts.append(inner()) or texts[-1])
    return texts


def opened(text, **query):
    app = open_page("data", **query)
    uploader = next(u for u in app.file_uploader if u.label == "Session")
    uploader.upload("session.json", text.encode(), "application/json").run()
    return clean(app)


def pinned(app):
    app.button(key="pin").click().run()
    return clean(app)


def test_settings_and_pins_come_back(written):
    app = pinned(start(data="cancer", rows="1000", epsilon="3", algorithm="priv-pc", tweak="2.0"))
    app.select_slider(key="epsilon").set_value("0.3").run()
    pinned(app)
    app = opened(written[-1])
    assert app.selectbox(key="data").value == "cancer"
    assert app.session_state["algorithm"] == "priv-pc"
    assert app.select_slider(key="epsilon").value == "0.3"
    assert app.slider(key="tweak").value == 2.0
    pins = app.session_state["_pins"]
    assert [pin.address["epsilon"] for pin in pins] == ["3", "0.3"]
    app.switch_page("pages/discover.py")
    app.session_state["discover_tab"] = "Pinned"
    clean(app.run())
    assert len(drawings(app)[1]["scene"]["graphs"]) == 2
    app.button(key="pin-open-0").click().run()
    assert clean(app).select_slider(key="epsilon").value == "3"


def test_a_table_comes_back_as_it_was_stated_and_no_row_is_in_the_file(written):
    rare = b"sex,age,ill\n" + b"".join(
        f"{'fm'[i % 2]},{20 + i % 40}.{i:05d},{(i * 7 % 11) % 2}\n".encode() for i in range(200)
    )
    app = open_table(rare)
    app.switch_page("pages/discover.py").run()
    pinned(app)
    text = written[-1]
    assert not any(f".{i:05d}" in text for i in range(1, 199))
    stated = json.loads(text)["table"]["schema"]["columns"]
    stated[1]["bounds"] = [10, 90]
    stated[1].pop("cut_points", None)
    document = json.loads(text)
    document["table"]["schema"]["columns"] = stated
    app = opened(json.dumps(document))
    assert app.session_state["data"] == "your table"
    app.switch_page("pages/data.py").run()
    app.file_uploader[0].upload("t.csv", rare, "text/csv").run()
    used = press(app, label("use-table")).session_state["upload_used"]
    assert next(c.bounds for c in used if c.name == "age") == (10.0, 90.0)


def test_what_is_known_comes_back(written):
    known = '{"tiers": [["Smoker"]]}'
    start(data="cancer", rows="1000", knowledge=known)
    app = opened(written[-1])
    app.switch_page("pages/discover.py").run()
    assert "Smoker" in clean(app).session_state["_known:cancer"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"causalveil": "session", "format": 2}',
        '{"causalveil": "session", "format": 1}',
        '{"causalveil": "session", "format": 1, "address": {}, "known": {}, "pins": [{}]}',
    ],
)
def test_another_file_is_refused_in_one_sentence_and_nothing_is_lost(text):
    app = opened(text, data="cancer")
    assert len(app.error) == 1
    assert app.error[0].value.count(". ") == 0
    assert app.selectbox(key="data").value == "cancer"


def test_values_that_no_control_has_are_left_out(written):
    pinned(start(data="cancer", rows="1000"))
    text = (
        written[-1].replace('"cancer"', '"no network"').replace('"epsilon": "1"', '"epsilon": "x"')
    )
    app = opened(text)
    app.switch_page("pages/discover.py").run()
    assert clean(app).select_slider(key="epsilon").value == "1"
    app.session_state["discover_tab"] = "Pinned"
    clean(app.run()).button(key="pin-open-0").click().run()
    assert clean(app).selectbox(key="data").value == "asia"


def test_a_damaged_pin_is_refused(written):
    pinned(start(data="cancer", rows="1000"))
    document = json.loads(written[-1])
    document["pins"][0]["positions"].pop()
    with pytest.raises(DataError):
        session.open_session(json.dumps(document).encode())


def test_an_address_is_not_called_ignored_while_its_table_is_missing():
    app = open_page("discover", data="your table", epsilon="3", delta="1e-08")
    assert not app.warning


def test_a_reload_is_offered_the_last_session_of_its_tab(monkeypatch):
    monkeypatch.setattr("pages.ui.keys.tab_of", lambda drawn: "tab-1")
    app = open_table(TABLE)
    app.switch_page("pages/discover.py").run()
    pinned(app)
    fresh = start(data="your table")
    assert "upload" not in fresh.session_state
    press(fresh, "Continue it")
    assert fresh.session_state["upload"].dataset.name == "t.csv"
    assert len(fresh.session_state["_pins"]) == 1
    monkeypatch.setattr("pages.ui.keys.tab_of", lambda drawn: "tab-2")
    assert not [b for b in start().button if b.label == "Continue it"]
