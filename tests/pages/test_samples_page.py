"""Sample tables on the page Data: loaded as a file of the user's would be."""

import pytest

from pages.ui.controls.uploads import NO_UPLOADS, VARIABLE
from privcore.intake.samples import SAMPLES
from tests.messages import label, shows
from tests.pages.opening import clean, metric, open_page, press


def start():
    return open_page("data", data="your table")


def choose(app, name):
    return clean(app.button_group(key="upload_sample").set_value(name).run())


def said(app):
    texts = (*app.info, *app.caption, *app.markdown, *app.header, *app.text)
    return "\n".join(element.value for element in texts)


@pytest.mark.parametrize("uploads", ["on", "off"])
def test_a_sample_goes_from_a_choice_to_a_table_with_its_true_graph(uploads, monkeypatch):
    monkeypatch.setenv(VARIABLE, uploads)
    app = start()
    assert label("use-table") not in [button.label for button in app.button]
    choose(app, "clinic")
    assert SAMPLES["clinic"].story in said(app)
    assert shows(said(app), "columns-used", used=9, look=1, left=3)
    assert shows(said(app), "table-of-rows", file="clinic.csv", rows="12,000")
    assert [element.value for element in app.info].count(NO_UPLOADS) == (uploads == "off")
    press(app, label("use-table"))
    assert (metric(app, "Rows"), metric(app, label("true-edges"))) == ("12,000", "11")
    clean(app.switch_page("pages/discover.py").run())
    app.switch_page("pages/data.py").run()
    assert SAMPLES["clinic"].story in said(app)
    press(app, label("forget-table"))
    assert "upload" not in app.session_state
    assert SAMPLES["clinic"].story not in said(app)
    assert label("use-table") not in [button.label for button in app.button]


def test_a_sample_chosen_beside_a_network_is_the_data_and_stays_where_others_are_chosen():
    app = open_page("data")
    app.button_group(key="upload_sample_elsewhere").set_value("clinic").run()
    assert app.session_state["data"] == "your table"
    press(app, label("discover-graph"))
    app.switch_page("pages/data.py").run()
    app.selectbox(key="data").set_value("cancer").run()
    assert label("use-table") not in [button.label for button in app.button]
    assert app.button_group(key="upload_sample_elsewhere").value is None
    app.button_group(key="upload_sample_elsewhere").set_value("clinic").run()
    assert SAMPLES["clinic"].story in said(app)
    assert metric(app, label("true-edges")) == "11"


@pytest.mark.long
def test_with_a_parent_left_out_the_true_graph_is_unknown():
    app = choose(start(), "clinic")
    schema = app.session_state["upload_schema"]
    at = next(i for i, column in enumerate(schema) if column.name == "age")
    app.session_state["upload_schema"] = [
        *schema[:at],
        app.session_state["upload_proposals"][at].ways[-1].schema,
        *schema[at + 1 :],
    ]
    app.session_state["upload_edits"] += 1
    app.run()
    press(app, label("use-table"))
    assert metric(app, label("true-edges")) == "unknown"


@pytest.mark.long
def test_the_last_choice_counts():
    app = choose(start(), "clinic")
    app.file_uploader[0].upload("t.csv", b"a,b\n1,x\n2,y\n1,y\n", "text/csv").run()
    assert app.button_group(key="upload_sample").value is None
    assert shows(said(app), "table-of-rows", file="t.csv", rows=3)
    press(app, label("use-table"))
    assert metric(app, label("true-edges")) == "unknown"
    choose(app, "sensors")
    assert shows(said(app), "table-of-rows", file="sensors.csv", rows="17,520")
    choose(app, "survey")
    assert shows(said(app), "table-of-rows", file="survey.csv", rows="12,000")
    choose(app, None)
    assert label("use-table") not in [button.label for button in app.button]
