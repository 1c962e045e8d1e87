"""Lessons: tasks that set the controls of a mechanism and check what the student found."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from pages.ui.controls.address import choose
from pages.ui.frame import require_frame
from pages.ui.glossary import term_link
from pages.ui.mechanisms.panels import class_address, controls, explain, show_pictures
from pages.ui.mechanisms.parts import within
from pages.ui.messages import problem
from privcore.errors import PrivcoreError
from privcore.extras.teaching.lesson import ChoiceAnswer, Lesson, Task
from privcore.extras.teaching.lessons import LESSONS
from privcore.extras.teaching.panel import Panel

require_frame("pages/lessons.py")
# Pixels of the pictures: with the task beside them they fit on a screen of 1280 × 800.
PICTURES = 420
# Smaller than on other pages for the same reason.
STYLE = """<style>
.st-key-lesson_page h1 {font-size: 1.6rem; padding: 0}
.st-key-lesson_page h2 {font-size: 1.15rem; padding: 0 0 .9rem}
.st-key-lesson_task p, .st-key-lesson_task label {font-size: .93rem; line-height: 1.4}
.st-key-lesson_picture [data-testid=stMetricValue] {font-size: 1.3rem}
.st-key-lesson_page {gap: .6rem}
.st-key-lesson_task, .st-key-lesson_picture {gap: .5rem}
.st-key-lesson_task [data-testid=stForm] {padding: .7rem}
.st-key-lesson_task [data-testid=stForm] [data-testid=stVerticalBlock] {gap: .4rem}
</style>"""


def done() -> set[tuple[str, int]]:
    """Lessons and tasks (from 1) that were answered rightly in this session."""
    answered: set[tuple[str, int]] = st.session_state.setdefault("lessons_done", set())
    return answered


def go_to(number: int) -> None:
    st.session_state["task"] = str(number)


def choose_lesson() -> Lesson:
    """The lesson, beside the title of the page."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.title("Lessons", width="content")
        name = choose(
            list(LESSONS),
            lambda n: LESSONS[n].title,
            next(iter(LESSONS)),
            key="lesson",
            widget=st.segmented_control,
            label="Lesson",
            required=True,
            persist_state="session",
            label_visibility="collapsed",
            on_change=go_to,
            args=(1,),
        )
    return LESSONS[name]


def choose_task(lesson: Lesson) -> int:
    """The number of the task, from 1."""
    numbers = [str(k + 1) for k in range(len(lesson.tasks))]

    def title(number: str) -> str:
        solved = ":material/check_circle: " if (lesson.name, int(number)) in done() else ""
        return f"{solved}Task {number}"

    task = choose(
        numbers,
        title,
        "1",
        key="task",
        widget=st.segmented_control,
        label="Task",
        required=True,
        persist_state="session",
        label_visibility="collapsed",
    )
    return int(task)


def ask(lesson: Lesson, number: int) -> None:
    """The question, and what became of the answer."""
    task = lesson.tasks[number - 1]
    key = f"{lesson.name}-{number}"
    with st.form(f"form-{key}", border=True):
        st.markdown(f"**{task.question}**")
        with st.container(horizontal=True, vertical_alignment="bottom"):
            answer = _field(task, key)
            sent = st.form_submit_button("Check", type="primary", icon=":material/check:")
    if sent:
        try:
            right = bool(answer) and task.answer.is_right(answer)
            if right:
                done().add((lesson.name, number))
                # The marks of the tasks are drawn above.
                st.rerun()
            elif answer:
                st.warning(f"Not yet. Hint: {task.hint}", icon=":material/lightbulb:")
            else:
                st.info("Give an answer first.")
        except PrivcoreError as error:
            problem(error)
    elif (lesson.name, number) in done():
        st.success(f"Right. {task.explanation}", icon=":material/check_circle:")
        if number < len(lesson.tasks):
            st.button(
                "Next task",
                on_click=go_to,
                args=(number + 1,),
                type="primary",
                icon=":material/arrow_forward:",
            )
        elif all((lesson.name, k + 1) in done() for k in range(len(lesson.tasks))):
            st.info(
                "That was the last task of this lesson: all are done.", icon=":material/school:"
            )


def _field(task: Task, key: str) -> str:
    if isinstance(task.answer, ChoiceAnswer):
        return st.radio("Your answer", task.answer.options, index=None, key=f"answer-{key}") or ""
    unit = f", in {task.answer.unit}" if task.answer.unit else ""
    return st.text_input(f"Your answer{unit}", key=f"answer-{key}")


def share(lesson: Lesson, number: int, panel: Panel, values: Mapping[str, Any]) -> None:
    """A link for a class: lesson, task, every control and the seed."""
    address = (st.context.url or "").split("?")[0]
    named = {"lesson": lesson.name, "task": str(number)}
    named |= class_address(panel, f"{lesson.name}_{number}", values)
    with st.popover("Class link", icon=":material/link:"):
        seed = f" and seed {values['seed']}" if "seed" in values else ""
        st.markdown(
            f"Opens this task with the controls as they are{seed}: all who open it see the same "
            f"data and the same noise ({term_link('seed')}). Answers are not in it."
        )
        st.code(f"{address}?{urlencode(named)}", language=None, wrap_lines=True)


try:
    with st.container(key="lesson_page"):
        st.html(STYLE)
        lesson = choose_lesson()
        st.markdown(lesson.story)
        with st.container(horizontal=True, vertical_alignment="center"):
            number = choose_task(lesson)
            link = st.container(width="content")
        task = lesson.tasks[number - 1]
        panel = task.prepared
        left, right = st.columns([5, 7], gap="medium")
        with left, st.container(key="lesson_task"):
            st.header(f"Task {number}: {task.title}", anchor=False)
            st.markdown(task.text)
            values = controls(panel, f"{lesson.name}_{number}")
            ask(lesson, number)
        with right, st.container(key="lesson_picture"), within(PICTURES):
            code = show_pictures(panel, values, f"{lesson.name}-{number}")
        with link:
            share(lesson, number, panel, values)
    explain(panel, code)
    st.markdown(
        f"Words of this lesson: {', '.join(term_link(name) for name in lesson.terms)}. "
        "Progress is kept until this browser tab is closed."
    )
except PrivcoreError as error:
    problem(error)
