"""The page Release, through Streamlit's own test harness; the ledger is in a folder of the test."""

import json
import re

import pytest

from pages.ui.release import panels
from pages.ui.texts import plain
from privcore.data import load_network
from privcore.releases.certificate import certificate_json
from privcore.releases.ledger.entries import Budget, Spending
from privcore.releases.ledger.ledger import Ledger
from privcore.releases.release import release
from privcore.releases.release_file import file_text, parsed_file
from privcore.releases.signing import stored_certificates
from privcore.releases.verification import verify
from tests.messages import begins, label, reads, says, shows
from tests.pages.opening import clean, labelled, open_page, open_table, press, titles, told


@pytest.fixture(autouse=True)
def ledger(tmp_path, monkeypatch):
    monkeypatch.setenv("CAUSALVEIL_DATA_DIR", str(tmp_path / "data"))
    return Ledger()


def start(**query):
    """The page for an algorithm whose rehearsals take no time, if none is requested."""
    default = {"data": "cancer", "rows": "2000", "algorithm": "laplace-pc"}
    return open_page("release", **{**default, **query})


def button(app, label):
    return next(b for b in app.button if b.label == label)


def agree(app):
    charge(app).check().run()
    return app


def charge(app):
    """The box that agrees to the charge."""
    return next(c for c in app.checkbox if label("with-secure-noise") in c.label)


def name_budget(app, name="study", epsilon=3.0):
    app.text_input(key="release_name").set_value(name)
    app.number_input(key="release_epsilon").set_value(epsilon)
    return clean(app.run())


def test_a_graph_that_is_stated_is_checked_by_the_release_of_its_columns(ledger):
    app = start(algorithm="moment-search", own_graph="Smoker -> Cancer; Pollution -> Cancer")
    app.checkbox(key="release_graph").check().run()
    press(agree(name_budget(app)), "Release")
    assert not app.error
    (charge,) = ledger.charges()
    assert (charge.epsilon, charge.state) == (1.0, "released")
    made = app.session_state["_released"][0].made
    assert set(made.graph.nodes) == {"Smoker", "Pollution", "Cancer"}
    assert verify(certificate_json(dict(made.certificate))).verified
    assert "check" in made.certificate["released"]
    # Without the box, all columns are released.
    app = clean(start(algorithm="moment-search", own_graph="Smoker -> Cancer"))
    press(agree(app), "Release")
    assert len(app.session_state["_released"][0].made.graph.nodes) == 5
    # A question about one column cannot check a graph.
    app = start(algorithm="moment-search", own_graph="Smoker -> Cancer", target="Smoker")
    assert not [box for box in app.checkbox if box.key == "release_graph"]


def test_a_release_is_charged_shown_and_certified(ledger):
    known = '{"tiers":[["Smoker"],["Cancer"]]}'
    app = name_budget(start(algorithm="moment-search", knowledge=known))
    assert button(app, "Release").disabled
    beforehand = [m.value for m in app.markdown if m.value.startswith("- ")][-1]
    press(agree(app), "Release")
    assert not app.error
    assert not app.checkbox[-1].value
    (charge,) = ledger.charges()
    assert (charge.budget, charge.epsilon, charge.state) == ("study", 1.0, "released")
    assert "Proven: (ε = 1" in app.success[0].value
    assert titles(app) == ["Released graph 1"]
    shown = app.session_state["_released"][0]
    # What is public was listed before the press as the certificate states it, knowledge included.
    public = shown.made.certificate["guarantee"]["public"]
    assert "Smoker before Cancer" in public[-1]
    assert beforehand == "\n".join(f"- {plain(fact)}" for fact in public)
    text = certificate_json(dict(shown.made.certificate))
    assert verify(text).verified
    assert json.loads(text)
    # The numbers are kept with it, by default.
    file = parsed_file(file_text(shown.made.numbers).encode())
    assert file.id == shown.made.certificate["id"]
    assert (ledger.certificates / f"release-{file.id}.json").is_file()
    # The box is empty again: one more click releases nothing.
    assert button(app, "Release").disabled


def test_a_certificate_is_there_in_another_session(ledger):
    press(agree(name_budget(start())), "Release")
    app = start()
    assert app.session_state["_released"] == []
    (kept,) = stored_certificates(ledger.certificates)
    assert app.selectbox(key="release_kept").value == kept
    table = next(d.value for d in app.dataframe if "file" in d.value)
    assert list(table["file"]) == [kept.path.name]
    # One that was changed by hand is still no traceback.
    kept.path.write_text('{"time": "t", "ledger": {"budget": "b"}, "algorithm": {"name": "a"}}')
    assert not start().exception


def test_a_charge_whose_end_is_not_recorded_is_listed_as_one_that_may_be_out(ledger):
    ledger.set_total("study", 2.0, 1e-5)
    ledger.reserve("study", [], algorithm="lapmech", parameters={}, epsilon=0.5, delta=0.0)
    app = start()
    table = next(d.value for d in app.dataframe if "state" in d.value)
    assert shows(list(table["state"]), "maybe-handed-out")


def test_a_release_that_would_overspend_is_refused_and_nothing_is_lost(ledger):
    app = name_budget(start(), epsilon=1.1)
    app.selectbox(key="algorithm").set_value("laplace-pc").run()
    press(agree(app), "Release")
    assert "is left" in app.warning[0].value
    assert button(app, "Release").disabled
    # Another tab was faster: the ledger has the last word, and what was released stays.
    ledger.set_total("study", 2.5, 1e-5, "zcdp")
    app.run()
    agree(app)
    ledger.set_total("study", 1.1, 1e-5, "zcdp")
    app.run()
    assert button(app, "Release").disabled
    assert len(ledger.charges()) == 1
    assert app.success
    assert len(app.session_state["_released"]) == 1


@pytest.mark.long
def test_a_whole_table_is_one_release_and_short_of_a_budget_in_zcdp_it_says_why(ledger):
    ledger.set_total("study", 0.5, 1e-6, "zcdp")
    app = start(algorithm="moment-search")
    # Data that no budget names are not charged to another one's unasked.
    assert budget(app).value == panels.NEW
    budget(app).set_value("study").run()
    (short,) = [w.value for w in app.warning if "is left" in w.value]
    assert shows(short, "in-plain-words-combinations")
    # Its promise needs no δ, in the sidebar as on the page; two cells of one table are no rounds.
    odds = [c.value for c in app.caption if "someone who" in c.value]
    assert len(odds) == 2
    assert not any("δ" in sentence for sentence in odds)
    assert not app.get("plotly_chart")
    assert start(algorithm="laplace-pc").get("plotly_chart")
    assert any(shows(c.value, "accountants-at", delta="1e-06") for c in app.caption)


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ({"algorithm": "pc"}, says("release-of-no-privacy")),
        ({"algorithm": "priv-pc", "calibration": "published"}, says("proven-calibration-alone")),
    ],
)
def test_what_has_no_proof_cannot_be_released(query, sentence):
    app = start(**query)
    assert re.search(sentence, app.warning[0].value)
    assert not [b for b in app.button if b.label == "Release"]


def confirm(app):
    return labelled(app.checkbox, label("known-all")).check().run()


def test_what_is_public_must_be_confirmed():
    app = open_table(b"a,b\n" + b"".join(f"{i % 2},{i % 3}\n".encode() for i in range(300)))
    clean(app.switch_page("pages/release.py").run())
    assert not app.warning
    assert not [b for b in app.button if b.label == "Release"]
    assert not [c for c in app.checkbox if c.label.startswith("I accept")]
    assert list(app.table[0].value.index) == ["a", "b"]
    confirm(app)
    assert not app.exception
    assert not app.warning
    assert button(app, "Release").disabled
    press(app, label("simulate-quality"))
    assert any("Expected F1" in m.label for m in app.metric)


def test_nothing_on_the_page_depends_on_the_rows():
    def words(seed):
        app = press(start(data_seed=seed, algorithm="moment-search"), label("simulate-quality"))
        parts = (app.markdown, app.caption, app.metric, app.info, app.warning, app.dataframe)
        assert app.metric
        return [str(e.value) for part in parts for e in part]

    assert words("1") == words("2")


def test_no_seed_is_asked_for_where_noise_is_secure():
    assert not [n for n in start().number_input if n.label == "Noise seed"]


def test_a_blank_name_is_one_sentence():
    app = name_budget(start(), name=" ")
    assert [w.value for w in app.warning] == [label("budget-without-name")]
    assert charge(app).disabled


def test_a_table_of_ones_own_is_released_with_two_ticks_and_a_press(ledger):
    answers = (",".join(str(1 + i * k % 5) for k in (1, 2, 3, 7, 11, 13)) for i in range(300))
    app = open_table("\n".join(["a,b,c,d,e,f", *answers]).encode(), "study.csv")
    confirm(app.switch_page("pages/release.py").run())
    assert ledger.budgets() == []
    assert reads(
        charge(app).label,
        "make-budget",
        name="study",
        total=3,
        delta="1e-05",
        epsilon=1,
        spent="1e-06",
    )
    press(agree(app), "Release")
    assert shows(app.success[0].value, "paid-and-recorded")
    assert label("certificate-file") in [b.label for b in app.get("download_button")]
    assert ledger.budget("study").unit == "zcdp"
    assert [c.budget for c in ledger.charges()] == ["study"]
    # The next one is charged to the same; another is refused, and nothing is made.
    assert begins(charge(app).label, "charge-to-budget", epsilon=1, delta="1e-06", name="study")
    budget(app).set_value(panels.NEW).run()
    assert shows(app.warning[0].value.replace("\\", ""), "budget-exists", name="study")
    name_budget(app, "other")
    assert shows(app.warning[0].value, "charged-to-before", name="study")
    assert charge(app).disabled
    assert [b.name for b in ledger.budgets()] == ["study"]


def budget(app):
    return labelled(app.selectbox, "Budget")


def test_a_total_covers_what_is_planned_until_it_is_changed():
    app = start(epsilon="5")
    assert shows(charge(app).label, "budget-of", name="cancer", epsilon=5, delta="1e-05")
    agree(app)
    app.number_input(key="release_epsilon").set_value(4.0).run()
    assert "is left" in app.warning[0].value
    # Another total is another thing to agree to.
    assert charge(app).disabled
    assert not charge(app).value
    app.number_input(key="release_epsilon").set_value(6.0)
    app.number_input(key="release_delta").set_value(0.0).run()
    assert shows(app.warning[0].value, "zcdp-needs-delta")
    assert charge(app).disabled


def test_a_cost_that_zcdp_does_not_cover_is_added_up_as_it_is():
    app = start(algorithm="moment-search")
    assert app.selectbox(key="release_unit").value == "basic"
    assert not app.warning


@pytest.mark.long
def test_the_other_way_finds_an_epsilon():
    app = start(algorithm="laplace-pc")
    app.button(key="release_find_noise").click().run()
    assert any(m.value.startswith("**ε = ") for m in app.markdown)
    clean(app.button(key="release_find_quality").click().run())
    assert any(m.value.startswith("**ε = ") or "Not reached" in m.value for m in app.markdown)


@pytest.mark.long
def test_the_same_file_prepared_otherwise_stays_with_its_budget(ledger):
    content = b"a,b,c\n" + b"".join(f"{i % 2},{i % 3},{i % 5 % 2}\n".encode() for i in range(300))
    app = confirm(open_table(content))
    app.switch_page("pages/release.py").run()
    name_budget(app)
    press(agree(app), "Release")
    assert any("Proven" in w.value for w in app.success)
    assert ledger.budget_of([ledger.fingerprint([content])]) == "study"


def test_a_damaged_ledger_is_one_sentence_and_what_was_released_stays(ledger):
    app = name_budget(start())
    press(agree(app), "Release")
    ledger.path.write_bytes(b"not a database" * 100)
    app.run()
    assert not app.exception
    assert app.error
    assert app.success
    assert ledger.path.read_bytes().startswith(b"not a database")


@pytest.mark.long
def test_what_leaves_for_whom_and_what_it_costs_stand_first(ledger):
    app = start()
    first = [m.value for m in app.markdown][:6]
    assert first[0::2] == ["**What is released**", "**For whom**", label("what-it-costs")]
    assert shows(first[1], "what-leaves", columns=5, data="cancer", algorithm="Laplace-PC")
    assert shows(first[3], "protects-records", rows="2,000")
    assert reads(first[5], "spent-for-ever", epsilon=1, delta="1e-06")
    assert shows(told(app), "of-a-new-budget", epsilon=3, delta="1e-05")
    press(agree(name_budget(app, name="demo-budget_1")), "Release")
    spent = {"epsilon": 3, "delta": "1e-05"}
    assert shows(told(app), "share-is-spent", **spent)
    assert not shows(told(app), "share-is-spent", share=100, **spent)
    # Not known while something is refused.
    assert shows(told(start(algorithm="pc")), "not-known-yet")


@pytest.mark.long
@pytest.mark.parametrize("name", ["demo-budget", "_a_ $x^2$ <b>"])
def test_a_name_is_shown_as_it_is_in_tables_and_choices(ledger, name):
    ledger.set_total(name, 3.0, 1e-5)
    app = start()
    budget(app).set_value(name).run()
    press(agree(app), "Release")
    app = start()
    assert {value for d in app.dataframe if "budget" in d.value for value in d.value["budget"]} == {
        name
    }
    assert name in labelled(app.selectbox, "Budget").options


@pytest.mark.parametrize(
    ("unit", "epsilon", "zcdp", "words"),
    [
        # Three releases of ε = 1 without δ: the sum is 3, and zCDP says more.
        ("basic", 3.0, 3.189, says("zcdp-of-charges", epsilon="3.189")),
        ("basic", 3.0, 2.5, says("other-bound")),
        ("zcdp", 4.0, 3.0, says("sum-of-charges", epsilon=4, delta=0)),
        ("zcdp", 2.0, 3.0, says("other-bound")),
    ],
)
def test_a_sum_that_does_not_count_is_said_not_to(unit, epsilon, zcdp, words):
    rho = 0.2 if unit == "zcdp" else None
    budget = Budget("b", unit, 3.0, 1e-5, rho, "", "")
    text = panels.limit_sentence(Spending(budget, 3, epsilon, 0.0, rho, zcdp, None, None, None))
    assert re.search(words, text)
    none = Spending(budget, 0, 0.0, 0.0, rho and 0.0, 0.0, None, None, None)
    assert "bound" not in panels.limit_sentence(none)


@pytest.mark.parametrize("kind", ["certificate", "numbers"])
def test_a_file_is_checked_where_one_is(kind, ledger):
    ledger.set_total("b", 5.0, 1e-5)
    data = load_network("cancer").sample(1_000, 1)
    made = release(data, "moment-search", ledger=ledger, budget="b", keep_numbers=True)
    document = made.certificate if kind == "certificate" else made.numbers
    text = certificate_json(document) if kind == "certificate" else file_text(document)
    app = open_page("release", data="cancer", rows="1000")
    uploader = next(u for u in app.file_uploader if u.key == "release_check")
    uploader.upload("file.json", text.encode(), "application/json").run()
    signer = document["signature"]["fingerprint"]
    assert any(signer in warning.value for warning in clean(app).warning)
    app.text_input(key="release_check_key").set_value(signer).run()
    assert any(box.icon == ":material/verified:" for box in clean(app).success)
    app.text_input(key="release_check_key").set_value("0" * len(signer)).run()
    assert any(box.icon == ":material/gpp_bad:" for box in clean(app).error)
    uploader = next(u for u in app.file_uploader if u.key == "release_check")
    uploader.upload("file.json", text.replace("1", "2").encode(), "application/json").run()
    assert any(box.icon == ":material/gpp_bad:" for box in clean(app).error)
