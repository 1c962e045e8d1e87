"""A button that leads to another page works whatever has been changed on this one."""

import ast
from pathlib import Path

import pytest

from tests.pages.opening import ROOT, TABLE, clean, open_page, open_table

OTHER = TABLE.replace(b"sex,age,ill", b"sex,years,smokes")


def moved(app):
    """Every control that the URL holds, away from its default."""
    changed = 0
    for slider in app.select_slider:
        if slider.key and len(slider.options) > 1:
            slider.set_value(next(o for o in slider.options if o != slider.value))
            changed += 1
    for toggle in app.toggle:
        if toggle.key and not toggle.disabled:
            toggle.set_value(not toggle.value)
            changed += 1
    for number in app.number_input:
        if number.key in ("seed", "sweep_seed"):
            number.set_value(number.value + 1)
            changed += 1
    assert changed
    return clean(app.run())


def press_key(app, word):
    next(button for button in app.button if word in button.label).click().run()
    return clean(app)


@pytest.mark.parametrize("algorithm", ["moment-search", "priv-pc"])
def test_a_table_leads_to_its_graph_with_changed_settings(algorithm):
    app = open_table(TABLE, use=False, algorithm=algorithm)
    app.select_slider(key="epsilon").set_value("0.1")
    app.select_slider(key="delta").set_value("1e-08")
    clean(app.run())
    press_key(app, "Discover its graph")
    assert app.session_state["upload"].dataset.names == ("sex", "age", "ill")
    assert app.session_state["epsilon"] == "0.1"
    assert app.title[0].value != "Data"


def test_the_lessons_lead_to_an_audit_with_changed_settings():
    app = open_page("learn", panel="sparse-vector")
    press_key(moved(app), "Audit the correct one")
    assert app.query_params["case"] == "sparse-vector"


def test_one_place_switches_pages():
    for path in [ROOT / "app.py", *(ROOT / "pages").rglob("*.py")]:
        calls = [
            node.func.attr
            for node in ast.walk(ast.parse(Path(path).read_text("utf-8")))
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        ]
        assert "switch_page" not in calls or path == ROOT / "pages" / "ui" / "frame.py", path


def test_a_second_table_is_not_shown_over_the_first():
    app = open_table(TABLE)
    assert any("data_tab" in str(tabs.proto) for tabs in app.get("tab_container")) or app.tabs
    clean(app.file_uploader[0].upload("other.csv", OTHER, "text/csv").run())
    assert not app.tabs
    assert app.session_state["upload"].dataset.names == ("sex", "age", "ill")
    press_key(app, "Use this table")
    assert app.tabs
    assert app.session_state["upload"].dataset.names == ("sex", "years", "smokes")
