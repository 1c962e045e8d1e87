"""The page Lessons, through Streamlit's own test harness."""

from dataclasses import replace
from urllib.parse import parse_qsl

import pytest

from pages.ui.controls.params import log_grid, number_text
from pages.ui.mechanisms.panels import class_address
from privcore.extras.teaching.lesson import ChoiceAnswer
from privcore.extras.teaching.lessons import LESSONS
from tests.examples import few
from tests.pages.opening import open_page

TASKS = [(name, k + 1) for name, lesson in LESSONS.items() for k in range(len(lesson.tasks))]


def start(**query):
    return open_page("lessons", **query)


def answer(app, name, number, text):
    key = f"answer-{name}-{number}"
    if isinstance(LESSONS[name].tasks[number - 1].answer, ChoiceAnswer):
        app.radio(key=key).set_value(text)
    else:
        app.text_input(key=key).set_value(text)
    next(b for b in app.button if b.label == "Check").click().run()
    assert not app.exception


@pytest.mark.long
@pytest.mark.parametrize(("name", "number"), few(TASKS, 8))
def test_every_task_is_drawn_and_takes_the_right_answer(name, number):
    app = start(lesson=name, task=str(number))
    task = LESSONS[name].tasks[number - 1]
    assert app.header[0].value == f"Task {number}: {task.title}"
    assert len(app.get("plotly_chart")) >= 1
    (link,) = [c.value for c in app.code if f"?lesson={name}&task={number}&" in c.value]
    assert all(
        f"&{name.replace('-', '_')}_{number}_{p.name}=" in link for p in task.panel.parameters
    )
    answer(app, name, number, str(task.answer.value))
    assert app.success[0].value == f"Right. {task.explanation}"


def test_wrong_answers_get_a_hint_and_no_answers_a_sentence():
    app = start(lesson="epsilon")
    answer(app, "epsilon", 1, "12")
    assert app.warning[0].value == f"Not yet. Hint: {LESSONS['epsilon'].tasks[0].hint}"
    assert not app.success
    answer(app, "epsilon", 1, "seventy")
    assert app.error[0].value == "'seventy' is not a number; write one such as 0.5."
    answer(app, "epsilon", 1, "")
    assert app.info[0].value == "Give an answer first."


def test_a_lesson_is_walked_through_and_progress_is_kept():
    app = start(lesson="sieving")
    for number, task in enumerate(LESSONS["sieving"].tasks, 1):
        assert app.header[0].value == f"Task {number}: {task.title}"
        answer(app, "sieving", number, str(task.answer.value))
        if number < 4:
            next(b for b in app.button if b.label == "Next task").click().run()
    assert any("all are done" in i.value for i in app.info)
    app.switch_page("pages/mechanisms.py").run()
    app.switch_page("pages/lessons.py").run()
    assert not app.exception
    assert app.session_state["lessons_done"] == {("sieving", k) for k in (1, 2, 3, 4)}


def test_another_lesson_begins_at_its_first_task():
    app = start(lesson="epsilon", task="3")
    app.segmented_control(key="lesson").set_value("sieving").run()
    assert app.header[0].value == "Task 1: Free answers"
    assert app.query_params["lesson"] == "sieving"
    assert "task" not in app.query_params


def test_bad_addresses_fall_back():
    app = start(lesson="no such", task="99")
    assert app.header[0].value == "Task 1: Two worlds, one number"


@pytest.mark.long
def test_a_class_link_gives_every_control_and_the_seed_as_they_were_set():
    app = start(lesson="composition", task="2")
    app.select_slider(key="composition_2_releases").set_value("20").run()
    app.slider(key="composition_2_seed").set_value(37).run()
    assert not app.exception
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
            (text,) = class_address(
                replace(task.panel, parameters=(parameter,)), "x", values
            ).values()
            assert parameter.parse(text) == value
            if parameter.scale == "log":
                assert text in map(number_text, log_grid(parameter))


def test_words_of_a_lesson_lead_to_the_glossary():
    app = start(lesson="simpson")
    assert any("[confounder](glossary?term=confounder)" in m.value for m in app.main.markdown)


def test_the_controls_of_a_task_are_set_and_can_be_moved():
    app = start(lesson="sieving", task="1")
    assert app.slider(key="sieving_1_questions").value == 40
    app.slider(key="sieving_1_high_score").set_value(25.0).run()
    assert not app.exception
    assert next(m for m in app.metric if m.label == "Questions answered").value == "5 of 40"
