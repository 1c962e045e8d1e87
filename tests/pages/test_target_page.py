"""A question about one column, on the pages."""

import numpy as np

from privcore.algorithms import discover
from privcore.data import load_network
from privcore.display.sentences import shape_sentence
from tests.pages.opening import TABLE, captions, clean, graphs, open_table, scenes, start

ALARM = {"data": "alarm", "rows": "2000", "epsilon": "1"}


def question(app, key="target"):
    return [box for box in app.selectbox if box.key == key]


def ends(graph):
    return {k for pair in graph["pairs"] for k in (pair["i"], pair["j"])}


def test_the_question_is_in_the_address_and_the_reference_follows_it():
    app = clean(start(**ALARM, target="VENTALV"))
    assert question(app)[0].value == "VENTALV"
    names = list(scenes(app)[0]["names"])
    at = names.index("VENTALV")
    data = load_network("alarm").sample(2_000, seed=1)
    for graph in graphs(app):
        assert graph["pairs"]
        # Every link is one of the column, or leads to one of its effects.
        near = {k for p in graph["pairs"] for k in (p["i"], p["j"]) if at in (p["i"], p["j"])}
        assert all(near & {p["i"], p["j"]} for p in graph["pairs"])
    settings = {"epsilon": 1.0, "target": "VENTALV"}
    result = discover(data, "moment-search", settings, seed=5)
    assert shape_sentence(result) in captions(app)
    question(app)[0].set_value("").run()
    assert len(ends(graphs(clean(app))[1])) > 20
    assert "target" not in app.query_params


def test_algorithms_without_the_question_answer_for_the_whole_graph():
    app = clean(start(data="asia", rows="2000", algorithm="priv-pc", target="dysp"))
    assert not question(app)


def table():
    drawn = np.random.default_rng(1)
    values = drawn.normal(size=(900, 14))
    values[:, 1:3] += values[:, :1]
    codes = np.clip(np.round(values + 3), 1, 5).astype(int)
    rows = [",".join(f"secret{k}" for k in range(14)), *(",".join(map(str, r)) for r in codes)]
    return "\n".join(rows).encode()


def test_names_of_an_own_table_are_not_in_the_address_and_the_choice_stays():
    app = open_table(table(), algorithm="moment-search", epsilon="2")
    app = clean(app.switch_page("pages/discover.py").run())
    question(app, "target_own")[0].set_value("secret0").run()
    assert "secret" not in str(dict(app.query_params))
    graph = graphs(clean(app))[0]
    assert {(p["i"], p["j"]) for p in graph["pairs"] if p["kind"] != "missing"} >= {(0, 1), (0, 2)}
    assert all(0 in (p["i"], p["j"]) for p in graph["pairs"])
    app = clean(app.switch_page("pages/release.py").run())
    assert question(app, "target_own")[0].value == "secret0"
    app = clean(app.switch_page("pages/discover.py").run())
    assert question(app, "target_own")[0].value == "secret0"


def test_the_address_has_the_place_of_a_user_s_column_and_a_step_back_takes_it():
    app = open_table(TABLE)
    app.switch_page("pages/discover.py").run()
    app.selectbox(key="target_own").set_value("ill").run()
    held = dict(clean(app).query_params)
    assert not any("ill" in value for values in held.values() for value in values)
    app.selectbox(key="target_own").set_value("sex").run()
    clean(app).query_params.update(held)
    app.run()
    assert clean(app).selectbox(key="target_own").value == "ill"


def test_the_question_of_a_session_waits_for_its_table():
    app = start(data="your table")
    app.session_state["target_own"] = "ill"
    app.switch_page("pages/data.py").run()
    assert clean(app).session_state["target_own"] == "ill"


def test_a_pin_names_its_column_and_puts_the_question_back():
    app = open_table(TABLE)
    app.session_state["discover_tab"] = "Pinned"
    app.switch_page("pages/discover.py").run()
    app.selectbox(key="target_own").set_value("ill").run()
    clean(app).button(key="pin").click().run()
    (pin,) = clean(app).session_state["_pins"]
    assert "links of ill" in pin.name
    app.selectbox(key="target_own").set_value("").run()
    clean(app).button(key="pin-open-0").click().run()
    assert clean(app).selectbox(key="target_own").value == "ill"
