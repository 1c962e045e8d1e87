"""Graphs as they are drawn, in a browser without a server: legible, in step, by keyboard."""

import json
from itertools import combinations, pairwise

import numpy as np
import pytest
from playwright.sync_api import expect

from privcore.data import load_network
from privcore.display.drawing import Pane, graph_css, graph_script, scene
from privcore.display.layout import shared_layout
from privcore.graphs import PDAG
from privcore.graphs.pdag import PAG
from tests.browser.conftest import columns, graph, links
from tests.examples import few
from tests.graphs.random_dags import random_dag
from tests.messages import label

pytestmark = pytest.mark.browser

PAGE = f"""<!DOCTYPE html><html lang="en"><head><title>Graphs</title>
<style>body {{ margin: 0 }} {graph_css()}</style></head><body><main id="root"></main>
<script type="module">{graph_script()}
window.looks = []; window.chosen = [];
window.show = (made, view) => drawGraphs(document.getElementById("root"), made, view,
  {{ onView: (v) => looks.push(v), onPair: (p) => chosen.push(p) }});
</script></body></html>"""
# Names by their places, of both graphs and of the matrix; letters are at least 11 pixels high.
LABELS = """() => [...document.querySelectorAll(".node text, .top span, .left button")].map((e) => {
  const { x, y, width, height } = e.getBoundingClientRect();
  return { x, y, width, height, size: parseFloat(getComputedStyle(e).fontSize),
    pane: e.closest(".pane, .top, .left").className + (e.closest(".pane")?.dataset.key ?? "") };
})"""


@pytest.fixture
def show(browser):
    contexts = []

    def shown(made, view=None, *, width=1000, height=800):
        context = browser.new_context(viewport={"width": width, "height": height})
        contexts.append(context)
        page = context.new_page()
        page.set_content(PAGE)
        draw(page, made, view)
        return page

    yield shown
    for context in contexts:
        context.close()


def draw(page, made, view=None):
    page.evaluate("([made, view]) => show(made, view)", [{**made, "theme": "light"}, view or {}])
    expect(page.locator(".cv[data-ready]")).to_be_visible()


def two(names, edges, others=None, **words):
    """A graph beside another, on the layout of the first."""
    first = PDAG.from_names(names, edges)
    second = first if others is None else PDAG.from_names(names, others)
    panes = [
        Pane("one", "One", first, reference=second, kinds=dict.fromkeys(first.skeleton, "match")),
        Pane("two", "Two", second),
    ]
    words = {"match": "in both", "missing": "only there", **words}
    return scene(shared_layout(names, graph=first), panes, words=words, reference="two")


def named(count):
    if count in SIZES:
        network = load_network(SIZES[count])
        return network.names, network.edges
    names = tuple(f"column_{i}" for i in range(count))
    dag = random_dag(np.random.default_rng(1), count, 2.6 / count)
    return names, [(names[i], names[j]) for i, j in dag]


SIZES = {20: "child", 37: "alarm", 76: "win95pts"}


def overlaps(labels):
    def meet(a, b):
        return (
            a["pane"] == b["pane"]
            and a["x"] + 0.5 < b["x"] + b["width"]
            and b["x"] + 0.5 < a["x"] + a["width"]
            and a["y"] + 2 < b["y"] + b["height"]
            and b["y"] + 2 < a["y"] + a["height"]
        )

    return sum(meet(a, b) for a, b in combinations(labels, 2))


@pytest.mark.parametrize("count", few([20, 37, 76, 200], 2))
def test_names_are_legible_and_never_overlap(show, count):
    page = show(two(*named(count)))
    labels = page.evaluate(LABELS)
    assert len(labels) >= (2 * count if count <= 37 else 60)
    assert min(label["size"] for label in labels) >= 11
    assert overlaps(labels) == 0
    pane = graph(page, "One")
    box = pane.locator("> svg").bounding_box()
    for _, x, y, _ in columns(pane).values():
        assert box["x"] <= x <= box["x"] + box["width"]
        assert box["y"] <= y <= box["y"] + box["height"]


# Of each graph: boxes by column, and lines by pair, of points a pixel apart; lengths in pixels.
GEOMETRY = """() => [...document.querySelectorAll(".pane")].map((pane) => ({
  size: [pane.querySelector("svg").clientWidth, pane.querySelector("svg").clientHeight],
  boxes: Object.fromEntries([...pane.querySelectorAll("[data-node]")].map((node) => {
    const { x, y, width, height } = node.querySelector("rect, circle").getBBox();
    return [node.dataset.node, [x, y, x + width, y + height]];
  })),
  lines: Object.fromEntries([...pane.querySelectorAll("[data-pair]")].map((pair) => {
    const line = pair.querySelector(".line");
    const points = Array.from({ length: line.getTotalLength() + 1 }, (_, at) => {
      const { x, y } = line.getPointAtLength(at);
      return [x, y];
    });
    return [pair.dataset.pair, points];
  })),
}))"""
QUESTIONS = (
    "I have the tools and materials that I need to do my work well",
    "In the last seven days, I have received recognition for good work",
    "My supervisor talks to me about my progress",
)


def questions(count):
    return tuple(f"Q{k + 1}. {QUESTIONS[k % 3]} ({k})" for k in range(count))


def assert_clear(page, tiers=()):
    """Boxes are whole and apart, in time order, and each line is seen and runs through none."""
    for drawn in page.evaluate(GEOMETRY):
        boxes = {int(node): np.array(box) for node, box in drawn["boxes"].items()}
        for box in boxes.values():
            assert (box[:2] >= 1).all()
            assert (box[2:] <= np.array(drawn["size"]) - 1).all()
        for (i, one), (j, two) in combinations(boxes.items(), 2):
            assert (one[2:] < two[:2]).any() or (two[2:] < one[:2]).any()
            if tiers and None not in (tiers[i], tiers[j]) and tiers[i] != tiers[j]:
                above, below = (one, two) if tiers[i] < tiers[j] else (two, one)
                assert above[3] < below[1]
        for pair, line in drawn["lines"].items():
            points, ends = np.array(line), set(map(int, pair.split("-")))
            assert len(points) > 2, "a line that nobody sees"
            for node in boxes.keys() - ends:
                low, high = boxes[node][:2], boxes[node][2:]
                through = ((low < points) & (points < high)).all(axis=1).any()
                assert not through, f"the line {pair} runs through column {node}"


@pytest.mark.parametrize("width", [390, 990, 1630])
def test_no_line_runs_through_a_box_and_no_box_is_cut(show, width):
    page = show(two(*named(20)), width=width)
    assert_clear(page)
    for name in ("asia", "sachs", "insurance", "alarm", "win95pts"):
        network = load_network(name)
        draw(page, two(network.names, network.edges))
        assert_clear(page)
    for seed, count in enumerate((5, 9, 14, 20, 25)):
        generator = np.random.default_rng(seed)
        dag = random_dag(generator, count, 2.6 / count)
        tiers = [None, *map(int, generator.integers(0, 3, count - 1))]
        for names in (questions(count), [f"column_{k}" for k in range(count)]):
            graph = PDAG(tuple(names), frozenset(dag))
            pane = Pane("one", "One", graph)
            draw(page, scene(shared_layout(names, dag=dag), [pane, pane]))
            assert_clear(page)
            made = scene(shared_layout(names, dag=dag, tiers=tiers), [pane, pane], tiers=tiers)
            draw(page, made)
            assert_clear(page, tiers)


def test_names_that_do_not_fit_are_short_and_the_legend_has_them_whole(show):
    names = questions(25)
    graph = PDAG(names, frozenset((i, i + 1) for i in range(24)))
    made = scene(shared_layout(names, graph=graph), [Pane("one", "One", graph)])
    page = show(made)
    for view in ({}, {"as": "matrix"}):
        draw(page, made, view)
        listed = page.locator(".short > div")
        said = listed.evaluate_all(
            "all => all.map((e) => [...e.children].map((c) => c.textContent))"
        )
        assert said == [[f"Q{k + 1}", name] for k, name in enumerate(names)]
    draw(page, made)
    nodes = page.locator("[data-node]")
    drawn = nodes.evaluate_all("""all => all.map((e) => [Number(e.dataset.node),
      e.querySelector("text").textContent, e.querySelector("title").textContent])""")
    assert sorted(drawn) == [[k, f"Q{k + 1}", name] for k, name in enumerate(names)]
    assert names[3] in page.locator("[data-node='3']").get_attribute("aria-label")
    # Names that fit are whole.
    four = PDAG(names[:4], frozenset({(0, 1), (2, 3)}))
    draw(page, scene(shared_layout(names[:4], graph=four), [Pane("one", "One", four)]))
    expect(page.locator(".short")).to_have_count(0)


def test_a_matrix_of_a_hundred_columns_can_be_read(show):
    names, edges = named(100)
    page = show(two(names, edges), {"as": "matrix"})
    labels = page.evaluate(LABELS)
    assert len(labels) > 150
    assert min(label["size"] for label in labels) >= 11
    assert overlaps(labels) == 0
    cells = page.locator(".cell .fill")
    assert cells.count() == len(edges)
    assert page.locator(".cell .outline").count() == len(edges)
    # It scrolls by itself, and the page stays as wide as the screen.
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


PAG_NAMES = ("a", "b", "c", "d", "e")
PAG_ENDS = {(0, 1): ("o", ">"), (1, 2): (">", ">"), (2, 3): ("-", ">"), (3, 4): ("o", "o")}


def test_circles_are_drawn_explained_and_read_out(show):
    pag = PAG.from_ends(PAG_NAMES, PAG_ENDS)
    panes = [Pane("one", "One", pag), Pane("two", "Two", pag)]
    made = scene(shared_layout(PAG_NAMES, graph=pag), panes)
    page = show(made, width=390)
    for title in ("One", "Two"):
        rings = graph(page, title).locator(".ring")
        expect(rings).to_have_count(3)
        assert min(ring["width"] for ring in map(_box, rings.all())) >= 8
        expect(graph(page, title).locator(".head")).to_have_count(4)
    marks = page.locator(".legend.marks [data-mark]")
    assert marks.evaluate_all("all => all.map((e) => e.dataset.mark)") == MARKED
    spoken = {
        number: graph(page, "One").locator(f"[data-node='{number}']").get_attribute("aria-label")
        for number in range(5)
    }
    # Each pair is in the group of its ends, seen from either column.
    groups = {k: text.split(", ", 1)[1].split(" · ") for k, text in spoken.items()}
    heads = {k: {group.split(":")[0] for group in said} for k, said in groups.items()}
    assert len(set().union(*heads.values())) == 6
    assert heads[3] != heads[4]
    assert {"causes"} < heads[2]
    assert {"caused by"} < heads[3]
    page.set_viewport_size({"width": 1000, "height": 800})
    draw(page, made, {"as": "matrix"})
    # A cell has the mark at its column: a ring for a circle, a square for an arrowhead.
    assert page.locator(".cell .hollow").count() == 3
    assert page.locator(".cell .fill").count() == 4
    assert page.locator(".cell .outline").count() == 7


def test_what_may_be_a_cause_is_in_sight(show):
    pag = PAG.from_ends(PAG_NAMES, PAG_ENDS)
    made = scene(shared_layout(PAG_NAMES, graph=pag), [Pane("one", "One", pag)])
    for column, seen in ((1, {0, 1}), (2, {2}), (3, {2, 3, 4})):
        page = show(made, {"focus": f"{column}-parents"})
        drawn = columns(graph(page, "One"))
        assert {k for k, (*_, away) in drawn.items() if not away} == seen


def _box(ring):
    return ring.bounding_box()


MARKED = ["->", "<->", "o->", "o-o"]
CHAIN = tuple("abcdefghijklmnopqrstuvwxyz")
EDGES = list(pairwise(CHAIN))


def in_sight(page):
    return ["".join(c[0] for c in columns(graph(page, title)).values()) for title in ("One", "Two")]


@pytest.mark.parametrize(
    ("focus", "seen"),
    [
        ("5", "efg"),
        ("5-2", "defgh"),
        ("5-3", "cdefghi"),
        ("5-parents", "ef"),
        ("5-to-9", "fghij"),
        ("99", "".join(CHAIN)),
        ("x", "".join(CHAIN)),
    ],
)
def test_a_focus_shows_its_surroundings_in_both_graphs(show, focus, seen):
    page = show(two(CHAIN, EDGES), {"focus": focus})
    assert [sorted(names) for names in in_sight(page)] == [list(seen)] * 2


def test_a_click_the_search_and_keys_change_the_focus(show):
    page = show(two(CHAIN, EDGES))
    graph(page, "Two").locator('[data-node="5"]').click()
    assert in_sight(page) == ["efg"] * 2
    assert page.evaluate("looks.at(-1).focus") == "5"
    page.get_by_label(label("show-of-it")).select_option("2")
    assert in_sight(page) == ["defgh"] * 2
    field = page.get_by_label("Find a column")
    field.fill("Q")
    field.press("Enter")
    # How far it reaches stays.
    assert page.evaluate("looks.at(-1).focus") == "16-2"
    page.get_by_role("button", name=label("show-all-columns")).click()
    assert page.evaluate("looks.at(-1).focus") == ""
    assert in_sight(page) == ["".join(CHAIN)] * 2
    first = graph(page, "One").locator("[data-node][tabindex='0']")
    expect(first).to_have_count(1)
    first.focus()
    page.keyboard.press("ArrowDown")
    held = page.evaluate("document.activeElement.dataset.node")
    assert held != "0"
    page.keyboard.press("Enter")
    assert page.evaluate("looks.at(-1).focus") == held
    page.keyboard.press("Escape")
    assert page.evaluate("looks.at(-1).focus") == ""
    field.fill("no such column")
    field.press("Enter")
    assert not field.evaluate("e => e.checkValidity()")
    assert page.evaluate("looks.at(-1).focus") == ""


def test_a_focus_in_a_small_graph_fades_the_rest_and_moves_nothing(show):
    names, edges = CHAIN[:8], EDGES[:7]
    page = show(two(names, edges))
    before = columns(graph(page, "One"))
    graph(page, "One").locator('[data-node="3"]').click()
    after = columns(graph(page, "Two"))
    assert {k for k, (*_, away) in after.items() if not away} == {2, 3, 4}
    at = columns(graph(page, "One"))
    assert {k: v[:3] for k, v in at.items()} == {k: v[:3] for k, v in before.items()}
    graph(page, "One").locator("> svg").click(position={"x": 470, "y": 3})
    assert not any(away for *_, away in columns(graph(page, "One")).values())


def test_other_edges_leave_the_columns_where_they_are(show):
    names, edges = named(37)
    made = two(names, edges)
    page = show(made)
    before = [columns(graph(page, title)) for title in ("One", "Two")]
    fewer = PDAG.from_names(names, edges[:9])
    made["graphs"][0] = Pane("one", "One", fewer).as_dict()
    draw(page, made)
    assert [columns(graph(page, title)) for title in ("One", "Two")] == before
    assert len(links(graph(page, "One"))) == 9


def test_links_of_the_reference_alone_are_counted_where_they_are_many(show):
    names, edges = named(37)
    page = show(two(names, edges[:5], edges))
    assert links(graph(page, "One"), of="missing") == set()
    expect(graph(page, "One").get_by_role("heading")).to_contain_text("41 only there")
    page.get_by_role("button", name="Show links only in two").click()
    assert len(links(graph(page, "One"), of="missing")) == len(edges) - 5
    assert page.evaluate("looks.at(-1).links") == "all"
    expect(page.locator(".legend")).to_contain_text("only there")
    page.get_by_role("button", name="Hide links only in two").click()
    assert links(graph(page, "One"), of="missing") == set()
    # The legend names nothing that is not drawn.
    expect(page.locator(".legend")).not_to_contain_text("only there")
    few = show(two(CHAIN[:12], EDGES[:8], EDGES[:11]))
    assert len(links(graph(few, "One"), of="missing")) == 3
    expect(few.get_by_role("button", name="links only in two")).to_have_count(0)


def test_columns_without_a_link_are_one_line(show):
    page = show(two(CHAIN, EDGES[:6]))
    folded = page.locator(".folded")
    expect(folded).to_contain_text(label("columns-without-link", columns=19))
    assert len(columns(graph(page, "One"))) == 7


def test_a_link_is_chosen_by_a_click_and_by_the_page(show):
    names, edges = CHAIN[:6], EDGES[:5]
    made = two(names, edges)
    page = show(made)
    pair = graph(page, "One").locator('[data-pair="2-3"] .hit')
    pair.dispatch_event("click")
    assert page.evaluate("chosen.at(-1)") == [2, 3]
    expect(page.locator(".pair.chosen")).to_have_count(2)
    draw(page, {**made, "selected": [0, 1]})
    chosen = page.locator(".pair.chosen").evaluate_all("list => list.map(e => e.dataset.pair)")
    assert chosen == ["0-1"] * 2


def test_a_group_of_links_is_singled_out_and_let_go(show):
    names = CHAIN[:4]
    first = PDAG.from_names(names, EDGES[:3])
    groups = [("likely: 1", [(0, 1)]), ("inconclusive: 1 pair", [(0, 3)])]
    panes = [Pane("one", "One", first, groups=groups), Pane("two", "Two", first)]
    page = show(scene(shared_layout(names, graph=first), panes))
    faded = graph(page, "One").locator(".pair.away")
    pressed = page.locator(".groups button")
    pressed.nth(0).click()
    expect(faded).to_have_count(2)
    expect(graph(page, "Two").locator(".pair.away")).to_have_count(0)
    # A pair without a line gets one.
    pressed.nth(1).click()
    expect(faded).to_have_count(3)
    expect(graph(page, "One").locator('[data-pair="0-3"]')).to_have_count(1)
    expect(pressed.nth(1)).to_be_focused()
    pressed.nth(1).press("Enter")
    expect(page.locator(".pair.away")).to_have_count(0)


def test_a_dragged_column_and_the_zoom_are_shared_and_reset(show):
    page = show(two(CHAIN[:8], EDGES[:7]))
    before = columns(graph(page, "Two"))
    _, x, y, _ = columns(graph(page, "One"))[4]
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 60, y + 25, steps=4)
    page.mouse.up()
    moved = columns(graph(page, "Two"))
    assert {k for k in before if before[k] != moved[k]} == {4}
    assert page.evaluate("looks.length") == 0, "a column that is dragged is not chosen"
    page.get_by_role("button", name="Zoom in").click()
    assert columns(graph(page, "Two"))[0] != moved[0]
    page.get_by_role("button", name="Reset view").click()
    assert columns(graph(page, "Two")) == before


def test_names_are_text(show):
    names = ("</script><img src=x onerror=looks.push(1)>", "<b>b</b>", "c & d")
    made = json.loads(json.dumps(two(names, [(names[0], names[1])])))
    page = show(made, {"focus": "0"})
    for view in ({}, {"as": "matrix"}, {"focus": "1-to-0"}):
        draw(page, made, view)
        assert page.locator("#root img, #root b:not(.note b)").count() == 0
    assert page.evaluate("looks.length") == 0


def test_everything_fits_on_a_telephone(show):
    for view in ({}, {"focus": "5-to-9"}, {"as": "matrix"}):
        page = show(two(CHAIN, EDGES), view, width=390, height=800)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
