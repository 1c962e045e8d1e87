"""Files of the dashboard: one setting takes none, and Discover gives graphs, and a page to send."""

import ast

import pytest

from pages.ui.controls.uploads import NO_UPLOADS, VARIABLE
from privcore.display.interactive import CONFIRMATION
from privcore.exchange.formats import TEXT_FORMATS
from tests.examples import few
from tests.messages import label, shows
from tests.pages.opening import ROOT, TABLE, clean, open_page, open_table, start

# What of Streamlit takes files, or sound and pictures as files.
TAKES_FILES = {"file_uploader", "camera_input", "audio_input", "chat_input"}


def said(app):
    assert not app.exception
    return [element.value for element in (*app.info, *app.caption)]


PLACES = [
    ("data", {"data": "your table"}),
    ("data", {}),
    ("direction", {"pair_source": label("columns-of-a-file")}),
]


@pytest.mark.parametrize(("page", "query"), PLACES)
@pytest.mark.parametrize("value", few(["off", "OFF", "no", "0", "nonsense"], 2))
def test_turned_off_a_sentence_stands_in_its_place(page, query, value, monkeypatch):
    monkeypatch.setenv(VARIABLE, value)
    app = open_page(page, **query)
    assert NO_UPLOADS in said(app)
    assert not app.file_uploader


@pytest.mark.parametrize(("page", "query"), PLACES)
@pytest.mark.parametrize("value", few([None, "", "on", " On "], 2))
def test_files_are_taken_otherwise(page, query, value, monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    if value is not None:
        monkeypatch.setenv(VARIABLE, value)
    app = open_page(page, **query)
    assert NO_UPLOADS not in said(app)
    assert len([u for u in app.file_uploader if u.label != "Session"]) == 1


def test_a_table_that_is_held_is_not_shown_once_uploads_are_off(monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    app = open_page("data", data="your table")
    app.file_uploader[0].upload("t.csv", b"a,b\n1,x\n2,y\n1,y\n", "text/csv").run()
    assert any(button.label == label("use-table") for button in app.button)
    monkeypatch.setenv(VARIABLE, "off")
    app.run()
    assert NO_UPLOADS in said(app)
    assert not app.file_uploader
    assert not any(button.label == label("use-table") for button in app.button)


def test_one_file_alone_asks_for_files():
    asking = [
        path.relative_to(ROOT).as_posix()
        for path in [ROOT / "app.py", *sorted((ROOT / "pages").rglob("*.py"))]
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr in TAKES_FILES
    ]
    assert asking == ["pages/ui/controls/uploads.py"]


@pytest.mark.long
def test_discover_has_a_button_for_every_text():
    app = open_page("discover", data="asia", rows="20000", discover_tab="Export & code")
    said(app)
    buttons = {button.label: button for button in app.get("download_button")}
    assert {form.title for form in TEXT_FORMATS.values()} <= set(buttons)
    # Of this network the class has an edge without a direction, however much is known.
    refused = {label for label, button in buttons.items() if button.disabled}
    assert refused == {"GML (DoWhy)", "BIF"}
    assert shows(buttons["BIF"].help, "no-undirected")


def button(app):
    (shown,) = [b.proto for b in app.get("download_button") if b.proto.label == "Interactive page"]
    return shown


def test_a_page_of_a_network_can_be_saved_at_once():
    assert not button(start(data="cancer", rows="1000", algorithm="svt-pc")).disabled


def test_a_table_of_ones_own_is_confirmed_in_words():
    app = open_table(TABLE)
    app.switch_page("pages/discover.py").run()
    clean(app.selectbox(key="algorithm").set_value("svt-pc").run())
    assert any(shows(w.value, "exact-rows-sent") for w in app.warning)
    for words in ("", "this page", CONFIRMATION):
        field = next(t for t in app.text_input if CONFIRMATION in t.label)
        field.set_value(words).run()
        assert button(clean(app)).disabled == (words != CONFIRMATION)
