"""What is known beforehand in a real browser: by pointer, by keys, and by a click on an edge."""

import json
from urllib.parse import parse_qs, urlparse

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import graph, settle
from tests.messages import label

pytestmark = pytest.mark.browser

ADDRESS = "/?data=asia&rows=5000&algorithm=laplace-pc&epsilon=3&discover_tab=Background+knowledge"


def lane(page, title):
    return page.locator(".lane", has=page.locator("h4", has_text=title))


def chip(page, name):
    return page.locator(".chip", has_text=name)


@pytest.mark.long
def test_columns_are_ordered_by_pointer_and_by_keys_and_edges_ruled_out(server, visit):
    page = visit(f"{server.url}{ADDRESS}")
    settle(page, "Discover")
    chip(page, "smoke").scroll_into_view_if_needed()
    chip(page, "smoke").drag_to(lane(page, "earliest: drop here"))
    expect(lane(page, "1 · earliest")).to_contain_text("smoke")
    # By keys: past the first tier, into one of its own.
    for where in ("1 · earliest", "2 · latest"):
        chip(page, "lung").focus()
        page.keyboard.press("ArrowRight")
        expect(lane(page, where)).to_contain_text("lung")
    expect(
        page.get_by_text(label("known-beforehand-caption", statements="smoke before lung."))
    ).to_be_visible()
    settle(page, "Discover")

    drawn = graph(page, "Private graph").locator('[data-pair]:not([data-kind="missing"]) .hit')
    drawn.first.dispatch_event("click")
    page.get_by_role("button", name="no edge", exact=True).click()
    expect(page.locator("button.rule")).to_have_count(1)
    settle(page, "Discover")
    page.get_by_test_id("stMain").get_by_role("button", name="Undo", exact=True).click()
    expect(page.locator("button.rule")).to_have_count(0)
    expect(lane(page, "1 · earliest")).to_contain_text("smoke")


def test_no_move_is_lost_when_columns_are_moved_quickly(server, visit):
    page = visit(f"{server.url}{ADDRESS}")
    settle(page, "Discover")
    names = ("asia", "smoke", "tub", "bronc", "xray")
    for name in names:
        chip(page, name).focus()
        page.keyboard.press("ArrowRight")
        # As fast as a person moves them, and while the page computes.
        page.wait_for_timeout(700)
    chips = lane(page, "1 · earliest").locator(".chip")
    expect(chips).to_have_count(len(names))
    settle(page, "Discover")
    assert set(chips.all_inner_texts()) == set(names)
    stated = parse_qs(urlparse(page.url).query)["knowledge"][0]
    assert sorted(json.loads(stated)["tiers"][0]) == sorted(names)
