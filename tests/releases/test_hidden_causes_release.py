"""A release with unobserved confounders allowed: signed, checked, printed and searched again."""

import json

import pytest

from privcore.display.certificate_html import certificate_html
from privcore.faces.cli import main
from privcore.graphs.pdag import PAG, from_json_dict
from privcore.releases.certificate import certificate_json
from privcore.releases.release_file import file_text
from tests.releases.steps_of import LEVELS, kept_release, ledger_in, levels_table


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


def test_it_is_verified_and_searched_again_without_the_switch(made, capsys):
    folder, release = made
    path = folder / "certificate.json"
    path.write_text(certificate_json(release.certificate))
    assert main(["verify", str(path)]) == 0
    numbers = folder / "numbers.json"
    numbers.write_text(file_text(release.numbers))
    capsys.readouterr()
    assert main(["search-again", str(numbers), "--hidden-causes", "--json"]) == 0
    again = json.loads(capsys.readouterr().out)
    assert from_json_dict(again["graph"]) == release.graph
    assert again["hidden_stage"] == "possible-d-sep"
