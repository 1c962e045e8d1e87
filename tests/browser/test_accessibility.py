"""Every page is free of what axe-core finds, in both themes, and can be used by keyboard alone."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.browser.conftest import graph, press, settle
from tests.messages import label

pytestmark = pytest.mark.browser
PATIENCE = 60_000
PAGES = {
    "Data": "data?data=asia&rows=5000",
    "Discover": "?data=cancer&rows=5000",
    "Effects": "effects?data=asia&rows=5000&outcome=dysp",
    "Trade-off": "tradeoff?data=asia",
    "Direction": "direction",
    "Release": "release?data=asia",
    "Audit": "audit",
    "Learn": "learn",
    "Learn, playground": "learn?panel=sensitivity",
    "Papers": "papers",
    "Glossary": "glossary",
}
QUICK = {("Discover", "dark")}
# Streamlit's own markup, which a page cannot change: (rule, what the element is).
STREAMLIT = {
    # The menu's groups are <div> between its <ul> and <li>; its links are named and in order.
    ("list", 'data-testid="stSidebarNavItems"'),
    ("listitem", '<li class="st-emotion-cache-'),
    # The area of an upload has a name, which a presentation has no use for.
    ("presentation-role-conflict", 'data-testid="stFileUploaderDropzone"'),
}


STILL = "document.getAnimations().every((one) => one.playState !== 'running')"


def findings(page):
    """What axe-core says of the page and of the frames within it, whatever its weight."""
    found = []
    for frame in page.frames:
        # Colours that still fade are no colours of the page.
        frame.wait_for_function(STILL, timeout=PATIENCE)
        for rule in (
            Axe().run(frame, options={"resultTypes": ["violations"]}).response["violations"]
        ):
            for node in rule["nodes"]:
                if not any(rule["id"] == name and mark in node["html"] for name, mark in STREAMLIT):
                    found.append(f"{rule['impact']} {rule['id']}: {node['html'][:160]}")
    return found


def opened(visit, server, name, scheme, width=1280):
    page = visit(f"{server.url}/{PAGES[name]}", scheme=scheme)
    page.set_viewport_size({"width": width, "height": 800})
    settle(page, name.split(",")[0])
    if name == "Discover":
        fill_strip(page)
        graph(page, "Private graph")
    return page


def fill_strip(page):
    """Go to each ε of the strip and back: the page makes these graphs itself.

    The process that makes them beside the page gives way to all others, and waits for hours on a
    machine that has none to spare.
    """
    strip = page.locator(".st-key-epsilon-strip")
    for epsilon in (10, 3, 0.3, 0.1, 1):
        heading = label("with-epsilon", epsilon=epsilon)
        card = strip.get_by_role("button", name=f"Go to ε = {epsilon}:")
        press(card, page.locator(".st-key-answer h1", has_text=heading))
        settle(page, "Discover")
    expect(strip.locator(".card", has=page.locator("circle"))).to_have_count(5)


@pytest.mark.parametrize(
    ("name", "scheme"),
    [
        pytest.param(n, s, marks=() if (n, s) in QUICK else pytest.mark.long)
        for n in PAGES
        for s in ("light", "dark")
    ],
)
def test_axe_finds_nothing(server, visit, name, scheme):
    page = opened(visit, server, name, scheme)
    assert findings(page) == []


@pytest.mark.long
def test_axe_finds_nothing_on_a_telephone(server, visit):
    page = opened(visit, server, "Discover", "light", width=390)
    assert findings(page) == []
    overflow = "document.querySelector('[data-testid=stMain]')"
    assert page.evaluate(f"{overflow}.scrollWidth <= {overflow}.clientWidth")


@pytest.mark.long
def test_charts_say_what_they_show_and_no_page_scrolls_sideways(server, visit):
    tab = "?data=cancer&rows=5000&discover_tab="
    page = visit(f"{server.url}/{PAGES['Audit']}")
    view = page.viewport_size
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 800})
        for address, heading in (
            (PAGES["Audit"], "Audit"),
            (PAGES["Trade-off"], "Trade-off"),
            (f"{tab}Guarantee %26 budget", "Discover"),
            (f"{tab}What to expect", "Discover"),
        ):
            page.goto(f"{server.url}/{address}")
            settle(page, heading)
            charts = page.get_by_test_id("stPlotlyChart")
            expect(charts.first.locator(".main-svg").first).to_be_visible()
            for chart in charts.all():
                # The title, and then the numbers.
                named = re.compile(r"^.+\. .*\d at .+")
                expect(chart).to_have_accessible_name(named)
                expect(chart).to_have_role("figure")
            main = "document.querySelector('[data-testid=stMain]')"
            assert page.evaluate(f"{main}.scrollWidth <= {main}.clientWidth"), (width, address)
    page.set_viewport_size(view)


# What the focus is on, through the shadow of a component and the frame of a graph: role and name,
# and whether it is drawn as having the focus.
FOCUS = """() => {
    let at = document.activeElement;
    for (;;) {
        const inner = at?.shadowRoot?.activeElement ?? at?.contentDocument?.activeElement;
        if (!inner) break;
        at = inner;
    }
    if (!at || at === document.body) return null;
    const style = getComputedStyle(at);
    const label = at.getAttribute("aria-labelledby")?.split(" ")[0] ?? "";
    return {
        role: at.getAttribute("role") ?? at.type ?? at.tagName,
        name: at.getAttribute("aria-label") ??
            (at.getRootNode().getElementById(label) ?? at).innerText,
        drawn: style.outlineStyle !== "none" || style.boxShadow !== "none",
    };
}"""


@pytest.mark.long
def test_discover_is_used_by_keyboard_alone(server, visit):
    page = opened(visit, server, "Discover", "light")
    page.get_by_test_id("stSidebarNav").get_by_role("link", name="Data").focus()
    reached = []
    wanted = {
        "Discover": "the menu",
        "Pin": "Pin",
        "Present": "Present",
        "Undo": "Undo",
        "range:Privacy budget": "ε",
        "Find a column": "the search of the graphs",
        "Zoom in": "the tools of the graphs",
        "Play": "Play",
        **{f"Go to ε = {e}:": "a card" for e in (10, 3, 1, 0.3, 0.1)},
        "tab:Edges": "tabs",
    }
    for _ in range(120):
        page.keyboard.press("Tab")
        focus = page.evaluate(FOCUS)
        if focus:
            reached.append(focus)
        text = " | ".join(f"{f['role']}:{f['name']}" for f in reached)
        if all(mark in text for mark in wanted):
            break
    assert [what for mark, what in wanted.items() if mark not in text] == []
    ours = [f for f in reached if re.match("Go to ε|Play|Present|.*Undo|Zoom|Find", f["name"])]
    assert [f["name"] for f in ours if not f["drawn"]] == []
    # What is reached does what a click does.
    page.locator(".st-key-epsilon-strip").get_by_role("button", name="Go to ε = 0.3:").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".st-key-answer h1")).to_contain_text(
        label("with-epsilon", epsilon="0.3"), timeout=PATIENCE
    )
    settle(page, "Discover")
    slider = page.get_by_role("slider", name=re.compile("Privacy budget"))
    slider.focus()
    slider.press("End")
    expect(page.locator(".st-key-answer h1")).to_contain_text("With ε = 20 ", timeout=PATIENCE)
