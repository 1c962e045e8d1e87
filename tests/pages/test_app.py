"""The pages through Streamlit's own test harness: states, inputs and errors."""

import re
from dataclasses import replace
from threading import Thread

import numpy as np
import pandas as pd
import pytest
import streamlit as st

from pages.ui import texts
from pages.ui.controls import params
from pages.ui.controls.algorithm import SEED
from pages.ui.data import upload as upload_module
from pages.ui.glossary import linked
from pages.ui.running import LiveHooks
from privcore import kernels
from privcore.algorithms import ALGORITHMS, Progress
from privcore.algorithms.search.parameters import TARGET
from privcore.intake import ColumnSchema, read_table
from privcore.intake.schema import schema_json
from privcore.intake.triage import proposed_schema
from tests.examples import few
from tests.messages import begins, label, reads, says, shows
from tests.pages.opening import (
    TABLE,
    clean,
    graphs,
    labelled,
    metric,
    open_table,
    press,
    scenes,
    start,
    titles,
)


def test_the_first_view_shows_two_graphs_and_a_proven_guarantee():
    app = start()
    # As most re-rolls give it, and not the rare noise that finds little.
    assert reads(app.title[0].value, "private-finds-first", pc=8)
    assert titles(app) == ["Private graph", label("graph-without-privacy")]
    assert any("Proven: (ε = 1" in m.value for m in app.markdown)
    assert not app.error


def test_the_kernels_are_asked_for_after_the_page_is_drawn(monkeypatch):
    monkeypatch.setattr(kernels, "start", lambda: st.text("compiling") and Thread())
    app = start()
    assert list(app.main.children.values())[-1].value == "compiling"


@pytest.mark.parametrize("name", few(ALGORITHMS, 7))
def test_every_algorithm_runs_from_its_generated_controls(name):
    app = start(algorithm=name, data="cancer", rows="2000")
    assert not app.error
    drawn = {
        w.key
        for kind in (app.select_slider, app.slider, app.selectbox, app.toggle, app.number_input)
        for w in kind
    }
    calibration = ALGORITHMS[name].calibrations[0]
    defaults = {p.name: p.default for p in ALGORITHMS[name].parameters}
    values = {**defaults, "calibration": calibration}
    for parameter in ALGORITHMS[name].parameters:
        key = params.widget_key(ALGORITHMS[name], parameter, calibration)
        # A choice of one is no choice.
        # A text has a panel of its own, but a column is chosen.
        controlled = parameter.kind != "text" or parameter.name == TARGET.name
        controlled = controlled and len(parameter.choices) != 1
        assert (key in drawn) == (parameter.matters(values) and controlled)


def test_published_is_shown_as_not_proven():
    app = start(
        algorithm="priv-pc", calibration="published", rows="5000", discover_tab="Guarantee & budget"
    )
    assert any(shows(m.value, "not-a-guarantee") for m in app.markdown)
    assert any("normaliser" in t.value for t in app.text)


def test_the_address_sets_the_parameters_and_bad_values_fall_back():
    app = start(epsilon="0.5", data="cancer", rows="1000")
    assert app.select_slider(key="epsilon").value == "0.5"
    app = start(epsilon="-3", delta="2", data="atlantis", rows="0", tweak="nan")
    assert app.select_slider(key="epsilon").value == "1"
    assert app.selectbox(key="data").value == "asia"


@pytest.mark.long
def test_the_list_of_data_says_what_each_is_about_and_the_address_its_name():
    app = start(data="cancer", rows="1000")
    data = app.selectbox(key="data")
    assert data.options[0] == "cancer – lung cancer, 5 columns"
    assert data.options[-1] == "your table"
    assert all(" – " in option for option in data.options[:-1])
    app = clean(data.set_value("earthquake").run())
    assert app.query_params["data"] in ("earthquake", ["earthquake"])
    app = clean(app.selectbox(key="data").set_value("asia").run())
    assert "data" not in app.query_params


def test_moving_epsilon_changes_the_run_but_not_the_layout():
    app = start(data="asia", rows="10000")
    before = scenes(app)[0]
    clean(app.select_slider(key="epsilon").set_value("0.1").run())
    after = scenes(app)[0]
    assert after["places"] == before["places"]
    assert after["graphs"][1] == before["graphs"][1]
    assert any("ε = 0.1" in m.value for m in app.markdown)


@pytest.mark.long
def test_re_rolling_draws_other_noise():
    app = start(data="asia", rows="1000", epsilon="0.2")
    first = graphs(app)[0]
    press(app, label("re-roll"))
    assert app.number_input(key="seed").value == SEED + 1
    assert graphs(app)[0] != first


def test_pc_alone_is_compared_with_the_truth():
    app = start(algorithm="pc", data="survey")
    assert len(graphs(app)) == 1
    assert metric(app, "Skeleton F1") == "0.909"


def test_only_scores_that_can_run_are_offered():
    app = start(algorithm="priv-pc", rows="1000")
    assert label("kendall-published") not in app.selectbox(key="score").options
    clean(app.selectbox(key="calibration").set_value("published").run())
    assert app.selectbox(key="score_published").options == [
        "Auto",
        label("kendall-published"),
        label("spearman-published"),
    ]
    assert not app.error


def test_another_algorithm_brings_its_own_defaults():
    """laplace-pc's order 1 must not follow to priv-pc, whose default the address leaves out."""
    app = start(rows="1000", algorithm="laplace-pc")
    assert app.select_slider(key="max_order_laplace_pc").value == "1"
    clean(app.selectbox(key="algorithm").set_value("priv-pc").run())
    assert app.select_slider(key="max_order").value == "3"
    app.select_slider(key="epsilon").set_value("0.5").run()
    clean(app.selectbox(key="algorithm").set_value("em-pc").run())
    assert app.select_slider(key="epsilon").value == "0.5"  # Declared alike, it follows.
    assert app.select_slider(key="max_order_em_pc").value == "2"


def test_each_widget_belongs_to_one_declaration():
    """Two algorithms share a key only if they declare default, range and choices alike."""
    seen = {}
    for algorithm in ALGORITHMS.values():
        for parameter in algorithm.parameters:
            for calibration in algorithm.calibrations:
                key = params.widget_key(algorithm, parameter, calibration)
                shape = (parameter.default, parameter.slider, parameter.choices)
                assert seen.setdefault(key, shape) == shape


@pytest.mark.long
def test_a_large_delta_is_warned_of():
    app = start(data="sachs", rows="1000", delta="0.001")
    assert any(shows(w.value, "random-row") for w in app.warning)
    app = start(data="sachs", rows="10000", delta="1e-06")
    assert not any("random row" in w.value for w in app.warning)


def test_a_sub_sample_too_small_is_one_sentence():
    app = start(algorithm="priv-pc", data="cancer", rows="1000")
    clean(app.slider(key="rate").set_value(0.05).run())
    assert not app.error


def test_without_a_table_the_way_is_shown():
    app = start(data="your table")
    assert shows(app.info[0].value, "load-on-data")


def test_the_list_of_data_names_the_file_that_is_loaded():
    app = open_table(TABLE, "mine.csv")
    app.switch_page("pages/discover.py").run()
    assert app.selectbox(key="data").options[-1] == "mine.csv"
    assert app.session_state["data"] == "your table"
    assert "mine.csv" not in str(app.query_params)


def test_a_table_can_be_loaded_and_discovered():
    app = open_table(TABLE)
    assert not app.error
    assert metric(app, "Rows") == "200"
    assert any(shows(m.value, "were-read") for m in app.markdown)
    clean(app.switch_page("pages/discover.py").run())
    assert not app.error
    assert any(shows(m.value, "levels-not-covered") for m in app.markdown)
    # Confirming the values that are shown closes the gap; another value opens it again.
    app.switch_page("pages/data.py").run()
    shown = "\n".join(map(str, app.table[0].value.to_numpy().ravel())).replace("\\", "")
    assert all(value in shown for value in ('"f" | "m"', "cut at", '"0"'))
    clean(labelled(app.checkbox, label("known-all")).check().run())
    assert any(begins(m.value, "public-rows") for m in app.markdown)
    app.switch_page("pages/discover.py").run()
    assert any("Proven: (ε = 1" in m.value for m in clean(app).markdown)
    app.switch_page("pages/data.py").run()
    app.selectbox(key="upload_missing").set_value("drop").run()
    press(app, label("use-table"))
    assert any(begins(m.value, "public-rows") for m in app.markdown)
    app.toggle(key="upload_uncut").set_value(True).run()
    app.session_state["upload_schema"] = [
        replace(c, bounds=(0.0, 99.0)) if c.name == "age" else c
        for c in app.session_state["upload_schema"]
    ]
    app.session_state["upload_edits"] += 1
    app.toggle(key="upload_uncut").set_value(False).run()
    press(app, label("use-table"))
    assert any(shows(m.value, "were-read") for m in clean(app).markdown)
    assert not labelled(app.checkbox, "I knew all").value


@pytest.mark.long
def test_a_wide_table_of_ones_own_is_not_drawn_as_a_line_and_stays_where_it_is():
    random = np.random.default_rng(1)
    base = random.integers(0, 2, (400, 1))
    cells = np.where(random.random((400, 12)) < 0.8, base, random.integers(0, 2, (400, 12)))
    text = ",".join(f"column {k}" for k in range(12)) + "\n"
    text += "\n".join(",".join(map(str, row)) for row in cells) + "\n"
    app = open_table(text.encode(), algorithm="lapmech")
    app.switch_page("pages/discover.py").run()
    places = np.array(clean(app).session_state["_positions"][2])
    assert len(places) == 12
    # Neither a line nor a heap: both directions are used, and no two nodes are close.
    assert np.linalg.svd(places - places.mean(0))[1][1] > 0.5
    apart = np.linalg.norm(places[:, None] - places[None], axis=2)[np.triu_indices(12, 1)]
    assert apart.min() > 0.15
    app.select_slider(key="epsilon").set_value("0.1").run()
    assert np.array_equal(clean(app).session_state["_positions"][2], places)


def test_values_missing_at_random_on_the_pages():
    gaps = TABLE.replace(b"f,30,", b",30,").replace(b"m,21,", b",21,")
    app = open_table(gaps, use=False, discover_tab="Guarantee & budget")
    app.selectbox(key="upload_missing").set_value("available").run()
    press(app, label("use-table"))
    assert not clean(app).error
    app.switch_page("pages/discover.py").run()
    assert any(shows(i.value, "cannot-handle-missing") for i in app.info)
    press(app, "Use LapMech")
    assert not clean(app).error
    assert any(shows(m.value, "missing-at-random") for m in app.markdown)


def test_a_confirmed_schema_file_is_a_confirmation_of_these_values():
    drafted = proposed_schema(read_table(TABLE, "t.csv"))
    app = open_table(TABLE)
    uploader = labelled(app.file_uploader, "Schema")
    uploader.upload("s.json", schema_json(drafted, confirmed=True).encode(), "application/json")
    app.run()
    press(app, label("use-table"))
    assert not app.error
    assert any(begins(m.value, "public-rows") for m in app.markdown)
    other = [replace(c, name=f"{c.name}s") for c in drafted]
    uploader = labelled(app.file_uploader, "Schema")
    uploader.upload("o.json", schema_json(other, confirmed=True).encode(), "application/json")
    app.run()
    assert shows(clean(app).error[0].value, "no-such-column")


def test_the_table_and_its_schema_outlive_a_visit_to_another_page():
    app = open_table(TABLE)
    app.switch_page("pages/discover.py").run()
    clean(app.switch_page("pages/data.py").run())
    assert metric(app, "Rows") == "200"
    assert any(b.label == label("use-table") for b in app.button)
    press(app, label("forget-table"))
    assert not app.metric
    assert "upload" not in app.session_state
    assert shows(app.info[0].value, "choose-a-file")


def test_a_bad_table_does_not_lose_the_good_one():
    app = open_table(TABLE)
    clean(app.file_uploader[0].upload("bad.csv", b"a,b\n1,2\n3\n", "text/csv").run())
    assert shows(app.error[0].value, "wrong-cells-in-line", line=3, cells=1)
    assert metric(app, "Rows") == "200"
    assert app.session_state["upload"].dataset.names == ("sex", "age", "ill")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", says("file-empty")),
        (b"a,b\n1,2\n1,3\n", says("same-value-in-every-row")),
        (
            b"id,b\n" + b"".join(b"r%d,%d\n" % (i, i % 2) for i in range(10_000)),
            says("value-of-its-own"),
        ),
    ],
)
def test_bad_files_are_one_sentence_on_the_page(content, sentence):
    """What else may be wrong with a file is tested with the reader."""
    app = open_table(content)
    assert len(app.error) == 1
    assert re.search(sentence, app.error[0].value.replace("\\", ""))


def test_markup_in_names_reaches_the_page_as_text():
    name = "</script><img src=x onerror=alert(1)>"
    frame = pd.DataFrame(
        {name: ["a", "b"] * 20, "🙂": ["x", "x", "y", "y"] * 10, 'q"': ["1", "2"] * 20}
    )
    app = open_table(frame.to_csv(index=False).encode())
    clean(app.switch_page("pages/discover.py").run())
    assert not app.error
    assert scenes(app)[0]["names"][0] == name
    assert not any(name in m.value for m in app.markdown)
    assert not any(name in c.value for c in app.caption)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_grids_are_sorted_and_hold_the_default(name):
    for parameter in ALGORITHMS[name].parameters:
        if parameter.scale == "log" and not parameter.optional:
            grid = params.log_grid(parameter)
            assert grid == sorted(set(grid))
            assert parameter.default in grid
            assert all(parameter.parse(v) == v for v in grid)
            assert len({params.number_text(v) for v in grid}) == len(grid)
        if parameter.optional and parameter.kind != "choice":
            grid = params.optional_grid(parameter)
            assert len(grid) > 5
            assert grid == sorted(set(grid))
            assert all(parameter.parse(v) == v for v in grid)


def test_the_odds_sentence():
    assert "52.5 %" in texts.odds_sentence(0.1, 0)
    assert "73.1 %" in texts.odds_sentence(1, 1e-6)
    assert shows(texts.odds_sentence(1, 1e-6), "delta-guess", delta="1e-06")
    assert "50.5 %" in texts.odds_sentence(0.0, 0.01)
    assert "99.3 %" in texts.odds_sentence(5, 0)
    assert "practically certain" in texts.odds_sentence(20, 0)


@pytest.mark.long
@pytest.mark.parametrize("calibration", ["proven", "published"])
def test_schedules_of_budgets_are_drawn(calibration):
    app = start(
        data="linear-gaussian",
        rows="1000",
        nodes="4",
        algorithm="curate-score",
        calibration=calibration,
        epsilon="5",
        discover_tab="Guarantee & budget",
    )
    assert not app.error
    assert len(app.get("plotly_chart")) == 2
    app = start(
        data="linear-gaussian",
        rows="1000",
        nodes="4",
        algorithm="moment-notears",
        epsilon="5",
        discover_tab="Edges",
    )
    assert len(app.get("plotly_chart")) == 2


@pytest.mark.long
def test_one_dag_is_not_called_a_cpdag():
    """NOTEARS and its kin give every edge a direction: labels and captions say so."""
    app = start(algorithm="moment-notears", data="asia", rows="2000", discover_truth="true")
    assert [m.label for m in app.metric][3] == "DAG F1"
    captions = " ".join(c.value for c in app.caption)
    undirected = linked(texts.UNDIRECTED, cpdag=label("line-without-arrow"))
    assert texts.ALL_DIRECTED in captions
    assert undirected not in captions
    assert "Truth (DAG)" in [g["title"] for g in graphs(app)]
    app = start(algorithm="privpc-star", data="asia", rows="2000", discover_truth="true")
    assert [m.label for m in app.metric][3] == "CPDAG F1"
    captions = " ".join(c.value for c in app.caption)
    assert undirected in captions
    assert texts.ALL_DIRECTED not in captions
    assert "Truth (CPDAG)" in [g["title"] for g in graphs(app)]


@pytest.mark.parametrize("noun", ["pair", "iteration", "gradient"])
def test_progress_is_told_in_the_algorithm_s_own_terms(noun):
    told = []
    hooks = LiveHooks.__new__(LiveHooks)
    hooks.update = lambda share, text: told.append((share, text))
    hooks.progress(Progress(1, 5, 20, 1234, noun))
    expected = {
        "pair": label("progress-tests", order=1, pair=5, pairs=20, tests="1,234"),
        "iteration": label("progress-steps", done=5, most=20, steps="1,234"),
        "gradient": "gradient 5 of 20",
    }
    assert told == [(0.25, expected[noun])]


NUMBERS = [1234567.5, 0.1 + 0.2, 1e-17, -1e300, 10.0, 123456789012345.0]


@pytest.mark.parametrize("value", NUMBERS)
def test_a_number_is_written_with_all_its_digits(value):
    assert float(params.number_text(value)) == value


def test_cut_points_come_back_from_the_editor_as_they_were():
    column = ColumnSchema("x", "continuous", bounds=(-1e300, 1e18), cut_points=tuple(NUMBERS))
    edited = upload_module._to_frame([column])
    assert upload_module._from_frame(edited, [column]) == [column]
