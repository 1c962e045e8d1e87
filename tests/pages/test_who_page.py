"""Who is protected, on the page Data: a column of persons, and what the other pages then say."""

import re

import numpy as np
import pandas as pd
import pytest

from pages.ui.texts import ONE_ROW, odds_sentence
from privcore.algorithms.protecting import Protection
from privcore.unit import ADDED, Unit
from tests.messages import label, says, shows
from tests.pages.opening import captions, clean, labelled, metric, open_page, open_table, press
from tests.pages.test_samples_page import said

PERSONS = label("rows-of-persons")


def visits(lacking=0):
    rng = np.random.default_rng(1)
    who = rng.integers(0, 200, 1_500)
    frame = pd.DataFrame(
        {
            "smoke": rng.choice(["no", "yes"], 1_500),
            "patient_id": [f"P{k}" for k in who],
            "cough": rng.choice(["no", "yes"], 1_500),
            "ward": rng.choice(["a", "b", "c"], 1_500),
        }
    )
    frame.loc[: lacking - 1, "patient_id"] = None if lacking else frame["patient_id"]
    return frame.to_csv(index=False).encode()


def loaded(content=None):
    return open_table(content or visits(), use=False)


def choose(app, value=PERSONS):
    return clean(labelled(app.radio, label("who-is-protected")).set_value(value).run())


def bound(app, rows):
    field = label("rows-of-one-person")
    return clean(labelled(app.number_input, field).set_value(rows).run())


def names(app):
    return [column.name for column in app.session_state["upload_schema"]]


def test_by_default_each_row_is_another_person():
    app = press(loaded(), label("use-table"))
    assert app.session_state["upload"].dataset.unit == Unit()
    assert not shows(said(app), "guarantees-are-about")
    assert "Protected:" not in said(app)


def test_a_column_of_persons_goes_from_data_to_discover_and_release():
    app = choose(loaded())
    unit = labelled(app.selectbox, label("column-of-persons"))
    # What is called an identifier comes first.
    assert unit.value == "patient_id"
    assert shows(captions(app), "unit-is-protected", unit="patient", kept=5)
    assert names(app) == ["smoke", "cough", "ward"]
    before = captions(app)
    bound(app, 3)
    assert label("unit-is-protected", unit="patient", kept=3) in captions(app) != before
    press(app, label("use-table"))
    dataset = app.session_state["upload"].dataset
    assert dataset.unit == Unit("patient", 3)
    assert dataset.n < 700
    assert metric(app, "Rows") == f"{dataset.n:,}"
    told = said(app).replace("\\", "")
    assert shows(told, "protected-plain", unit="patient", rows=3)
    clean(app.switch_page("pages/discover.py").run())
    assert shows(app.title[0].value, "for-one-unit", unit="patient", rows=3)
    assert shows(captions(app), "about-rows-of", unit="patient")
    app.switch_page("pages/data.py").run()
    # What was chosen is still chosen, and so is the table.
    assert labelled(app.radio, label("who-is-protected")).value == PERSONS
    assert shows(captions(app), "rows-are-protected", rows=3)
    assert app.session_state["upload"].dataset.unit == Unit("patient", 3)
    clean(app.switch_page("pages/release.py").run())
    assert shows(said(app), "every-unit", unit="patient", rows=3)


def test_what_was_edited_stays_when_persons_are_named():
    app = loaded()
    schema = app.session_state["upload_schema"]
    app.session_state["upload_schema"] = [
        column if column.name != "ward" else type(column)("ward", "ordinal", ("c", "b", "a"))
        for column in schema
    ]
    app.session_state["upload_edits"] += 1
    app.run()
    choose(app)
    ward = next(c for c in app.session_state["upload_schema"] if c.name == "ward")
    assert ward.levels == ("c", "b", "a")
    choose(app, label("row-is-a-person"))
    assert names(app) == ["smoke", "patient_id", "cough", "ward"]
    ward = next(c for c in app.session_state["upload_schema"] if c.name == "ward")
    assert ward.levels == ("c", "b", "a")


def test_rows_of_nobody_are_refused_in_one_sentence():
    app = choose(loaded(visits(lacking=7)))
    (error,) = app.error
    assert shows(error.value, "rows-without-unit", missing=7, rows="1,500")
    choose(app, label("row-is-a-person"))
    assert not app.error
    press(app, label("use-table"))


def test_another_table_begins_anew():
    app = choose(loaded())
    clean(app.file_uploader[0].upload("t.csv", b"a,b\n1,x\n2,y\n1,y\n", "text/csv").run())
    assert labelled(app.radio, label("who-is-protected")).value != PERSONS
    assert names(app) == ["a", "b"]
    press(app, label("forget-table"))
    for key in ("upload_bounded", "upload_unit", "upload_triaged"):
        assert key not in app.session_state


def test_a_bought_domain_for_persons_is_refused_in_one_sentence():
    app = choose(loaded())
    app.toggle(key="upload_buy").set_value(True).run()
    press(app, label("use-table"))
    assert shows(app.error[0].value, "domain-protects-one-row", unit="patient", rows=5)


PATIENT = Unit("patient", 5)


@pytest.mark.parametrize(
    ("whom", "delta", "words"),
    [
        (ONE_ROW, 0.0, says("suspicion-of-record", share=50)),
        (ONE_ROW, 1e-6, says("values-of-record")),
        (Protection(PATIENT), 0.0, says("suspicion-of-rows", unit="patient", rows=5)),
        (Protection(PATIENT), 1e-6, says("values-of-rows", unit="patient", rows=5)),
        (Protection(PATIENT, ADDED), 0.0, says("presence-of-rows", unit="patient", rows=5)),
        (Protection(Unit(), ADDED), 0.0, says("suspicion-of-presence", share=50)),
        (Protection(Unit(), ADDED), 1e-6, says("guess-of-presence")),
    ],
)
def test_odds_are_about_whoever_is_protected(whom, delta, words):
    assert re.search(words, odds_sentence(1.0, delta, whom=whom))


@pytest.mark.long
def test_the_release_page_says_that_its_figures_are_exact_where_rows_are_hidden():
    app = open_page("release", neighbours="added or removed")
    assert shows(captions(app), "exact-number-of-rows")
    assert shows(said(app), "rows-private")
    assert shows(said(app), "presence-protected")


@pytest.mark.long
def test_more_rows_of_a_person_show_less():
    sentences = []
    for rows in ("auto", "5"):
        app = open_page("discover", data="asia", rows_per_unit=rows)
        tab = "\n".join(element.value for element in (*app.markdown, *app.caption))
        sentences += [line for line in tab.splitlines() if label("moment-search-sees") in line][:1]
    assert len(sentences) == 2
    assert sentences[0] != sentences[1]
