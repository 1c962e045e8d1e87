"""A page to send opens from a file, offline, and does all that it says."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from privcore.algorithms import count
from privcore.data import load_network
from privcore.display.interactive import interactive_page, run_series
from tests.examples import few
from tests.messages import label

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    dataset = load_network("asia").sample(5_000, 1)
    series = run_series(dataset, count(dataset), "svt-pc", {"epsilon": 1.0}, runs=2)
    path = tmp_path_factory.mktemp("page") / "page.html"
    path.write_text(interactive_page(series, command="causalveil discover"), "utf-8")
    return path.as_uri()


@pytest.fixture
def opened(browser, address):
    """The file in a browser without a network; afterwards nothing may have been requested."""
    context = browser.new_context(offline=True, color_scheme="light")
    requests, errors = [], []
    page = context.new_page()
    page.on("request", lambda request: requests.append(request.url))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text))
    page.goto(address)
    expect(page.locator(".cv[data-ready]")).to_be_visible()
    yield page
    context.close()
    assert {url.split("#")[0] for url in requests} == {address}
    assert errors == []


def lines(page):
    """What is drawn in the private graph."""
    return page.locator(".pane").first.locator(".pair title").all_text_contents()


def serious(page):
    found = Axe().run(page).response["violations"]
    return [f"{rule['id']}: {rule['help']}" for rule in found if rule["impact"] != "minor"]


def test_the_slider_moves_graphs_and_sentence(opened):
    page = opened
    slider = page.get_by_role("slider", name="Privacy budget")
    expect(slider).to_have_attribute("aria-valuetext", "ε = 1")
    before = lines(page)
    # Every point has its value.
    values = page.locator(".curve .value").all_text_contents()
    assert len(values) == 5
    assert all(0 <= float(value) <= 1 for value in values)
    slider.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(slider).to_have_attribute("aria-valuetext", "ε = 10")
    expect(page.locator("h1")).to_contain_text(label("with-epsilon", epsilon=10))
    assert lines(page) != before
    assert page.url.endswith("#epsilon=10")
    page.reload()
    expect(page.locator("h1")).to_contain_text(label("with-epsilon", epsilon=10))
    page.get_by_text(label("what-is-promised")).click()
    expect(page.get_by_text("Proven: (ε = 10,")).to_be_visible()


def test_search_matrix_and_theme_are_in_the_address(opened):
    page = opened
    search = page.get_by_label("Find a column")
    search.fill("either")
    search.press("Enter")
    expect(page.locator(".pane .about").first).to_contain_text("either")
    page.get_by_role("button", name="Matrix").click()
    expect(page.locator(".matrix")).to_be_visible()
    page.get_by_role("button", name="Dark").click()
    expect(page.locator("body")).to_have_class(re.compile("dark"))
    assert re.search(r"#focus=\d+&view=matrix&theme=dark$", page.url)
    page.reload()
    expect(page.locator(".matrix")).to_be_visible()
    expect(page.locator("body")).to_have_class(re.compile("dark"))


@pytest.mark.parametrize("scheme", few(["light", "dark"], 1))
def test_nothing_bars_anybody_and_a_phone_shows_it_all(opened, scheme):
    page = opened
    page.emulate_media(color_scheme=scheme)
    expect(page.locator("body")).to_have_class(re.compile(scheme))
    page.get_by_text(label("what-is-promised")).click()
    assert serious(page) == []
    page.set_viewport_size({"width": 390, "height": 844})
    expect(page.locator(".pane")).to_have_count(2)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert serious(page) == []
    page.get_by_role("button", name="Matrix").click()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert serious(page) == []
