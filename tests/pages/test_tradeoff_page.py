"""The Trade-off page: sweeps that run beside it."""

import math
import time
from itertools import pairwise

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from pages.ui import charts
from pages.ui.charts import spread
from pages.ui.controls.params import log_grid, preset
from pages.ui.theme import PALETTES
from pages.ui.tradeoff.charts import groups, quality, style_of
from pages.ui.tradeoff.controls import epsilons_between
from pages.ui.tradeoff.quality import ready
from privcore.algorithms import ALGORITHMS
from privcore.algorithms.search.parameters import EPSILON
from privcore.extras.lab.sweeps.sweep import NetworkData, SweepPlan
from tests.examples import few
from tests.messages import begins, label, shows
from tests.pages.opening import clean, figures, open_page, press, told

ROOT = __file__.rsplit("/tests/", 1)[0]
FEW = {"sweep_algorithms": ["Laplace-PC", "Priv-PC"], "sweep_seeds": "3", "sweep_density": "1"}


def opened(**query):
    """The page as it opens, with no sweep of its data in the product."""
    return open_page("tradeoff", **{"data": "cancer", "rows": "2000", **query})


def start(**query):
    """The page once its sweep is done."""
    app = opened(**query)
    for button in app.button:
        if button.label == "Run":
            button.click().run()
    return finished(app)


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
    return clean(app.run())


def two_algorithms(**query):
    """Two algorithms, few runs."""
    app = start(**FEW, **query)
    assert app.multiselect(key="sweep_algorithms").value == ["laplace-pc", "priv-pc"]
    assert app.select_slider(key="sweep_seeds").value == 3
    return app


def test_the_first_view_says_which_algorithm_to_take():
    app = two_algorithms()
    assert not app.error
    assert any("At ε = 1" in m.value and " best" in m.value for m in app.markdown)
    assert len(app.get("plotly_chart")) == 1
    table = app.dataframe[0].value
    assert list(table["algorithm"]) == ["Laplace-PC", "Priv-PC"]


@pytest.mark.long
@pytest.mark.parametrize(
    "view",
    few(
        ["Two parameters", "Edges", "Eight networks", label("tests-and-time"), "Table & download"],
        2,
    ),
)
def test_every_view_draws(view):
    app = two_algorithms()
    app.segmented_control(key="sweep_view").set_value(view)
    app = finished(app.run())
    assert not app.error
    assert app.get("plotly_chart") or app.dataframe


def test_the_first_view_is_a_finished_sweep_that_comes_with_the_product():
    app = open_page("tradeoff")
    sweep = next(reversed(app.session_state["_sweeps"].values()))
    assert sweep.complete
    assert not sweep.running
    assert sweep.shipped == sweep.plan.size
    assert shows(told(app), "best-of-these", epsilon=1, name="Moment search")
    assert shows(told(app), "comes-with-product")
    assert not [b for b in app.button if b.label in ("Run", "Resume", "Cancel")]


def test_more_runs_are_added_to_those_that_come_with_the_product():
    app = open_page("tradeoff", **{**FEW, "sweep_seeds": "10"}, data="cancer", rows="100000")
    sweep = next(reversed(app.session_state["_sweeps"].values()))
    assert sweep.shipped == 2 * 4 * 5 + 1
    assert "of these" in told(app)
    assert finished(app)
    assert sweep.complete
    assert len(sweep.rows) == 2 * 4 * 10 + 1


@pytest.mark.long
def test_without_a_shipped_sweep_the_page_says_so_and_runs_nothing_by_itself():
    app = opened(**FEW)
    assert shows(told(app), "no-finished-sweep", data="cancer")
    sweep = next(reversed(app.session_state["_sweeps"].values()))
    assert not sweep.running
    assert not sweep.rows
    press(app, "Run")
    finished(app)
    # What was wanted of these data once begins by itself.
    app.select_slider(key="sweep_seeds").set_value(5).run()
    finished(app)
    assert next(reversed(app.session_state["_sweeps"].values())).complete


def test_nobody_does_best_before_all_have_run():
    plan = SweepPlan((NetworkData("asia"),), ("pc", "svt-pc", "em-pc"), {"epsilon": (1,)}, seeds=10)
    few_runs = {"algorithm": ["svt-pc", "em-pc"], "runs": [5, 4], "refused": [0, 0]}
    assert not ready(plan, pd.DataFrame(few_runs))
    assert not ready(plan, pd.DataFrame(few_runs).head(1))
    # Refused runs are runs.
    assert ready(plan, pd.DataFrame({**few_runs, "refused": [0, 1]}))
    app = two_algorithms()
    sweep = next(reversed(app.session_state["_sweeps"].values()))
    for cell, row in list(sweep.rows.items()):
        if row["algorithm"] == "priv-pc":
            del sweep.rows[cell]
    sweep.cancel()
    app.run()
    assert shows(told(app), "best-said-later", epsilon=1)
    assert not shows(told(app), "best-of-these")


def test_every_private_algorithm_has_a_line_of_its_own_and_one_hue_a_paper():
    for palette in PALETTES.values():
        private = [a for a in ALGORITHMS.values() if a.private]
        styles = {a.name: style_of(a.name, palette) for a in private}
        assert len({(s.colour, s.dash) for s in styles.values()}) == len(private)
        hues = dict(zip(palette.series + palette.shades, 2 * palette.series, strict=True))
        for names in groups().values():
            own = [styles[name] for name in names]
            assert len({hues[style.colour] for style in own}) == 1
            assert len({style.symbol for style in own}) == len(own)
            assert all(one.colour != two.colour for one, two in pairwise(own))
    assert groups()["ours"] == ["moment-search", "moment-notears"]


@pytest.mark.long
def test_a_target_on_a_line_is_seen_below_it_and_axes_write_whole_numbers():
    table = pd.DataFrame(
        {
            "algorithm": ["priv-pc", "priv-pc", "pc"],
            "calibration": ["proven", "proven", "none"],
            "epsilon": [0.1, 20.0, math.nan],
            **{name: [0.2, 0.9, 1.0] for name in ("mean", "q05", "q95")},
            "runs": 5,
        }
    )
    figure = quality(table, "F1", bounded=True, target=1.0, log=True)
    (target,) = figure.layout.shapes
    assert target.layer == "below"
    assert target.line.width > 2 * max(trace.line.width for trace in figure.data)
    figure.for_each_yaxis(charts.full_numbers)
    assert figure.layout.yaxis.tickformat == ",~g"
    assert figure.layout.xaxis.ticktext == ("0.1", "20")
    said = charts.described(figure)
    assert "Priv-PC: 0.2 at 0.1, 0.9 at 20" in said
    assert "1 at 0.1, 1 at 20" in said


def test_names_at_the_ends_of_lines_do_not_overlap():
    app = start(sweep_view="Eight networks")
    shown = figures(app)
    assert len(shown) == 8
    for figure in shown:
        names = figure["layout"]["annotations"]
        lines = {trace["name"] for trace in figure["data"]}
        assert {note["text"] for note in names} == lines
        places = sorted(note["ay"] for note in names)
        low, high = figure["layout"]["yaxis"]["range"]
        pixels = (high - low) / (figure["layout"]["height"] - 110)
        assert min(b - a for a, b in pairwise(places)) >= 0.99 * 14 * pixels
        assert low <= places[0]
        assert places[-1] <= high


@pytest.mark.long
def test_what_is_highlighted_keeps_its_colour_and_its_name_alone():
    app = start(sweep_view="Eight networks")
    app.session_state["eight_highlighted"] = ["em-pc"]
    app.run()
    for figure in figures(app):
        assert [note["text"] for note in figure["layout"]["annotations"]] == ["EM-PC"]
        border = PALETTES["light"].border
        grey = {t["name"] for t in figure["data"] if t["line"]["color"] == border}
        assert grey == {t["name"] for t in figure["data"]} - {"EM-PC"}


@pytest.mark.parametrize(
    ("places", "wanted"),
    [
        ([], []),
        ([0.5], [0.5]),
        # Apart already.
        ([0.1, 0.9, 0.5], [0.1, 0.9, 0.5]),
        # Equal ones: the first on top, around where they were.
        ([0.5, 0.5, 0.5], [0.6, 0.5, 0.4]),
        # At an end they move inwards.
        ([1.0, 1.0], [1.0, 0.9]),
        # Too many stand evenly.
        ([0.5] * 21, [1 - k / 20 for k in range(21)]),
    ],
)
def test_names_are_spread_by_as_little_as_can_be(places, wanted):
    assert spread(places, 0.1, 0.0, 1.0) == pytest.approx(wanted)


def test_unknown_words_in_the_address_are_named_until_another_page_is_opened():
    app = open_page("tradeoff", data="cancer", sweep_view="Nonsense", sweep_seeds="4")
    (said,) = [w.value.replace("\\", "") for w in app.warning]
    assert begins(said, "mean-nothing", what="“sweep_view=Nonsense” and “sweep_seeds=4”")
    # Streamlit has taken it out of the address; the sentence stays.
    assert "sweep_view" not in app.query_params
    app.run()
    assert any("Nonsense" in w.value for w in app.warning)
    app.switch_page("pages/papers.py").run()
    assert not any("Nonsense" in w.value for w in app.warning)


@pytest.mark.long
def test_eight_networks_say_what_to_pick_at_the_epsilon_that_is_chosen():
    app = start(sweep_view="Eight networks")
    assert any(begins(m.value, "pick-at", epsilon=1) for m in app.markdown)
    app.select_slider(key="eight_epsilon").set_value(10.0).run()
    assert any(begins(m.value, "pick-at", epsilon=10) for m in app.markdown)
    assert len(app.get("plotly_chart")) == 8


@pytest.mark.long
def test_published_runs_are_named_as_such():
    app = two_algorithms()
    app.segmented_control(key="sweep_calibrations").set_value(["proven", "published"])
    app = finished(app.run())
    assert set(app.dataframe[0].value["calibration"]) == {"proven", "published"}


@pytest.mark.long
def test_a_cancelled_sweep_keeps_its_rows_and_can_be_resumed():
    app = two_algorithms()
    sweep = next(reversed(app.session_state["_sweeps"].values()))
    for cell in list(sweep.rows)[3:]:
        del sweep.rows[cell]
    sweep.cancel()
    app.run()
    press(app, "Resume")
    finished(app)
    assert sweep.complete


@pytest.mark.long
def test_no_algorithm_chosen_is_said():
    app = two_algorithms()
    app.multiselect(key="sweep_algorithms").set_value([]).run()
    assert shows(app.info[0].value, "choose-at-least-one")


@pytest.mark.long
def test_numbers_offer_only_algorithms_that_take_them():
    app = start(data="linear-gaussian", **{**FEW, "sweep_algorithms_numbers": ["PrivPC*"]})
    options = app.multiselect(key="sweep_algorithms_numbers").options
    assert "PrivPC*" in options
    assert "EM-PC" not in options
    assert not app.error


def test_a_missing_table_is_asked_for():
    app = start(data="your table")
    assert shows(app.info[0].value, "no-table-loaded")


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
    assert app.session_state["epsilon"] == "5"
