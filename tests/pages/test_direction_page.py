"""The page Direction, through Streamlit's own test harness."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from pages.ui.direction.charts import curves
from privcore.extras.pairs import PairGenerator, infer
from privcore.extras.pairs.report import undecided
from tests.examples import few
from tests.messages import label, says, shows
from tests.pages.opening import clean, figures, labelled, metric, open_page, press, told


def start(**query):
    return open_page("direction", **query)


def test_the_first_view_finds_a_direction_with_a_proven_guarantee():
    app = start()
    assert not app.error
    assert metric(app, "Private decision") == metric(app, "True direction") == "X → Y"
    assert shows(
        told(app), "proven-before-run", epsilon=1, delta=0, whom="training and test records"
    )
    assert len(app.get("plotly_chart")) == 4


@pytest.mark.long
@pytest.mark.parametrize(
    ("calibration", "protects", "score"),
    few(
        [
            ("proven", "test", "hsic"),
            ("proven", "both", "all"),
            ("proven", "both", "iqr"),
            ("proven", "training", "hsic"),
            ("proven", "training", "spearman"),
            ("published", "test", "iqr-ptr"),
            ("published", "training", "kendall"),
        ],
        3,
    ),
)
def test_every_kind_of_release_is_drawn(calibration, protects, score):
    app = start()
    app.selectbox(key="direction_calibration").set_value(calibration).run()
    app.selectbox(key=keyed(app, "direction_protects")).set_value(protects).run()
    clean(app.selectbox(key=keyed(app, "direction_score")).set_value(score).run())
    assert not app.error
    text = told(app)
    assert (
        "Proven guarantee: (ε = 1, δ" if calibration == "proven" else label("not-a-guarantee")
    ) in text


def keyed(app, start_of_key):
    return next(w.key for w in app.selectbox if w.key.startswith(start_of_key))


@pytest.mark.long
@pytest.mark.parametrize("tab", ["Decision against ε", "Decision against λ", "Accuracy"])
def test_every_panel_draws(tab):
    app = start(pair_rows="500")
    app.session_state["pair_tab"] = tab
    app.run()
    assert not app.exception
    assert not app.error
    assert any(word in told(app) for word in ("simulated releases", "small λ", "benchmarks"))


def test_two_columns_of_the_current_data_set():
    app = start(pair_source=label("current-data-set"), data="nonlinear", rows="2000")
    assert not app.error
    assert metric(app, "Private decision") != ""


def test_levels_are_no_numbers():
    app = start(pair_source=label("current-data-set"), data="asia", rows="2000")
    assert shows(told(app), "fewer-than-two-columns-of-numbers")


def table(rows, make):
    return b"height,weight,name\n" + b"".join(
        b"%.4f,%.4f,a\n" % make(x) for x in np.linspace(-1, 1, rows)
    )


def upload(content, filename="t.csv"):
    app = start(pair_source=label("columns-of-a-file"))
    return clean(app.file_uploader[0].upload(filename, content, "text/csv").run())


def test_an_uploaded_pair_says_what_is_not_covered_until_bounds_are_public():
    app = upload(table(400, lambda x: (x, x**3 + 0.1 * np.sin(50 * x))))
    assert not app.error
    assert shows(told(app), "bounds-of-not-covered")
    public_bounds(app).check().run()
    assert "Proven guarantee: (ε = 1" in told(app)
    # Another bound is another question, and not answered yet.
    app.number_input[0].set_value(-7.0).run()
    assert "from -7.0 to" in public_bounds(app).label
    assert not public_bounds(app).value
    assert "not covered" in told(app)


def public_bounds(app):
    return labelled(app.checkbox, label("known-these-bounds"))


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (table(19, lambda x: (x, x**2)), says("pair-too-few-rows", least=20)),
        (table(100, lambda x: (x, 5.0)), says("same-value-in-every-row")),
        (b"a,b\n" + b"x,y\nz,w\n" * 20, says("fewer-than-two-columns-of-numbers")),
        (b"a,b\n" + b"1.5,2\n,3\n2.5,4.25\n" * 20, "missing"),
        (b"\x89PNG\r\n\x1a\n\x00", says("no-text-file")),
    ],
)
def test_bad_files_get_one_sentence(content, sentence):
    app = upload(content)
    assert len(app.error) == 1
    assert re.search(sentence, app.error[0].value)


def test_a_decision_that_the_noise_may_have_made_reads_undecided():
    app = start(pair_rows="2000", direction_epsilon="0.1")
    assert metric(app, "Private decision") == "undecided"
    assert shows(told(app), "hardly-better-than-a-coin")
    assert metric(app, "Without noise") == "X → Y"


def test_overlapping_intervals_are_undecided_and_others_are_not():
    pair = PairGenerator("polynomial", {}).sample(2_000, 1)
    result = infer(pair, {}, seed=1)
    assert result.decision
    assert undecided(result) == ""
    (release,) = result.releases
    first, second = release.intervals
    touching = replace(release, intervals=(first, (first[1], second[1] + 1)))
    assert undecided(replace(result, releases=(touching,))).endswith("overlap")
    apart = replace(release, intervals=(first, (first[1] + 1e-9, second[1] + 1)))
    assert undecided(replace(result, releases=(apart,))) == ""
    # Where no interval is known nothing is said of them.
    assert not replace(release, intervals=(None, second)).overlapping
    # Of several scores one that is clear decides.
    assert undecided(replace(result, releases=(touching, apart))) == ""


AWKWARD = ("$x^2$", "_a_ $y$")


def awkward_table():
    """Two columns of numbers with many values, with names that could be read as markup."""
    rng = np.random.default_rng(1)
    x = rng.uniform(-1, 1, 600)
    y = x**3 + rng.uniform(-0.1, 0.1, 600)
    lines = [f"{a:.4f},{b:.4f},{'yes' if a > 0 else 'no'}" for a, b in zip(x, y, strict=True)]
    return ",".join((*AWKWARD, "<b>")) + "\n" + "\n".join(lines) + "\n"


def with_cut_table():
    app = open_page("data", data="your table")
    app.file_uploader[0].upload("t.csv", awkward_table().encode(), "text/csv").run()
    press(app, label("use-table"))
    app.switch_page("pages/direction.py").run()
    clean(app.radio(key="pair_source").set_value(label("current-data-set")).run())
    assert not app.error
    return app


@pytest.mark.long
def test_numbers_that_were_cut_into_intervals_are_offered_as_they_are_in_the_file():
    app = with_cut_table()
    upload = app.session_state["upload"]
    assert {c.kind for c in upload.dataset.columns if c.name in AWKWARD} != {"nominal"}
    assert shows(told(app), "as-in-the-file")
    assert app.selectbox[-2].value or app.metric
    points = next(
        trace for chart in figures(app) for trace in chart["data"] if trace.get("name") == "rows"
    )
    # Hundreds of different numbers, not a handful of intervals.
    assert "bdata" in points["x"] or len(set(points["x"])) > 200
    assert len(app.metric) == 3


@pytest.mark.long
def test_names_that_look_like_markup_stay_text():
    app = with_cut_table()
    decision = metric(app, "Without noise")
    assert "\\$x^2\\$" in decision
    assert "\\_a\\_" in decision
    text = json.dumps([{k: v for k, v in chart.items()} for chart in figures(app)])
    assert "&#36;x^2&#36;" in text
    assert "$x^2$" not in text


def test_the_three_pictures_have_one_size_and_the_residuals_one_scale():
    fits, first, second = figures(start(pair_rows="500"))[:3]
    assert len({chart["layout"]["height"] for chart in (fits, first, second)}) == 1
    assert len({chart["layout"]["margin"]["b"] for chart in (fits, first, second)}) == 1
    assert first["layout"]["yaxis"]["range"] == second["layout"]["yaxis"]["range"]
    assert first["layout"]["xaxis"]["range"] == fits["layout"]["xaxis"]["range"]


def test_an_unknown_word_in_the_address_is_named():
    app = start(pair_source="a crystal ball")
    assert any(shows(w.value, "in-url", what="=a crystal ball”") for w in app.warning)


def test_the_marker_of_a_curve_stands_at_its_value_on_a_logarithmic_axis():
    line = (np.array([0.1, 1.0, 10.0]), np.array([0.0, 0.5, 1.0]), None)
    figure = curves({"one": line}, x_title="ε", y_title="share", marker=5.0)
    upright = [shape for shape in figure.layout.shapes if shape.yref == "paper"]
    assert [(shape.x0, shape.x1) for shape in upright] == [(5.0, 5.0)]
