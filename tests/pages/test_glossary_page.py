"""The page Glossary, through Streamlit's own test harness."""

from tests.messages import begins, label
from tests.pages.opening import clean, open_page, press


def start(**query):
    return open_page("glossary", **query)


def texts(app):
    return [m.value for m in app.main.markdown]


def test_terms_come_first_and_parameters_on_request():
    app = start()
    assert any(text.startswith("**Skeleton**") for text in texts(app))
    assert not any(text.startswith("**Largest gradient**") for text in texts(app))
    clean(
        app.segmented_control(key="glossary_kind")
        .set_value(label("parameters-of-algorithms"))
        .run()
    )
    assert any(text.startswith("**Largest gradient**") for text in texts(app))


def test_a_link_opens_its_term_alone_and_leads_back_to_all():
    app = start(term="epsilon")
    assert app.header[0].value == "Privacy budget · ε"
    assert "Moment search" in texts(app)[0]
    press(app, "All terms")
    assert "term" not in app.query_params
    assert any(text.startswith("**Skeleton**") for text in texts(app))


def test_a_search_shows_what_is_called_so_before_what_mentions_it():
    app = start(term="epsilon")
    app.text_input(key="glossary_search").set_value("skeleton").run()
    assert texts(app)[0].startswith("**Skeleton**")
    assert 1 < len(texts(app)) < 20
    app.text_input(key="glossary_search").set_value("no *such* word").run()
    assert begins(app.info[0].value, "no-term-has", term="no \\*such\\* word")


def test_an_unknown_term_gets_a_sentence_and_all_terms():
    app = start(term="<b>x</b>")
    assert begins(app.warning[0].value, "no-such-term-shown", term="\\<b\\>x")
    assert len(texts(app)) > 20
