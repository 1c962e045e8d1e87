"""Graph pages: complete, offline, and with nothing of a name outside their data."""

import json
import re
import tomllib
from html.parser import HTMLParser
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pages.ui.graphs.view import graph_html, legend_html
from pages.ui.theme import EDGES, PALETTES
from privcore.data import NETWORKS, load_network
from privcore.graphs import PDAG
from privcore.graphs.boxes import box_size
from privcore.graphs.layout import shared_layout
from privcore.measures import CLASSES
from privcore.text import short
from tests.examples import examples

NAMES = ("a", "</script><img src=x onerror=alert(1)>", "🙂", 'q"uo\\te', "x" * 200)
GRAPH = PDAG(NAMES, frozenset({(0, 1), (2, 1)}), frozenset({(3, 4)}))
PLACES = shared_layout(NAMES)
THEMES = ("light", "dark")


class Page(HTMLParser):
    """Tags and the text of the data element."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.data, self._in_data = [], "", False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self._in_data = tag == "script" and dict(attributes).get("id") == "data"

    def handle_endtag(self, tag):
        self._in_data = False

    def handle_data(self, text):
        if self._in_data:
            self.data += text


def model(**options):
    page = Page(graph_html(GRAPH, PLACES, **options))
    return page, json.loads(page.data)


def test_nodes_and_edges():
    _, data = model()
    assert [n["title"] for n in data["nodes"]] == list(NAMES)
    assert {e["kind"] for e in data["edges"]} == {"plain"}
    edges = {(e["from"], e["to"], e["arrows"]) for e in data["edges"]}
    assert edges == {(0, 1, "to"), (2, 1, "to"), (3, 4, "")}
    assert data["options"]["physics"] == {"enabled": False}


def boxes(data):
    """Left, right, top and bottom of each node's box, as drawn."""
    for node in data["nodes"]:
        wide, high = box_size(node["label"])
        yield node["x"] - wide / 2, node["x"] + wide / 2, node["y"] - high / 2, node["y"] + high / 2


def apart(data):
    return all(
        a[1] < b[0] or b[1] < a[0] or a[3] < b[2] or b[3] < a[2]
        for a, b in combinations(boxes(data), 2)
    )


@settings(max_examples=examples(50), deadline=None)
@given(names=st.lists(st.text(max_size=60), min_size=1, max_size=14, unique=True), data=st.data())
def test_labels_are_whole_and_boxes_never_overlap(names, data):
    pairs = st.sets(st.sampled_from(list(combinations(range(len(names)), 2)) or [None]))
    edges = data.draw(pairs) - {None}
    graph = PDAG(tuple(names), undirected=frozenset(edges))
    drawn = json.loads(Page(graph_html(graph, shared_layout(names, graph=graph))).data)
    for i, (name, node) in enumerate(zip(names, drawn["nodes"], strict=True)):
        assert "".join(node["label"].split()) == "".join(
            (short(name, 200) or f"column {i + 1}").split()
        )
    assert apart(drawn)


@pytest.mark.parametrize("name", NETWORKS)
def test_boxes_of_networks_do_not_overlap(name):
    network = load_network(name)
    graph = PDAG.from_names(network.names, network.edges)
    places = shared_layout(network.names, dag=graph.directed)
    drawn = json.loads(Page(graph_html(graph, places)).data)
    assert apart(drawn)
    # Rows keep their order, so that arrows still point down.
    y = [node["y"] for node in drawn["nodes"]]
    assert all(y[i] < y[j] for i, j in graph.directed)


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("HYPOVOLEMIA", "HYPOVOLEMIA"),
        ("readmitted within thirty days", "readmitted\nwithin thirty\ndays"),
        ("creatinineClearance", "creatinine\nClearance"),
        ("systolic_blood_pressure", "systolic_\nblood_\npressure"),
    ],
)
def test_long_names_are_wrapped_between_words(name, label):
    page = Page(graph_html(PDAG((name,)), [(0.0, 0.0)]))
    assert json.loads(page.data)["nodes"][0]["label"] == label


def test_the_page_says_what_it_is_and_every_control_has_a_name():
    page, _ = model(caption="Private graph")
    tags = [tag for tag, _ in page.tags]
    assert dict(page.tags)["html"] == {"lang": "en"}
    assert "title" in tags
    assert "main" in tags
    controls = [a for t, a in page.tags if t in ("button", "input")]
    assert [c["aria-label"] for c in controls] == [
        "Find a node",
        "Zoom out",
        "Zoom in",
        "Reset view",
        "Full screen",
        "Save PNG",
    ]


def test_missing_edges_are_drawn_from_the_reference():
    reference = PDAG(NAMES, frozenset({(0, 1), (4, 0)}))
    _, data = model(reference=reference)
    drawn = {e["id"]: e for e in data["edges"]}
    assert drawn["0-4"]["dashes"] == [10, 6]
    assert drawn["0-4"]["kind"] == "missing"
    assert (drawn["0-4"]["from"], drawn["0-4"]["to"]) == (4, 0)
    assert len(drawn) == 4


@pytest.mark.parametrize("theme", THEMES)
def test_nothing_is_fetched_and_only_known_scripts_may_run(theme):
    page, _ = model(theme=theme)
    for tag, attributes in page.tags:
        assert tag not in ("link", "img", "iframe", "object")
        assert "src" not in attributes
        assert "href" not in attributes
    policy = next(a["content"] for t, a in page.tags if a.get("http-equiv"))
    assert "default-src 'none'" in policy
    assert "unsafe-eval" not in policy
    assert "script-src 'sha256-" in policy


@settings(max_examples=examples(50), deadline=None)
@given(names=st.lists(st.text(min_size=1, max_size=30), min_size=2, max_size=4, unique=True))
def test_any_name_stays_inside_the_data(names):
    graph = PDAG(tuple(names), frozenset({(0, 1)}))
    page = Page(graph_html(graph, shared_layout(names), caption=names[0]))
    assert len(json.loads(page.data)["nodes"]) == len(names)
    assert [t for t, _ in page.tags if t == "script"] == ["script"] * 3
    assert not re.search(r"[<>&\u2028\u2029]", page.data)


def test_wrong_sizes_are_refused():
    with pytest.raises(ValueError, match="positions"):
        graph_html(GRAPH, PLACES[:-1])
    with pytest.raises(ValueError, match="different nodes"):
        graph_html(GRAPH, PLACES, reference=PDAG(("a", "b")))


def test_positions_are_the_same_whatever_the_edges():
    other = PDAG(NAMES)
    one = model()[1]["nodes"]
    two = json.loads(Page(graph_html(other, PLACES)).data)["nodes"]
    assert [(n["x"], n["y"]) for n in one] == [(n["x"], n["y"]) for n in two]


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
    for series in palette.series:
        assert contrast(series, palette.background) >= 3
    assert contrast(palette.text, palette.background) >= 4.5
    for end in (palette.surface, palette.map_end):
        assert contrast(palette.text, end) >= 4.5
    assert contrast(palette.muted, palette.background) >= 4.5
    # The borders of the toolbar's controls, and its button that is pressed.
    assert contrast(palette.node_border, palette.background) >= 3
    assert contrast(palette.text, palette.node) >= 4.5
    assert contrast(palette.text, palette.halo) >= 4.5


@pytest.mark.parametrize("theme", THEMES)
def test_classes_of_edges_differ_by_more_than_colour(theme):
    styles = EDGES[theme]
    classes = CLASSES
    assert len({(styles[c].dash, styles[c].label) for c in classes}) == len(classes)
    legend = legend_html(theme, "truth", classes)
    assert all(c in legend for c in classes)
    assert {"solid", "dotted", "dashed"} <= set(re.findall(r"solid|dotted|dashed", legend))


def test_the_legend_escapes_its_reference():
    assert "<img" not in legend_html("light", "<img src=x>", ("match",))


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
