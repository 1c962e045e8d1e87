"""The first screen in a real browser: the strip, one step back, presenter mode, pinned runs."""

import re
import time

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import graph, press, settle
from tests.messages import label

pytestmark = pytest.mark.browser
ADDRESS = "?data=cancer"
PATIENCE = 90_000
GRAPHS = ("private-graph", "reference-graph")
PARTS = ("answer", "settings")


def bottom(place):
    """Where an element ends, in pixels from the top of the screen."""
    return place.evaluate("element => element.getBoundingClientRect().bottom")


def answered_at(page, epsilon):
    """Wait for the answer at an ε."""
    answer = page.locator(".st-key-answer h1")
    expect(answer).to_contain_text(label("with-epsilon", epsilon=epsilon), timeout=PATIENCE)


def opened(visit, server):
    page = visit(f"{server.url}/{ADDRESS}")
    settle(page, "Discover")
    answered_at(page, 1)
    return page


@pytest.mark.long
def test_the_first_screen_tells_the_story_without_scrolling(lively_server, visit):
    page = opened(visit, lively_server)
    view = page.viewport_size
    # On a low screen the graphs keep a height at which they are read, and the strip is below.
    for width, height, parts in ((1280, 800, PARTS), (1920, 1080, (*PARTS, "epsilon-strip"))):
        page.set_viewport_size({"width": width, "height": height})
        for part in (*map(".st-key-{}".format, parts), *(f"[data-key={key}]" for key in GRAPHS)):
            place = page.locator(part).first
            expect(place).to_be_visible()
            deadline = time.monotonic() + PATIENCE / 1000
            while time.monotonic() < deadline and bottom(place) > height:
                page.wait_for_timeout(100)
            assert bottom(place) <= height, part
    page.set_viewport_size(view)


@pytest.mark.long
def test_a_small_graph_leads_to_its_epsilon_and_back_leads_back(server, visit):
    page = opened(visit, server)
    # A browser keeps fifty entries: one step must stay one step in a tab that has had more.
    page.evaluate(
        "for (let i = 0; i < 60; i++) "
        "History.prototype.pushState.call(history, {}, '', location.href)"
    )
    page.get_by_role("button", name="Go to ε = 0.1").click()
    answered_at(page, 0.1)
    assert "epsilon=0.1" in page.url
    settle(page, "Discover")
    page.get_by_role("button", name="Go to ε = 10").click()
    answered_at(page, 10)
    settle(page, "Discover")
    page.wait_for_timeout(1000)
    page.go_back()
    answered_at(page, 0.1)
    settle(page, "Discover")
    page.wait_for_timeout(1000)
    page.get_by_role("button", name="Undo").click()
    answered_at(page, 1)
    assert "epsilon" not in page.url


@pytest.mark.long
def test_one_step_back_undoes_one_choice_with_all_that_it_changed(server, visit):
    page = visit(f"{server.url}/{ADDRESS}&algorithm=priv-pc")
    settle(page, "Discover")
    sidebar = page.get_by_test_id("stSidebar")
    calibration = page.get_by_label("Calibration", exact=True)

    def choose(label, words):
        option = page.get_by_role("option", name=re.compile(f"^{re.escape(words)}( – |$)"))
        press(page.get_by_label(label, exact=True).first, option)
        option.click()
        settle(page, "Discover")
        page.wait_for_timeout(1000)

    choose("Calibration", label("as-in-the-paper"))
    assert "calibration=published" in page.url
    sidebar.get_by_text("More settings").click()
    # A list would close while its box still moves.
    page.wait_for_timeout(1000)
    choose("Independence score", label("spearman-published"))
    assert "score_published=spearman" in page.url
    # Takes three words out of the address.
    choose("Algorithm", "Moment search")
    assert page.url.endswith(ADDRESS)
    page.go_back()
    expect(calibration).to_have_value(label("as-in-the-paper"), timeout=PATIENCE)
    settle(page, "Discover")
    page.wait_for_timeout(1000)
    assert "algorithm=priv-pc" in page.url
    assert "score_published=spearman" in page.url
    # Another page writes its words too.
    sidebar.get_by_role("link", name="Release").click()
    settle(page, "Release")
    page.wait_for_timeout(1000)
    assert "calibration=published" in page.url
    page.go_back()
    settle(page, "Discover")
    expect(calibration).to_have_value(label("as-in-the-paper"), timeout=PATIENCE)
    assert "score_published=spearman" in page.url


@pytest.mark.long
def test_the_runs_of_the_strip_and_the_re_rolls_come_in_by_themselves(lively_server, visit):
    page = opened(visit, lively_server)
    strip = page.locator(".st-key-epsilon-strip")
    for epsilon in (10, 3, 1, 0.3, 0.1):
        card = strip.get_by_role("button", name=f"Go to ε = {epsilon}:")
        expect(card).to_contain_text(re.compile(r"\d true, \d false"), timeout=PATIENCE)
        expect(card.locator("circle")).to_have_count(5)
    # While more is to come, the strip says so.
    expect(strip.locator("[data-pending]")).to_have_count(0, timeout=PATIENCE)
    expect(strip).to_contain_text(re.compile(r"in \d+ of \d+ noise draws[.;]"), timeout=1_000)
    expect(page.locator(".st-key-settings polyline")).to_have_count(1)


@pytest.mark.long
def test_play_walks_down_the_strip(lively_server, visit):
    page = opened(visit, lively_server)
    strip = page.locator(".st-key-epsilon-strip")
    # Graphs that are still being made are waited for.
    strip.get_by_role("button", name="Play").click()
    answered_at(page, 10)
    answered_at(page, 0.1)
    expect(strip.get_by_role("button", name="Play")).to_be_visible(timeout=PATIENCE)


@pytest.mark.long
def test_presenter_mode_by_keys(server, visit):
    page = opened(visit, server)
    graph(page, "Private graph")
    page.locator(".st-key-answer h1").click()
    page.keyboard.press("p")
    expect(page.get_by_test_id("stSidebar")).to_be_hidden(timeout=PATIENCE)
    expect(page.get_by_role("tab").first).to_be_hidden()
    settle(page, "Discover")
    page.wait_for_timeout(1000)
    page.keyboard.press("ArrowRight")
    answered_at(page, 0.3)
    page.keyboard.press("ArrowLeft")
    answered_at(page, 1)
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("stSidebar")).to_be_visible(timeout=PATIENCE)
    page.get_by_role("button", name="Present").click()
    expect(page.get_by_test_id("stSidebar")).to_be_hidden(timeout=PATIENCE)
    page.get_by_role("button", name="Leave").click()
    expect(page.get_by_test_id("stSidebar")).to_be_visible(timeout=PATIENCE)


@pytest.mark.long
def test_pinned_runs_are_opened_again_and_stepped_through(server, visit):
    page = opened(visit, server)
    page.get_by_role("button", name="Pin", exact=True).click()
    # The run that pins begins a moment later, and a choice that comes while it draws is lost.
    page.wait_for_timeout(1000)
    settle(page, "Discover")
    page.get_by_role("button", name="Go to ε = 0.1").click()
    answered_at(page, 0.1)
    settle(page, "Discover")
    page.get_by_role("button", name="Pin", exact=True).click()
    # The run that pins begins a moment later, and a choice that comes while it draws is lost.
    page.wait_for_timeout(1000)
    settle(page, "Discover")
    page.get_by_role("tab", name="Pinned").click()
    panel = page.get_by_role("tabpanel")
    panel.get_by_role("button", name="Open", exact=True).first.click(timeout=PATIENCE)
    answered_at(page, 1)
    settle(page, "Discover")
    page.locator(".st-key-answer h1").click()
    page.keyboard.press("p")
    expect(page.get_by_test_id("stSidebar")).to_be_hidden(timeout=PATIENCE)
    settle(page, "Discover")
    page.wait_for_timeout(1000)
    page.keyboard.press("ArrowUp")
    answered_at(page, 0.1)
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("stSidebar")).to_be_visible(timeout=PATIENCE)
