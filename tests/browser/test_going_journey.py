"""From a table to its graph with changed settings, and back, without leaving the app."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import settle
from tests.pages.opening import TABLE

pytestmark = pytest.mark.browser


def test_a_changed_setting_goes_along_and_undo_stays_in_the_app(server, visit, tmp_path):
    (tmp_path / "t.csv").write_bytes(TABLE)
    page = visit(f"{server.url}/data?epsilon=0.1&delta=1e-08")
    settle(page, "Data")
    undo = page.get_by_role("button", name="Undo")
    # What lies before this page is not the app's.
    expect(undo).to_be_disabled()
    page.locator("input[type=file]").first.set_input_files(tmp_path / "t.csv")
    page.get_by_role("button", name="Discover its graph").click()
    settle(page, "Discover")
    assert re.search("epsilon=0.1", page.url)
    assert re.search("delta=1e-08", page.url)
    expect(undo).to_be_enabled()
    # A reload offers what it would lose: the table, and the pinned run.
    page.get_by_role("button", name="Pin", exact=True).click()
    settle(page, "Discover")
    page.reload()
    page.get_by_role("button", name="Continue it").click()
    settle(page, "Discover")
    assert re.search("epsilon=0.1", page.url)
    expect(page.get_by_role("button", name="Continue it")).to_have_count(0)
    undo.click()
    settle(page, "Data")
    expect(undo).to_be_disabled()
    expect(page.get_by_text("t.csv: 200 rows")).to_be_visible()


def test_what_a_link_sets_goes_along_to_the_next_page(server, visit):
    page = visit(f"{server.url}/?data=cancer&rows=1000&algorithm=laplace-pc&epsilon=3")
    settle(page, "Discover")
    page.get_by_test_id("stSidebarNav").get_by_role("link", name="Release").click()
    settle(page, "Release")
    expect(page.get_by_role("slider", name=re.compile("^Privacy budget"))).to_have_attribute(
        "aria-valuetext", "3"
    )
    for word in ("data=cancer", "rows=1000", "algorithm=laplace-pc", "epsilon=3"):
        assert word in page.url


def test_an_opened_session_is_the_one_that_was_saved(server, visit, tmp_path):
    page = visit(f"{server.url}/?data=cancer&rows=1000&algorithm=lapmech&threshold=0.1&epsilon=3")
    settle(page, "Discover")
    page.get_by_role("button", name=re.compile("Save$")).click()
    with page.expect_download() as saved:
        page.get_by_role("button", name="Session", exact=True).click()
    saved.value.save_as(tmp_path / "session.json")
    other = visit(f"{server.url}/data")
    settle(other, "Data")
    other.get_by_text("Open a saved session").click()
    other.locator("input[type=file]").last.set_input_files(tmp_path / "session.json")
    other.get_by_role("link", name="Go to Discover").last.click()
    settle(other, "Discover")
    for name, value in (("Significance level", "0.1"), ("Privacy budget", "3")):
        slider = other.get_by_role("slider", name=re.compile(name))
        expect(slider).to_have_attribute("aria-valuetext", value)
    assert re.search("threshold=0.1(&|$)", other.url)
