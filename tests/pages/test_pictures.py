"""Pictures for slides and print: whole files that say what they show, the same each time."""

from __future__ import annotations

import contextlib
import io
import json
import subprocess
import sys
import zlib
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import plotly.graph_objects as go
import pytest
from streamlit.testing.v1 import AppTest

from pages.ui import texts
from pages.ui.controls.data import prepare
from pages.ui.pictures import graphs as drawing
from pages.ui.pictures.graphs import graph_picture
from pages.ui.pictures.notebook import notebook
from pages.ui.pictures.plots import chart_picture
from pages.ui.pictures.run import RunPictures, run_lines, run_page
from pages.ui.pictures.sheet import FORMS
from pages.ui.theme import PALETTES
from privcore.algorithms import discover
from privcore.data import load_network
from privcore.display.answer import CLASS_WORDS
from privcore.display.drawing import Pane
from privcore.display.drawing.scene import dense
from privcore.display.edge_paths import routes
from privcore.display.layout import shared_layout
from privcore.graphs import PDAG
from privcore.intake import build_dataset, read_table
from privcore.intake.triage import proposed_schema
from privcore.measures import compare
from privcore.measures.references import non_private_reference, references_of
from privcore.privacy.mechanisms import NoNoise
from tests.examples import few
from tests.messages import begins, label, says, shows
from tests.pages.charts_of_pages import CHARTS, charts, defined
from tests.pages.opening import graphs, open_page

ROOT = Path(__file__).parents[2]
LONG = "a_name_of_sixty_letters_" + "x" * 36
NAMES = ("$x^2$", "<b>bold</b>", LONG, "bell\x07 & \\frac{1}{2}", "**stars**", "\ud800 $\\frac{$")
GRAPH = PDAG(NAMES, frozenset({(0, 1), (2, 3)}), frozenset({(1, 2)}), frozenset({(3, 4)}))
OTHER = PDAG(NAMES, frozenset({(1, 0), (2, 3), (0, 5)}))
PLACES = shared_layout(NAMES)
CLASSES = {(p.i, p.j): p.kind for p in compare(GRAPH, OTHER, "other").pairs}
LINES = [
    "Proven: (ε = 1, δ = 0) & $<b>$, fixed before the run.",
    "Settings: 2,000 rows.",
    "A bell\x07.",
]
TITLE = "A graph of $x^2$ <b>and more"


def drawn(form, **options):
    pane = Pane("a", "", GRAPH, **options)
    return graph_picture([pane], PLACES, title=TITLE, lines=LINES, form=form)


def both(form):
    return graph_picture(
        [
            Pane("a", "Private graph", GRAPH, "", CLASSES, OTHER, [(4, 5)], widths={(0, 1): 1.5}),
            Pane("b", "Non-private PC", OTHER),
        ],
        PLACES,
        title=TITLE,
        lines=LINES,
        reference_name="non-private PC",
        form=form,
    )


def check(form, made, *said):
    """It is a whole file of that form; an SVG says what stands in it."""
    if form == "png":
        assert made.startswith(b"\x89PNG\r\n\x1a\n")
        assert made.endswith(b"IEND\xaeB`\x82")
        size = (int.from_bytes(made[16:20], "big"), int.from_bytes(made[20:24], "big"))
        assert size == (3200, 1800)
    elif form == "pdf":
        assert made.startswith(b"%PDF-")
        assert made.rstrip().endswith(b"%%EOF")
        # TrueType, so that it looks the same where the font is not.
        assert b"/FontFile2" in made
        assert b"Date" not in made
    else:
        root = ElementTree.fromstring(made)
        assert b"dc:date" not in made
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        text = "".join(root.itertext())
        for each in said:
            assert each in text
        # Letters are outlines, and nothing is fetched.
        assert not root.findall(".//{http://www.w3.org/2000/svg}text")
        for image in root.iter("{http://www.w3.org/2000/svg}image"):
            assert image.get("{http://www.w3.org/1999/xlink}href").startswith("data:image/png")


def words(made):
    """What an SVG writes: matplotlib puts each text beside its outlines, as a comment."""
    parser = ElementTree.XMLParser(target=ElementTree.TreeBuilder(insert_comments=True))
    root = ElementTree.fromstring(made, parser)
    return [e.text.strip() for e in root.iter() if e.tag is ElementTree.Comment]


@pytest.mark.long
@pytest.mark.parametrize("form", FORMS)
def test_pictures_are_whole_files_and_say_their_title_and_guarantee(form):
    check(form, drawn(form, kinds=CLASSES, reference=OTHER), TITLE, LINES[0], LINES[1])
    check(form, both(form), TITLE, LINES[0], LINES[1])
    figure = MADE["papers/charts.py:small_panels"]()
    made = chart_picture(figure, title=TITLE, lines=LINES, form=form)
    check(form, made, TITLE, LINES[0])
    assert chart_picture(figure, title=TITLE, lines=LINES, form=form) == made


def test_names_are_written_as_they_are():
    told = " ".join(words(drawn("svg")))
    for name in ("$x^2$", "&lt;b&gt;bold&lt;/b&gt;", "\\frac{1}{2}", "**stars**"):
        assert name in told
    assert "\x07" not in told
    # A long name is wrapped, and all of it is there.
    assert LONG in "".join(words(drawn("svg")))


def test_the_legend_names_the_classes_that_occur():
    told = " ".join(words(both("svg")))
    kinds = {*CLASSES.values(), "unclear"}
    assert {k for k, said in CLASS_WORDS["non_private"].items() if said in told} == kinds
    pane = Pane("a", "", GRAPH, kinds=CLASSES)
    judged = graph_picture([pane], PLACES, title="", lines=(), reference_name="truth", form="svg")
    assert "invented" in " ".join(words(judged))
    own = graph_picture([pane], PLACES, title="", lines=(), reference_name="your graph", form="svg")
    assert "supported" in " ".join(words(own))
    assert label("reference-pc") in told
    alone = " ".join(words(drawn("svg")))
    assert "reference" not in alone
    assert "in both" not in alone


@pytest.mark.long
def test_another_process_gives_the_same_bytes():
    code = (
        "import sys; from tests.pages.test_pictures import both\n"
        "import zlib; print([zlib.crc32(both(form)) for form in ('png', 'svg', 'pdf')])"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={"PYTHONHASHSEED": "7", "PYTHONPATH": str(ROOT), "HOME": str(Path.home())},
        capture_output=True,
        check=True,
    )
    assert json.loads(run.stdout.decode()) == [zlib.crc32(both(form)) for form in FORMS]


def test_a_dark_figure_is_drawn_in_the_light_colours():
    made = {}
    for theme, palette in PALETTES.items():
        figure = go.Figure(go.Bar(x=["a"], y=[1], marker_color=palette.series[0]))
        figure.update_layout(paper_bgcolor=palette.background, font_color=palette.text)
        made[theme] = chart_picture(figure, title="t", lines=[], form="svg")
    assert made["dark"] == made["light"]


def boxes_of(names, dag, width=1092.0, height=420.0):
    """Boxes of names of which no two touch."""
    boxes = drawing._boxes(names, shared_layout(names, dag=dag), width, height)
    offset = np.abs(boxes.centre[:, None] - boxes.centre[None])
    apart = (offset >= boxes.half[:, None] + boxes.half[None]).any(axis=2)
    assert apart[~np.eye(len(boxes.centre), dtype=bool)].all()
    return boxes


@pytest.mark.parametrize("network", few(["asia", "alarm", "child"], 2))
def test_no_two_names_touch_and_all_can_be_read(network):
    held = load_network(network).sample(10, 1)
    boxes = boxes_of(held.names, PDAG.from_names(held.names, held.true_edges).directed)
    assert boxes.size >= 14
    assert (boxes.centre - boxes.half >= -1e-6).all()
    assert (boxes.centre + boxes.half <= np.array([1092.0, 420.0]) + 1e-6).all()


def test_names_without_room_are_short_and_a_legend_has_them_whole():
    names = tuple(f"Q{k + 1}. I have the tools and materials that I need ({k})" for k in range(25))
    dag = {(i, j) for i in range(25) for j in (i + 1, i + 6) if j < 25}
    boxes = boxes_of(names, dag, 530.0, 380.0)
    assert boxes.size >= 10
    assert boxes.names == [[f"Q{k + 1}"] for k in range(25)]
    assert boxes.explained == tuple((f"Q{k + 1}", name) for k, name in enumerate(names))
    for (i, j), way in zip(
        dag, routes(boxes.centre, boxes.half, dag, 0.8 * boxes.size), strict=True
    ):
        path = dense(way)
        within = (np.abs(path[:, None] - boxes.centre) < boxes.half).all(axis=2).any(axis=0)
        assert not within[[k for k in range(25) if k not in (i, j)]].any()
    graph = PDAG(names, frozenset(dag))
    panes, places = [Pane("a", "", graph)], shared_layout(names, dag=dag)
    made = graph_picture(panes, places, title=TITLE, lines=[], form="svg")
    text = made.decode()
    assert all(f"({k})" in text for k in range(25))


def test_an_edge_bends_around_a_node_in_its_way_and_stays_on_the_sheet():
    centre = np.array([[100.0, 60.0], [500, 60], [900, 60], [500, 400]])
    boxes = drawing._Boxes(
        centre, np.tile([60.0, 20.0], (4, 1)), [["a"], ["b"], ["c"], ["d"]], 18.0
    )
    straight, *bent = routes(boxes.centre, boxes.half, [(0, 1), (0, 2), (2, 0)], 14.0)
    assert np.ptp(straight[:, 1]) < 1e-9
    for way in bent:
        assert not (np.abs(dense(way) - centre[1]) < boxes.half[1]).all(axis=1).any()
        # There is no room above.
        assert way[:, 1].min() >= 32


def test_wrong_arguments_are_refused():
    with pytest.raises(ValueError, match=says("positions-of-other-nodes", positions=5, nodes=6)):
        graph_picture([Pane("a", "", GRAPH)], PLACES[:-1], title="", lines=[], form="svg")
    with pytest.raises(ValueError, match=says("different-nodes")):
        drawn("svg", reference=PDAG(("a", "b")))
    with pytest.raises(ValueError, match=says("no-such-class-of-edges", name="odd")):
        drawn("svg", kinds={(0, 1): "odd"})
    with pytest.raises(
        ValueError, match=says("no-such-picture", name="gif", names="png, svg, pdf")
    ):
        drawn("gif")


MADE = charts()


def test_every_chart_of_the_pages_has_data_here():
    assert set(CHARTS) <= defined() == set(MADE)


@pytest.mark.long
@pytest.mark.parametrize("chart", few(MADE, 6))
def test_every_chart_converts(chart):
    made = chart_picture(MADE[chart](), title=TITLE, lines=LINES, form="svg")
    check("svg", made, TITLE, LINES[0])


@pytest.mark.parametrize(
    ("trace", "message"),
    [
        (go.Violin(y=[1, 2]), says("no-picture-of-chart", chart="violin")),
        (go.Scatter(x=[1], y=[1], mode="markers", marker_symbol="asterisk"), "'asterisk'"),
    ],
)
def test_what_no_page_uses_is_refused_in_a_sentence(trace, message):
    with pytest.raises(ValueError, match=message) as refused:
        chart_picture(go.Figure(trace), title="", lines=[], form="svg")
    assert "pages/ui/pictures/plots.py" in str(refused.value)


def test_lines_stand_at_their_values_and_notes_at_logarithms_as_in_plotly():
    figure = go.Figure(go.Scatter(x=[1, 10, 100], y=[1, 2, 3]))
    figure.update_xaxes(type="log")
    figure.add_shape(type="line", x0=10, x1=10, y0=0, y1=1, yref="paper")
    figure.add_annotation(x=1, y=2, text="ten", showarrow=False)
    at = {}
    original = drawing.picture

    def held(draw, **options):
        def watched(body):
            draw(body)
            axes = body.axes[0]
            at["line"] = axes.lines[-1].get_xdata()[0]
            at["note"] = axes.texts[0].get_position()[0]

        return original(watched, **options)

    from pages.ui.pictures import plots

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plots, "picture", held)
        chart_picture(figure, title="", lines=[], form="svg")
    assert at == {"line": 10, "note": 10}


def table():
    """Dependent columns with odd names, and gaps."""
    rows = ["x,$x^2$,<b>age</b>"]
    for k in range(400):
        x = (k * 7) % 5 < 2
        rows.append(
            f"{'yes' if x else 'no'},{'' if k % 50 == 0 else x + k % 9 // 8},{20 + 9 * x}.5"
        )
    return "\n".join([*rows, ""])


def made_run(algorithm="moment-search", folder=None, missing="level", **parameters):
    """A run on cancer, or on a table in `folder`, with all that a picture of it needs."""
    schema = None
    if folder is None:
        dataset = load_network("cancer").sample(2_000, seed=1)
    else:
        path = folder / "a table.csv"
        path.write_text(table())
        raw = read_table(path.read_bytes(), path.name)
        schema = [replace(c, missing=missing == "level") for c in proposed_schema(raw)]
        dataset = build_dataset(raw, schema, name=str(path), missing=missing)
    loaded = prepare(dataset, is_network=folder is None, seed=1)
    seed = None if algorithm == "pc" else 3
    result = discover(loaded.source, algorithm, parameters, seed=seed)
    base = non_private_reference(loaded.source, result)
    references = references_of(dataset, result, non_private=base)
    made = RunPictures(result, dataset, loaded.positions, references, seed, "non_private")
    return made, loaded, schema


@pytest.mark.long
def test_what_stands_under_a_picture_of_a_run():
    pictures, *_ = made_run(epsilon=2.0)
    said = run_lines(pictures.result, pictures.dataset, seed=3)
    assert said[0].startswith("Proven: (ε = 2, ")
    assert begins(said[1], "settings-of-run", data="cancer", rows="2,000", columns=5, epsilon=2)
    assert said[1].endswith("noise seed 3.")
    assert shows(said[2], "not-a-release")
    compared = run_lines(pictures.result, pictures.dataset, seed=3, compared=True)
    assert compared == [*said, label("not-private-graph-and-metrics")]
    check("svg", pictures.graph("svg"), *said)
    check("svg", pictures.pair("svg"), *compared)


def test_what_is_not_proven_says_so():
    pictures, *_ = made_run("priv-pc", epsilon=1.0, calibration="published")
    said = run_lines(pictures.result, pictures.dataset, seed=3)[0]
    assert said.startswith("Not proven. ")
    assert shows(said, "not-a-guarantee")
    assert "under Guarantee" not in said
    assert "Private graph" not in words(pictures.pair("svg"))


def test_the_picture_of_the_graph_alone_compares_with_nothing():
    pictures, *_ = made_run(epsilon=1.0)
    alone = replace(pictures, references={})
    assert alone.graph("svg") == pictures.graph("svg")


def test_names_in_a_guarantee_have_no_escapes(tmp_path):
    pictures, *_ = made_run(folder=tmp_path, epsilon=1.0)
    said = " ".join(run_lines(pictures.result, pictures.dataset, seed=3))
    assert "$x^2$, <b>age</b>" in said
    assert "\\" not in said


@pytest.mark.parametrize("algorithm", ["moment-search", "pc"])
def test_a_page_to_print_holds_the_run_and_fetches_nothing(algorithm, tmp_path):
    pictures, loaded, _ = made_run(algorithm, folder=tmp_path)
    page = run_page(pictures, loaded)
    assert page.count("<svg") == (1 if algorithm == "pc" else 2)
    assert "size: A4" in page
    assert "default-src 'none'" in page
    assert "&lt;b&gt;age&lt;/b&gt;" in page
    assert "<b>" not in page
    assert "python -m privcore discover" in page
    assert "result = discover(" in page
    for fetched in ("<script", "<link", "<img", "src=", "@import", "url(http"):
        assert fetched not in page
    assert (shows(page, "are-not-private")) == (algorithm != "pc")
    if algorithm == "pc":
        assert shows(page, "no-privacy-is-promised")


def run_cells(text):
    """What the cells of code print, after checking the form of the notebook."""
    book = json.loads(text)
    assert (book["nbformat"], book["nbformat_minor"]) == (4, 5)
    ids = [cell["id"] for cell in book["cells"]]
    assert len(set(ids)) == len(ids)
    scope, out = {}, io.StringIO()
    with contextlib.redirect_stdout(out):
        for cell in book["cells"]:
            if cell["cell_type"] == "code":
                exec("".join(cell["source"]), scope)
    return out.getvalue(), scope


def test_a_notebook_makes_the_run_again():
    pictures, loaded, _ = made_run(epsilon=2.0)
    printed, scope = run_cells(notebook(pictures, loaded))
    assert scope["result"].graph == pictures.result.graph
    assert scope["result"].guarantee == pictures.result.guarantee
    assert shows(printed, "same-graph")
    assert (
        compare(pictures.result.graph, pictures.references["non_private"], "").summary() in printed
    )


@pytest.mark.long
@pytest.mark.parametrize(("stated", "missing"), [(True, "level"), (True, "drop"), (False, "level")])
def test_a_notebook_reads_a_table_from_its_path_with_its_schema(stated, missing, tmp_path):
    pictures, loaded, schema = made_run(folder=tmp_path, missing=missing, epsilon=5.0)
    text = notebook(pictures, loaded, schema=schema if stated else None)
    printed, scope = run_cells(text)
    assert scope["dataset"].columns == loaded.dataset.columns
    assert scope["result"].graph == pictures.result.graph
    assert shows(printed, "same-graph")
    assert shows(text, "path-of-your-file")


@pytest.mark.long
def test_nothing_is_drawn_before_a_picture_is_wanted():
    code = "import sys, pages.ui.charts, pages.ui.pictures.run; print('matplotlib' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=True)
    assert run.stdout.decode().strip() == "False"


def test_a_popover_has_a_button_for_each_form_and_makes_none_before():
    def page():
        from pages.ui.layout import picture_buttons

        def make(form):
            raise AssertionError(f"{form} was not requested")

        picture_buttons(make, "chart", "Save")

    app = AppTest.from_function(page).run()
    assert not app.exception
    buttons = app.get("download_button")
    assert [button.label for button in buttons] == ["PNG", "SVG", "PDF"]


def test_discover_offers_pictures_a_page_and_a_notebook():
    app = open_page("discover", data="cancer", rows="2000", discover_tab="Export & code")
    buttons = [button.label for button in app.get("download_button")]
    forms = ["PNG", "SVG", "PDF"]
    # From the row at the top, and in the tab: both graphs, and the run's alone.
    page = ["Interactive page", "Session"]
    assert buttons[:13] == [*forms, *page, *forms, *forms, "Print page", "Notebook"]


REFERENCES = {
    "truth": "truth",
    "non_private": "non-private PC",
    "same": "same algorithm, no noise",
    "own_test": "the algorithm's own test",
}


@pytest.mark.parametrize("kind", REFERENCES)
def test_the_picture_shows_what_the_page_shows(kind, monkeypatch):
    """The same reference, the same classes of edges, and the finding as its title."""
    query = {"data": "asia", "rows": "5000", "algorithm": "priv-pc", "epsilon": "3"}
    app = open_page("discover", **query, discover_reference=REFERENCES[kind])
    shown = graphs(app)[:2]
    dataset = load_network("asia").sample(5_000, app.session_state["data_seed"])
    loaded = prepare(dataset, is_network=True, seed=1)
    asked = {"epsilon": 3.0}
    result = discover(loaded.source, "priv-pc", asked, seed=app.session_state["seed"])
    references = references_of(
        dataset, result, non_private=non_private_reference(loaded.source, result)
    )
    if kind == "own_test":
        references[kind] = non_private_reference(loaded.source, result, reference=kind).graph
    if kind == "same":
        references[kind] = discover(loaded.source, "priv-pc", asked, noise=NoNoise()).graph
    made = RunPictures(result, dataset, loaded.positions, references, 1, kind)
    drawn = {}

    def seen(panes, *_, title, **__):
        drawn.update(panes=tuple(panes), title=title)
        return b""

    monkeypatch.setattr("pages.ui.pictures.run.graph_picture", seen)
    made.pair("svg")
    assert app.title[0].value.startswith(texts.marked(drawn["title"]))
    for graph, picture in zip(shown, drawn["panes"], strict=True):
        on_page = {(e["i"], e["j"]): e["kind"] for e in graph["pairs"] if e["kind"] != "plain"}
        assert on_page == dict(picture.kinds)
        drawn_links = {(e["i"], e["j"]) for e in graph["pairs"] if e["kind"] != "missing"}
        assert drawn_links == picture.graph.skeleton
