"""The Trade-off page: sweeps that run beside it."""

import time

import pytest
from streamlit.testing.v1 import AppTest

from pages.ui.controls.params import log_grid, preset
from pages.ui.tradeoff.controls import epsilons_between
from privcore.algorithms import ALGORITHMS
from privcore.algorithms.search.parameters import EPSILON
from tests.pages.opening import open_page

ROOT = __file__.rsplit("/tests/", 1)[0]
FEW = {"sweep_algorithms": ["Laplace-PC", "Priv-PC"], "sweep_seeds": "3", "sweep_density": "1"}


def start(**query):
    return finished(open_page("tradeoff", **{"data": "cancer", "rows": "2000", **query}))


def finished(app):
    """Run the page until its sweep is over, as the fragment does in a browser."""
    assert not app.exception
    for _ in range(200):
        # The harness's state has no `get`.
        sweeps = app.session_state["_sweeps"] if "_sweeps" in app.session_state else {}  # noqa: SIM401
        last = next(reversed(sweeps.values())) if sweeps else None
        if last is None or not last.running:
            break
        time.sleep(0.1)
    app.run()
    assert not app.exception
    return app


def few(**query):
    """Two algorithms, few runs."""
    app = start(**FEW, **query)
    assert app.multiselect(key="sweep_algorithms").value == ["laplace-pc", "priv-pc"]
    assert app.select_slider(key="sweep_seeds").value == 3
    return app


def test_the_first_view_says_which_algorithm_to_take():
    app = few()
    assert not app.error
    assert any("At ε = 1" in m.value and " best" in m.value for m in app.markdown)
    assert len(app.get("plotly_chart")) == 1
    table = app.dataframe[0].value
    assert list(table["algorithm"]) == ["Laplace-PC", "Priv-PC"]


@pytest.mark.parametrize(
    "view", ["Eight networks", "Two parameters", "Edges", "Tests and time", "Table & download"]
)
def test_every_view_draws(view):
    app = few()
    app.segmented_control(key="sweep_view").set_value(view)
    app = finished(app.run())
    assert not app.error
    assert app.get("plotly_chart") or app.dataframe


def test_eight_networks_say_what_to_pick_at_the_epsilon_that_is_chosen():
    app = start(sweep_view="Eight networks")
    assert any(m.value.startswith("At ε = 1 pick **") for m in app.markdown)
    app.select_slider(key="eight_epsilon").set_value(10.0).run()
    assert any(m.value.startswith("At ε = 10 pick **") for m in app.markdown)
    assert len(app.get("plotly_chart")) == 1


def test_published_runs_are_named_as_such():
    app = few()
    app.segmented_control(key="sweep_calibrations").set_value(["proven", "published"])
    app = finished(app.run())
    assert set(app.dataframe[0].value["calibration"]) == {"proven", "published"}


def test_a_cancelled_sweep_keeps_its_rows_and_can_be_resumed():
    app = few()
    sweep = next(reversed(app.session_state["_sweeps"].values()))
    for cell in list(sweep.rows)[3:]:
        del sweep.rows[cell]
    sweep.cancel()
    app.run()
    button = next(b for b in app.button if b.label == "Resume")
    button.click().run()
    finished(app)
    assert sweep.complete


def test_no_algorithm_chosen_is_said():
    app = few()
    app.multiselect(key="sweep_algorithms").set_value([]).run()
    assert "Choose at least one" in app.info[0].value


def test_numbers_offer_only_algorithms_that_take_them():
    app = start(data="linear-gaussian", **{**FEW, "sweep_algorithms_numbers": ["PrivPC*"]})
    options = app.multiselect(key="sweep_algorithms_numbers").options
    assert "PrivPC*" in options
    assert "EM-PC" not in options
    assert not app.error


def test_a_missing_table_is_asked_for():
    app = start(data="your table")
    assert "No table is loaded yet" in app.info[0].value


def test_every_epsilon_of_the_axis_stands_on_the_slider_of_discover():
    grid = log_grid(EPSILON)
    for density in (1, 2, 3, 6):
        axis = epsilons_between(grid, 0.1, 20.0, density)
        assert set(axis) <= set(grid)
        assert {0.1, 1.0, 20.0} <= set(axis)


@pytest.mark.parametrize("name", ["priv-pc", "em-pc", "curate"])
def test_an_opened_run_has_the_settings_of_the_point(name):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("streamlit.session_state", {})
        address = preset(ALGORITHMS[name], {"calibration": "proven", "epsilon": 5.0})
    assert address == {"algorithm": name, "epsilon": "5"}
    app = AppTest.from_file(f"{ROOT}/app.py", default_timeout=60)
    for key, value in {"data": "cancer", "rows": "2000", **address}.items():
        app.query_params[key] = value
    app.run()
    assert not app.exception
    assert app.session_state["algorithm"] == name
    assert app.session_state["parameters"]["epsilon"] == 5
