"""Save on Discover: the interactive page, at once for what is built in, else after a warning."""

from privcore.releases.interactive import CONFIRMATION
from tests.pages.opening import TABLE, clean, open_table, start

QUICK = {"algorithm": "svt-pc"}


def make(app):
    return app.button(key="make-page")


def saved(app):
    return [b for b in app.get("download_button") if "Save the page" in b.proto.label]


def test_a_page_of_a_network_is_made_on_request():
    app = clean(start(data="cancer", rows="1000", **QUICK))
    assert not saved(app)
    make(app).click().run()
    clean(app)
    (button,) = saved(app)
    assert "kB" in button.proto.label
    app.select_slider(key="epsilon").set_value("0.1").run()
    assert not saved(clean(app))
    assert not make(app).disabled


def test_a_table_of_ones_own_is_confirmed_in_words():
    app = open_table(TABLE)
    app.switch_page("pages/discover.py").run()
    app.selectbox(key="algorithm").set_value("svt-pc").run()
    clean(app)
    assert any("computed from its exact rows" in w.value for w in app.warning)
    assert make(app).disabled
    (words,) = [t for t in app.text_input if CONFIRMATION in t.label]
    words.set_value("this page").run()
    assert make(app).disabled
    words = next(t for t in app.text_input if CONFIRMATION in t.label)
    words.set_value(CONFIRMATION).run()
    assert not make(app).disabled
    make(app).click().run()
    assert len(saved(clean(app))) == 1
