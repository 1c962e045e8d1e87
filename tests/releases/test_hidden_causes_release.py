"""A release with unobserved confounders allowed: signed, checked, printed and searched again."""

import pytest

from privcore.display.certificate_html import certificate_html
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


def test_it_is_verified_and_searched_again_without_the_switch(made, run, report):
    folder, release = made
    path, numbers = folder / "certificate.json", folder / "numbers.json"
    path.write_text(certificate_json(release.certificate))
    numbers.write_text(file_text(release.numbers))
    assert run(f"verify {path}").code == 0
    again = report(f"search-again {numbers} --hidden-causes --json")
    assert from_json_dict(again["graph"]) == release.graph
    assert again["hidden_stage"] == "possible-d-sep"
