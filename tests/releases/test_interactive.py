"""A page to send is whole, fetches nothing, and never shows a private table unasked."""

import json
import re
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from html.parser import HTMLParser

import pytest

import privcore
from privcore.algorithms import count
from privcore.data import StructuralExample, load_network
from privcore.data.model import UPLOADED
from privcore.display.interactive import (
    CONFIRMATION,
    certificate_page,
    check_may_be_sent,
    interactive_page,
    is_built_in,
    numbers_page,
    run_series,
)
from privcore.errors import DataError, ParameterError, ReleaseError
from privcore.graphs import PDAG
from privcore.intake import build_dataset, read_table
from privcore.intake.samples import SAMPLES
from privcore.intake.triage import proposed_schema
from privcore.releases.certificate import certificate_json
from privcore.releases.ledger.ledger import Ledger
from privcore.releases.release import release
from privcore.releases.release_file import file_text, read_release_file, search_files
from tests.messages import begins, raises_code, says, shows

MOST = 3_000_000
HOSTILE = ("</script><script>alert(1)</script>", "<!--", "a\u2028b", "\ud800", "&amp;")


class Parsed(HTMLParser):
    """The elements of a page, with their attributes, and the texts of scripts and styles."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.texts, self._inside = [], {"script": [], "style": []}, None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        self._inside = tag if tag in self.texts else None
        if self._inside:
            self.texts[tag].append("")

    def handle_endtag(self, tag):
        self._inside = None

    def handle_data(self, data):
        if self._inside:
            self.texts[self._inside][-1] += data

    @property
    def content(self):
        return json.loads(self.texts["script"][0])

    @property
    def policy(self):
        (policy,) = [a["content"] for tag, a in self.elements if "http-equiv" in a]
        return policy


def made(dataset, name="svt-pc", **settings):
    series = run_series(dataset, count(dataset), name, settings, runs=2)
    return interactive_page(series, command="causalveil discover")


@pytest.fixture(scope="module")
def data():
    return load_network("cancer").sample(2_000, 1)


@pytest.fixture(scope="module")
def page(data):
    return made(data, epsilon=0.5)


def check_whole(page):
    """Nothing in it makes a request, and only its own script and style count."""
    parsed = Parsed(page)
    assert len(page.encode()) < MOST
    for tag, attributes in parsed.elements:
        assert not {"src", "href", "style", "srcset", "action"} & attributes.keys(), tag
        assert not [name for name in attributes if name.startswith("on")]
    assert "@import" not in page
    assert "url(" not in page
    data, script = parsed.texts["script"]
    assert not re.search("[<>&\u2028\u2029]", data)
    for text, rule in ((script, "script-src"), (parsed.texts["style"][0], "style-src")):
        digest = b64encode(sha256(text.encode()).digest()).decode()
        assert f"{rule} 'sha256-{digest}'" in parsed.policy
    assert parsed.policy.startswith("default-src 'none'; ")
    assert "unsafe" not in parsed.policy
    return parsed


def test_a_page_is_whole_and_opens_at_the_chosen_epsilon(page):
    content = check_whole(page).content
    assert [step["epsilon"] for step in content["steps"]] == ["0.1", "0.3", "0.5", "1", "3", "10"]
    step = content["steps"][content["start"]]
    assert step["epsilon"] == "0.5"
    assert begins(step["said"], "private-finds-something", epsilon="0.5")
    assert [graph["title"] for graph in step["graphs"]] == ["Private graph", "Without privacy (PC)"]
    assert len(content["curve"]["points"]) == len(content["steps"])
    assert shows(page, "exploring-not-a-release")
    assert "causalveil discover" in page


def test_the_same_settings_and_seed_make_the_same_page(data, page):
    assert made(data, epsilon=0.5) == page


def test_every_step_is_the_run_that_the_engine_makes(data, page):
    for step in Parsed(page).content["steps"]:
        run = privcore.discover(data, "svt-pc", epsilon=float(step["epsilon"]), seed=1)
        drawn = {(p["i"], p["j"]) for p in step["graphs"][0]["pairs"] if p["kind"] != "missing"}
        assert drawn == run.graph.skeleton


def test_runs_that_are_there_are_taken(data):
    there = run_series(data, count(data), "svt-pc", {"epsilon": 1.0}, runs=1)

    def never(share, text):
        raise AssertionError(text)

    held = there.results
    again = run_series(
        data, count(data), "svt-pc", {"epsilon": 1.0}, runs=1, made=lambda e, seed: held[e]
    )
    assert again.results == held
    with pytest.raises(AssertionError, match=says("run-of-runs", run=1, runs=1)):
        run_series(data, count(data), "svt-pc", {}, runs=1, on_progress=never)


def test_a_run_without_privacy_has_one_graph_and_no_slider(data):
    page = made(data, "pc")
    content = check_whole(page).content
    assert len(content["steps"]) == 1
    assert content["curve"] is None
    assert 'type="range"' not in page


def test_wrong_settings_are_told(data):
    with pytest.raises(ParameterError, match="epsilon"):
        made(data, epsilon=-1)


def test_hostile_names_are_text(data):
    columns = tuple(replace(c, name=name) for c, name in zip(data.columns, HOSTILE, strict=True))
    own = replace(data, name="<b>x</b>", columns=columns, true_edges=None, source=UPLOADED)
    page = made(own)
    parsed = check_whole(page)
    assert "alert(1)" not in re.sub(r'<script type="application/json".*?</script>', "", page)
    assert parsed.content["scene"]["names"][0] == HOSTILE[0]
    assert {tag for tag, _ in parsed.elements} >= {"h1", "dl"}
    assert "b" not in {tag for tag, _ in parsed.elements}


@pytest.mark.filterwarnings("ignore:Left out")
def test_what_is_built_in_is_known():
    assert is_built_in(load_network("asia").sample(100, 1))
    assert is_built_in(StructuralExample("random-categorical").sample(100, 1))
    sample = privcore.load_sample("treatment")
    assert is_built_in(sample)
    # A table of one's own may have columns and a true graph of a sample.
    rows = SAMPLES["treatment"].path.read_text().splitlines()
    for content in (rows[:-1], [*rows[:-1], rows[1]]):
        raw = read_table("\n".join(content).encode(), "treatment.csv")
        own = build_dataset(raw, proposed_schema(raw), name="treatment.csv")
        assert not is_built_in(replace(own, true_edges=sample.true_edges))


def test_a_table_of_ones_own_is_refused_until_it_is_confirmed(data):
    own = replace(data, source=UPLOADED, true_edges=None, name="mine")
    assert not is_built_in(own)
    for words in ("", "yes", CONFIRMATION.upper(), f" {CONFIRMATION}"):
        with raises_code(ReleaseError, "page-of-exact-rows"):
            check_may_be_sent(own, words)
    check_may_be_sent(own, CONFIRMATION)
    with pytest.raises(ReleaseError):
        privcore.interactive_page(own, "svt-pc")
    page = privcore.interactive_page(own, "svt-pc", runs=1, explored=CONFIRMATION)
    content = Parsed(page).content
    mark = "Exploration: not private, not a release"
    assert all(mark in g["title"] for step in content["steps"] for g in step["graphs"])
    assert f'<p class="banner" role="note">{mark}</p>' in page


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    ledger = Ledger(folder / "ledger.sqlite")
    ledger.set_total("clinic", 5.0, 1e-5)
    made = release(
        load_network("cancer").sample(1_000, 1),
        "moment-search",
        ledger=ledger,
        budget="clinic",
        keep_numbers=True,
    )
    path = folder / "release.json"
    path.write_text(file_text(made.numbers), "utf-8")
    return made, path


def test_a_page_of_a_certificate_shows_the_released_graph_alone(released):
    made, _ = released
    page = certificate_page(json.loads(certificate_json(made.certificate)))
    content = check_whole(page).content
    (step,) = content["steps"]
    (graph,) = step["graphs"]
    assert graph["title"] == "Released graph"
    assert {(p["i"], p["j"]) for p in graph["pairs"]} == made.graph.skeleton
    assert all("probability" in p["text"] for p in graph["pairs"])
    assert begins(step["said"], "released-for-each", epsilon=1)
    assert ["Guarantee", "proven"] in step["facts"]
    assert "Exploration" not in page
    assert str(made.certificate["id"]) in page


def test_a_page_of_released_numbers_shows_their_graph(released):
    made, path = released
    result = search_files([read_release_file(path)])
    content = check_whole(numbers_page(result, ["release.json"], ["ab12"])).content
    graph = content["steps"][0]["graphs"][0]
    assert {(p["i"], p["j"]) for p in graph["pairs"]} == result.graph.skeleton
    assert isinstance(made.graph, PDAG)


def test_a_file_that_cannot_be_written_is_named(tmp_path):
    from privcore.faces.cli.run_options import write_page

    with pytest.raises(DataError, match=says("cannot-be-written")):
        write_page(str(tmp_path / "none" / "page.html"), "")
