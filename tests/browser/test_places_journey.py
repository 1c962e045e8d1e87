"""Where things stand at common widths, in a real browser: nothing cut, nothing over another."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import settle

pytestmark = [pytest.mark.browser, pytest.mark.long]
PATIENCE = 90_000


@pytest.fixture
def sized(server, visit):
    """Open a page at a width; the shared tab gets its own size back."""
    opened = []

    def open_page(path, heading, width, height=800):
        page = visit(f"{server.url}/{path}")
        opened.append((page, page.viewport_size))
        page.set_viewport_size({"width": width, "height": height})
        settle(page, heading)
        return page

    yield open_page
    for page, size in opened:
        page.set_viewport_size(size)


def box(locator):
    expect(locator).to_be_visible(timeout=PATIENCE)
    return locator.bounding_box()


@pytest.mark.parametrize(
    ("path", "heading"), [("data", "Data"), ("release", "Release"), ("tradeoff", "Trade-off")]
)
def test_undo_stands_at_the_right(sized, path, heading):
    page = sized(f"{path}?data=cancer&rows=1000", heading, 1280)
    undo = box(page.get_by_role("button", name="Undo"))
    assert 1280 - (undo["x"] + undo["width"]) < 60


def test_the_table_of_edges_fits(sized):
    page = sized("?rows=20000", "Discover", 1280)
    table = page.locator("[data-testid=stDataFrame] .dvn-scroller").first
    table.scroll_into_view_if_needed(timeout=PATIENCE)
    page.wait_for_function(
        "t => t.scrollWidth > 600 && t.scrollWidth <= t.clientWidth",
        arg=table.element_handle(),
        timeout=PATIENCE,
    )


def test_the_buttons_of_a_phone_stand_in_rows(sized):
    page = sized("?data=cancer&rows=1000", "Discover", 390, 844)
    places = [
        box(page.get_by_role("button", name=name).first)
        for name in ("Pin", "Save", "Undo", "Present")
    ]
    assert all(place["x"] >= 0 and place["x"] + place["width"] <= 390 for place in places)
    # Save, Undo and Present beside each other.
    assert len({round(place["y"]) for place in places[1:]}) == 1


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize(
    ("path", "heading"),
    [("learn?panel=allocation", "Learn"), ("audit", "Audit"), ("papers", "Papers")],
)
def test_legends_stand_clear_of_the_buttons_that_save_a_chart(sized, path, heading, width):
    page = sized(path, heading, width)
    expect(page.locator(".js-plotly-plot .legend").first).to_be_visible(timeout=PATIENCE)
    page.wait_for_timeout(1000)
    over = page.evaluate(
        """() => [...document.querySelectorAll('[class*="st-key-chart-"]')].filter(chart => {
            const legend = chart.querySelector('.legend');
            const a = legend?.getBoundingClientRect();
            return a && [...chart.querySelectorAll('button')].some(button => {
                const b = button.getBoundingClientRect();
                return a.right > b.left && a.left < b.right && a.bottom > b.top && a.top < b.bottom;
            });
        }).map(chart => chart.className)"""
    )
    assert over == []


@pytest.mark.parametrize(("path", "heading"), [("audit", "Audit"), ("direction", "Direction")])
def test_titles_of_axes_are_whole_on_a_phone(sized, path, heading):
    page = sized(path, heading, 390, 844)
    expect(page.locator(".js-plotly-plot .xtitle").last).to_be_attached(timeout=PATIENCE)
    page.wait_for_timeout(1000)
    cut = page.evaluate(
        """() => [...document.querySelectorAll('.js-plotly-plot .xtitle')].filter(title => {
            const a = title.getBoundingClientRect();
            const b = title.closest('.js-plotly-plot').getBoundingClientRect();
            return a.left < b.left || a.right > b.right || a.bottom > b.bottom;
        }).map(title => title.textContent)"""
    )
    assert cut == []


def test_a_heading_within_a_section_is_smaller_than_the_heading_of_one(sized):
    page = sized("?data=cancer&rows=1000&discover_tab=Guarantee+%26+budget", "Discover", 1280)
    inner = page.locator("[data-testid=stHeading] h3").first
    expect(inner).to_be_visible(timeout=PATIENCE)
    size = "element => parseFloat(getComputedStyle(element).fontSize)"
    small = inner.evaluate(size)
    page.get_by_test_id("stSidebarNav").get_by_role("link", name="Release").click()
    settle(page, "Release")
    assert small < page.locator("[data-testid=stHeading] h2").first.evaluate(size)
