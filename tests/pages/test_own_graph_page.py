"""A graph of one's own on Discover: stated by text, clicks or file, and drawn in its verdicts."""

import pytest

from pages.ui.controls.algorithm import SEED
from pages.ui.controls.data import prepare
from pages.ui.discover.own import changed, drawn, said
from pages.ui.pictures.run import RunPictures, run_page
from pages.ui.texts import marked
from privcore.algorithms import discover
from privcore.data import load_network
from privcore.display.graph_check import verdict_sentence
from privcore.effects.by_graph import answered_by
from privcore.exchange.stated import read_graph
from privcore.measures import compare
from tests.messages import shows
from tests.pages.opening import TABLE, clean, graphs, open_table, start, text_of, titles

QUICK = {"data": "asia", "rows": "5000", "epsilon": "0.7", "discover_reference": "your graph"}
GRAPH = "smoke -> lung; smoke -> bronc; asia -> dysp; smoke <-> xray"


@pytest.fixture(scope="module")
def made():
    data = load_network("asia").sample(5_000, 1)
    result = discover(data, "moment-search", {"epsilon": 0.7}, seed=SEED)
    return result, answered_by(result, data, read_graph(GRAPH))


def write(app, text):
    app.text_area(key="own_text").set_value(text).run()
    return clean(app)


def test_a_graph_that_is_written_is_checked_against_the_run_on_the_page(made):
    result, answer = made
    app = start(**QUICK)
    # Without a graph, the page compares with another one.
    assert "Your graph" not in titles(app)
    app = write(app, GRAPH)
    assert titles(app) == ["Private graph", "Your graph"]
    assert app.title[0].value.replace("*", "") == verdict_sentence(answer.check)
    table = next(d.value for d in app.dataframe if "your graph says" in d.value)
    assert len(table) == len(answer.check.pairs)
    assert sorted(table["verdict"]) == sorted(pair.verdict for pair in answer.check.pairs)
    assert text_of(app.query_params["own_graph"]) == GRAPH
    wanted = compare(drawn(answer, result), said(answer.check, result), "")
    private, own = (graph["pairs"] for graph in graphs(app))
    assert {(e["i"], e["j"]): e["kind"] for e in own} == {(p.i, p.j): p.kind for p in wanted.pairs}
    assert {e["kind"] for e in private} == {"plain"}


def test_a_graph_in_the_address_is_taken_and_cleared():
    app = start(**QUICK, own_graph=GRAPH)
    assert app.text_area(key="own_text").value == GRAPH
    assert "Your graph" in titles(app)
    next(b for b in app.button if b.label == "Clear graph").click().run()
    assert "Your graph" not in titles(clean(app))
    assert "own_graph" not in app.query_params


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("smoke -> lunk", "no-column-of-graph"),
        ("smoke -> lung -> smoke", "two-edges-between"),
        ("smoke -> lung -> bronc -> smoke", "stated-graph-cycle"),
        ("smoke", "graph-of-one-column"),
        ("smoke ->", "stated-graph-unreadable"),
    ],
)
def test_what_is_no_graph_is_said_and_the_text_stays(text, code):
    app = start(**QUICK, own_graph=text)
    assert any(shows(error.value.replace("\\", ""), code) for error in app.error)
    assert app.text_area(key="own_text").value == text
    assert "Your graph" not in titles(clean(app))


@pytest.mark.parametrize("asked", [{}, {"target": "CVP", "measured": "target"}])
def test_the_graph_s_columns_can_be_measured_alone_where_this_is_sharper(asked):
    """Also after a question about one column, which the graph need not hold."""
    quick = {**QUICK, "data": "alarm", "rows": "1000", "own_graph": "LVFAILURE -> HISTORY"}
    app = start(**quick, **asked)
    before = app.title[0].value
    (toggle,) = [t for t in app.toggle if t.key == "own_alone"]
    assert toggle.value is False
    toggle.set_value(True).run()
    assert app.title[0].value != before
    whole = start(**{**QUICK, "own_graph": "; ".join(load_network("asia").names[:1]) + " -> lung"})
    assert "Your graph" in titles(whole)


def test_no_column_of_a_user_s_table_is_in_the_address():
    app = open_table(TABLE)
    app.session_state["discover_reference"] = "mine"
    app.switch_page("pages/discover.py").run()
    app = write(app, "sex -> ill")
    assert "Your graph" in titles(app)
    assert "own_graph" not in app.query_params


def test_runs_without_released_numbers_offer_no_check():
    app = start(data="asia", rows="1000", algorithm="laplace-pc", discover_reference="your graph")
    assert "your graph" not in app.button_group(key="discover_reference").options


def test_a_click_adds_turns_and_removes_an_arrow():
    names = ("a", "b", "c")

    def clicked(text, verb, a, b):
        graph = read_graph(text) if text else None
        return changed(names, graph, {"verb": verb, "a": a, "mark": "->", "b": b})

    text = clicked("", "require", 0, 1)
    assert text == "a -> b"
    text = clicked(text, "require", 1, 2)
    assert read_graph(text).lines() == ["a -> b", "b -> c"]
    assert set(read_graph(clicked(text, "require", 1, 0)).lines()) == {"b -> a", "b -> c"}
    assert clicked("a <-> b; a -> b; c", "", 1, 0) == "c"
    assert clicked("a -> b; b -> c", "", 1, 0) == "b -> c"


def test_a_picture_shows_what_the_page_shows(made, monkeypatch):
    result, answer = made
    data = load_network("asia").sample(5_000, 1)
    loaded = prepare(data, is_network=True, seed=1)
    mine, numbers = drawn(answer, result), said(answer.check, result)
    pictures = RunPictures(
        result, data, loaded.positions, {"mine": mine}, SEED, "mine", answer=answer, said=numbers
    )
    seen = {}

    def picture(panes, *_, title, **__):
        seen.update(panes=tuple(panes), title=title)
        return b""

    monkeypatch.setattr("pages.ui.pictures.run.graph_picture", picture)
    pictures.pair("svg")
    app = start(**QUICK, own_graph=GRAPH)
    assert app.title[0].value == marked(seen["title"])
    for graph, pane in zip(graphs(app), seen["panes"], strict=True):
        on_page = {(e["i"], e["j"]): e["kind"] for e in graph["pairs"] if e["kind"] != "plain"}
        assert on_page == dict(pane.kinds)
        assert graph["title"] == pane.title
    assert verdict_sentence(answer.check)[:40] in run_page(pictures, loaded)
