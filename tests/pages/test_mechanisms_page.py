"""The page Mechanisms, through Streamlit's own test harness."""

import sys
from types import ModuleType

import pytest
import streamlit

from pages.ui.mechanisms.panels import picture
from privcore.extras.audits import PLANTED
from privcore.extras.teaching import PANELS, Panel
from privcore.extras.teaching.averaging import AVERAGING
from privcore.extras.teaching.membership import MEMBERSHIP
from privcore.extras.teaching.panel import number
from privcore.extras.teaching.per_test import PER_TEST
from privcore.extras.teaching.runs import RUNS
from privcore.extras.teaching.sensitivity import PRESETS
from privcore.extras.teaching.simpson import SIMPSON
from privcore.extras.teaching.sparse_vector import BROKEN
from tests.examples import few
from tests.pages.opening import open_page

MISSING = """{} has no picture.
Add `def show(result, values, key)` to pages/ui/mechanisms/{}.py."""


def start(**query):
    return open_page("mechanisms", **query)


@pytest.mark.long
@pytest.mark.parametrize("name", PANELS)
def test_every_panel_is_drawn_with_its_code(name):
    app = start(panel=name)
    panel = PANELS[name]
    assert app.header[0].value == panel.question
    assert len(app.get("plotly_chart")) >= 1
    assert app.latex[0].value.strip("$\n ") == panel.formula
    assert any(m.value == panel.sentence for m in app.markdown)
    assert any(m.value.startswith("Source: ") for m in app.markdown)
    compile(app.code[0].value, name, "exec")
    shown = app.code[0].value.strip()
    assert name == "sensitivity" or shown == panel.code(panel.checked()).strip()
    assert not app.warning


@pytest.mark.parametrize(
    "panel",
    [*PANELS.values(), PER_TEST, RUNS, SIMPSON, AVERAGING, MEMBERSHIP],
    ids=lambda p: p.name,
)
def test_every_panel_has_its_picture(panel):
    try:
        assert callable(picture(panel))
    except (ImportError, AttributeError):
        file = panel.compute.__module__.rpartition(".")[2]
        pytest.fail(MISSING.format(panel.name, file), pytrace=False)


def test_a_panel_is_one_declaration_and_its_picture(monkeypatch):
    """One entry of the registry, and a file of the same name for the picture."""

    def compute(values):
        return values["rows"]

    compute.__module__ = "privcore.extras.teaching.toy"
    rows = number("rows", "Rows", "n", 3, (1, 9), "How many.", "this test", kind="int")
    toy = Panel(
        name="toy",
        title="Toy",
        question="How many?",
        formula="n",
        sentence="That many.",
        source="this test",
        parameters=(rows,),
        compute=compute,
        code=lambda values: f"rows = {values['rows']}",
        reproduces=("rows",),
    )
    drawn = ModuleType("pages.ui.mechanisms.toy")
    drawn.show = lambda result, values, key: streamlit.markdown(f"There are {result}.") and None
    monkeypatch.setitem(sys.modules, drawn.__name__, drawn)
    monkeypatch.setitem(PANELS, "toy", toy)
    app = start(panel="toy", toy_rows="7")
    assert app.header[0].value == "How many?"
    assert any(m.value == "There are 7." for m in app.markdown)
    assert app.code[0].value == "rows = 7"


def test_the_address_sets_panel_and_values_and_bad_ones_fall_back():
    app = start(panel="noise", noise_mechanism="gaussian", noise_epsilon="0.2")
    assert "analytic_sigma(1.0, 0.2, 0.01)" in app.code[0].value
    app = start(panel="no such panel", noise_epsilon="-3")
    assert app.header[0].value == PANELS["noise"].question
    assert "scale = 1 / 1.0" in app.code[0].value


def test_a_control_answers_and_another_panel_keeps_its_values():
    app = start(panel="selection")
    app.slider(key="selection_u1").set_value(-3.0).run()
    assert "[-3.0, 3.0, 1.0, -2.0, -5.0]" in app.code[0].value
    app.segmented_control(key="panel").set_value("noise").run()
    assert "panel" not in app.query_params, "it is the default"
    app.segmented_control(key="panel").set_value("selection").run()
    assert not app.exception
    assert "[-3.0, 3.0, 1.0, -2.0, -5.0]" in app.code[0].value


def test_values_too_far_apart_are_warned_of():
    app = start(panel="noise")
    app.slider(key="noise_neighbour").set_value(3.0).run()
    assert "further apart than the sensitivity" in app.warning[0].value


@pytest.mark.long
@pytest.mark.parametrize("variant", few(BROKEN, 1))
def test_a_broken_variant_is_told_and_leads_to_its_audit(variant):
    app = start(panel="sparse-vector", sparse_vector_variant=variant)
    assert app.error[0].value.startswith("Broken: ")
    button = next(b for b in app.button if b.label == "Catch it on the Audit page")
    button.click().run()
    assert not app.exception
    assert app.title[0].value == "Audit"
    assert any(m.value == f"**The bug:** {PLANTED[variant].flaw}" for m in app.markdown)


@pytest.mark.parametrize("preset", few(PRESETS, 2))
def test_every_preset_of_the_playground_is_drawn(preset):
    app = start(panel="sensitivity", sensitivity_preset=preset)
    frame = next(f for f in app.dataframe if f.proto.alt == "Scores before and after").value
    broken = frame["verdict"] == "published constant broken"
    assert len(app.error) == broken.sum()
    assert broken.any() == (preset not in ("rare-cell", "ordinary"))
    assert (
        frame["proven bound"].isna() | (frame["moved by"] <= frame["proven bound"] + 1e-9)
    ).all()


def test_one_page_of_pages_says_when_no_iteration_fits():
    app = start(panel="allocation", allocation_epsilon="0.05", allocation_first="0.5")
    assert any("Not one iteration fits" in i.value for i in app.info)
