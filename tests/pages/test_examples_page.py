"""Structural examples and tables of numbers on the pages."""

import numpy as np
import pytest

from privcore.data import EXAMPLES, NUMERIC_EXAMPLES, StructuralExample
from tests.messages import begins, label, shows
from tests.pages.opening import (
    clean,
    figures,
    graphs,
    labelled,
    metric,
    open_page,
    open_table,
    press,
    start,
)


def data_page(**query):
    return open_page("data", **query)


def frame(app, alt):
    return next(f for f in app.dataframe if f.proto.alt == alt).value


NUMBERS = b"height,weight\n" + b"".join(
    f"{150 + i % 47 + i / 1000:.3f},{50 + (i * 7) % 53 + i / 900:.3f}\n".encode()
    for i in range(3_000)
)


@pytest.mark.parametrize("kind", EXAMPLES)
def test_an_example_is_described_with_its_true_graph(kind):
    app = data_page(data=kind, rows="2000")
    assert not app.error
    assert metric(app, "Rows") == "2,000"
    assert metric(app, "Columns") == "10"
    assert metric(app, label("true-edges")) == str(len(StructuralExample(kind).edges))
    assert any("Xu, S. Yuan" in c.value for c in app.caption)
    noun = "bounds" if kind in NUMERIC_EXAMPLES else "levels"
    (public,) = (m.value for m in app.markdown if begins(m.value, "public-of-example", what=noun))
    assert shows(public, "guarantees-are-about")
    schema = frame(app, label("public-columns"))
    assert set(schema[f"{noun} are"]) == {"public"}


def test_the_sidebar_and_the_address_choose_the_model():
    app = data_page(
        data="nonlinear", rows="1000", nodes="5", density="0.5", graph_seed="3", intervals="4"
    )
    assert app.slider(key="nodes").value == 5
    assert app.slider(key="density").value == 0.5
    assert app.number_input(key="graph_seed").value == 3
    assert metric(app, "Columns") == "5"
    assert metric(app, label("true-edges")) == "5"
    schema = frame(app, label("public-columns"))
    assert set(schema[label("number-of-levels")]) == {4}
    app.select_slider(key="intervals").set_value("none").run()
    assert set(frame(app, label("public-columns"))["kind"]) == {"continuous"}
    clean(app.slider(key="nodes").set_value(7).run())
    assert metric(app, "Columns") == "7"


def test_networks_have_no_controls_of_examples():
    app = start(data="cancer", rows="1000")
    keys = {w.key for w in (*app.slider, *app.select_slider, *app.number_input)}
    assert not keys & {"nodes", "density", "table_density", "intervals"}
    clean(app.selectbox(key="data").set_value("random-categorical").run())
    keys = {w.key for w in (*app.slider, *app.select_slider, *app.number_input)}
    assert {"nodes", "table_density", "graph_seed"} <= keys
    assert "intervals" not in keys


def test_each_kind_of_example_keeps_a_density_of_its_own():
    """The defaults differ, and the address does not hold a default."""
    app = data_page(data="linear-gaussian", rows="1000")
    assert metric(app, label("true-edges")) == "18"
    app.selectbox(key="data").set_value("random-categorical").run()
    assert metric(app, label("true-edges")) == "9"
    app.slider(key="table_density").set_value(0.3).run()
    app.selectbox(key="data").set_value("nonlinear").run()
    assert metric(app, label("true-edges")) == "18"


def test_numbers_are_shown_within_their_bounds():
    app = data_page(data="linear-gaussian", rows="5000", data_tab="Columns")
    schema = frame(app, label("public-columns"))
    assert (schema["lower bound"] == -4).all()
    assert (schema["upper bound"] == 4).all()
    app = data_page(data="linear-gaussian", rows="5000", data_tab="Rows")
    head = frame(app, "First rows")
    assert head.shape == (200, 10)
    assert all(kind == np.float64 for kind in head.dtypes)
    app = data_page(data="linear-gaussian", rows="5000", data_tab="Charts")
    bars, points = figures(app)
    assert bars["layout"]["xaxis"]["range"] == [-4, 4]
    assert bars["data"][0]["type"] == "bar"
    assert points["data"][0]["type"] == "scatter"
    assert any("2,000 of 5,000 rows" in c.value for c in app.caption)


@pytest.mark.long
@pytest.mark.parametrize("kind", EXAMPLES)
def test_an_example_can_be_discovered(kind):
    query = {"intervals": "4"} if kind in NUMERIC_EXAMPLES else {}
    app = start(data=kind, rows="2000", nodes="5", discover_tab="Export & code", **query)
    assert not app.error
    assert len(graphs(app)) == 2
    command, script = (c.value for c in app.code)
    assert f"--example {kind} --nodes 5" in command
    assert f"StructuralExample('{kind}', nodes=5" in script
    assert ("--intervals 4" in command) == (kind in NUMERIC_EXAMPLES)


def test_numbers_go_to_algorithms_for_numbers():
    app = start(data="linear-gaussian", rows="2000", nodes="5", algorithm="pc")
    assert not app.error
    assert len(graphs(app)) == 1
    clean(app.selectbox(key="algorithm").set_value("laplace-pc").run())
    assert not app.error
    assert any(shows(i.value, "needs-columns-with-levels", name="Laplace-PC") for i in app.info)
    press(app, label("cut-into-intervals", intervals=4))
    assert app.select_slider(key="intervals").value == "4"
    assert len(graphs(app)) == 2
    app.select_slider(key="intervals").set_value("none").run()
    clean(labelled(app.button, "Use PrivPC").click().run())
    assert app.selectbox(key="algorithm").value == "privpc-star"
    assert len(graphs(app)) == 2


def test_a_model_too_large_is_one_sentence():
    app = start(data="random-categorical", rows="1000", nodes="50", table_density="1.0")
    assert len(app.error) == 1
    assert shows(app.error[0].value, "tables-too-large")


def test_a_table_of_numbers_can_be_used_uncut():
    app = open_table(NUMBERS, use=False, algorithm="pc")
    app.toggle(key="upload_uncut").set_value(True).run()
    press(app, label("use-table"))
    assert not app.error
    assert metric(app, label("true-edges")) == "unknown"
    assert any(shows(m.value, "bounds-of-columns-read", read=2, columns=2) for m in app.markdown)
    assert all(text.startswith("continuous, from") for text in app.table[0].value["public values"])
    app.switch_page("pages/discover.py").run()
    app.switch_page("pages/data.py").run()
    assert clean(app).toggle(key="upload_uncut").value


def test_numbers_are_cut_unless_asked():
    app = open_table(NUMBERS)
    assert not app.error
    public = app.table[0].value["public values"]
    assert all(begins(text, "cut-at") for text in public)
    assert all(text.count("|") == 4 for text in public)
