"""What a user does on the page Effects, in a real browser."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import graph, settle
from tests.messages import label

pytestmark = pytest.mark.browser

ADDRESS = "effects?data=asia&rows=20000&outcome=dysp"


def choose(page, label, option):
    page.get_by_role("combobox", name=label, exact=True).click()
    page.get_by_role("option", name=option, exact=True).click()


@pytest.mark.long
def test_an_effect_is_asked_answered_and_left_for_discover(server, visit):
    page = visit(f"{server.url}/{ADDRESS}")
    settle(page, "Effects")
    answer = page.locator(".st-key-answer h1")
    expect(answer).to_contain_text(label("setting", cause="smoke", low="no", high="yes"))
    expect(page.locator(".st-key-chart-effects .js-plotly-plot")).to_contain_text("truth +23.4")
    shown = graph(page, "Private graph")
    expect(shown.locator(".node.marked")).to_have_count(2)
    # The question comes first, also on a telephone.
    view = page.viewport_size
    for size in ({"width": 390, "height": 844}, view):
        page.set_viewport_size(size)
        asked = page.get_by_role("combobox", name="Cause").bounding_box()
        assert asked["y"] < answer.bounding_box()["y"]

    choose(page, "Outcome", "xray")
    expect(answer).to_contain_text("xray = yes")
    settle(page, "Effects")
    assert "outcome=xray" in page.url

    # ε is the same on Discover.
    page.get_by_role("slider", name="Privacy budget").first.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("location.search.includes('epsilon=')")
    settle(page, "Effects")
    chosen = page.get_by_role("slider", name="Privacy budget").get_attribute("aria-valuetext")
    page.get_by_test_id("stSidebarNav").get_by_role("link", name="Discover").click()
    settle(page, "Discover")
    expect(page.locator(".st-key-answer h1")).to_contain_text(f"ε = {chosen}")
