"""Lessons: their answers come from the engine, and others are wrong."""

from dataclasses import replace

import pytest

from privcore.errors import ParameterError
from privcore.extras.teaching.lesson import ChoiceAnswer, NumberAnswer
from privcore.extras.teaching.lessons import LESSONS
from privcore.extras.teaching.runs import compare_runs
from tests.messages import raises_code, says

TASKS = [
    pytest.param(task, id=f"{lesson.name}-{k}")
    for lesson in LESSONS.values()
    for k, task in enumerate(lesson.tasks, 1)
]
# Worked out by hand or read off the panels.
EXPECTED = {
    "epsilon": [73.1, 0.2, 3, 4.77],
    "naive-noise": [196, 3.09, 6, 5],
    "sieving": [40, "type I", 1, "priv-pc"],
    "simpson": [-12, "better in both", "treatment – recovery", "treatment – recovery"],
    "hidden-causes": [
        "lung – bronc",
        "it cannot be determined",
        "they share an unobserved confounder",
        0,
    ],
    "composition": [10, 1.41, "zCDP, optimal conversion", 94.5],
    "membership": [100, "just as often", 73.1, 0.2],
    "ask-less": [4, 2.05, 5, 2.68],
}


@pytest.mark.long
@pytest.mark.parametrize("task", TASKS)
def test_a_task_s_preset_can_be_shown_and_its_answer_checked(task):
    values = task.prepared.checked()
    assert task.prepared.compute(values) is not None
    assert task.hint.endswith(".")
    assert task.explanation.endswith(".")
    answer = task.answer
    assert answer.is_right(str(answer.value))
    if isinstance(answer, ChoiceAnswer):
        assert [answer.is_right(option) for option in answer.options].count(True) == 1
    else:
        assert not answer.is_right(str(answer.value + 2 * answer.tolerance + 0.01))


@pytest.mark.parametrize("task", TASKS)
def test_the_controls_of_a_task_come_first_and_the_others_are_tucked_away(task):
    shown = [p.name for p in task.prepared.parameters if not p.advanced]
    assert shown == list(task.moves)
    # Two sliders and the question fit beside the picture.
    assert 1 <= len(shown) <= 2
    with pytest.raises(ParameterError, match=says("no-such-parameter", name="nothing")):
        replace(task, moves=("nothing",)).prepared  # noqa: B018


@pytest.mark.long
def test_the_answers_are_those_worked_out_by_hand():
    for name, lesson in LESSONS.items():
        assert 3 <= len(lesson.tasks) <= 4
        for task, expected in zip(lesson.tasks, EXPECTED[name], strict=True):
            assert task.answer.is_right(str(expected)), (name, task.title)


def test_numbers_are_read_as_people_write_them():
    answer = NumberAnswer(lambda: 73.1, 0.5, "%")
    for text in ("73", "73 %", " 73.1% ", "73,1"):
        assert answer.is_right(text)
    assert not answer.is_right("−73")
    for text in ("", "many", "nan", "inf"):
        with pytest.raises(ParameterError, match=says("answer-such-as")):
            answer.is_right(text)
    with raises_code(ParameterError, "answer-is-none"):
        ChoiceAnswer(("a", "b"), lambda: "a").is_right("c")


@pytest.mark.long
def test_what_is_said_of_asia_and_cancer_is_so():
    asia, cancer = (compare_runs(name, 20_000, 10) for name in ("asia", "cancer"))
    assert (asia.naive_means > asia.sieving_means)[asia.epsilons >= 2].all()
    assert (cancer.sieving_means > cancer.naive_means)[cancer.epsilons <= 1].all()
