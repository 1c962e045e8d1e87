"""The switch and hidden columns on the command line, from a run to a release that is checked."""

import pytest

from privcore.display.certificate_html import certificate_html
from privcore.graphs.pdag import PAG, from_json_dict
from privcore.releases.certificate import certificate_json
from privcore.releases.release_file import file_text
from tests.releases.steps_of import LEVELS, kept_release, ledger_in, levels_table

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


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hidden")
    data = levels_table(rows=3_000)
    release, _ = kept_release(ledger_in(folder), data, parameters={**LEVELS, "hidden_causes": True})
    return folder, release


def test_the_certificate_holds_the_pag(made):
    _, release = made
    released = release.certificate["released"]
    assert released["hidden_stage"] == "possible-d-sep"
    assert from_json_dict(released["graph"]) == release.graph
    assert isinstance(release.graph, PAG)
    page = certificate_html(release.certificate)
    assert 'class="ring plain"' in page


def test_it_is_verified_and_searched_again_without_the_switch(made, run, report):
    folder, release = made
    path, numbers = folder / "certificate.json", folder / "numbers.json"
    path.write_text(certificate_json(release.certificate))
    numbers.write_text(file_text(release.numbers))
    assert run(f"verify {path}").code == 0
    again = report(f"search-again {numbers} --hidden-causes --json")
    assert from_json_dict(again["graph"]) == release.graph
    assert again["hidden_stage"] == "possible-d-sep"
