"""What is known beforehand on the pages: the panel, the address, other tables, and what is told."""

from itertools import pairwise
from unittest.mock import patch

import pytest

from pages.ui.controls.data import current_data
from pages.ui.controls.known import held
from pages.ui.discover.knowledge import changed, described, with_rule
from privcore.errors import ParameterError
from privcore.graphs.knowledge import Knowledge, Statement, statement
from tests.messages import label, says, shows
from tests.pages.opening import TABLE, captions, clean, open_table, press, scenes, start, text_of

QUICK = {"data": "asia", "rows": "5000", "algorithm": "laplace-pc", "epsilon": "2"}
NAMES = ("a", "b", "c")
TIERS = Knowledge.of(tiers="asia,smoke;tub,lung,bronc,either;xray,dysp")


def known_of(app):
    with patch("streamlit.session_state", app.session_state):
        return held(current_data())


def test_an_order_is_switched_on_obeyed_undone_and_stands_in_the_address():
    app = start(**QUICK, discover_tab=label("what-is-known"))
    assert not known_of(app)
    app = press(app, label("order-from-literature"))
    assert known_of(app) == TIERS
    assert Knowledge.read(text_of(app.query_params["knowledge"])) == TIERS
    assert shows(captions(app), "known-beforehand-caption", statements="asia, smoke before")
    app = press(app, "Undo")
    assert not known_of(app)
    assert scenes(app)[0]["tiers"] == []
    assert "knowledge" not in app.query_params


def test_a_rule_of_two_columns_is_added_and_a_contradiction_told():
    app = start(**QUICK, discover_tab=label("what-is-known"), knowledge=TIERS.text)
    assert known_of(app) == TIERS
    app.selectbox(key="known_first").set_value("xray")
    app.selectbox(key="known_rule").set_value(label("is-parent"))
    app.selectbox(key="known_second").set_value("asia")
    app = press(app, "Add")
    assert known_of(app) == TIERS
    assert any(
        shows(e.value, "required-against-tiers", cause="xray", outcome="asia", later="asia")
        for e in app.error
    )
    app.selectbox(key="known_rule").set_value(label("has-no-edge"))
    app = press(app, "Add")
    assert not app.error
    assert known_of(app).forbidden == {statement("asia", "--", "xray")}
    app = press(app, "Clear")
    assert not known_of(app)


def test_each_graph_of_the_page_obeys():
    app = start(**QUICK, knowledge=Knowledge.of(require="asia->dysp").text)
    (scene,) = scenes(app)
    ends = sorted(scene["names"].index(name) for name in ("asia", "dysp"))
    for graph in scene["graphs"]:
        pair = next(p for p in graph["pairs"] if [p["i"], p["j"]] == ends)
        assert pair["mark"] == ("->" if scene["names"][ends[0]] == "asia" else "<-")


def in_time(scene, known):
    heights = dict(zip(scene["names"], (y for _, y in scene["places"]), strict=True))
    tiers = [[heights[name] for name in tier] for tier in known.tiers]
    return all(max(early) < min(late) for early, late in pairwise(tiers))


@pytest.mark.parametrize("own", [False, True])
def test_time_runs_downwards_as_soon_as_tiers_are_set_and_epsilon_moves_nothing(own):
    if own:
        app = open_table(TABLE, algorithm="laplace-pc", epsilon="2")
        app.switch_page("pages/discover.py").run()
        app.selectbox(key="data").set_value("your table").run()
        name, known = app.session_state["upload"].dataset.name, Knowledge.of(tiers="ill; age; sex")
    else:
        # Against the order of the true graph.
        app, name, known = start(**QUICK), "asia", Knowledge(TIERS.tiers[::-1])
    (before,) = scenes(clean(app))
    assert not in_time(before, known)
    app.session_state[f"_known:{name}"] = known.text
    (scene,) = scenes(clean(app.run()))
    assert in_time(scene, known)
    assert scene["tiers"] == list(known.tiers_of(scene["names"]))
    app.select_slider(key="epsilon").set_value("10").run()
    (later,) = scenes(clean(app))
    assert later["graphs"][0]["pairs"] != [] or own
    assert later["places"] == scene["places"]
    assert known_of(app) == known


@pytest.mark.long
def test_names_of_a_table_stay_out_of_the_address_and_what_is_gone_is_left_out():
    app = open_table(TABLE, algorithm="laplace-pc", epsilon="2")
    app.switch_page("pages/discover.py").run()
    app.selectbox(key="data").set_value("your table").run()
    app.session_state["discover_tab"] = label("what-is-known")
    clean(app.run())
    app.selectbox(key="known_first").set_value("ill")
    app.selectbox(key="known_rule").set_value(label("is-no-parent"))
    app.selectbox(key="known_second").set_value("sex")
    app = press(app, "Add")
    assert known_of(app).forbidden == {Statement("ill", "->", "sex")}
    assert "knowledge" not in app.query_params
    # Another table does not hear of it.
    app.selectbox(key="data").set_value("asia").run()
    assert not known_of(clean(app))


@pytest.mark.long
def test_a_pin_puts_back_its_own_data_and_leaves_others_alone():
    app = start(**QUICK, knowledge=TIERS.text)
    app = press(app, "Pin")
    app = clean(app.selectbox(key="data").set_value("cancer").run())
    cancer = Knowledge.of(tiers="Smoker;Cancer")
    app.session_state["_known:cancer"] = cancer.text
    app.session_state["discover_tab"] = "Pinned"
    app = press(clean(app.run()), "Open")
    assert known_of(app) == TIERS
    app = clean(app.selectbox(key="data").set_value("cancer").run())
    assert known_of(app) == cancer


def test_an_address_that_cannot_be_read_is_told():
    app = start(**QUICK, discover_tab=label("what-is-known"), knowledge="tiers")
    assert not known_of(app)
    assert any(shows(e.value, "bad-knowledge-json") for e in app.error)


def test_names_of_other_columns_in_an_address_are_left_out():
    other = Knowledge.of(tiers="asia;nobody;dysp", forbid="asia--nobody")
    app = start(**QUICK, knowledge=other.text)
    assert known_of(app) == Knowledge.of(tiers="asia;dysp")


@pytest.mark.long
def test_expected_quality_and_advice_take_it_along():
    app = start(**QUICK, discover_tab=label("what-is-known"), knowledge=TIERS.text)
    app = press(app, label("what-worth"))
    assert any(shows(m.value, "knowledge-is-worth") for m in app.markdown)


@pytest.mark.long
def test_trade_off_takes_it_into_the_plan():
    app = start(data="asia", rows="5000", knowledge=TIERS.text)
    app = clean(app.switch_page("pages/tradeoff.py").run())
    assert shows(captions(app), "known-beforehand-caption", statements="asia, smoke before")


@pytest.mark.parametrize(
    ("act", "words"),
    [
        ({"do": "order", "tiers": [[1], [0, 2]]}, ("b before a, c",)),
        ({"do": "rule", "verb": "forbid", "a": 0, "mark": "--", "b": 1}, ("a – b forbidden",)),
        ({"do": "rule", "verb": "require", "a": 1, "mark": "->", "b": 0}, ("b → a required",)),
        ({"do": "rule", "verb": "", "a": 1, "mark": "--", "b": 0}, ()),
    ],
)
def test_acts_of_the_editor(act, words):
    assert changed(NAMES, Knowledge(), {"tiers": [], **act}).words == words


def test_a_rule_brings_the_order_along():
    act = {"do": "rule", "verb": "forbid", "a": 0, "mark": "--", "b": 1, "tiers": [[1], [0, 2]]}
    assert changed(NAMES, Knowledge(), act).words == ("b before a, c", "a – b forbidden")


@pytest.mark.parametrize(
    "act",
    [
        {},
        {"do": "order"},
        {"do": "order", "tiers": [[7]]},
        {"do": "rule", "verb": "forbid", "a": 0, "mark": "--", "b": 1},
        {"do": "rule", "verb": "perhaps", "a": 0, "mark": "--", "b": 1, "tiers": []},
        {"do": "rule", "verb": "forbid", "a": 0, "mark": "--", "tiers": []},
        {"do": "rule", "verb": "forbid", "a": "x", "mark": "--", "b": 1, "tiers": []},
    ],
)
def test_acts_that_are_none_are_refused(act):
    with pytest.raises(ParameterError, match=says("editor-sent-more")):
        changed(NAMES, Knowledge(), act)


def test_a_rule_takes_the_place_of_others_of_the_two_columns():
    now = Knowledge.of(forbid="a--b; b->c", require="a->c")
    assert with_rule(now, "require", Statement("b", "->", "a")).words == (
        "b → c forbidden",
        "a → c required",
        "b → a required",
    )


def test_what_the_editor_draws():
    now = Knowledge.of(tiers="c;a", forbid="a->b")
    drawn = described(NAMES, now)
    assert drawn["tiers"] == [[2], [0]]
    assert drawn["rules"] == [{"verb": "forbid", "a": 0, "mark": "->", "b": 1}]
