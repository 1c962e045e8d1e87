"""The switch and hidden columns on the command line, from a run to a release that is checked."""

import json

import pytest

from privcore.faces.cli import main
from privcore.graphs.pdag import PAG, from_json_dict

ASIA = ["--network", "asia", "--rows", "20000"]


def said(capsys, *words):
    assert main([str(word) for word in words]) == 0
    return json.loads(capsys.readouterr().out)


def test_a_run_with_the_switch_is_a_pag(capsys):
    report = said(capsys, "discover", *ASIA, "--hide", "smoke", "--hidden-causes", "--json")
    graph = from_json_dict(report)
    assert isinstance(graph, PAG)
    assert "smoke" not in graph.nodes
    assert report["hidden_stage"] == "possible-d-sep"
    assert report["parameters"]["hidden_causes"] is True
    assert set(report["metrics"]) == {"truth", "non_private"}
    off = said(capsys, "discover", *ASIA, "--hide", "smoke", "--json")
    assert off["hidden_stage"] is None
    assert "nondirected" not in off


def test_hidden_columns_must_be_there_and_of_a_network(capsys, tmp_path):
    assert main(["discover", *ASIA, "--hide", "nobody"]) == 2
    assert "'nobody'" in capsys.readouterr().err
    table = tmp_path / "own.csv"
    table.write_text("a,b\n" + "x,y\nz,w\n" * 30)
    assert main(["discover", "--csv", str(table), "--hide", "a"]) == 2
    assert "--drop" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["em-pc", "svt-pc", "curate"])
def test_other_algorithms_refuse_in_a_sentence(capsys, name):
    assert main(["discover", *ASIA, "--algorithm", name, "--hidden-causes"]) == 2
    text = capsys.readouterr().err
    assert text.count("\n") == 1
    assert "moment-search" in text


def test_a_sweep_of_a_network_with_hidden_columns(capsys, tmp_path):
    out = tmp_path / "sweep.csv"
    words = ["sweep", "--network", "asia", "--hide", "smoke,asia", "--hidden-causes"]
    words += ["--algorithms", "moment-search,pc", "--epsilons", "1", "--seeds", "1"]
    words += ["--rows", "5000", "--workers", "0", "--out", out]
    assert main([str(word) for word in words]) == 0
    capsys.readouterr()
    rows = out.read_text().splitlines()
    header = next(k for k, row in enumerate(rows) if row.startswith("cell,"))
    assert all("asia without smoke, asia" in row for row in rows[header + 1 :])
    assert any("@-" in row for row in rows[header + 1 :])
