"""A table whose domain is bought, from the page Data to a certificate."""

import json

import numpy as np
import pytest

from privcore.intake.schema import schema_json
from privcore.releases.certificate import certificate_json
from privcore.releases.ledger.ledger import Ledger
from privcore.releases.verification import verify
from tests.messages import label, shows
from tests.pages.opening import clean, labelled, open_table, press
from tests.pages.test_release_page import agree, name_budget


@pytest.fixture(autouse=True)
def ledger(tmp_path, monkeypatch):
    monkeypatch.setenv("CAUSALVEIL_DATA_DIR", str(tmp_path / "data"))
    return Ledger()


def content():
    rng = np.random.default_rng(1)
    smoke = rng.random(2_000) < 0.5
    ill = rng.random(2_000) < 0.2 + 0.6 * smoke
    age = rng.normal(50, 10, 2_000)
    rows = (f"{s:d},{i:d},{a:.1f}\n" for s, i, a in zip(smoke, ill, age, strict=True))
    return ("smoke,ill,age\n" + "".join(rows)).encode()


def bought_table():
    app = open_table(content())
    app.toggle(key="upload_buy").set_value(True).run()
    app.slider(key="upload_share").set_value(0.4)
    press(app, label("use-table"))
    assert not app.error
    return app


def test_a_domain_is_explored_confirmed_bought_and_certified(ledger):
    app = bought_table()
    loaded = app.session_state["upload"]
    assert "(other)" in loaded.dataset.columns[0].levels
    assert shows(loaded.dataset.notes[0], "simulated-at", epsilon="0.4")
    assert [column.levels for column in loaded.stated.schema] == [()] * 3
    table = next(t.value for t in app.table if "stated" in t.value)
    assert list(table["stated"]) == ["ordinal", "ordinal", label("cut-into", intervals=6)]
    app.switch_page("pages/release.py").run()
    assert any(shows(m.value, "kinds-known") for m in app.markdown)
    clean(labelled(app.checkbox, label("known-all-kinds")).check().run())
    assert not app.warning
    assert any(shows(c.value, "buy-the-levels") for c in app.caption)
    press(agree(name_budget(app)), "Release")
    (charge,) = ledger.charges()
    assert (charge.epsilon, charge.state) == (1.0, "released")
    document = dict(app.session_state["_released"][0].made.certificate)
    assert document["domain"]["bought"]["epsilon"] == 0.4
    assert json.loads(certificate_json(document))
    assert shows(" ".join(verify(certificate_json(document)).verified), "steps-of-domain-cost")


@pytest.mark.long
def test_exploring_says_that_the_simulated_purchase_is_not_covered():
    app = bought_table()
    clean(app.switch_page("pages/discover.py").run())
    assert not app.error
    assert app.session_state["upload"].dataset.caveats


def test_what_the_page_shows_before_a_release_does_not_depend_on_the_rows():
    """The largest domain is all that is shown and rehearsed, whatever was bought to explore."""
    app = bought_table()
    labelled(app.checkbox, label("known-all-kinds")).check().run()
    app.switch_page("pages/release.py").run()
    press(app, label("simulate-quality"))
    shapes = app.session_state["_surrogates"][1].shape
    assert shapes.levels == (11, 11, 6)


def test_kinds_alone_are_one_sentence_where_nothing_is_bought():
    app = bought_table()
    kinds = app.session_state["upload"].stated.schema
    uploader = labelled(app.file_uploader, "Schema")
    uploader.upload("k.json", schema_json(kinds).encode(), "application/json").run()
    app.toggle(key="upload_buy").set_value(False).run()
    press(app, label("use-table"))
    assert [e.value for e in app.error] == [label("kind-alone-said", name="smoke")]


def test_a_number_turned_into_categories_needs_no_levels():
    app = open_table(content())
    app.toggle(key="upload_buy").set_value(True).run()
    schema = app.session_state["upload_schema"]
    app.session_state["upload_schema"] = [
        c if c.name != "age" else type(c)("age", "nominal") for c in schema
    ]
    app.session_state["upload_edits"] += 1
    app.run()
    press(app, label("use-table"))
    assert app.session_state["upload"].dataset.columns[2].levels[-2:] == ("(other)", "(missing)")
