"""What the runner beside other libraries makes of their graphs, on a stored run of causal-learn.

causal_learn.json was written by
python -m benchmarks.peers --data asia,sachs,survey --rows 5000 --repeats 1 --peers causal-learn
    --fixture tests/benchmarks/causal_learn.json
"""

import json
import subprocess
import sys
from dataclasses import replace
from math import inf
from pathlib import Path

import numpy as np
import pytest

from benchmarks.peers import private
from benchmarks.peers.comparison import THEIR_RULES, differences, theirs
from benchmarks.peers.environments import PEERS
from privcore.algorithms import count, discover
from privcore.data import load_network
from privcore.graphs import PDAG
from privcore.graphs.pdag import ordered
from tests.messages import shows

ROOT = Path(__file__).parents[2]
STORED = json.loads((Path(__file__).parent / "causal_learn.json").read_text())
RUNS = [(where, position) for where, runs in STORED.items() for position in range(len(runs))]


def both(where, position):
    """The counts, our run and causal-learn's graph."""
    name, rows = where.split(", ")
    stored = STORED[where][position]
    source = count(load_network(name).sample(int(rows), 1))
    asked = {"score": stored["test"], "threshold": stored["alpha"], "max_order": None}
    mine = discover(source, "pc", asked, keep_trace=False)
    return source, mine, theirs(source.names, stored["directed"], stored["undirected"])


# In asia two columns determine a third, and causal-learn separates it from others by them.
DETERMINED = [run for run in RUNS if run[0].startswith("asia")]


@pytest.mark.parametrize(("where", "position"), [run for run in RUNS if run not in DETERMINED])
def test_under_their_rules_the_graphs_are_the_same(where, position):
    source, mine, found = both(where, position)
    assert mine.graph.skeleton == found.skeleton
    assert differences(source, mine, found) == []


@pytest.mark.parametrize(("where", "position"), DETERMINED)
def test_links_of_a_column_that_others_determine_are_true_ones(where, position):
    _, mine, found = both(where, position)
    nodes, true = mine.graph.nodes, load_network("asia").sample(2, 1).true_edges
    more = {(nodes[i], nodes[j]) for i, j in mine.graph.skeleton - found.skeleton}
    assert mine.graph.skeleton > found.skeleton
    assert all(pair in true or pair[::-1] in true for pair in more)


def test_the_stored_runs_tell_the_rules_apart():
    for rules in ({}, {"conflict_rule": "keep first"}, {"collider_rule": "union"}):
        graphs = [
            (discover(source, "pc", {**mine.parameters, **rules}, keep_trace=False).graph, found)
            for source, mine, found in (both(*run) for run in RUNS)
        ]
        assert any(graph != found for graph, found in graphs), rules
    assert set(THEIR_RULES) == {"collider_rule", "conflict_rule"}


def test_edges_that_differ_are_named():
    source, mine, found = both("sachs, 5000", 0)
    i, j = sorted(found.undirected)[0]
    turned = replace(
        found, directed=found.directed | {(i, j)}, undirected=found.undirected - {(i, j)}
    )
    (sentence,) = differences(source, mine, turned)
    assert shows(sentence, "under-their-rules", one=found.nodes[i], other=found.nodes[j])
    lost = PDAG(found.nodes, found.directed, found.undirected - {(i, j)})
    assert "theirs None" in differences(source, mine, lost)[0]


def test_edges_given_in_both_directions_have_none():
    graph = theirs(("a", "b", "c"), [[0, 1], [1, 0], [2, 1]], [])
    assert graph.directed == {(2, 1)}
    assert graph.undirected == {ordered(0, 1)}


def test_every_pin_is_exact():
    for peer in PEERS:
        pins = (ROOT / "benchmarks" / "peers" / f"requirements-{peer}.txt").read_text().split()
        assert any(pin.lower().startswith(f"{peer}==") for pin in pins)
        assert all(pin.count("==") == 1 for pin in pins)


@pytest.mark.long
def test_a_worker_answers_with_the_graph(tmp_path):
    dataset = load_network("asia").sample(3000, 1)
    np.save(tmp_path / "codes.npy", np.column_stack(dataset.values))
    described = {"names": dataset.names, "levels": dataset.levels}
    (tmp_path / "columns.json").write_text(json.dumps(described))
    questions = [{"load": str(tmp_path)}, {"test": "g2", "alpha": 0.05}]
    done = subprocess.run(
        [sys.executable, ROOT / "benchmarks" / "peers" / "worker.py", "ours", ROOT],
        input="\n".join(map(json.dumps, questions)),
        capture_output=True,
        text=True,
        check=True,
    )
    answer = json.loads(done.stdout.splitlines()[1])
    expected = discover(dataset, "pc", {"score": "g2", "max_order": None}).graph
    assert theirs(dataset.names, answer["directed"], answer["undirected"]) == expected
    assert answer["seconds"] > 0


def test_a_private_run_above_the_limit_is_stopped_and_shown_as_such():
    dataset = load_network("cancer").sample(2000, 1)
    assert private._times(dataset, "priv-pc", "published", 1, 0.0) == (inf, inf, inf)
    assert max(private._times(dataset, "priv-pc", "published", 1, 600.0)) < inf
    assert private._shown(inf, 60.0) == "> 60,000"
    assert private._shown(0.0125, 60.0) == "12.5"
