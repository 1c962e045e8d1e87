"""Scenes of graphs as plain data, and the colours that they are drawn in."""

import json
import re
import tomllib
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privcore.data import NETWORKS, load_network
from privcore.display.drawing import Pane, graph_css, graph_script, graph_svg, scene
from privcore.display.drawing.scene import EDGES, PALETTES
from privcore.display.edge_paths import short_forms
from privcore.display.layout import shared_layout
from privcore.graphs import PDAG, cpdag_of_dag
from privcore.graphs.pdag import PAG
from privcore.measures import CLASSES, compare
from privcore.text import short
from tests.messages import says

NAMES = ("a", "</script><img src=x onerror=alert(1)>", "🙂", 'q"uo\\te', "x" * 200)
GRAPH = PDAG(NAMES, frozenset({(0, 1), (2, 1)}), frozenset({(3, 4)}))
PLACES = shared_layout(NAMES)
THEMES = ("light", "dark")


def pairs(**how):
    made = scene(PLACES, [Pane("one", "One", GRAPH, **how)])
    return {(p["i"], p["j"]): p for p in made["graphs"][0]["pairs"]}


def test_nodes_and_edges():
    made = scene(PLACES, [Pane("one", "One", GRAPH)])
    assert made["names"] == list(NAMES)
    assert json.loads(json.dumps(made)) == made
    assert {p: e["mark"] for p, e in pairs().items()} == {(0, 1): "->", (1, 2): "<-", (3, 4): "--"}
    assert {e["kind"] for e in pairs().values()} == {"plain"}


def test_missing_and_unclear_pairs_are_drawn_beside_the_edges():
    reference = PDAG(NAMES, frozenset({(0, 1), (4, 0)}))
    drawn = pairs(reference=reference, kinds={(0, 1): "match"}, unclear=[(4, 2), (1, 0)])
    assert {p: e["kind"] for p, e in drawn.items()} == {
        (0, 1): "match",
        (0, 4): "missing",
        (1, 2): "plain",
        (2, 4): "unclear",
        (3, 4): "plain",
    }
    assert drawn[0, 4]["mark"] == "<-"


def test_a_pag_brings_the_meaning_of_its_marks():
    """Where only the reference is one, its circles are drawn too, and no graph claims to be."""
    assert {"pag", "marks"}.isdisjoint(scene(PLACES, [Pane("one", "One", GRAPH)]))
    pag = PAG.from_ends(NAMES, {(0, 1): ("o", ">"), (1, 2): (">", ">"), (3, 4): ("o", "o")})
    made = scene(PLACES, [Pane("one", "One", pag), Pane("two", "Two", GRAPH, reference=pag)])
    assert [graph.get("pag") for graph in made["graphs"]] == [True, None]
    assert [pair["mark"] for pair in made["graphs"][0]["pairs"]] == ["o->", "<->", "o-o"]
    assert {mark for mark, _, always in made["marks"] if always} == {"->", "<->", "o->", "o-o"}
    beside = PDAG(NAMES)
    drawn = scene(PLACES, [Pane("one", "One", beside, reference=pag)])
    assert drawn["pag"]
    assert {pair["mark"] for pair in drawn["graphs"][0]["pairs"]} == {"o->", "<->", "o-o"}


def test_wrong_sizes_are_refused():
    with pytest.raises(ValueError, match=says("positions-of-other-nodes")):
        scene(PLACES[:-1], [Pane("one", "One", GRAPH)])
    with pytest.raises(ValueError, match=says("different-nodes")):
        scene(PLACES, [Pane("one", "One", GRAPH), Pane("two", "Two", PDAG(("a", "b")))])


def test_the_order_of_the_matrix_puts_neighbours_side_by_side():
    """Two chains whose columns alternate: each stands together, and what is loose comes last."""
    names = tuple("abcdefghi")
    graph = PDAG(names, undirected=frozenset({(0, 2), (2, 4), (4, 6), (1, 3), (3, 5)}))
    order = scene(shared_layout(names, graph=graph), [Pane("one", "One", graph)])["order"]
    assert sorted(order) == list(range(9))
    first = order[:4] if order[0] % 2 == 0 else order[3:7]
    assert set(first) == {0, 2, 4, 6}
    assert first in ([0, 2, 4, 6], [6, 4, 2, 0])
    assert order[7:] == [7, 8]


def luminance(colour):
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, two):
    high, low = sorted((luminance(one), luminance(two)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", THEMES)
def test_contrast(theme):
    """WCAG 2.1: 4.5 for text, 3 for lines, on the page's own background."""
    palette = PALETTES[theme]
    for style in EDGES[theme].values():
        assert contrast(style.colour, palette.background) >= 3
    for series, shade in zip(palette.series, palette.shades, strict=True):
        assert min(contrast(each, palette.background) for each in (series, shade)) >= 3
        # By its light alone, a shade is told from its colour.
        assert contrast(series, shade) >= 1.6
    assert contrast(palette.text, palette.background) >= 4.5
    for end in (palette.surface, palette.map_end):
        assert contrast(palette.text, end) >= 4.5
    assert contrast(palette.muted, palette.background) >= 4.5
    # The borders of the toolbar's controls, and its button that is pressed.
    assert contrast(palette.node_border, palette.background) >= 3
    assert contrast(palette.link, palette.surface) >= 4.5
    assert contrast(palette.text, palette.node) >= 4.5
    assert contrast(palette.text, palette.halo) >= 4.5


@pytest.mark.parametrize("theme", THEMES)
def test_classes_of_edges_differ_by_more_than_colour(theme):
    styles = EDGES[theme]
    assert len({(styles[c].dash, styles[c].label) for c in CLASSES}) == len(CLASSES)


def test_every_colour_that_the_style_names_is_there_in_both_themes():
    css = graph_css()
    for theme in THEMES:
        (rule,) = re.findall(rf"\.cv\.{theme} {{([^}}]*)}}", css)
        defined = set(re.findall(r"--([\w-]+):", rule))
        used = set(re.findall(r"var\(--([\w-]+)\)", css)) - {"pane"}
        assert used <= defined
    for kind in EDGES["light"]:
        assert f".line.{kind}" in css


def test_nothing_is_fetched():
    assert not re.search(
        r"fetch\(|import |XMLHttp|https?://(?!www\.w3\.org/2000/svg)", graph_script()
    )
    assert "url(" not in graph_css()


SVG = "{http://www.w3.org/2000/svg}"


def grouped(root, name):
    return [group for group in root.iter(f"{SVG}g") if group.get("class") == name]


def test_a_picture_has_every_name_and_one_line_per_edge_in_its_class():
    graph = PDAG(NAMES, frozenset({(0, 1), (2, 1), (3, 0)}), frozenset({(3, 4)}))
    reference = PDAG(NAMES, frozenset({(1, 0), (4, 0), (3, 0)}), frozenset({(1, 2)}))
    kinds = {(pair.i, pair.j): pair.kind for pair in compare(graph, reference, "truth").pairs}
    words = {kind: f"<{kind}>" for kind in EDGES["light"]}
    pane = Pane("one", "t <&>", graph, kinds=kinds, reference=reference, widths={(0, 1): 1.25})
    drawn = graph_svg(pane, PLACES, words)
    assert drawn == graph_svg(pane, PLACES, words)
    root = ElementTree.fromstring(drawn)
    assert "t <&>" in root.get("aria-label")
    assert [node.find(f"{SVG}title").text for node in grouped(root, "node")] == list(NAMES)
    lines = {}
    for pair in grouped(root, "pair"):
        (line,) = [p for p in pair.iter(f"{SVG}path") if p.get("class").startswith("line ")]
        lines[tuple(map(int, pair.get("data-pair").split("-")))] = line
    assert {pair: line.get("class").split()[1] for pair, line in lines.items()} == kinds
    assert set(kinds.values()) == set(CLASSES)
    assert "1.25" in lines[0, 1].get("style")
    heads = {head.get("class") for head in root.iter(f"{SVG}polygon")}
    assert heads == {f"head {kind}" for kind in CLASSES if kind != "extra"}
    # The legend has the classes that occur, and no others.
    entries = ["".join(entry.itertext()) for entry in grouped(root, "entry")]
    assert sorted(entries) == sorted(words[kind] for kind in CLASSES)
    assert not {element.tag.removeprefix(SVG) for element in root.iter()} & {"script", "img", "b"}
    assert not re.search(r"https?:|url\(|@import", drawn.replace(SVG[1:-1], ""))


def test_the_styles_of_a_picture_hold_for_it_alone_and_follow_its_host():
    one, two = (graph_svg(Pane("one", title, GRAPH), PLACES) for title in ("One", "Two"))
    scopes = [re.search(r'class="(cv-\w+)"', drawn)[1] for drawn in (one, two)]
    assert len(set(scopes)) == 2
    style = re.search("<style>(.*)</style>", one, re.DOTALL)[1]
    assert all(scopes[0] in rule for rule in re.findall(r"[^{}]+(?={[^{}]+})", style))
    for theme in THEMES:
        assert PALETTES[theme].background in style
        for host in ("data-jp-theme-light", f".vscode-{theme}", "data-md-color-scheme"):
            assert host in style
    assert "screen and (prefers-color-scheme:dark)" in style
    with pytest.raises(ValueError, match=says("positions-of-other-nodes")):
        graph_svg(Pane("one", "One", GRAPH), PLACES[:-1])


def test_a_picture_of_a_pag_draws_and_explains_its_marks():
    pag = PAG.from_ends(NAMES, {(0, 1): ("o", ">"), (1, 2): (">", ">"), (3, 4): ("o", "o")})
    root = ElementTree.fromstring(graph_svg(Pane("one", "One", pag), PLACES))
    rings, heads = (list(root.iter(f"{SVG}{tag}")) for tag in ("circle", "polygon"))
    # Each mark on its edge, and once more in the legend.
    assert (len(rings), len(heads)) == (2 * 3, 2 * 3)
    assert len(grouped(root, "entry")) == 3


@pytest.mark.parametrize("name", NETWORKS)
def test_a_picture_has_whole_names_and_no_box_on_another(name):
    network = load_network(name)
    graph = cpdag_of_dag(network.names, PDAG.from_names(network.names, network.edges).directed)
    places = shared_layout(graph.nodes, graph=graph)
    root = ElementTree.fromstring(graph_svg(Pane("one", "t", graph), places))
    nodes = grouped(root, "node")
    assert ["".join(n.find(f"{SVG}text").itertext()) for n in nodes] == list(network.names)
    boxes = [
        [float(node.find(f"{SVG}rect").get(key)) for key in ("x", "y", "width", "height")]
        for node in nodes
    ]
    width, height = float(root.get("width")), float(root.get("height"))
    for x, y, wide, high in boxes:
        assert 0 <= x < x + wide <= width
        assert 0 <= y < y + high <= height
    for (ax, ay, aw, ah), (bx, by, bw, bh) in combinations(boxes, 2):
        assert ax + aw < bx or bx + bw < ax or ay + ah < by or by + bh < ay
    assert_no_line_meets_a_box(root)


def assert_no_line_meets_a_box(root):
    corners = np.array(
        [
            [float(node.find(f"{SVG}rect").get(key)) for key in ("x", "y", "width", "height")]
            for node in grouped(root, "node")
        ]
    )[:, None]
    low, high = corners[..., :2], corners[..., :2] + corners[..., 2:]
    for pair in grouped(root, "pair"):
        (line,) = [p for p in pair.iter(f"{SVG}path") if p.get("class").startswith("line ")]
        points = np.array([p.split() for p in line.get("d")[1:].split("L")], dtype=float)
        between = np.linspace(points[:-1], points[1:], 50).reshape(-1, 2)
        assert not ((low < between) & (between < high)).all(axis=2).any(), pair.get("data-pair")


def test_long_names_are_short_in_a_picture_and_its_legend_has_them_whole():
    names = tuple(f"Q{k + 1}. I have the tools and materials that I need ({k})" for k in range(25))
    dag = frozenset((i, j) for i in range(25) for j in (i + 1, i + 6) if j < 25)
    pane = Pane("one", "t", PDAG(names, dag))
    root = ElementTree.fromstring(graph_svg(pane, shared_layout(names, dag=dag)))
    nodes = grouped(root, "node")
    assert [node.find(f"{SVG}title").text for node in nodes] == list(names)
    assert ["".join(n.find(f"{SVG}text").itertext()) for n in nodes] == list(short_forms(names))
    explained = " ".join("".join(entry.itertext()) for entry in grouped(root, "entry"))
    assert explained == " ".join(f"Q{k + 1}: {name}" for k, name in enumerate(names))
    assert_no_line_meets_a_box(root)


@given(names=st.lists(st.text(min_size=1, max_size=8), min_size=2, max_size=5, unique=True))
def test_any_name_survives_xml(names):
    graph = PDAG(tuple(names), frozenset({(0, 1)}))
    ElementTree.fromstring(graph_svg(Pane("one", "t", graph), shared_layout(names)))


@pytest.mark.parametrize("theme", THEMES)
def test_streamlit_s_configuration_has_the_same_colours(theme):
    path = Path(__file__).parents[2] / ".streamlit" / "config.toml"
    config = tomllib.loads(path.read_text())
    palette, colours = PALETTES[theme], config["theme"][theme]
    assert colours["backgroundColor"] == palette.background
    assert colours["secondaryBackgroundColor"] == palette.surface
    assert colours["textColor"] == palette.text
    assert colours["primaryColor"] == palette.primary
    assert tuple(colours["chartCategoricalColors"]) == palette.series
    assert config["server"]["address"] == "127.0.0.1"
    assert config["browser"]["gatherUsageStats"] is False
    assert config["client"]["showErrorDetails"] == "none"


@given(st.lists(st.text("ab1. _", min_size=1, max_size=30), min_size=1, max_size=12, unique=True))
def test_short_forms_differ(names):
    forms = short_forms(names)
    different = {short(name) or i for i, name in enumerate(names)}
    assert len(set(forms)) >= len(different)


def test_a_short_form_is_the_code_before_the_question():
    names = ["Q1. I have what I need", "Q12: I know what I do", "systolic_pressure", "age"]
    assert short_forms(names) == ["Q1", "Q12", "systolic", "age"]
    assert short_forms(["cups of coffee a week", "cups of coffee a day", "cups of tea a day"]) == [
        "cups of …1",
        "cups of …2",
        "cups of tea",
    ]


REPEATED = ("a", "b", "a2", "c", "a3")
WITH_REPEATS = PDAG(REPEATED, frozenset({(0, 2), (0, 4)}), frozenset({(0, 1), (1, 3)}))
SPOTS = tuple((float(k), 0.0) for k in range(5))


def test_columns_that_repeat_another_are_drawn_as_one_node_with_it():
    pane = Pane(
        "one",
        "One",
        WITH_REPEATS,
        kinds={(0, 1): "match", (0, 2): "extra"},
        unclear=[(0, 3), (2, 3)],
        texts={(1, 3): "here", (0, 4): "there"},
        widths={(1, 3): 2.0, (0, 4): 3.0},
        groups=[("sure", [(0, 1), (0, 2)])],
        repeats={2: 0, 4: 0},
    )
    made = scene(SPOTS, [pane], selected=(1, 3), tiers=(1, 2, 1, 3, None))
    assert made["names"] == ["a = a2 = a3", "b", "c"]
    assert made["columns"] == [0, 1, 3]
    assert made["places"] == [[0, 0], [1, 0], [3, 0]]
    assert made["tiers"] == [1, 2, 3]
    assert made["selected"] == [1, 2]
    (graph,) = made["graphs"]
    assert graph["pairs"] == [
        {"i": 0, "j": 1, "mark": "--", "kind": "match"},
        {"i": 0, "j": 2, "mark": "--", "kind": "unclear"},
        {"i": 1, "j": 2, "mark": "--", "kind": "plain", "text": "here", "width": 2.0},
    ]
    assert graph["groups"] == [{"text": "sure", "pairs": [[0, 1]]}]
    assert scene(SPOTS, [pane], selected=(0, 2))["selected"] is None
    assert ">a = a2 = a3<" in graph_svg(pane, SPOTS)


def test_a_repeat_that_any_graph_links_with_others_stays_a_node():
    pane = Pane("one", "One", WITH_REPEATS, repeats={2: 0, 4: 0})
    other = Pane("two", "Two", PDAG(REPEATED, undirected=frozenset({(2, 3)})))
    assert scene(SPOTS, [pane, other])["names"] == ["a = a3", "b", "a2", "c"]
    reference = Pane("one", "One", WITH_REPEATS, reference=other.graph, repeats={2: 0, 4: 0})
    assert scene(SPOTS, [reference])["columns"] == [0, 1, 2, 3]
    assert scene(SPOTS, [other])["columns"] == [0, 1, 2, 3, 4]


def test_circles_of_a_pag_stay_where_repeats_are_drawn_as_one():
    ends = {(0, 2): ("-", ">"), (0, 1): ("o", ">"), (1, 3): ("o", "o")}
    pag = PAG.from_ends(REPEATED, ends)
    made = scene(SPOTS, [Pane("one", "One", pag, repeats={2: 0})])
    assert made["pag"]
    assert [pair["mark"] for pair in made["graphs"][0]["pairs"]] == ["o->", "o-o"]
