"""The page Effects: its choices, what it says and draws, and what it refuses."""

import json
import math
import shlex

import numpy as np
import pytest

from pages.ui.controls.algorithm import SEED
from pages.ui.effects import exports, texts
from pages.ui.effects.controls import usual_outcome, usual_pair
from pages.ui.effects.result import comparison_rows, parents_table, rows_of
from pages.ui.effects.runs import Compared
from privcore.data import load_network
from privcore.display.effects import headline
from privcore.effects import Effect, Effects, Estimate, Question, effects
from privcore.errors import DataError
from privcore.faces.cli import main
from privcore.graphs.knowledge import Knowledge
from tests.messages import begins, label, shows
from tests.pages.opening import (
    TABLE,
    clean,
    figures,
    open_page,
    open_table,
    press,
    text_of,
    titles,
    told,
)

QUICK = {"data": "asia", "rows": "20000", "outcome": "dysp", "cause": "smoke"}
ASIA = load_network("asia").sample(20_000, 1)
SAID = effects(ASIA, Question("smoke", "dysp"), {"epsilon": 1.0}, seed=SEED)


def start(**query):
    return open_page("effects", **query)


def notes(figure):
    return [note["text"] for note in figure["layout"]["annotations"]]


def choices(app):
    keys = {s.key for s in app.selectbox}
    return {
        k: app.selectbox(key=k).value
        for k in ("cause", "from", "to", "outcome", "level")
        if k in keys
    }


def test_the_first_view_asks_something_and_answers_it():
    app = start(data="asia", rows="20000")
    assert not app.error
    assert choices(app) == {
        "cause": "smoke", "from": "no", "to": "yes", "outcome": "lung", "level": "yes",
    }  # fmt: skip
    assert begins(app.title[0].value, "setting", cause="smoke", low="no", high="yes")
    assert shows(told(app), "answer-epsilon", epsilon=1)
    assert not {"cause", "outcome", "from", "to", "level"} & set(app.query_params)


def test_the_answer_is_that_of_the_engine_and_drawn_with_truth_and_without_privacy():
    app = start(**QUICK)
    assert app.title[0].value.replace("\\", "") == headline(SAID)
    (figure,) = figures(app)
    words = " ".join(notes(figure))
    assert shows(words, "points-at", name="smoke")
    assert shows(words, "whatever-the-graph")
    assert shows(words, "without-privacy-pc")
    assert "truth +23.4" in words
    ends = sorted({shape["x0"] for shape in figure["layout"]["shapes"]})
    assert ends == [0.0, pytest.approx(23.36748)]
    assert titles(app) == ["Private graph"]


@pytest.mark.long
def test_what_is_chosen_stands_in_the_address_and_an_address_chooses():
    app = start(**QUICK)
    app = clean(app.selectbox(key="from").set_value("yes").run())
    assert choices(app)["to"] == "no"
    assert text_of(app.query_params["from"]) == "yes"
    assert text_of(app.query_params["outcome"]) == "dysp"
    assert begins(app.title[0].value, "setting", cause="smoke", low="yes", high="no")
    other = start(data="cancer", rows="5000", cause="Pollution", outcome="Dyspnoea", level="False")
    assert choices(other)["cause"] == "Pollution"
    assert choices(other)["level"] == "False"
    # Another network has other columns.
    other = clean(other.selectbox(key="data").set_value("asia").run())
    assert not other.error
    assert choices(other)["cause"] == "smoke"


@pytest.mark.long
def test_a_column_cannot_be_cause_and_outcome():
    app = start(**QUICK)
    assert "smoke" not in app.selectbox(key="outcome").options
    app = clean(app.selectbox(key="cause").set_value("dysp").run())
    assert choices(app)["outcome"] != "dysp"
    assert not app.error


def test_a_share_of_the_budget_says_what_to_expect_and_stays_within_the_total():
    app = start(**QUICK, effect_share="0.5", effects_tab=label("what-is-promised"))
    assert shows(told(app), "share-measures")
    assert "(ε = 1," in told(app)
    assert "basic composition" in told(app)


@pytest.mark.long
def test_numbers_have_units_and_a_share():
    app = start(data="linear-gaussian", rows="5000", effect_share="0.5")
    assert not app.error
    assert set(choices(app)) == {"cause", "outcome"}
    assert any(s.key == "effect_share" for s in app.slider)
    assert shows(told(app), "share-of-numbers")
    assert shows(app.title[0].value, "one-more-unit-of") or shows(
        app.title[0].value, "one-more-unit"
    )
    assert shows(figures(app)[0]["layout"]["xaxis"]["title"]["text"], "per-unit")


def test_two_values_of_a_number_are_compared():
    app = start(data="linear-gaussian", rows="2000", effect_share="0.5")
    low, high = (field for field in app.number_input if "_value_" in field.key)
    assert (low.value, high.value) == (None, None)
    app = clean(low.set_value(-0.5).run())
    # One value alone compares nothing.
    assert shows(app.title[0].value, "one-more-unit-of") or shows(
        app.title[0].value, "one-more-unit"
    )
    low, high = (field for field in app.number_input if "_value_" in field.key)
    app = clean(high.set_value(1.5).run())
    assert not app.error
    assert shows(told(app) + app.title[0].value, "from-to-values", low="-0.5", high="1.5")
    axis = figures(app)[0]["layout"]["xaxis"]["title"]["text"]
    assert shows(axis, "goes-from-to", low="-0.5", high="1.5")


def mixed():
    """ward causes x and both cause y; three levels make the run count x and y in intervals."""
    random = np.random.default_rng(1)
    lines = ["ward,x,y"]
    for ward in random.integers(0, 3, 3_000):
        x = ward + random.normal()
        lines.append(f"{'abc'[ward]},{x:.3f},{x + 2 * ward + random.normal():.3f}")
    return "\n".join(lines).encode()


@pytest.mark.long
def test_half_of_epsilon_is_reserved_by_a_button():
    app = open_table(mixed(), use=False)
    app = clean(app.toggle(key="upload_uncut").set_value(True).run())
    app = press(app, label("use-table"))
    app = clean(app.switch_page("pages/effects.py").run())
    app = clean(app.selectbox(key="own_cause").set_value("ward").run())
    app = clean(app.selectbox(key="own_outcome").set_value("y").run())
    assert shows(app.title[0].value, "counted-the-numbers")
    (button,) = (b for b in app.button if b.key == "effect-reserve")
    app = clean(button.click().run())
    assert not app.error
    assert next(s for s in app.slider if s.key == "effect_share").value == 0.5
    assert not [b for b in app.button if b.key == "effect-reserve"]
    assert not shows(app.title[0].value, "counted-the-numbers")
    assert figures(app)


@pytest.mark.long
def test_names_of_a_table_stay_out_of_the_address():
    app = open_table(TABLE)
    app = clean(app.switch_page("pages/effects.py").run())
    assert not {"cause", "outcome", "from", "to", "level"} & set(app.query_params)
    assert app.selectbox(key="own_cause").value == "sex"
    app = clean(app.selectbox(key="own_outcome").set_value("ill").run())
    assert app.selectbox(key="own_outcome").value == "ill"
    assert not {"cause", "outcome", "from", "to", "level"} & set(app.query_params)
    assert "ill" not in json.dumps(dict(app.query_params))


def test_without_a_table_the_page_says_where_to_load_one():
    app = start(data="your table")
    assert shows(told(app), "no-table-loaded")


@pytest.mark.parametrize("tab", ["Probabilities", label("what-is-promised"), label("take-along")])
def test_every_tab_draws(tab):
    app = start(**QUICK, effects_tab=tab)
    assert not app.error
    assert {"Probabilities": 2}.get(tab, 1) == len(figures(app))
    wanted = {
        label("what-is-promised"): "Proven: (ε = 1",
        label("take-along"): label("hold-only-released"),
    }
    assert wanted.get(tab, "") in told(app)


@pytest.mark.long
def test_an_answer_that_is_left_open_is_no_error(monkeypatch):
    def refused(*arguments, **more):
        return Effects(
            Question("smoke", "dysp", "no", "yes", "yes"), 0.0, SAID.result, (), None, "Why."
        )

    monkeypatch.setattr("pages.ui.effects.runs.effects_of", refused)
    app = start(**QUICK, seed="771")
    assert shows(app.title[0].value, "left-open", why="Why.")
    assert shows(told(app), "nothing-to-draw")


@pytest.mark.long
def test_what_is_known_is_told_below_the_answer():
    app = start(**QUICK, knowledge=Knowledge.of(tiers="smoke;lung,bronc").text)
    assert shows(told(app), "known-beforehand-caption", statements="smoke before")


def effect(parents, value, *, shown=True, probability=0.5, affected=True, adjustment=()):
    estimate = None if value is None else Estimate(value, value - 0.1, value + 0.1)
    return Effect(parents, affected, adjustment, (), probability, shown, estimate, None, "why")


def outcome(*effects, interval=(0.0, 1.0)):
    question = Question("x", "y", "no", "yes", "yes")
    return Effects(question, 0.0, SAID.result, tuple(effects), interval, "")


def test_equal_effects_share_a_row_and_those_of_the_graph_come_first():
    made = outcome(
        effect((), 0.2),
        effect(("a",), 0.2),
        effect(("b",), 0.3, shown=False, probability=0.2, adjustment=("b",)),
        effect(("c", "d"), 0.4, adjustment=("c",)),
        effect(("e",), None, adjustment=("e",)),
    )
    rows, more = rows_of(made)
    assert [(row.amount, row.words, row.kind) for row in rows] == [
        ("+20.0", label("row-nothing-or", name="a", cause="x"), "shown"),
        ("+40.0", label("row-two", one="c", other="d", cause="x"), "shown"),
        ("not measured", label("row-one", name="e", cause="x"), "shown"),
        ("+30.0", label("row-chance", share=20, name="b", cause="x"), "other"),
    ]
    assert more == 0
    assert rows[2].points == ()


def test_no_more_rows_are_drawn_than_can_be_read():
    many = [effect((f"p{k}",), k / 20, adjustment=(f"p{k}",)) for k in range(12)]
    rows, more = rows_of(outcome(*many))
    assert (len(rows), more) == (8, 4)
    faint = [effect((f"q{k}",), k / 20, adjustment=(f"q{k}",), shown=False) for k in range(9)]
    rows, more = rows_of(outcome(many[0], *faint))
    assert (len(rows), more) == (4, 6)


def test_without_privacy_the_row_holds_all_effects_and_none_where_refused():
    made = outcome(effect((), 0.2))
    exact = (effect((), 0.2), effect(("a",), 0.5))
    *_, row = comparison_rows(made, Compared(exact, "", "PC", None))
    assert (row.amount, row.points, row.kind) == ("+20.0 to +50.0", (20.0, 50.0), "exact")
    assert math.isclose(row.low, 10.0)
    assert len(comparison_rows(made, Compared((), "Why.", "PC", None))) == 1


def test_the_table_has_every_set_of_parents():
    table = parents_table(SAID)
    assert len(table) == len(SAID.effects)
    assert {"parents", "adjusted for", label("other-valid-sets"), "probability", "why"} <= set(
        table
    )


def test_the_usual_question_is_one_that_has_an_answer():
    assert usual_pair(ASIA) == ("smoke", "lung")
    assert usual_outcome(ASIA, "tub") == "either"
    assert usual_outcome(ASIA, "dysp") == "asia"


VALUES = {**SAID.result.parameters}


class Shown:
    """What the exports need of the data that are loaded."""

    dataset, is_network, seed = ASIA, True, 1


@pytest.mark.long
@pytest.mark.parametrize("share", [0.0, pytest.param(0.5, marks=pytest.mark.long)])
def test_the_code_and_the_command_make_the_same_answer(share, capsys):
    told = effects(ASIA, Question("smoke", "dysp"), {"epsilon": 1.0}, share=share, seed=SEED)
    exec(compile(exports.python(told, Shown, VALUES, share, SEED), "code", "exec"), {})
    assert headline(told) in capsys.readouterr().out
    words = shlex.split(exports.command(told, Shown, VALUES, share, SEED))
    assert words[:4] == ["python", "-m", "privcore", "effect"]
    assert main(words[3:]) == 0
    assert headline(told) in capsys.readouterr().out


def test_the_download_holds_effects_and_guarantee():
    held = json.loads(exports.as_json(SAID))
    assert held["guarantee"]["epsilon"] == 1.0
    assert len(held["effects"]) == len(SAID.effects)


def test_long_names_leave_room_on_a_telephone():
    long = "a name of forty letters that goes on and "
    made = outcome(effect((long, long + "b"), 0.2), effect((), 0.2), effect(("a", "b", "c"), 0.2))
    assert len(texts.case(made.question, made.effects)) <= 60


def test_a_graph_that_dowhy_cannot_have_is_no_error(monkeypatch):
    def refused(told):
        raise DataError("No DAG has it.")

    monkeypatch.setattr(exports, "to_dowhy", refused)
    app = start(**QUICK, effects_tab=label("take-along"))
    button = next(b for b in app.get("download_button") if b.proto.label == "DoWhy")
    assert button.proto.disabled
    assert shows(button.proto.help, "no-dag-has-it")
    assert not app.error
