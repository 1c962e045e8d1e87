"""The page Lessons, through Streamlit's own test harness."""

import pytest

from privcore.teaching.lesson import ChoiceAnswer
from privcore.teaching.lessons import LESSONS
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


@pytest.mark.parametrize(("name", "number"), TASKS)
def test_every_task_is_drawn_and_takes_the_right_answer(name, number):
    app = start(lesson=name, task=str(number))
    task = LESSONS[name].tasks[number - 1]
    assert app.subheader[0].value == f"Task {number}: {task.title}"
    assert len(app.get("plotly_chart")) >= 1
    assert any(c.value.endswith(f"?lesson={name}&task={number}") for c in app.code)
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
        assert app.subheader[0].value == f"Task {number}: {task.title}"
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
    app.segmented_control(key="lesson_choice").set_value("sieving").run()
    assert app.subheader[0].value == "Task 1: Free answers"
    assert app.query_params["lesson"] == "sieving"
    assert app.query_params["task"] == "1"


def test_bad_addresses_fall_back():
    app = start(lesson="no such", task="99")
    assert app.subheader[0].value == "Task 1: Two worlds, one number"


def test_the_controls_of_a_task_are_set_and_can_be_moved():
    app = start(lesson="sieving", task="1")
    assert app.slider(key="sieving_1_questions").value == 40
    app.slider(key="sieving_1_high_score").set_value(25.0).run()
    assert not app.exception
    assert next(m for m in app.metric if m.label == "Questions answered").value == "5 of 40"
