"""Learn: guided lessons, and a playground with all interactive panels."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from pages.ui.controls.address import choose, chosen, news, write
from pages.ui.frame import require_frame
from pages.ui.glossary import term_link, terms_of_panel
from pages.ui.layout import problem
from pages.ui.learn.panels import address_of, controls, explain, lessons_with, show_pictures
from privcore.errors import PrivcoreError
from privcore.extras.teaching import PANELS, Panel
from privcore.extras.teaching.lesson import ChoiceAnswer, Lesson, Task
from privcore.extras.teaching.lessons import LESSONS

require_frame("pages/learn.py")
PLAYGROUND = "playground"
PLAY = "Explore all panels freely here, or let the lessons guide you through the panels."
# Smaller than on other pages: lessons, task, controls and pictures fit on a screen of 1280 × 800.
STYLE = """<style>
.st-key-learn h1 {font-size: 1.6rem; padding: 0}
.st-key-lesson [role=radio] {padding: .25rem .45rem}
.st-key-learn h2 {font-size: 1.15rem; padding: 0 0 .9rem}
.st-key-learn_left p, .st-key-learn_left label {font-size: .93rem; line-height: 1.4}
.st-key-learn_right [data-testid=stMetricValue] {font-size: 1.3rem}
.st-key-learn {gap: .6rem}
.st-key-learn_left, .st-key-learn_right {gap: .5rem}
.st-key-learn_right {--graph-width: 240px; --graph-height: 300px}
.st-key-learn_left [data-testid=stForm] {padding: .7rem}
.st-key-learn_left [data-testid=stForm] [data-testid=stVerticalBlock] {gap: .4rem}
</style>"""


def done() -> set[tuple[str, int]]:
    """The tasks answered correctly in this session, as pairs (lesson, task number)."""
    answered: set[tuple[str, int]] = st.session_state.setdefault("lessons_done", set())
    return answered


def go_to(number: int) -> None:
    st.session_state["task"] = str(number)


def choose_place() -> str:
    """Draw the choice of a lesson or the playground; returns the lesson's name or "playground".

    If the URL names a panel, the choice is the playground.
    """
    first = next(iter(LESSONS))
    named = PLAYGROUND if "panel" in st.query_params else first
    wanted = PLAYGROUND if news("panel", "") else news("lesson", named)
    if wanted in (*LESSONS, PLAYGROUND):
        st.session_state["lesson"] = wanted
    elif st.session_state.get("lesson") not in (*LESSONS, PLAYGROUND):
        st.session_state["lesson"] = named
    place = chosen(
        st.segmented_control(
            "Lesson or playground",
            [*LESSONS, PLAYGROUND],
            format_func=lambda n: (
                LESSONS[n].title if n in LESSONS else ":material/tune: Playground"
            ),
            required=True,
            key="lesson",
            persist_state="session",
            label_visibility="collapsed",
            on_change=go_to,
            args=(1,),
        )
    )
    write("lesson", place, PLAYGROUND if place == PLAYGROUND else first)
    return place


def choose_task(lesson: Lesson) -> int:
    """Draw the choice of a task; returns the task's number, counted from 1."""

    def title(number: str) -> str:
        solved = ":material/check_circle: " if (lesson.name, int(number)) in done() else ""
        return f"{solved}Task {number}"

    task = choose(
        [str(k + 1) for k in range(len(lesson.tasks))],
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


def choose_panel() -> Panel:
    return PANELS[
        choose(
            list(PANELS),
            lambda n: PANELS[n].title,
            next(iter(PANELS)),
            key="panel",
            label="Panel",
            always=True,
            persist_state="session",
            label_visibility="collapsed",
            width=300,
        )
    ]


def ask(lesson: Lesson, number: int) -> None:
    """Draw the question, a field for the answer, and feedback on the answer."""
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
                st.warning(f"Not quite. Hint: {task.hint}", icon=":material/lightbulb:")
            else:
                st.info("Enter an answer first.")
        except PrivcoreError as error:
            problem(error)
    elif (lesson.name, number) in done():
        st.success(f"Correct. {task.explanation}", icon=":material/check_circle:")
        if number < len(lesson.tasks):
            st.button(
                "Next task",
                on_click=go_to,
                args=(number + 1,),
                type="primary",
                icon=":material/arrow_forward:",
            )
        elif all((lesson.name, k + 1) in done() for k in range(len(lesson.tasks))):
            st.info("You have completed all tasks of this lesson.", icon=":material/school:")


def _field(task: Task, key: str) -> str:
    if isinstance(task.answer, ChoiceAnswer):
        return st.radio("Your answer", task.answer.options, index=None, key=f"answer-{key}") or ""
    unit = f", in {task.answer.unit}" if task.answer.unit else ""
    return st.text_input(f"Your answer{unit}", key=f"answer-{key}")


def share(panel: Panel, prefix: str, values: Mapping[str, Any], named: Mapping[str, str]) -> None:
    """Show a link for a class, which opens this view with the same settings and seed."""
    page = (st.context.url or "").split("?")[0]
    address = {**named, **address_of(panel, prefix, values)}
    with st.popover("Class link", icon=":material/link:"):
        seed = f" and seed {values['seed']}" if "seed" in values else ""
        st.markdown(
            f"This link opens the view with the current settings{seed}. Everyone who opens the "
            f"link sees the same data and the same noise ({term_link('seed')}). The link does not "
            "contain answers."
        )
        st.code(f"{page}?{urlencode(address)}", language=None, wrap_lines=True)


def link(label: str, icon: str, address: Mapping[str, str]) -> None:
    """Draw a link to another view of this page; the view opens in the same session."""
    st.page_link("pages/learn.py", label=label, icon=f":material/{icon}:", query_params=address)


try:
    with st.container(key="learn"):
        st.html(STYLE)
        with st.container(horizontal=True, vertical_alignment="center"):
            st.title("Learn", width="content")
            place = choose_place()
        lesson = LESSONS.get(place)
        st.markdown(f"**{len(lesson.tasks)} tasks:** {lesson.story}" if lesson else PLAY)
        with st.container(horizontal=True, vertical_alignment="center"):
            number = choose_task(lesson) if lesson else 0
            panel = lesson.tasks[number - 1].prepared if lesson else choose_panel()
            links = st.container(horizontal=True, vertical_alignment="center", width="content")
        left, right = st.columns([5, 7], gap="medium")
        with left, st.container(key="learn_left"):
            if lesson:
                task = lesson.tasks[number - 1]
                prefix = f"{lesson.name}_{number}"
                st.header(f"Task {number}: {task.title}", anchor=False)
                st.markdown(task.text)
                values = controls(panel, prefix)
                ask(lesson, number)
            else:
                prefix = panel.name
                st.header(panel.question, anchor=False)
                values = controls(panel, prefix)
                if words := panel.words(values):
                    st.markdown(words)
        with right, st.container(key="learn_right"):
            code = show_pictures(panel, values, prefix)
        with links:
            if lesson:
                share(panel, prefix, values, {"lesson": lesson.name, "task": str(number)})
                same = address_of(panel, panel.name, values)
                link("Play with this panel", "tune", {"panel": panel.name, **same})
            else:
                share(panel, prefix, values, {"panel": panel.name})
                for used, first in lessons_with(panel.name):
                    address = {"lesson": used.name, "task": str(first)}
                    link(f"{used.title}, task {first}", "school", address)
            st.page_link("pages/glossary.py", label="Glossary", icon=":material/dictionary:")
    explain(panel, code)
    if names := lesson.terms if lesson else terms_of_panel(panel.name):
        st.markdown(f"Terms: {', '.join(term_link(name) for name in names)}.")
    if lesson:
        st.markdown("Your progress is kept until you close this browser tab.")
except PrivcoreError as error:
    problem(error)
