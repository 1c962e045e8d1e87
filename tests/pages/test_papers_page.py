"""The page Papers, through Streamlit's own test harness."""

import pytest

from pages.ui.papers.charts import Curve, reproduction_figure, small_panels
from privcore.extras.lab.reproductions import NAMES, TIMED, shipped
from tests.examples import few
from tests.messages import begins, label, reads, says, shows
from tests.pages.opening import clean, open_page

ITEMS = {name: shipped(name).item for name in NAMES}


def start(**query):
    return open_page("papers", **query)


@pytest.mark.long
@pytest.mark.parametrize("name", few(NAMES, 6))
def test_every_item_draws(name):
    app = start(item=name)
    item = ITEMS[name]
    assert not app.error
    assert app.header[0].value == item.item
    assert app.markdown[0].value == item.shows
    assert app.selectbox(key="paper").value == item.paper.name
    # The last chart is of our own probabilities.
    assert len(app.get("plotly_chart")) == 1 + (item.figure is not None)
    words = " ".join(m.value for m in app.markdown)
    assert all(sentence in words for sentence in item.differences)
    assert any(name in code.value and "privcore reproduce" in code.value for code in app.code)
    table = (*app.dataframe, *app.table)[0].value
    assert "paper" in table.columns or not any(ln.paper for ln in shipped(name).result.lines)


def test_the_table_has_the_printed_numbers_beside_ours():
    table = start(item="xu-table-8").dataframe[0].value
    assert list(table.columns[-3:]) == [
        label("ours-exact"),
        label("ours-published"),
        "ours, proven",
    ]
    assert table["paper"][0] == "0.975 ± 0.056"


@pytest.mark.parametrize(("name", "timed"), [("wang-table-2", True), ("xu-table-8", False)])
def test_times_are_said_to_be_of_one_machine(name, timed):
    captions = " ".join(c.value for c in start(item=name).caption)
    assert (TIMED in captions) == timed
    assert (shows(captions, "mean-and-deviation", runs=5)) != timed


def test_where_a_shipped_result_came_from_is_said():
    app = start(item="wang-figure-1")
    held = shipped("wang-figure-1")
    assert any(
        shows(c.value, "made-by-version", version=held.version, day=held.made, seed=0, runs=5)
        for c in app.caption
    )
    assert app.code[0].value == held.command


def test_a_paper_opens_on_its_first_figure_or_on_a_table_where_it_has_none():
    app = start()
    assert app.header[0].value == "Figure 1"
    assert app.get("plotly_chart")
    clean(app.selectbox(key="paper").set_value("xu").run())
    assert app.header[0].value == ITEMS["xu-table-3"].item
    app.selectbox(key="paper").set_value("kusner").run()
    assert app.header[0].value == "Figure 1"
    app.segmented_control(key="item").set_value("kusner-table-2").run()
    assert app.header[0].value == "Table 2"
    assert app.selectbox(key="paper").value == "kusner"
    assert set(app.segmented_control(key="item").options) == {
        item.item for item in ITEMS.values() if item.paper.name == "kusner"
    }


def test_an_unknown_item_in_the_address_is_told():
    app = start(item="no-such-table")
    assert reads(
        app.info[0].value,
        "papers-have-no-item",
        name="no-such-table",
        shown="Figure 1 of Wang, Pang & Song 2020: Priv-PC",
    )
    assert app.header[0].value == "Figure 1"


@pytest.mark.parametrize("name", ["wang-table-2", "curate-tables-4-7"])
def test_a_table_wider_than_the_page_wraps_its_words(name):
    app = start(item=name)
    assert not app.dataframe
    # What is printed stays what it is: nothing in it is read as markup.
    assert "ours, proven" in app.table[0].value.columns


def test_running_it_again_shows_the_new_result_and_keeps_the_shipped_one():
    app = start(item="curate-figure-3")
    clean(app.button(key="again_curate-figure-3").click().run())
    assert any(shows(c.value, "made-here", seed=0, runs=1) for c in app.caption)
    app.segmented_control(key="which_curate-figure-3").set_value("shipped").run()
    assert any(begins(c.value, "shipped") for c in app.caption)


def test_without_the_source_there_is_no_button(monkeypatch):
    monkeypatch.setattr("privcore.extras.lab.reproductions.has_program", lambda: False)
    app = start(item="curate-figure-3")
    assert not [b for b in app.button if b.key == "again_curate-figure-3"]
    assert any(shows(c.value, "in-the-source") for c in app.caption)


def test_what_needs_the_users_data_says_how():
    app = start(item="xu-adult")
    assert "--table FILE" in app.code[0].value
    assert app.dataframe[0].value["paper"].tolist() == ["31", "28", "0.786", "0.143", "0.710"]


def test_a_figure_has_a_panel_for_each_network_and_both_calibrations():
    item, held = ITEMS["wang-figure-1"], shipped("wang-figure-1")
    lines = [line for line in held.result.lines if line.case[2] == item.settings["measures"][0]]
    figure = reproduction_figure(item, lines, ["proven", "published"])
    assert [a.text for a in figure.layout.annotations] == item.settings["networks"]
    assert len(figure.data) == 4 * 4 * 2
    assert {trace.line.dash for trace in figure.data} == {"solid", "dash"}
    # Every name once in the legend, and all of its lines under it.
    assert sum(trace.showlegend for trace in figure.data) == 4
    first = figure.data[0]
    assert len(first.x) == 21
    assert list(first.x) == sorted(first.x)
    with pytest.raises(ValueError, match=says("item-is-a-table")):
        reproduction_figure(ITEMS["wang-table-1"], lines, ["proven"])


def test_many_names_differ_by_their_symbols():
    curves = [Curve("p", f"a{k}", "proven", [(1.0, 0.5)]) for k in range(12)]
    figure = small_panels(curves, x_title="x", y_title="y", bounded=True)
    assert len({(t.line.color, t.marker.symbol) for t in figure.data}) == 12
    assert len({(t.line.color, t.line.dash) for t in figure.data}) == 12
