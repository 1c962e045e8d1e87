"""Save on Discover: the interactive page, at once for what is built in, else after a warning."""

from privcore.display.interactive import CONFIRMATION
from tests.messages import shows
from tests.pages.opening import TABLE, clean, open_table, start


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
