"""The first screen of Discover, its pinned runs, and what the address says of it."""

import json
import re
import time
from dataclasses import replace
from types import SimpleNamespace

import pytest

from pages.ui.discover import epsilon
from pages.ui.discover.epsilon import STRIP, Around
from pages.ui.discover.runs import Background, run
from pages.ui.graphs import networks
from pages.ui.theme import EDGES
from privcore.algorithms import count, discover
from privcore.data import load_network
from privcore.display.drawing import Pane
from privcore.display.layout import shared_layout
from privcore.extras.lab.repeat import Repeat, Roll
from privcore.graphs import PDAG
from privcore.measures import compare
from tests.messages import begins, label, shows
from tests.pages.opening import clean, drawings, graphs, open_page, start

_WANT = Background.want


@pytest.fixture
def beside(monkeypatch):
    """Runs beside the page, as there are outside of tests."""
    monkeypatch.setattr(Background, "want", _WANT)


@pytest.fixture(scope="module")
def data():
    return load_network("cancer").sample(2_000, 1)


def wait_for(background, seconds=60):
    until = time.monotonic() + seconds
    while background.pending and time.monotonic() < until:
        time.sleep(0.02)
    assert not background.pending


@pytest.mark.long
def test_runs_beside_the_page_are_those_that_it_would_make(beside, data):
    background = Background(Repeat(data, "svt-pc", {}), lambda: True, {})
    background.want([Roll(1.0, 4, trace=True), Roll(0.1, 4)], [Roll(1.0, 5)])
    wait_for(background)
    assert set(background.answers) == {(1.0, 4), (0.1, 4), (1.0, 5)}
    expected = discover(count(data), "svt-pc", {"epsilon": 0.1}, seed=4)
    assert background.answers[0.1, 4].graph == expected.graph
    background.give_way()
    background._thread.join(30)
    assert not background._thread.is_alive()


def test_they_end_when_nobody_is_there(beside, data):
    background = Background(Repeat(data, "svt-pc", {}), lambda: False, {})
    background.want([Roll(1.0, 4)], [])
    background._thread.join(30)
    assert not background._thread.is_alive()
    assert background.answers == {}


@pytest.mark.long
def test_a_fault_beside_the_page_does_not_stop_the_page(beside, data):
    background = Background(Repeat(data, "no such algorithm", {}), lambda: True, {})
    background._repeat = "not callable"
    background.want([Roll(1.0, 4)], [])
    background._thread.join(60)
    assert not background.pending
    background.want([Roll(2.0, 4)], [])
    assert not background.pending


def test_what_the_page_has_made_is_not_made_again(data):
    background = Background(Repeat(data, "svt-pc", {}), lambda: True, {})
    result = discover(count(data), "svt-pc", {}, seed=4)
    background.add(result, 1.0, 4)
    background._first = [Roll(1.0, 4, trace=True)]
    assert not background.pending


def test_what_was_made_beside_the_page_is_shown(data):
    """Where it holds all that the page shows, at the same ε and with the same noise."""
    background = Background(Repeat(data, "svt-pc", {}), lambda: True, {})
    whole = discover(count(data), "svt-pc", {}, seed=4)
    background.add(whole, 1.0, 4)
    background.add(discover(count(data), "svt-pc", {}, seed=5, keep_trace=False), 1.0, 5)
    assert run(None, "svt-pc", {"epsilon": 1.0}, 4, background) is whole
    assert background.made(1.0, 5) is None
    assert background.made(2.0, 4) is None


def test_runs_of_the_strip_and_of_the_next_values_are_made(monkeypatch, data):
    wanted = []
    monkeypatch.setattr(Background, "want", lambda self, first, more: wanted.append((first, more)))
    monkeypatch.setattr(epsilon, "background_runs_allowed", lambda: True, {})
    app = start(data="cancer", rows="1000", epsilon="10")
    grid = [float(text) for text in app.select_slider(key="epsilon").options]
    first, more = wanted[-1]
    here = grid.index(10)
    near = [grid[here + step] for step in (-1, 1, -2, 2) if here + step < len(grid)]
    assert [roll.epsilon for roll in first] == [*STRIP, *near]
    assert all(roll.trace for roll in first)
    assert not any(roll.trace for roll in more)


def test_where_runs_are_not_made_unasked_a_button_says_what_it_makes(monkeypatch):
    monkeypatch.setattr(epsilon, "background_runs_allowed", lambda: False, {})
    app = start(data="cancer", rows="1000", algorithm="svt-pc")
    label = app.button(key="make-strip").label
    assert begins(label, "strip-to-be-made", graphs=4)


def test_graphs_that_are_to_come_say_when(data):
    background = Background(Repeat(data, "svt-pc", {}), lambda: True, {})
    result = discover(count(data), "svt-pc", {}, seed=1)
    background.add(replace(result, seconds=20.0), 1.0, 1)
    background._first = [Roll(e, 1, trace=True) for e in STRIP]
    around = SimpleNamespace(lively=True, background=background)
    when = {e: Around.when(around, e) for e in STRIP if e != 1.0}
    assert when == {
        10.0: label("when-being-made", seconds=20),
        3.0: "next",
        0.3: label("when-in", seconds=60),
        0.1: label("when-in", seconds=80),
    }
    background._broken = True
    assert Around.when(around, 10.0) == "not made"


def warnings(app):
    return [w.value for w in app.warning]


def test_unknown_words_in_the_address_are_named():
    app = start(data="cancer", rows="1000", colour="blue", epsilon="77")
    (said,) = warnings(app)
    assert "“colour=blue” and “epsilon=77”" in said.replace("\\", "")
    app = start(data="cancer", rows="1000", epsilon="0.3", discover_tab="Guarantee & budget")
    assert warnings(app) == []


def test_an_algorithm_is_chosen_by_its_title_and_addressed_by_its_name():
    app = start(algorithm="em-pc", data="cancer", rows="1000")
    box = app.selectbox(key="algorithm")
    assert (box.value, box.label) == ("em-pc", "Algorithm")
    assert any(option.startswith("EM-PC – Xu et al. 2017: ") for option in box.options)
    box.set_value("moment-search").run()
    assert "algorithm" not in clean(app).query_params
    app.selectbox(key="algorithm").set_value("svt-pc").run()
    assert clean(app).query_params["algorithm"] == "svt-pc"


def test_the_graphs_say_of_which_run_they_are():
    app = start(algorithm="em-pc", data="cancer", rows="1000", epsilon="0.3")
    assert [drawing["run"] for drawing in drawings(app)] == ["em-pc 0.3"]
    app.select_slider(key="epsilon").set_value("1").run()
    assert [drawing["run"] for drawing in drawings(clean(app))] == ["em-pc 1.0"]
    app.selectbox(key="algorithm").set_value("pc").run()
    assert [drawing["run"] for drawing in drawings(clean(app))] == ["pc"]


@pytest.mark.long
def test_two_pinned_runs_are_compared():
    app = start(data="cancer", rows="1000", epsilon="10", discover_tab="Pinned")
    assert any(shows(c.value, "nothing-pinned") for c in app.caption)
    app.button(key="pin").click().run()
    clean(app).button(key="pin").click().run()
    assert len(app.session_state["_pins"]) == 1, "the same run is pinned once"
    app.select_slider(key="epsilon").set_value("0.1").run()
    clean(clean(app).button(key="pin").click().run())
    names = [pin.name for pin in app.session_state["_pins"]]
    assert len(set(names)) == 2
    clean(app.text_input(key="pin-name-0").set_value("generous").run())
    # Two graphs on the page, and both pinned ones, of which the second is classed by the first.
    first, second = drawings(app)[1]["scene"]["graphs"]
    assert first["title"].startswith("generous · F1 ")
    assert {pair["kind"] for pair in first["pairs"]} == {"plain"}
    assert "plain" not in {pair["kind"] for pair in second["pairs"]}
    app.button(key="pin-drop-1").click().run()
    assert [pin.name for pin in clean(app).session_state["_pins"]] == ["generous"]


def test_without_privacy_there_is_no_epsilon():
    app = start(algorithm="pc", data="cancer", rows="1000")
    assert not [s for s in app.select_slider if "epsilon" in (s.key or "")]
    assert begins(app.title[0].value, "pc-finds")


def pages_to_drag(app):
    return [frame.proto.srcdoc for frame in app.get("iframe")]


def test_networks_to_drag_are_made_when_they_are_opened(monkeypatch):
    query = {"data": "cancer", "rows": "2000", "discover_tab": "Export & code"}
    app = open_page("discover", **query)
    assert not pages_to_drag(app)
    assert drawings(app)[0]["scene"]["drag"]
    exports = {button.proto.id.split("-")[-1] for button in app.get("download_button")}
    assert "pyvis" in exports
    app = open_page("discover", **query, view="drag")
    (page,) = pages_to_drag(app)
    # The script of pyvis names licences in comments and a namespace; the policy allows no request.
    assert not re.search(r"https?:", page.replace(networks._library(), ""))
    assert "default-src 'none'" in page
    held = json.loads(re.search('id="content">(.*?)</script>', page)[1])["graphs"]
    shown = graphs(app)
    assert [len(network["edges"]) for network in held] == [len(g["pairs"]) for g in shown]
    # Without pyvis the view is not offered, and an old address opens the graphs.
    monkeypatch.setattr(networks, "find_spec", lambda name: None)
    app = open_page("discover", **query, view="drag")
    assert not pages_to_drag(app)
    assert not drawings(app)[0]["scene"]["drag"]
    assert "pyvis" not in {b.proto.id.split("-")[-1] for b in app.get("download_button")}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_networks_to_drag_have_the_lines_of_the_graphs_and_names_as_text(theme):
    names = ("</script><img src=x onerror=alert(1)>", "<b>", "c")
    graph, other = (PDAG(names, frozenset(arrows)) for arrows in ({(0, 1)}, {(1, 0), (2, 1)}))
    kinds = {(pair.i, pair.j): pair.kind for pair in compare(graph, other, "truth").pairs}
    panes = [Pane("a", "<A>", graph, kinds=kinds, reference=other, unclear=[(0, 2)])]
    words = {kind: f"<{kind}>" for kind in EDGES[theme]}
    page = networks.networks_page(panes, shared_layout(names), words, theme=theme, lines=["<p>"])
    assert page == networks.networks_page(
        panes, shared_layout(names), words, theme=theme, lines=["<p>"]
    )
    assert page.count("</script>") == 3
    own = page.replace(networks._library(), "")
    assert not re.search(r"<img|<b>|<A>|<match>", own)
    (held,) = json.loads(re.search('id="content">(.*?)</script>', own)[1])["graphs"]
    assert [node["title"] for node in held["nodes"]] == list(names)
    drawn = {(edge["from"], edge["to"]): edge for edge in held["edges"]}
    for pair, kind in {**kinds, (0, 2): "unclear"}.items():
        style, edge = EDGES[theme][kind], drawn[pair]
        assert (edge["color"], edge["label"]) == (style.colour, style.label)
        assert (edge["dashes"] or []) == list(style.dash)
        assert words[kind].replace("<", "&lt;").replace(">", "&gt;") in own
    assert (drawn[0, 1]["arrows"]["from"]["enabled"], drawn[0, 1]["arrows"]["to"]["enabled"]) == (
        False,
        True,
    )
