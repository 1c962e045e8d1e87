"""A large graph in a real browser: search, neighbours, full screen, places that are kept."""

import re

import pytest
from playwright.sync_api import Error, expect

from tests.browser.conftest import graph, settle

pytestmark = pytest.mark.browser

ADDRESS = "/?data=child&rows=5000&algorithm=laplace-pc&epsilon=3"
# Whether the boxes reach from side to side and from top to bottom, and no further.
FILLED = """() => {
  const boxes = nodes.getIds().map((id) => network.getBoundingBox(id));
  const side = (pick, name) => pick(...boxes.map((box) => box[name]));
  const low = network.canvasToDOM({ x: side(Math.min, "left"), y: side(Math.min, "top") });
  const high = network.canvasToDOM({ x: side(Math.max, "right"), y: side(Math.max, "bottom") });
  const { clientWidth, clientHeight } = document.getElementById("graph");
  const shares = [(high.x - low.x) / clientWidth, (high.y - low.y) / clientHeight];
  return low.x >= 0 && low.y >= 0 && shares.every((share) => share > 0.8 && share <= 1);
}"""
OPACITY = "id => nodes.get(id).opacity"


def opened(server, visit, **how):
    page = visit(f"{server.url}{ADDRESS}", **how)
    settle(page, "Discover")
    return page, graph(page, "Private graph"), graph(page, "Without privacy (PC)")


def tools(page, title="Private graph"):
    return page.frame_locator(f'iframe[title^="{title}"]')


def holds(page, script, arg):
    """Waits until it holds in the private graph; results made beside it may draw it anew."""
    for last in (False, False, True):
        try:
            graph(page, "Private graph").wait_for_function(script, arg=arg)
            return
        except Error as error:
            if last or "detached" not in str(error):
                raise


def number(frame, name):
    return frame.evaluate("name => nodes.get().find((n) => n.title === name).id", name)


def neighbours(frame, node):
    return set(
        frame.evaluate(
            """id => edges.get().filter((e) => e.from === id || e.to === id)
                                .map((e) => e.from + e.to - id)""",
            node,
        )
    )


def at(frame, node):
    """Where a node stands in the page, in pixels."""
    frame.locator("#graph").scroll_into_view_if_needed()
    box = frame.query_selector("#graph").bounding_box()
    place = frame.evaluate("id => network.canvasToDOM(network.getPositions([id])[id])", node)
    return box["x"] + place["x"], box["y"] + place["y"]


@pytest.mark.long
def test_search_shows_a_node_with_its_neighbours_and_escape_ends_it(server, visit):
    page, left, right = opened(server, visit)
    field = tools(page).get_by_label("Find a node")
    names = left.evaluate("[...document.querySelectorAll('#names option')].map((o) => o.value)")
    assert len(names) == left.evaluate("nodes.length")
    whole = left.evaluate("network.getScale()")
    field.fill("lungpar")
    field.press("Enter")
    expect(field).to_have_value("LungParench")
    node = number(left, "LungParench")
    assert left.evaluate("network.getSelectedNodes()") == [node]
    assert left.evaluate("network.getScale()") >= whole
    about = tools(page).get_by_role("status")
    expect(about).to_contain_text(re.compile(r"^LungParench – parents: .* · children: "))
    right.wait_for_function("id => network.getSelectedNodes()[0] === id", arg=node)
    for frame in (left, right):
        near = neighbours(frame, node) | {node}
        assert near != set(range(len(names)))
        for other in range(len(names)):
            assert (frame.evaluate(OPACITY, other) == 1) == (other in near)
    field.fill("no such column")
    field.press("Enter")
    expect(about).to_have_text("No node has this name.")
    assert left.evaluate("nodes.get().every((n) => n.opacity === 1)")
    field.press("Escape")
    expect(field).to_have_value("")
    expect(about).to_be_hidden()


@pytest.mark.long
def test_a_click_on_a_node_fades_the_rest_and_one_beside_ends_it(server, visit):
    page, left, right = opened(server, visit)
    node = number(left, "Disease")
    page.mouse.click(*at(left, node))
    left.wait_for_function("nodes.get().some((n) => n.opacity < 1)")
    right.wait_for_function("nodes.get().some((n) => n.opacity < 1)")
    box = left.query_selector("#graph").bounding_box()
    page.mouse.click(box["x"] + 4, box["y"] + 4)
    for frame in (left, right):
        frame.wait_for_function("nodes.get().every((n) => n.opacity === 1)")


@pytest.mark.long
def test_a_graph_fills_the_screen_and_its_frame(server, visit):
    page, left, _ = opened(server, visit)

    left.wait_for_function(FILLED)
    small = left.evaluate("innerHeight")
    button = tools(page).get_by_role("button", name="Full screen")
    button.click()
    expect(button).to_have_attribute("aria-pressed", "true")
    left.wait_for_function("before => innerHeight > before", arg=small)
    left.wait_for_function("document.getElementById('graph').clientHeight > innerHeight - 60")
    left.wait_for_function(FILLED)
    button.click()
    expect(button).to_have_attribute("aria-pressed", "false")
    left.wait_for_function("before => innerHeight === before", arg=small)
    # The page decides how high the frame is.
    page.locator('iframe[title^="Private graph"]').evaluate("e => { e.style.height = '320px' }")
    left.wait_for_function("innerHeight === 320")
    left.wait_for_function(FILLED)


@pytest.mark.long
def test_a_dragged_node_and_a_chosen_one_stay_over_a_redraw(server, visit):
    page, left, right = opened(server, visit)
    node = number(left, "Age")
    before = left.evaluate("network.getPositions()")
    x, y = at(left, node)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 60, y - 30, steps=5)
    page.mouse.up()
    moved = left.evaluate("network.getPositions()")
    assert {i for i in before if before[i] != moved[i]} == {str(node)}
    assert left.evaluate("nodes.get().every((n) => n.opacity !== 0.15)")
    right.wait_for_function(
        "([id, x]) => network.getPositions([id])[id].x === x", arg=[node, moved[str(node)]["x"]]
    )
    other = number(left, "Disease")
    page.mouse.click(*at(left, other))
    left.wait_for_function("nodes.get().some((n) => n.opacity < 1)")
    slider = page.get_by_role("slider", name=re.compile("Privacy budget"))
    slider.focus()
    slider.press("ArrowLeft")
    page.wait_for_url(re.compile("epsilon=2"))
    settle(page, "Discover")
    frame = graph(page, "Private graph")
    assert frame.evaluate("network.getPositions()") == moved
    assert frame.evaluate("network.getSelectedNodes()") == [other]
    assert frame.evaluate("nodes.get().some((n) => n.opacity < 1)")
    tools(page).get_by_role("button", name="Reset view").click()
    holds(page, "x => network.getPositions()[0].x === x", before["0"]["x"])
    assert graph(page, "Private graph").evaluate("network.getPositions()") == before


@pytest.mark.long
def test_the_toolbar_is_one_row_on_a_phone(server, visit):
    page, left, _ = opened(server, visit)
    page.locator('iframe[title^="Private graph"]').evaluate("e => { e.style.width = '340px' }")
    left.wait_for_function("innerWidth === 340")
    ends = left.evaluate(
        """[...document.querySelectorAll('#tools input, #tools button')]
             .map((e) => e.getBoundingClientRect()).map((r) => [r.top, r.left, r.right])"""
    )
    assert len({top for top, *_ in ends}) == 1
    assert all(left >= 0 and right <= 340 for _, left, right in ends)
