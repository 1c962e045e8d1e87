"""`discover --stability` from a shell, and the note on a column of nearly one level."""

import numpy as np
import pandas as pd
import pytest

from tests.messages import shows


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """a — b — c as a strong chain, and a column of which one level has 97 % of the rows."""
    rng = np.random.default_rng(0)
    a = rng.random(4_000) < 0.5
    b = a ^ (rng.random(4_000) < 0.1)
    c = b ^ (rng.random(4_000) < 0.1)
    frame = pd.DataFrame({"a": a, "b": b, "c": c, "rare": rng.random(4_000) < 0.03})
    file = tmp_path_factory.mktemp("table") / "t.csv"
    frame.replace({True: "yes", False: "no"}).to_csv(file, index=False)
    return str(file)


@pytest.mark.long
def test_figures_and_frequencies_are_printed(printed, run, path):
    asked = f"discover --csv {path} --epsilon 5 --stability 4"
    out = printed(asked)
    lines = out.splitlines()
    edges = [line for line in lines if " -- " in line]
    assert len(edges) == 2
    assert all(
        shows(line, "edge-probability-over-halves", rolls=100, halves=100) and "probability" in line
        for line in edges
    )
    assert shows(
        lines, "rolls-agree", rolls=4, same=4, mean="1.00", share=100, half_mean="1.00", halvings=2
    )
    assert any(line.startswith("Not private: ") for line in lines)
    assert shows(lines, "note-of-one-level", name="rare", share=97)
    assert run(asked)[1].splitlines()[:3] == lines[:3]


@pytest.mark.long
def test_json_has_them_and_only_where_they_were_requested(report, path):
    asked = f"discover --csv {path} --epsilon 5 --json"
    found = report(f"{asked} --stability 4")
    judged = found["stability"]
    assert judged["rolls"] == {"runs": 4, "same": 4, "f1": 1.0}
    assert judged["halves"] == {"halvings": 2, "f1": 1.0, "refused": []}
    assert [pair["pair"] for pair in judged["pairs"]] == [["a", "b"], ["b", "c"]]
    assert found["one_level"] == {"rare": pytest.approx(0.97, abs=0.01)}
    plain = report(asked)
    assert "stability" not in plain
    assert plain["pairs"] == found["pairs"]


def test_pc_has_halves_and_no_note(printed, path):
    out = printed(f"discover --csv {path} --algorithm pc --stability 4")
    assert shows(out, "share-of-halves", halves=100)
    assert "noise draws" not in out
    assert not shows(out, "note-of-one-level")


@pytest.mark.parametrize("number", ["1", "x", "2.5", "-3", "100000"])
def test_a_number_of_runs_that_is_none_is_refused(refused, path, number):
    assert "stability" in refused(f"discover --csv {path} --stability={number}")


def test_the_graph_alone_has_no_room_for_it(refused, path):
    said = refused(f"discover --csv {path} --stability 4 --format dot")
    assert shows(said, "omit-or-drop", option="--stability")
