"""What a user does on the page Trade-off, in a real browser."""

import contextlib
import re
import time

import pytest
from playwright.sync_api import TimeoutError as PlaywrightTimeout
from playwright.sync_api import expect

from tests.browser.conftest import settle
from tests.messages import label

pytestmark = pytest.mark.browser

# With these rows, a part of the runs is shipped.
SMALL = "data=cancer&rows=100000&sweep_seeds=3&sweep_density=1"


@pytest.mark.long
def test_a_point_of_a_curve_opens_in_discover(server, visit):
    page = visit(f"{server.url}/tradeoff?{SMALL}")
    expect(page.get_by_text(re.compile("^At ε = 1, .* best")).first).to_be_visible(timeout=60_000)
    settle(page, "Trade-off")
    expect(page.get_by_role("button", name="Cancel")).to_have_count(0, timeout=60_000)
    points = page.locator(".scatterlayer .trace .points path")
    page.wait_for_timeout(500)
    # The last line is that of PC, which has no points; the one before it ends at ε = 20.
    box = points.last.bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    settle(page, "Discover")
    expect(page.get_by_text(label("with-epsilon", epsilon=20)).first).to_be_visible(timeout=60_000)
    assert "epsilon=20" in page.url
    assert re.search(r"seed=\d{6,}", page.url)


@pytest.mark.long
def test_the_first_view_is_drawn_without_a_run_and_what_the_address_gets_wrong_is_named(
    server, visit
):
    page = visit(f"{server.url}/tradeoff?sweep_measure=beauty")
    settle(page, "Trade-off")
    expect(page.get_by_text(label("does-best")).first).to_be_visible()
    expect(page.locator(".js-plotly-plot .scatterlayer .trace").first).to_be_visible()
    expect(page.get_by_role("button", name="Cancel")).to_have_count(0)
    expect(page.get_by_text(label("in-url", what="“sweep_measure=beauty”"))).to_be_visible()
    assert "beauty" not in page.url


@pytest.mark.long
def test_a_large_sweep_waits_to_be_started_and_can_be_cancelled(server, visit):
    page = visit(f"{server.url}/tradeoff?data=asia&sweep_seeds=100&sweep_density=6")
    settle(page, "Trade-off")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_text(re.compile(r"[1-9][\d,]* of [\d,]+ runs about")).first).to_be_visible(
        timeout=60_000
    )
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("button", name="Resume")).to_be_visible(timeout=60_000)


@pytest.mark.long
def test_the_rows_can_be_saved(server, visit):
    page = visit(f"{server.url}/tradeoff?{SMALL}&sweep_view=Table+%26+download")
    expect(page.get_by_role("button", name="CSV", exact=True)).to_be_visible(timeout=60_000)
    expect(page.get_by_role("button", name="Cancel")).to_have_count(0, timeout=90_000)
    # Once the last rows are drawn the page is drawn again, as a whole.
    page.wait_for_timeout(1_000)
    settle(page, "Trade-off")
    with page.expect_download() as caught:
        page.get_by_role("button", name="CSV", exact=True).click()
    lines = caught.value.path().read_text(encoding="utf-8").splitlines()
    # Four algorithms, ε = 0.1, 1, 10 and 20, three runs each, and PC once; a line of names.
    assert len(lines) == 4 * 4 * 3 + 1 + 1
    assert lines[0].startswith("cell,data,")


def _saved(page):
    """The file; on a busy machine one click may fall between two drawings of the page."""
    for patience in (20_000, 60_000):
        with (
            contextlib.suppress(PlaywrightTimeout),
            page.expect_download(timeout=patience) as caught,
        ):
            page.get_by_role("button", name="CSV", exact=True).click()
        if caught.is_done():
            return caught.value
    raise AssertionError("two clicks gave no file")


@pytest.mark.long
def test_rows_can_be_saved_while_a_sweep_runs(server, visit):
    page = visit(
        f"{server.url}/tradeoff?data=child&rows=100000&sweep_seeds=20&sweep_density=6"
        "&sweep_view=Table+%26+download"
    )
    # Rows that come in draw the table again.
    expect(page.get_by_test_id("stDataFrame")).to_be_visible(timeout=60_000)

    def count():
        return len(_saved(page).path().read_text(encoding="utf-8").splitlines())

    # Until some of them were made here: before that, what is cancelled can be run, not resumed.
    saved = [count()]
    deadline = time.monotonic() + 60
    while (len(saved) < 4 or saved[-1] == saved[0]) and time.monotonic() < deadline:
        page.wait_for_timeout(700)
        saved.append(count())
    expect(page.get_by_role("button", name="Cancel")).to_be_visible()
    assert saved == sorted(saved)
    assert saved[-1] > saved[0] > 1
    # By key: the table's own buttons float above it while the mouse is there.
    page.get_by_role("button", name="Cancel").press("Enter")
    expect(page.get_by_role("button", name="Resume")).to_be_visible(timeout=60_000)
