"""A student's way through a lesson, and from a broken mechanism to its audit."""

import re

import pytest
from playwright.sync_api import expect

from privcore.teaching.lessons import LESSONS
from tests.browser.conftest import settle

pytestmark = pytest.mark.browser


def answer(page, text):
    page.get_by_role("textbox", name=re.compile("Your answer")).fill(text)
    page.get_by_role("button", name="Check").click()


def test_a_lesson_is_walked_through_to_the_end(server, visit):
    lesson = LESSONS["epsilon"]
    page = visit(f"{server.url}/lessons?lesson=epsilon")
    settle(page, "Lessons")
    answer(page, "50")
    expect(page.get_by_text("Not yet. Hint: ")).to_be_visible(timeout=60_000)
    for number, task in enumerate(lesson.tasks, 1):
        expect(page.get_by_role("heading", name=f"Task {number}: {task.title}")).to_be_visible(
            timeout=60_000
        )
        settle(page, "Lessons")
        if number == 3:
            # The task: move the value on D′ to 3, and read off the largest ratio.
            slider = page.get_by_role("slider", name=re.compile("Value on D′"))
            slider.focus()
            slider.press("End")
            expect(page.get_by_text("further apart than the sensitivity")).to_be_visible(
                timeout=60_000
            )
            assert "epsilon_3_neighbour=5" in page.url
        answer(page, f"{task.answer.value:.3g}")
        expect(page.get_by_text(f"Right. {task.explanation[:30]}")).to_be_visible(timeout=60_000)
        assert f"lesson=epsilon&task={number}" in page.url
        if number < len(lesson.tasks):
            page.get_by_role("button", name="Next task").click()
    expect(page.get_by_text("all are done")).to_be_visible(timeout=60_000)
    page.reload()
    settle(page, "Lessons")
    expect(page.get_by_role("heading", name="Task 4: ")).to_be_visible(timeout=60_000)


def test_a_stream_is_played_and_its_bug_opened_on_the_audit_page(server, visit):
    page = visit(f"{server.url}/mechanisms?panel=sparse-vector&sparse_vector_variant=exact-queries")
    settle(page, "Mechanisms")
    shown = page.locator(".slider-container")
    expect(shown).to_contain_text("answers so far: 12", timeout=60_000)
    page.locator(".updatemenu-button", has_text="Play").click()
    # The labels of the steps, 0 1 2 …, follow without a space.
    expect(shown).to_contain_text(re.compile("answers so far: [1-9]012"), timeout=60_000)
    expect(shown).to_contain_text("answers so far: 12", timeout=60_000)
    page.get_by_role("button", name="Catch it on the Audit page").click()
    settle(page, "Audit")
    expect(page.get_by_text("only the threshold is noisy")).to_be_visible(timeout=60_000)
    assert "sparse_vector" not in page.url
