"""The switch that allows unobserved confounders, and columns that are hidden."""

import pytest

from pages.ui import tables
from pages.ui.controls.data import sampled_without
from pages.ui.pictures.notebook import notebook
from pages.ui.pictures.run import RunPictures
from pages.ui.tradeoff.controls import data_of
from privcore.algorithms import ALGORITHMS, count, discover
from privcore.data import load_network
from privcore.effects import true_effect
from privcore.effects.question import Question
from privcore.graphs.pdag import PAG
from privcore.measures.references import true_graph
from tests.messages import shows
from tests.pages.opening import (
    TABLE,
    clean,
    graphs,
    open_page,
    open_table,
    press,
    scenes,
    start,
    titles,
)

WITH_IT = {
    name for name, a in ALGORITHMS.items() if any(p.name == "hidden_causes" for p in a.parameters)
}
ASIA = {"data": "asia", "rows": "10000"}
CIRCLES = {"o->", "<-o", "o-o", "o--", "--o"}


def marks(graph):
    return {pair["mark"] for pair in graph["pairs"] if pair["kind"] != "missing"}


def labels(app):
    return {m.label for m in app.metric}


def switch(app):
    return [t for t in app.toggle if t.key == "hidden_causes"]


@pytest.mark.parametrize("name", ["pc", "lapmech", "priv-pc"])
def test_only_algorithms_that_have_the_switch_show_it(name):
    app = start(**ASIA, algorithm=name)
    assert bool(switch(app)) == (name in WITH_IT)
    assert "pag" not in scenes(app)[0]
    assert not any(label.startswith("PAG") for label in labels(app))


def test_the_switch_is_in_the_address_and_the_reference_follows_it():
    app = start(**ASIA, algorithm="lapmech", hidden_causes="true")
    assert switch(app)[0].value is True
    assert [graph["pag"] for graph in graphs(app)] == [True, True]
    assert marks(graphs(app)[1]) & CIRCLES
    assert "PAG F1" in labels(app)
    app.toggle(key="discover_truth").set_value(True).run()
    assert titles(clean(app))[-1] == "Truth (PAG)"
    clean(switch(app)[0].set_value(False).run())
    assert not any("pag" in graph for graph in graphs(app))
    assert "CPDAG F1" in labels(app)


def test_hidden_columns_are_in_the_address_and_in_the_truth():
    app = start(**ASIA, algorithm="pc")
    assert len(scenes(app)[0]["names"]) == 8
    clean(app.multiselect(key="hide").set_value(["smoke", "asia"]).run())
    assert app.query_params["hide"] == "smoke,asia"
    assert len(scenes(app)[0]["names"]) == 6
    assert scenes(app)[0]["pag"]
    assert shows(
        [c.value for c in app.caption], "columns-hidden", seen=6, all=8, hidden="asia, smoke"
    )
    # The graph itself assumes that nothing is hidden: it has no circle of its own.
    assert not marks(graphs(app)[0]) & CIRCLES
    switch(app)[0].set_value(True).run()
    assert marks(graphs(clean(app))[0]) & CIRCLES
    clean(app.multiselect(key="hide").set_value([]).run())
    assert "hide" not in app.query_params
    assert len(scenes(app)[0]["names"]) == 8


@pytest.mark.parametrize(
    ("asked", "kept", "told"),
    [
        ("smoke", ["smoke"], False),
        ("bronc,smoke", ["bronc", "smoke"], False),
        ("smoke,nonsense", ["smoke"], True),
        ("nonsense", [], True),
        ("asia,tub,smoke,lung,bronc,either,xray", [], True),
    ],
)
def test_names_that_mean_nothing_are_left_out(asked, kept, told):
    app = start(**ASIA, algorithm="pc", hide=asked)
    assert app.session_state["hide"] == kept
    assert app.query_params.get("hide", "") == ",".join(kept)
    assert len(scenes(app)[0]["names"]) == 8 - len(kept)
    assert any("hide=" in w.value for w in app.warning) == told


def test_another_network_and_an_own_table_hide_nothing():
    app = start(**ASIA, algorithm="pc", hide="smoke")
    clean(app.selectbox(key="data").set_value("cancer").run())
    assert "hide" not in app.query_params
    assert len(scenes(app)[0]["names"]) == 5
    app = open_table(TABLE, hide="sex", algorithm="pc", hidden_causes="true")
    assert "hide" not in app.session_state
    clean(app.switch_page("pages/discover.py").run())
    assert len(scenes(app)[0]["names"]) == 3
    assert graphs(app)[0]["pag"]


def test_a_pin_puts_hidden_columns_and_the_switch_back():
    app = start(**ASIA, algorithm="pc", hide="smoke", hidden_causes="true")
    press(app, "Pin")
    app.multiselect(key="hide").set_value([]).run()
    switch(app)[0].set_value(False).run()
    app.session_state["discover_tab"] = "Pinned"
    clean(app.run())
    clean(app.button(key="pin-open-0").click().run())
    assert app.query_params["hide"] == "smoke"
    assert app.query_params["hidden_causes"] == "true"
    assert len(scenes(app)[0]["names"]) == 7


@pytest.mark.parametrize("tab", ["Edges", "Stability", "Export & code", "Guarantee & budget"])
def test_every_tab_can_be_drawn_for_a_pag(tab):
    # Many runs for Stability, which a quick algorithm makes.
    name = "lapmech" if tab == "Stability" else "moment-search"
    app = start(
        **ASIA,
        algorithm=name,
        hide="smoke",
        hidden_causes="true",
        discover_tab=tab,
        discover_rolls="5",
    )
    assert scenes(app)[0]["pag"]


def test_of_the_marks_of_a_pag_no_probability_is_stated():
    data = load_network("asia").sample(10_000, 1)
    for allowed in (False, True):
        parameters = {"epsilon": 1.0, "hidden_causes": allowed}
        result = discover(data, "moment-search", parameters, seed=1)
        assert isinstance(result.graph, PAG) == allowed
        assert ("probability of the arrow" in tables.pairs(result)) != allowed
        assert "probability" in tables.pairs(result)


def test_effects_and_sweeps_know_what_is_hidden():
    app = open_page("effects", **ASIA, hide="asia", cause="smoke", outcome="dysp", level="yes")
    assert "asia" not in app.selectbox(key="cause").options
    network = load_network("asia")
    columns = [variable.column for variable in network.variables]
    truth = true_effect(network, Question("smoke", "dysp").on(columns))
    assert any(f"truth {100 * truth:+.1f}" in str(c.proto) for c in app.get("plotly_chart"))
    app = open_page("tradeoff", **ASIA, hide="smoke", sweep_view="Edges")
    assert any("asia without smoke" in i.value for i in app.info)
    for page in ("data", "release", "direction"):
        open_page(page, **ASIA, hide="smoke")


def test_pictures_and_notebooks_of_a_pag():
    loaded = sampled_without("asia", 10_000, 1, ("smoke",))
    assert data_of(loaded).describe()["hide"] == ["smoke"]
    result = discover(loaded.source, "pc", {"hidden_causes": True})
    truth = true_graph(ALGORITHMS["pc"], loaded.dataset.names, loaded.dataset.true_edges)
    pictures = RunPictures(
        result, loaded.dataset, loaded.positions, {"truth": truth}, None, "truth"
    )
    # Circles have a curve; arrowheads and boxes with round corners have theirs in both.
    assert pictures.graph("svg")
    assert pictures.graph("png")
    assert "hiding(['smoke'])" in notebook(pictures, loaded)
    assert count(loaded.dataset).n == 10_000
