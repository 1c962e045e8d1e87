"""The switch and hidden columns on the command line, from a run to a release that is checked."""

import pytest

from privcore.graphs.pdag import PAG, from_json_dict

ASIA = "--network asia --rows 20000"


def test_a_run_with_the_switch_is_a_pag(report):
    found = report(f"discover {ASIA} --hide smoke --hidden-causes --json")
    graph = from_json_dict(found)
    assert isinstance(graph, PAG)
    assert "smoke" not in graph.nodes
    assert found["hidden_stage"] == "possible-d-sep"
    assert found["parameters"]["hidden_causes"] is True
    assert set(found["metrics"]) == {"truth", "non_private"}
    off = report(f"discover {ASIA} --hide smoke --json")
    assert off["hidden_stage"] is None
    assert "nondirected" not in off


def test_hidden_columns_must_be_there_and_of_a_network(refused, tmp_path):
    assert "'nobody'" in refused(f"discover {ASIA} --hide nobody")
    table = tmp_path / "own.csv"
    table.write_text("a,b\n" + "x,y\nz,w\n" * 30)
    assert "--drop" in refused(f"discover --csv {table} --hide a")


@pytest.mark.parametrize("name", ["em-pc", "svt-pc", "curate"])
def test_other_algorithms_refuse_in_a_sentence(refused, name):
    said = refused(f"discover {ASIA} --algorithm {name} --hidden-causes")
    assert "moment-search" in said


def test_a_sweep_of_a_network_with_hidden_columns(run, tmp_path):
    out = tmp_path / "sweep.csv"
    ran = run(
        "sweep --network asia --hide smoke,asia --hidden-causes --algorithms moment-search,pc"
        f" --epsilons 1 --seeds 1 --rows 5000 --workers 0 --out {out}"
    )
    assert ran.code == 0
    rows = out.read_text().splitlines()
    header = next(k for k, row in enumerate(rows) if row.startswith("cell,"))
    assert all("asia without smoke, asia" in row for row in rows[header + 1 :])
    assert any("@-" in row for row in rows[header + 1 :])
