"""A student's way through a lesson, and from a broken mechanism to its audit."""

import re

import pytest
from playwright.sync_api import expect

from privcore.extras.teaching.lessons import LESSONS
from tests.browser.conftest import settle
from tests.messages import label

pytestmark = pytest.mark.browser


def answer(page, text):
    page.get_by_role("textbox", name=re.compile("Your answer")).fill(text)
    page.get_by_role("button", name="Check").click()


@pytest.mark.long
def test_the_last_tasks_of_a_lesson_are_done_and_kept(server, visit):
    """The first ones are walked through in tests/pages/test_learn_page.py."""
    lesson = LESSONS["epsilon"]
    page = visit(f"{server.url}/learn?lesson=epsilon&task=3")
    settle(page, "Learn")
    answer(page, "50")
    expect(page.get_by_text(label("hint-to-come"))).to_be_visible()
    # The task: move the value on D′ to 3, and read off the largest ratio.
    slider = page.get_by_role("slider", name=re.compile("Value on D′"))
    slider.focus()
    slider.press("End")
    expect(page.get_by_text(label("neighbours-too-far"))).to_be_visible()
    assert "epsilon_3_neighbour=5" in page.url
    for number, task in enumerate(lesson.tasks[2:], 3):
        expect(page.get_by_role("heading", name=f"Task {number}: {task.title}")).to_be_visible()
        settle(page, "Learn")
        answer(page, f"{task.answer.value:.3g}")
        expect(page.get_by_text(f"Correct. {task.explanation[:30]}")).to_be_visible()
        assert f"task={number}" in page.url
        if number < len(lesson.tasks):
            page.get_by_role("button", name="Next task").click()
    page.reload()
    settle(page, "Learn")
    expect(page.get_by_role("heading", name=f"Task {len(lesson.tasks)}: ")).to_be_visible()


def set_to(page, name, press, times):
    slider = page.get_by_role("slider", name=name)
    slider.focus()
    for _ in range(times):
        slider.press(press)


def figures(page):
    return page.get_by_test_id("stMetricValue").all_inner_texts()


@pytest.mark.long
def test_a_teacher_s_class_link_shows_the_class_what_the_teacher_sees(server, visit):
    teacher = visit(f"{server.url}/learn?lesson=membership&task=3")
    settle(teacher, "Learn")
    before = figures(teacher)
    set_to(teacher, re.compile("Privacy budget"), "ArrowRight", 2)
    teacher.get_by_text("More settings").click()
    set_to(teacher, "Seed", "ArrowRight", 3)
    expect(teacher).to_have_url(re.compile("membership_3_seed=4"), timeout=60_000)
    settle(teacher, "Learn")
    teacher.get_by_role("button", name="Class link").click()
    link = teacher.get_by_test_id("stCode").locator("code", has_text="/learn?").inner_text()
    assert "lesson=membership&task=3" in link
    assert "membership_3_epsilon=2" in link
    assert "membership_3_seed=4" in link
    assert "membership_3_n=1500" in link
    student = visit(link)
    settle(student, "Learn")
    expect(
        student.get_by_role("heading", name=label("task", number=3, title="With noise"))
    ).to_be_visible(timeout=60_000)
    assert figures(student) == figures(teacher) != before
    # It stays so for one who answers.
    answer(student, "88.1")
    expect(student.get_by_text(label("hint-to-come"))).to_be_visible(timeout=60_000)
    answer(student, "73.1")
    expect(student.get_by_text("Correct. 73 %.")).to_be_visible(timeout=60_000)
    assert figures(student) == figures(teacher)


@pytest.mark.long
@pytest.mark.parametrize("name", LESSONS)
def test_task_control_picture_and_question_are_on_one_screen(server, visit, name):
    page = visit(f"{server.url}/learn?lesson={name}")
    page.set_viewport_size({"width": 1280, "height": 800})
    try:
        for number in range(1, len(LESSONS[name].tasks) + 1):
            page.get_by_role("button", name=f"Task {number}").or_(
                page.get_by_role("radio", name=f"Task {number}")
            ).first.click()
            expect(page.get_by_role("heading", name=f"Task {number}: ")).to_be_visible()
            settle(page, "Learn")
            pictures = page.locator(".js-plotly-plot, .cv[data-ready]")
            expect(pictures.first).to_be_visible(timeout=60_000)
            for place in (
                page.get_by_role("heading", name=f"Task {number}: "),
                page.get_by_test_id("stFormSubmitButton"),
                *pictures.all(),
            ):
                box = place.bounding_box()
                assert box["y"] >= 0, place
                assert box["y"] + box["height"] <= 800, place
    finally:
        page.set_viewport_size({"width": 1400, "height": 1000})


@pytest.mark.long
def test_a_word_leads_to_the_glossary_and_a_search_to_another(server, visit):
    page = visit(f"{server.url}/learn?lesson=simpson")
    settle(page, "Learn")
    link = page.get_by_role("link", name="confounder")
    # In a tab of its own, so that the lesson stays as it is.
    with page.context.expect_page() as opened:
        link.click()
    glossary = opened.value
    settle(glossary, "Glossary")
    expect(glossary.get_by_role("heading", name="Confounder")).to_be_visible(timeout=60_000)
    search = glossary.get_by_role("textbox", name="Search")
    search.fill("zCDP")
    search.press("Enter")
    expect(glossary.get_by_text(label("zcdp"), exact=True).first).to_be_visible(timeout=60_000)
    glossary.close()


@pytest.mark.long
def test_a_stream_is_played_and_its_bug_opened_on_the_audit_page(server, visit):
    page = visit(f"{server.url}/learn?panel=sparse-vector&sparse_vector_variant=exact-queries")
    settle(page, "Learn")
    shown = page.locator(".slider-container")
    expect(shown).to_contain_text("answers so far: 12", timeout=60_000)
    page.locator(".updatemenu-button", has_text="Play").click()
    # The labels of the steps, 0 1 2 …, follow without a space.
    expect(shown).to_contain_text(re.compile("answers so far: [1-9]012"), timeout=60_000)
    expect(shown).to_contain_text("answers so far: 12", timeout=60_000)
    page.get_by_role("button", name=label("catch-on-audit")).click()
    settle(page, "Audit")
    expect(page.get_by_text(label("only-threshold-noisy"))).to_be_visible(timeout=60_000)
    assert "sparse_vector" not in page.url
