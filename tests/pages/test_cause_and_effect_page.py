"""The page Cause and effect, through Streamlit's own test harness."""

import numpy as np
import pytest

from tests.pages.opening import open_page


def start(**query):
    return open_page("cause_and_effect", **query)


def metric(app, label):
    return next(m.value for m in app.metric if m.label == label)


def said(app):
    return " ".join(e.value for e in (*app.markdown, *app.caption, *app.error, *app.info))


def test_the_first_view_finds_a_direction_with_a_proven_guarantee():
    app = start()
    assert not app.error
    assert metric(app, "Released decision") == metric(app, "True direction") == "X → Y"
    assert "Proven: (ε = 1, δ = 0), fixed before the run, for training and test records" in said(
        app
    )
    assert len(app.get("plotly_chart")) == 4


@pytest.mark.parametrize(
    ("calibration", "protects", "score"),
    [
        ("proven", "test", "hsic"),
        ("proven", "both", "all"),
        ("proven", "both", "iqr"),
        ("proven", "training", "hsic"),
        ("proven", "training", "spearman"),
        ("published", "test", "iqr-ptr"),
        ("published", "training", "kendall"),
    ],
)
def test_every_kind_of_release_is_drawn(calibration, protects, score):
    app = start()
    app.selectbox(key="direction_calibration").set_value(calibration).run()
    app.selectbox(key=keyed(app, "direction_protects")).set_value(protects).run()
    app.selectbox(key=keyed(app, "direction_score")).set_value(score).run()
    assert not app.exception
    assert not app.error
    text = said(app)
    assert ("Proven: (ε = 1, δ" if calibration == "proven" else "This is not a guarantee") in text


def keyed(app, start_of_key):
    return next(w.key for w in app.selectbox if w.key.startswith(start_of_key))


@pytest.mark.parametrize("tab", ["Decision against ε", "Decision against λ", "Accuracy"])
def test_every_panel_draws(tab):
    app = start(pair_rows="500")
    app.session_state["pair_tab"] = tab
    app.run()
    assert not app.exception
    assert not app.error
    assert any(word in said(app) for word in ("simulated releases", "hump", "benchmarks"))


def test_two_columns_of_the_current_data_set():
    app = start(pair_source="current data set", data="nonlinear", rows="2000")
    assert not app.error
    assert metric(app, "Released decision") != ""


def test_levels_are_no_numbers():
    app = start(pair_source="current data set", data="asia", rows="2000")
    assert "fewer than two columns of numbers" in said(app)


def table(rows, make):
    return b"height,weight,name\n" + b"".join(
        b"%.4f,%.4f,a\n" % make(x) for x in np.linspace(-1, 1, rows)
    )


def upload(content, filename="t.csv"):
    app = start(pair_source="two columns of a file")
    app.file_uploader[0].upload(filename, content, "text/csv").run()
    assert not app.exception
    return app


def test_an_uploaded_pair_says_what_is_not_covered_until_bounds_are_public():
    app = upload(table(400, lambda x: (x, x**3 + 0.1 * np.sin(50 * x))))
    assert not app.error
    assert "bounds were read from the data\\: not covered" in said(app)
    public_bounds(app).check().run()
    assert "Proven: (ε = 1" in said(app)
    # Another bound is another question, and not answered yet.
    app.number_input[0].set_value(-7.0).run()
    assert "from -7.0 to" in public_bounds(app).label
    assert not public_bounds(app).value
    assert "not covered" in said(app)


def public_bounds(app):
    return next(c for c in app.checkbox if c.label.startswith("I knew these bounds"))


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (table(19, lambda x: (x, x**2)), "needs at least 20"),
        (table(100, lambda x: (x, 5.0)), "same value in every row"),
        (b"a,b\n" + b"x,y\nz,w\n" * 20, "fewer than two columns of numbers"),
        (b"a,b\n" + b"1.5,2\n,3\n2.5,4.25\n" * 20, "missing"),
        (b"\x89PNG\r\n\x1a\n\x00", "neither text in a known encoding"),
    ],
)
def test_bad_files_get_one_sentence(content, sentence):
    app = upload(content)
    assert len(app.error) == 1
    assert sentence in app.error[0].value
