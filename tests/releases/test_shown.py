"""A result shows itself: in a notebook, as a page and as a picture, saying what is not private."""

import re
from itertools import pairwise
from xml.etree import ElementTree

import pandas as pd
import pytest

import privcore
from privcore.algorithms import count
from privcore.data.network import TIERS
from privcore.errors import DataError, ParameterError
from privcore.graphs import PDAG
from privcore.graphs.knowledge import Knowledge
from privcore.intake.schema import ColumnSchema
from privcore.measures.references import non_private_reference
from tests.messages import raises_code, says, shows

MARKUP = "</script><img src=x onerror=alert(1)>"
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def asia():
    return privcore.load_network("asia").sample(20_000, seed=1)


@pytest.fixture(scope="module")
def result(asia):
    return privcore.discover(asia, epsilon=0.8, seed=7)


def drawings(text):
    return [ElementTree.fromstring(svg) for svg in re.findall(r"<svg.*?</svg>", text, re.DOTALL)]


def nothing_is_fetched(text):
    inside = text.replace("http://www.w3.org/2000/svg", "")
    return not re.search(r"https?:|<script|<link|<img|<[^>]*src=|@import|url\(", inside)


def test_a_result_alone(result):
    part = result._repr_html_()
    assert part == result._repr_html_()
    assert len(drawings(part)) == 1
    assert nothing_is_fetched(part)
    assert "ε = 0.8" in part
    assert shows(part, "simulated")
    assert not shows(part, "are-not-private")


def test_a_result_next_to_the_truth_and_to_a_run_without_privacy(asia, result):
    pc = privcore.discover(asia, "pc")
    without = non_private_reference(count(asia), result, reference="same")
    page = without.html()
    assert shows(page, "no-privacy-promised")
    assert ".." not in page
    assert "Moment search without privacy" in privcore.show(result, without).html()
    for reference in (asia, PDAG.from_names(asia.names, asia.true_edges), pc):
        shown = privcore.show(result, reference)
        part = shown._repr_html_()
        assert len(drawings(part)) == 2
        assert shows(part, "are-not-private")
        classes = set(re.findall(r'"line (\w+)"', shown.svg()))
        assert classes == set(re.findall(r'"line (\w+)"', part)) - {"plain"}
        assert "match" in classes
    assert privcore.show(result, pc)._repr_html_() != privcore.show(result, asia)._repr_html_()
    # Without privacy, nothing is promised of either.
    assert shows(privcore.show(pc, asia)._repr_html_(), "no-privacy-promised-of-exact-rows")
    with raises_code(ParameterError, "reference-has-noise"):
        privcore.show(pc, result)
    with raises_code(ParameterError, "reference-of-other-columns"):
        privcore.show(result, PDAG(asia.names[::-1]))


def test_time_runs_downwards(asia):
    order = [name.split(", ") for name in TIERS["asia"].split("; ")]
    known = Knowledge.of(tiers=TIERS["asia"]).text
    pc = privcore.discover(asia, "pc", knowledge=known)
    for shown in (pc, privcore.show(pc, asia)):
        (drawing,) = drawings(shown.svg())
        heights = {
            group.find(f"{SVG}title").text: float(group.find(f"{SVG}rect").get("y"))
            for group in drawing.iter(f"{SVG}g")
            if group.get("class") == "node"
        }
        for above, below in pairwise(order):
            assert max(heights[name] for name in above) < min(heights[name] for name in below)


def test_a_page_has_the_numbers_of_the_result(result, asia, tmp_path):
    path = tmp_path / "page.html"
    assert privcore.show(result, asia).html(path) is None
    page = path.read_text("utf-8")
    assert page == privcore.show(result, asia).html()
    assert nothing_is_fetched(page)
    assert "default-src 'none'" in page
    rows = dict(re.findall(r"<tr><th>(.*?)</th><td>(.*?)</td>", page))
    guarantee = result.guarantee
    assert (rows["ε"], rows["δ"]) == (f"{guarantee.epsilon:g}", f"{guarantee.delta:g}")
    assert rows["Proof"] == guarantee.proof
    sure = result.findings[next(iter(sorted(result.graph.skeleton)))].probability
    assert f"probability {sure:.3g}" in page
    assert page.count("probability 0.") == len(result.graph.skeleton)
    # What no guarantee covers is not written out.
    assert str(result.seconds) not in page


def test_files_are_written_where_the_user_says(result, tmp_path):
    path = tmp_path / "graph.svg"
    path.write_text("an older one")
    assert result.svg(str(path)) is None
    assert path.read_text("utf-8") == result.svg()
    with pytest.raises(DataError, match=says("cannot-be-written")):
        result.html(tmp_path)
    with pytest.raises(DataError, match=says("cannot-be-written")):
        result.svg(tmp_path / "no folder" / "graph.svg")
    assert [file.name for file in tmp_path.iterdir()] == ["graph.svg"]


@pytest.mark.unseeded
def test_a_release_shows_what_it_covers_and_names_are_no_markup(tmp_path):
    frame = pd.DataFrame({MARKUP: ["no", "yes"] * 200, "<b>": ["no", "yes", "no", "no"] * 100})
    public = [ColumnSchema(name, "nominal", ("no", "yes"), declared=True) for name in frame]
    data = privcore.read_table(frame, schema=public)
    ledger = privcore.Ledger(tmp_path / "ledger.sqlite")
    ledger.set_total("clinic", 1.0, 1e-5)
    made = privcore.release(data, "laplace-pc", budget="clinic", ledger=ledger, epsilon=0.5)
    for text in (made._repr_html_(), made.html(), made.svg()):
        (drawing,) = drawings(text)
        assert nothing_is_fetched(text)
        titles = [title.text for title in drawing.iter(f"{SVG}title")]
        assert set(data.names) <= set(titles)
        assert "<b>" not in text
    assert made.certificate["id"] in made.html()
    assert not shows(made.html(), "simulated")
    with raises_code(ParameterError, "no-true-graph-known"):
        privcore.show(made, data)
