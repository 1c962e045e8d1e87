"""The page Learn, through Streamlit's own test harness: its lessons, and the playground."""

import sys
from dataclasses import replace
from functools import partial
from types import ModuleType
from urllib.parse import parse_qs, parse_qsl

import pytest
import streamlit

from pages.ui.controls.params import log_grid, number_text
from pages.ui.learn import questions
from pages.ui.learn.panels import address_of, picture
from privcore.extras.audits import PLANTED
from privcore.extras.teaching import PANELS, Panel
from privcore.extras.teaching.lesson import ChoiceAnswer
from privcore.extras.teaching.lessons import LESSONS
from privcore.extras.teaching.panel import number as number_parameter
from privcore.extras.teaching.sensitivity import PRESETS
from privcore.extras.teaching.sparse_vector import BROKEN
from tests.examples import few
from tests.messages import label, reads, shows
from tests.pages.opening import clean, labelled, open_page, press, scenes

TASKS = [(name, k + 1) for name, lesson in LESSONS.items() for k in range(len(lesson.tasks))]
MISSING = """{} has no picture.
Add `def show(result, values, key)` to pages/ui/learn/{}.py."""

start = partial(open_page, "learn")


def answer(app, name, number, text):
    key = f"answer-{name}-{number}"
    if isinstance(LESSONS[name].tasks[number - 1].answer, ChoiceAnswer):
        app.radio(key=key).set_value(text)
    else:
        app.text_input(key=key).set_value(text)
    press(app, "Check")


@pytest.mark.long
@pytest.mark.parametrize(("name", "number"), few(TASKS, 8))
def test_every_task_is_drawn_and_takes_the_right_answer(name, number):
    app = start(lesson=name, task=str(number))
    task = LESSONS[name].tasks[number - 1]
    assert reads(app.header[0].value, "task", number=number, title=task.title)
    assert app.get("plotly_chart") or scenes(app)
    (link,) = [c.value for c in app.code if f"?lesson={name}&task={number}&" in c.value]
    assert all(
        (f"&{name.replace('-', '_')}_{number}_{p.name}=" in link)
        == p.matters(task.prepared.checked())
        for p in task.panel.parameters
    )
    answer(app, name, number, str(task.answer.value))
    assert app.success[0].value == f"Correct. {task.explanation}"


def test_wrong_answers_get_a_hint_and_no_answers_a_sentence():
    app = start(lesson="epsilon")
    answer(app, "epsilon", 1, "12")
    assert reads(app.warning[0].value, "hint", hint=LESSONS["epsilon"].tasks[0].hint)
    assert not app.success
    answer(app, "epsilon", 1, "seventy")
    assert reads(app.error[0].value, "answer-such-as", answer="seventy", number="0.5")
    answer(app, "epsilon", 1, "")
    assert reads(app.info[0].value, "answer-first")


def test_a_lesson_is_walked_through_and_progress_is_kept():
    app = start(lesson="sieving")
    for number, task in enumerate(LESSONS["sieving"].tasks, 1):
        assert reads(app.header[0].value, "task", number=number, title=task.title)
        answer(app, "sieving", number, str(task.answer.value))
        if number < 4:
            press(app, "Next task")
    assert any(shows(i.value, "all-done") for i in app.info)
    app.switch_page("pages/glossary.py").run()
    clean(app.switch_page("pages/learn.py").run())
    assert app.session_state["lessons_done"] == {("sieving", k) for k in (1, 2, 3, 4)}


def test_another_lesson_begins_at_its_first_task():
    app = start(lesson="epsilon", task="3")
    app.segmented_control(key="lesson").set_value("sieving").run()
    assert reads(app.header[0].value, "task", number=1, title="Free answers")
    assert app.query_params["lesson"] == "sieving"
    assert "task" not in app.query_params


def test_bad_addresses_fall_back():
    app = start(lesson="no such", task="99")
    assert reads(app.header[0].value, "task", number=1, title="Two worlds, one number")


@pytest.mark.long
def test_a_class_link_gives_every_control_and_the_seed_as_they_were_set():
    app = start(lesson="composition", task="2")
    app.select_slider(key="composition_2_releases").set_value("20").run()
    clean(app.slider(key="composition_2_seed").set_value(37).run())
    (link,) = [c.value for c in app.code if "?lesson=" in c.value]
    query = dict(parse_qsl(link.split("?")[1]))
    assert query == {
        "lesson": "composition",
        "task": "2",
        "composition_2_releases": "20",
        "composition_2_epsilon": "0.1",
        "composition_2_seed": "37",
    }
    other = start(**query)
    assert other.select_slider(key="composition_2_releases").value == "20"
    assert other.slider(key="composition_2_seed").value == 37
    seen = [metric.value for metric in app.metric]
    assert [metric.value for metric in other.metric] == seen
    # The whole class sees this noise, and not that of the seed that is set without a link.
    default = start(**{**query, "composition_2_seed": "1"})
    assert [metric.value for metric in default.metric] != seen


@pytest.mark.parametrize(("name", "number"), TASKS)
def test_every_control_comes_back_from_a_class_link(name, number):
    task = LESSONS[name].tasks[number - 1]
    for parameter in task.prepared.parameters:
        for value in (parameter.default, *(parameter.slider or parameter.choices)):
            values = {**task.prepared.checked(), parameter.name: value}
            only = replace(task.panel, parameters=(parameter,))
            for text in address_of(only, "x", values).values():
                assert parameter.parse(text) == value
                if parameter.scale == "log":
                    assert text in map(number_text, log_grid(parameter))


def test_a_link_that_is_found_missed_or_not_asked_about_has_a_mark_of_its_own():
    panel = PANELS["questions"]
    result = panel.compute(panel.checked({"columns": 6, "own": 3, "n": 200}))
    result = replace(
        result,
        found=((True, False, False, True, False), (True,) * 5, (False, True, None, None, None)),
        wrong=(0, 2, 0),
    )
    found, missed, unasked = questions.links(result).data
    rows = ("whole graph: 2 of 5", "one column: 5 of 5, 2 wrong", "own graph: 1 of 5")
    assert set(zip(missed.x, missed.y, strict=True)) == {
        *(("0.4", rows[0]), ("0.3", rows[0]), ("0.1", rows[0])),
        ("0.5", rows[2]),
    }
    assert set(zip(unasked.x, unasked.y, strict=True)) == {
        (x, rows[2]) for x in ("0.3", "0.2", "0.1")
    }
    assert len(found.x) == 2 + 5 + 1
    own = questions.noise_by_columns(result).data[2]
    assert min(own.x) == 3
    assert set(own.y) == {result.noises[2]}


def test_words_of_a_lesson_lead_to_the_glossary():
    app = start(lesson="simpson")
    assert any("[confounder](glossary?term=confounder)" in m.value for m in app.main.markdown)


def test_the_controls_of_a_task_are_set_and_can_be_moved():
    app = start(lesson="sieving", task="1")
    assert app.slider(key="sieving_1_questions").value == 40
    clean(app.slider(key="sieving_1_high_score").set_value(25.0).run())
    assert labelled(app.metric, "Questions answered").value == "5 of 40"


@pytest.mark.long
@pytest.mark.parametrize("name", PANELS)
def test_every_panel_is_drawn_with_its_code(name):
    app = start(panel=name)
    panel = PANELS[name]
    assert app.header[0].value == panel.question
    assert app.get("plotly_chart") or scenes(app)
    assert app.latex[0].value.strip("$\n ") == panel.formula
    assert any(m.value == panel.sentence for m in app.markdown)
    assert any(m.value.startswith("Source: ") for m in app.markdown)
    compile(app.code[-1].value, name, "exec")
    shown = app.code[-1].value.strip()
    assert name == "sensitivity" or shown == panel.code(panel.checked()).strip()
    assert not app.warning


@pytest.mark.parametrize("panel", PANELS.values(), ids=lambda p: p.name)
def test_every_panel_has_its_picture(panel):
    try:
        assert callable(picture(panel))
    except (ImportError, AttributeError):
        file = panel.compute.__module__.rpartition(".")[2]
        pytest.fail(MISSING.format(panel.name, file), pytrace=False)


def test_a_panel_is_one_declaration_and_its_picture(monkeypatch):
    """One entry of the registry, and a file of the same name for the picture."""

    def compute(values):
        return values["rows"]

    compute.__module__ = "privcore.extras.teaching.toy"
    rows = number_parameter("rows", "Rows", "n", 3, (1, 9), "How many.", "this test", kind="int")
    toy = Panel(
        name="toy",
        title="Toy",
        question="How many?",
        formula="n",
        sentence="That many.",
        source="this test",
        parameters=(rows,),
        compute=compute,
        code=lambda values: f"rows = {values['rows']}",
        reproduces=("rows",),
    )
    drawn = ModuleType("pages.ui.learn.toy")
    drawn.show = lambda result, values, key: streamlit.markdown(f"There are {result}.") and None
    monkeypatch.setitem(sys.modules, drawn.__name__, drawn)
    monkeypatch.setitem(PANELS, "toy", toy)
    app = start(panel="toy", toy_rows="7")
    assert app.header[0].value == "How many?"
    assert any(m.value == "There are 7." for m in app.markdown)
    assert app.code[-1].value == "rows = 7"


def test_the_address_sets_panel_and_values_and_bad_ones_fall_back():
    app = start(panel="noise", noise_mechanism="gaussian", noise_epsilon="0.2")
    assert "analytic_sigma(1.0, 0.2, 0.01)" in app.code[-1].value
    app = start(panel="no such panel", noise_epsilon="-3")
    assert app.header[0].value == PANELS["noise"].question
    assert "scale = 1 / 1.0" in app.code[-1].value


def test_a_control_answers_and_another_panel_keeps_its_values():
    app = start(panel="selection")
    app.slider(key="selection_u1").set_value(-3.0).run()
    assert "[-3.0, 3.0, 1.0, -2.0, -5.0]" in app.code[-1].value
    app.selectbox(key="panel").set_value("noise").run()
    assert app.query_params["panel"] == "noise"
    clean(app.selectbox(key="panel").set_value("selection").run())
    assert "[-3.0, 3.0, 1.0, -2.0, -5.0]" in app.code[-1].value


def test_values_too_far_apart_are_warned_of():
    app = start(panel="noise")
    app.slider(key="noise_neighbour").set_value(3.0).run()
    assert shows(app.warning[0].value, "neighbours-too-far")


@pytest.mark.long
@pytest.mark.parametrize("variant", few(BROKEN, 1))
def test_a_broken_variant_is_told_and_leads_to_its_audit(variant):
    app = start(panel="sparse-vector", sparse_vector_variant=variant)
    assert app.error[0].value.startswith("Broken: ")
    press(app, label("catch-on-audit"))
    assert app.title[0].value == "Audit"
    assert any(m.value == f"**The bug:** {PLANTED[variant].flaw}" for m in app.markdown)


@pytest.mark.parametrize("preset", few(PRESETS, 2))
def test_every_preset_of_the_playground_is_drawn(preset):
    app = start(panel="sensitivity", sensitivity_preset=preset)
    frame = next(f for f in app.dataframe if f.proto.alt == label("preset-scores")).value
    broken = frame["verdict"] == label("preset-broken")
    assert len(app.error) == broken.sum()
    assert broken.any() == (preset not in ("rare-cell", "ordinary"))
    assert (
        frame["proven bound"].isna() | (frame["moved by"] <= frame["proven bound"] + 1e-9)
    ).all()


def test_one_page_of_pages_says_when_no_iteration_fits():
    app = start(panel="allocation", allocation_epsilon="0.05", allocation_first="0.5")
    assert any(shows(i.value, "no-iteration-fits") for i in app.info)


def test_a_task_and_its_panel_lead_to_each_other():
    app = start(lesson="composition", task="2", composition_2_releases="20")
    (link,) = [x.proto for x in app.get("page_link") if x.proto.label == label("play-with-panel")]
    assert parse_qs(link.query_string) == {
        "panel": ["averaging"],
        "averaging_epsilon": ["0.1"],
        "averaging_releases": ["20"],
        "averaging_seed": ["1"],
    }
    app = start(panel="averaging")
    queries = [parse_qs(x.proto.query_string) for x in app.get("page_link")]
    assert {"lesson": ["composition"], "task": ["1"]} in queries


def test_a_link_to_another_place_is_followed_in_the_same_session():
    app = start(lesson="sieving", task="3")
    for query, header in (
        ({"panel": "selection"}, PANELS["selection"].question),
        ({"lesson": "epsilon", "task": "2"}, label("task", number=2, title="What it costs")),
        ({"panel": "noise"}, PANELS["noise"].question),
    ):
        app.query_params.clear()
        for name, value in query.items():
            app.query_params[name] = value
        app.run()
        assert app.header[0].value == header
    assert dict(app.query_params) == {"panel": "noise"}
