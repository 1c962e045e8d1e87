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
from benchmarks.peers.comparison import explained, theirs
from benchmarks.peers.environments import PEERS
from privcore.dataset import load_network
from privcore.discovery import count, discover
from privcore.graphs import PDAG
from privcore.graphs.pdag import ordered

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


@pytest.mark.parametrize(("where", "position"), RUNS)
def test_skeletons_are_the_same_and_every_other_difference_has_its_reason(where, position):
    source, mine, found = both(where, position)
    assert mine.graph.skeleton == found.skeleton
    sentences = explained(source, mine, found)
    pairs = mine.graph.skeleton
    assert len(sentences) == sum(mine.graph.mark(i, j) != found.mark(i, j) for i, j in pairs)
    assert not any("no reason known" in sentence for sentence in sentences)


def test_reasons_are_found_among_the_stored_runs():
    sentences = [s for run in RUNS for s in explained(*both(*run))]
    assert any("union of all sets" in sentence for sentence in sentences)
    assert any("first of v-structures" in sentence for sentence in sentences)


def test_differences_without_a_reason_are_said_to_be():
    source, mine, found = both("sachs, 5000", 0)
    i, j = sorted(found.undirected)[0]
    turned = replace(
        found, directed=found.directed | {(i, j)}, undirected=found.undirected - {(i, j)}
    )
    assert "no reason known" in " ".join(explained(source, mine, turned))
    lost = PDAG(found.nodes, found.directed, found.undirected - {(i, j)})
    assert "one skeleton only" in " ".join(explained(source, mine, lost))


def test_edges_given_in_both_directions_have_none():
    graph = theirs(("a", "b", "c"), [[0, 1], [1, 0], [2, 1]], [])
    assert graph.directed == {(2, 1)}
    assert graph.undirected == {ordered(0, 1)}


def test_every_pin_is_exact():
    for peer in PEERS:
        pins = (ROOT / "benchmarks" / "peers" / f"requirements-{peer}.txt").read_text().split()
        assert any(pin.lower().startswith(f"{peer}==") for pin in pins)
        assert all(pin.count("==") == 1 for pin in pins)


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
