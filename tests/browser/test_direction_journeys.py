"""What a user does on the page Direction, in a real browser."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import settle
from tests.messages import label

pytestmark = [pytest.mark.browser, pytest.mark.long]

TITLE = "Direction"


def shown(page, text):
    expect(page.get_by_text(text).first).to_be_visible(timeout=60_000)


def test_a_direction_its_curve_and_its_accuracy(server, visit):
    page = visit(f"{server.url}/direction?pair_rows=1000")
    settle(page, TITLE)
    shown(page, "Proven guarantee: (ε = 1, δ = 0)")
    shown(page, "X → Y")
    page.get_by_role("tab", name="Decision against ε").click()
    shown(page, label("simulated-releases", releases=100))
    page.get_by_role("tab", name="Accuracy").click()
    shown(page, label("data-sets-of-each-kind"))
    settle(page, TITLE)
    assert "pair_rows=1000" in page.url


def test_two_columns_of_a_file_from_upload_to_a_decision(server, visit, tmp_path):
    path = tmp_path / "private pair.csv"
    rows = [
        f"{x / 200:.4f},{(x / 200) ** 2 + 0.05 * ((x * 37) % 11 - 5) / 5:.4f}"
        for x in range(-200, 200)
    ]
    path.write_text("<b>dose</b>,risk\n" + "\n".join(rows) + "\n", encoding="utf-8")
    page = visit(f"{server.url}/direction?pair_source=two+columns+of+a+file")
    settle(page, TITLE)
    page.locator("input[type=file]").first.set_input_files(path)
    shown(page, label("read-not-covered"))
    settle(page, TITLE)
    page.get_by_text(label("known-these-bounds")).click()
    shown(page, "Proven guarantee: (ε = 1")
    settle(page, TITLE)
    assert "private" not in page.url
    bad = tmp_path / "bad.csv"
    bad.write_bytes(b"\x89PNG\r\n\x1a\n\x00")
    page.locator("input[type=file]").first.set_input_files(bad)
    shown(page, label("no-text-file"))
    assert page.get_by_text("Traceback").count() == 0


def test_a_link_holds_what_was_chosen(server, visit):
    page = visit(f"{server.url}/direction?pair_generator=periodic&direction_epsilon=5")
    settle(page, TITLE)
    shown(page, "Proven guarantee: (ε = 5,")
    page.get_by_test_id("stSidebarNav").get_by_role("link", name="Discover").click()
    settle(page, "Discover")
    page.get_by_test_id("stSidebarNav").get_by_role("link", name=TITLE).click()
    settle(page, TITLE)
    shown(page, "Proven guarantee: (ε = 5,")
    assert re.search("direction_epsilon=5", page.url)


@pytest.mark.parametrize("width", [390, 1280, 1920])
def test_the_three_pictures_have_one_size_at_every_width(server, visit, width):
    page = visit(f"{server.url}/direction?pair_rows=500")
    page.set_viewport_size({"width": width, "height": 900})
    settle(page, TITLE)
    pictures = page.locator(".st-key-pair-pictures .js-plotly-plot")
    expect(pictures).to_have_count(3)
    page.wait_for_timeout(1_000)
    boxes = [pictures.nth(k).bounding_box() for k in range(3)]
    page.set_viewport_size({"width": 1400, "height": 1000})
    assert max(b["width"] for b in boxes) - min(b["width"] for b in boxes) < 2
    assert max(b["height"] for b in boxes) - min(b["height"] for b in boxes) < 2
