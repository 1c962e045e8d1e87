"""A graph of one's own in a real browser: clicked together, turned, and taken apart."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import settle

pytestmark = pytest.mark.browser

ADDRESS = "/?data=asia&rows=5000&epsilon=0.7&discover_reference=your+graph"


def test_a_graph_is_clicked_together(server, visit):
    page = visit(f"{server.url}{ADDRESS}")
    settle(page, "Discover")
    text, arrows = page.locator("textarea"), page.locator("button.rule")
    columns = page.get_by_role("group", name="Columns: click a cause, then its effect")
    columns.get_by_role("button", name="smoke", exact=True).click()
    expect(columns.locator("[aria-pressed=true]")).to_have_text("smoke")
    columns.get_by_role("button", name="lung", exact=True).click()
    settle(page, "Discover")
    expect(page.locator("h1")).to_contain_text("1 supported")
    expect(text).to_have_value("smoke -> lung")
    # By keys, the other way round.
    for name in ("lung", "smoke"):
        columns.get_by_role("button", name=name, exact=True).focus()
        page.keyboard.press("Enter")
    expect(text).to_have_value("lung -> smoke")
    expect(arrows).to_have_count(1)
    arrows.first.click()
    expect(text).to_have_value("")
