"""What was found of each pair, in files and in words."""

import csv
import io

import pytest

from privcore.algorithms import count, discover
from privcore.algorithms.search.result import described_pairs
from privcore.data import load_network
from privcore.display.findings import (
    confidence_groups,
    confidence_text,
    edge_notes,
    share_text,
    verdict_counts,
)
from privcore.exchange.formats import to_edge_csv
from tests.messages import reads, shows


@pytest.fixture(scope="module")
def result():
    source = count(load_network("asia").sample(20_000, 1))
    return discover(source, "moment-search", {"epsilon": 1.0}, seed=1)


def test_pairs_are_counted_in_words(result):
    pairs = described_pairs(result.graph, result.findings)
    many = [p["verdict"] for p in pairs]
    assert len(many) == 28
    seen, unseen = many.count("no edge seen"), many.count("not enough budget")
    assert seen > 1
    words = "is" if unseen == 1 else "are"
    assert shows(verdict_counts(pairs), "verdicts", seen=seen, unseen=unseen, what=words)
    one_seen, one_unseen = {"verdict": "no edge seen"}, {"verdict": "not enough budget"}
    assert reads(verdict_counts([one_seen]), "verdict-seen")
    assert reads(verdict_counts([one_unseen]), "verdict-unseen")
    assert reads(verdict_counts([]), "verdict-of-none")


def test_pairs_are_grouped_by_how_sure_the_run_is(result):
    groups = confidence_groups(result.findings)
    edges = {p: f.probability for p, f in result.findings.items() if f.verdict == "edge"}
    bounds = {"nearly sure": (0.95, 1.0), "likely": (0.8, 0.95), "uncertain": (0.0, 0.8)}
    counted = []
    for words, pairs in groups:
        name = words.partition(":")[0]
        counted += pairs
        if name in bounds:
            low, high = bounds[name]
            assert all(low <= edges[p] <= high for p in pairs)
        else:
            assert {result.findings[p].verdict for p in pairs} == {"not enough budget"}
        assert f": {len(pairs)}" in words
    unsure = [p for p, f in result.findings.items() if f.verdict == "not enough budget"]
    assert sorted(counted) == sorted([*edges, *unsure])
    assert confidence_groups({}) == []


def test_no_probability_is_rounded_up_to_certainty():
    assert share_text(0.99999) == "over 0.9999"
    assert share_text(0.87654) == "0.877"
    told = confidence_text({"verdict": "edge", "probability": 0.99, "direction": None})
    assert told == "probability 0.99"
    assert confidence_text({"verdict": "no edge seen", "probability": 0.01}) == ""


def test_the_edge_table_has_a_column_for_each(result):
    rows = list(
        csv.DictReader(io.StringIO(to_edge_csv(result.graph, *edge_notes(result.findings))))
    )
    assert len(rows) == len(result.graph.skeleton) > 0
    nodes = result.graph.nodes
    for row in rows:
        pair = tuple(sorted((nodes.index(row["source"]), nodes.index(row["target"]))))
        found = result.findings[pair]
        assert float(row["probability"]) == pytest.approx(found.probability, abs=1e-5)
        assert (row["probability of the arrow"] == "") == (row["kind"] == "undirected")
    plain = to_edge_csv(result.graph, *edge_notes({}))
    assert plain.splitlines()[0] == "source,target,kind"


BASE = "discover --network asia --rows 20000 --algorithm moment-search"


@pytest.mark.long
def test_the_command_line_says_how_sure_edges_are(run):
    lines = run(f"{BASE} --set epsilon=1").out.splitlines()
    edges = [line for line in lines if " -> " in line or " -- " in line]
    assert edges
    assert all("probability " in line for line in edges)
    assert all(("direction " in line) == (" -> " in line) for line in edges)
    assert any(shows(line, "verdict-none") for line in lines)


@pytest.mark.long
def test_the_json_has_every_pair(report):
    assert len(report(f"{BASE} --json")["pairs"]) == 28
    other = "discover --network cancer --rows 1000 --algorithm priv-pc --json"
    assert report(other)["pairs"] is None
