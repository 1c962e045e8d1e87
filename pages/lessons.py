"""Lessons: tasks that set the controls of a mechanism and check what the student found."""

import streamlit as st

from pages.ui.controls.address import chosen, follow_address, write_address
from pages.ui.frame import require_frame
from pages.ui.mechanisms.panels import controls, show_panel
from pages.ui.messages import problem
from privcore.errors import PrivcoreError
from privcore.teaching.lesson import ChoiceAnswer, Lesson, Task
from privcore.teaching.lessons import LESSONS

require_frame("pages/lessons.py")


def done() -> set[tuple[str, int]]:
    """Lessons and tasks (from 1) that were answered rightly in this session."""
    answered: set[tuple[str, int]] = st.session_state.setdefault("lessons_done", set())
    return answered


def go_to(number: int) -> None:
    st.session_state["task_choice"] = str(number)


def choose() -> tuple[Lesson, int]:
    """The lesson and the number of the task."""
    follow_address("lesson", list(LESSONS), "lesson_choice")
    name = chosen(
        st.segmented_control(
            "Lesson",
            list(LESSONS),
            required=True,
            key="lesson_choice",
            persist_state="session",
            format_func=lambda n: LESSONS[n].title,
            label_visibility="collapsed",
            on_change=go_to,
            args=(1,),
        )
    )
    write_address("lesson", name)
    lesson = LESSONS[name]
    numbers = [str(k + 1) for k in range(len(lesson.tasks))]
    follow_address("task", numbers, "task_choice")

    def title(number: str) -> str:
        solved = ":material/check_circle: " if (name, int(number)) in done() else ""
        return f"{solved}{number}. {lesson.tasks[int(number) - 1].title}"

    st.markdown(lesson.story)
    task = chosen(
        st.segmented_control(
            "Task",
            numbers,
            required=True,
            key="task_choice",
            persist_state="session",
            format_func=title,
            label_visibility="collapsed",
        )
    )
    write_address("task", task)
    return lesson, int(task)


def ask(lesson: Lesson, number: int) -> None:
    """The question, and what became of the answer."""
    task = lesson.tasks[number - 1]
    key = f"{lesson.name}-{number}"
    with st.form(f"form-{key}", border=True):
        st.markdown(f"**{task.question}**")
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


def share(lesson: Lesson, number: int) -> None:
    address = (st.context.url or "").split("?")[0]
    with st.expander("Link to this task", icon=":material/link:"):
        st.code(f"{address}?lesson={lesson.name}&task={number}", language=None)
        st.caption("It opens this task with its controls set; answers are not in the link.")


st.title("Lessons")
st.caption(
    "Each task sets the controls of a mechanism; move them, look, and answer. Progress is kept "
    "until this browser tab is closed."
)
try:
    lesson, number = choose()
    task = lesson.tasks[number - 1]
    st.subheader(f"Task {number}: {task.title}", anchor=False)
    st.markdown(task.text)
    ask(lesson, number)
    panel = task.prepared
    left, right = st.columns([1, 3], gap="large")
    with left:
        values = controls(panel, f"{lesson.name}_{number}")
    with right:
        show_panel(panel, values, f"{lesson.name}-{number}")
    share(lesson, number)
except PrivcoreError as error:
    problem(error)
