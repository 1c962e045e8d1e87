"""What a user does on the page Papers, in a real browser."""

import json

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import settle
from tests.messages import label

pytestmark = [pytest.mark.browser, pytest.mark.long]


def test_a_link_opens_an_item_that_can_be_made_again_and_saved(server, visit):
    page = visit(f"{server.url}/papers?item=curate-figure-3")
    settle(page, "Papers")
    expect(page.get_by_role("heading", name="Figure 3", exact=True)).to_be_visible()
    # One panel for each total.
    expect(page.locator(".js-plotly-plot .annotation-text")).to_have_count(3, timeout=60_000)
    expect(page.get_by_text(label("shipped")).first).to_be_visible()
    page.get_by_role("button", name=label("run-again-here")).click()
    expect(page.get_by_text(label("made-just-now")).first).to_be_visible(timeout=60_000)
    settle(page, "Papers")
    with page.expect_download() as caught:
        page.get_by_role("button", name="JSON", exact=True).click()
    held = json.loads(caught.value.path().read_text(encoding="utf-8"))
    assert held["name"] == "curate-figure-3"
    page.get_by_role("radio", name="Figure 5 (Table 5)").click()
    expect(page.get_by_role("heading", name="Figure 5 (Table 5)")).to_be_visible(timeout=60_000)
    settle(page, "Papers")
    page.wait_for_url("**/papers?item=curate-figure-5")
    page.reload()
    settle(page, "Papers")
    expect(page.get_by_role("heading", name="Figure 5 (Table 5)")).to_be_visible(timeout=60_000)
    # No controls of data or algorithms beside it.
    expect(page.get_by_test_id("stSidebar").get_by_role("slider")).to_have_count(0)
