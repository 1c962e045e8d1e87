"""A session goes into one file and comes back, without rows; a reload can take up the last one."""

import json
import pickle
import time
from itertools import pairwise
from types import SimpleNamespace

import pytest

from pages.ui import session
from pages.ui.controls.params import number_text, options_of, widget_key
from pages.ui.controls.states import states
from privcore.algorithms import ALGORITHMS
from privcore.errors import DataError
from tests.messages import label, shows
from tests.pages.opening import (
    TABLE,
    clean,
    drawings,
    labelled,
    open_page,
    open_table,
    press,
    start,
)


@pytest.fixture
def written(monkeypatch):
    """The files that the page offers to save, the last one last."""
    texts = []
    inner = session.session_text
    monkeypatch.setattr(session, "session_text", lambda: texts.append(inner()) or texts[-1])
    return texts


def opened(text, **query):
    app = open_page("data", **query)
    uploader = labelled(app.file_uploader, "Session")
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
    assert shows([c.value for c in app.caption], "session-unconfirmed")
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
    # Another table is refused nothing, and takes nothing.
    app.file_uploader[0].upload("other.csv", b"sex,old\nf,no\nm,yes\n", "text/csv").run()
    assert clean(app).session_state["_schema_of_session"]
    app.file_uploader[0].upload("t.csv", rare, "text/csv").run()
    used = press(app, label("use-table")).session_state["upload_used"]
    assert next(c.bounds for c in used if c.name == "age") == (10.0, 90.0)


def test_what_is_known_comes_back(written):
    known = '{"tiers": [["Smoker"]]}'
    start(data="cancer", rows="1000", knowledge=known)
    app = opened(written[-1])
    app.switch_page("pages/discover.py").run()
    assert "Smoker" in clean(app).session_state["_known:cancer"]


def test_a_graph_of_one_s_own_comes_back(written):
    mine = {"discover_reference": "your graph", "own_graph": "Smoker -> Cancer"}
    start(data="cancer", rows="1000", **mine)
    app = opened(written[-1])
    app.session_state["discover_reference"] = "mine"
    app.switch_page("pages/discover.py").run()
    assert clean(app).text_area(key="own_text").value == "Smoker -> Cancer"


def test_the_file_names_the_table_in_use_and_not_one_that_waits(written):
    app = open_table(TABLE)
    app.file_uploader[0].upload("other.csv", b"a,b\n1,0\n0,1\n", "text/csv").run()
    pinned(app.switch_page("pages/discover.py").run())
    assert json.loads(written[-1])["table"]["file"] == "t.csv"


@pytest.mark.parametrize("algorithm", ALGORITHMS.values(), ids=lambda a: a.name)
def test_every_state_of_a_control_comes_back_and_numbers_between_too(algorithm):
    for calibration in algorithm.calibrations:
        for parameter in algorithm.parameters:
            key = widget_key(algorithm, parameter, calibration)
            texts = (parameter.kind != "text" and options_of(parameter)) or []
            points = sorted(float(t) for t in texts if parameter.kind != "choice" and t != "auto")
            if parameter.kind == "float":
                texts = [*texts, *(number_text((a + b) / 2) for a, b in pairwise(points))]
            for text in texts:
                assert states({key: text}) == {key: text}


def test_a_pin_between_two_points_of_the_slider_opens_as_it_was():
    app = pinned(start(data="cancer", rows="1000", epsilon="0.42", algorithm="priv-pc"))
    app.select_slider(key="epsilon").set_value("3").run()
    app.session_state["discover_tab"] = "Pinned"
    clean(app.run()).button(key="pin-open-0").click().run()
    assert clean(app).select_slider(key="epsilon").value == "0.42"


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
    pin = json.loads(written[-1])["pins"][0]
    for damaged in (
        {"positions": pin["positions"][1:]},
        {"positions": [["nan", "inf"], *pin["positions"][1:]]},
        {"name": "\ud800"},
    ):
        document = json.loads(written[-1])
        document["pins"][0] |= damaged
        with pytest.raises(DataError):
            session.open_session(json.dumps(document).encode())
    # One of a later format is refused although it holds all that is read.
    with pytest.raises(DataError):
        session.open_session(json.dumps(json.loads(written[-1]) | {"format": 2}).encode())


def test_an_address_is_not_called_ignored_while_its_table_is_missing():
    app = open_page("discover", data="your table", epsilon="3", delta="1e-08")
    assert not app.warning


@pytest.fixture
def memory(monkeypatch):
    """What the server keeps for the tab of all sessions; its clocks are in `timers`."""
    timers = []

    def timer(seconds, look):
        timers.append((seconds, look))
        return SimpleNamespace(start=lambda: None)

    monkeypatch.setattr("pages.ui.keys.tab_of", lambda drawn: "tab-1")
    monkeypatch.setattr(session, "threading", SimpleNamespace(Timer=timer))
    kept = session._Memory()
    monkeypatch.setattr(session, "_kept", lambda: kept)
    return SimpleNamespace(kept=kept, timers=timers)


def test_a_reload_is_offered_the_last_session_of_its_tab(monkeypatch, memory):
    # So many columns that a page offers to change some at once.
    wide = (
        b",".join(b"c%d" % k for k in range(24))
        + b"\n"
        + b"".join(
            b",".join(b"%d" % (i * k % 7 % 2) for k in range(1, 25)) + b"\n" for i in range(60)
        )
    )
    for page, content in (("data", wide), ("discover", TABLE)):
        app = open_table(content)
        app.switch_page("pages/discover.py").run()
        pinned(app)
        app.switch_page(f"pages/{page}.py").run()
        fresh = open_page(page, data="your table")
        assert "upload" not in fresh.session_state
        press(fresh, "Continue it")
        assert fresh.session_state["upload"].dataset.name == "t.csv"
        assert len(fresh.session_state["_pins"]) == 1
    # A duplicated tab has the same identifier, and goes its own way.
    twin = press(start(data="your table"), "Continue it")
    twin.session_state["_pins"].clear()
    assert len(fresh.run().session_state["_pins"]) == 1
    monkeypatch.setattr("pages.ui.keys.tab_of", lambda drawn: "tab-2")
    assert not [b for b in start().button if b.label == "Continue it"]


def test_the_memory_for_reloads_is_freed_by_one_clock(memory, monkeypatch):
    app = open_table(TABLE)
    app.run().run()
    assert len(memory.kept) == len(memory.timers) == 1
    seconds, look = memory.timers[0]
    look()
    assert len(memory.kept) == 1
    later = time.monotonic() + seconds
    monkeypatch.setattr(session, "time", SimpleNamespace(monotonic=lambda: later))
    look()
    assert not memory.kept
    assert not memory.kept.watched


def test_a_forgotten_table_leaves_nothing_in_the_session_or_in_memory(memory):
    app = open_table(TABLE.replace(b"sex", b"zzsex"), "zz.csv")
    app.session_state["_known:zz.csv"] = '{"tiers": [["zzsex"]]}'
    app.session_state["_own_graph:zz.csv"] = "zzsex -> ill"
    app.session_state["target_own"] = "zzsex"
    for page in ("discover", "effects", "tradeoff", "release"):
        clean(app.switch_page(f"pages/{page}.py").run())
        if page == "discover":
            pinned(app)
    press(app.switch_page("pages/data.py").run(), label("forget-table"))
    # Components hold what they were told: which tab, and what is taken hold of.
    left = app.session_state._state._state.filtered_state
    held = {k: v for k, v in left.items() if "graphs" not in k and k != "keys"}
    assert not [k for k, v in held.items() if "zz" in k or b"zz" in pickle.dumps(v)]
    assert not memory.kept


def test_a_server_without_uploads_opens_no_session(monkeypatch):
    monkeypatch.setenv("CAUSALVEIL_UPLOADS", "off")
    app = open_page("data")
    assert not [e for e in app.expander if "session" in e.label]
