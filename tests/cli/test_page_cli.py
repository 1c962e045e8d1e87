"""Pages to send, from a shell."""

import json

import pytest

from privcore.data import load_network
from privcore.display.interactive import CONFIRMATION
from privcore.releases.certificate import certificate_json
from privcore.releases.ledger.ledger import Ledger
from privcore.releases.release import release
from privcore.releases.release_file import file_text
from tests.messages import shows

QUICK = "--algorithm svt-pc"
CANCER = f"discover --network cancer --rows 1000 {QUICK}"


def test_a_network_becomes_a_page_that_says_how_to_make_it_again(printed, tmp_path):
    path = tmp_path / "page.html"
    out = printed(f"{CANCER} --html {path}")
    assert shows(out, "opens-in-any-browser")
    page = path.read_text("utf-8")
    assert "--network cancer --rows 1000 --data-seed 1 --algorithm svt-pc" in page
    assert "--html page.html" in page


def test_a_table_of_ones_own_needs_the_words(tmp_path, run, refused):
    table, path = tmp_path / "own.csv", tmp_path / "page.html"
    table.write_text("a,b\n" + "x,y\nz,w\nx,w\n" * 50)
    own = f"discover --csv {table} {QUICK} --html {path}"
    for more in ("", "--explored 'this page'"):
        said = refused(f"{own} {more}")
        assert "search-again RELEASE --html" in said
        assert CONFIRMATION in said
        assert not path.exists()
    assert run(f"{own} --explored", CONFIRMATION).code == 0
    assert shows(path.read_text("utf-8"), "exploration-mark")


@pytest.mark.parametrize("more", ["--secure", "--stability 2", "--estimate"])
def test_what_does_not_go_with_a_page_is_refused(refused, more):
    assert shows(refused(f"{CANCER} --html x.html {more}"), "html-of-simulated-noise")


def test_the_words_alone_are_refused(refused):
    said = refused(f"{CANCER} --explored", CONFIRMATION)
    assert shows(said, "option-is-for", option="--explored", source="--html")


def test_what_was_released_becomes_a_page(home, run, refused):
    ledger = Ledger(None)
    ledger.set_total("clinic", 5.0, 1e-5)
    data = load_network("cancer").sample(500, 1)
    made = release(data, "moment-search", ledger=ledger, budget="clinic", keep_numbers=True)
    certificate, numbers = home / "certificate.json", home / "release.json"
    certificate.write_text(certificate_json(made.certificate), "utf-8")
    numbers.write_text(file_text(made.numbers), "utf-8")
    for command, file in (("verify", certificate), ("search-again", numbers)):
        path = home / f"{command}.html"
        assert run(f"{command} {file} --html {path}")[0] == 0
        assert shows(path.read_text("utf-8"), "released-with", epsilon=1)
    changed = json.loads(certificate.read_text("utf-8"))
    changed["released"]["note"] = "changed"
    certificate.write_text(json.dumps(changed), "utf-8")
    path = home / "changed.html"
    refused(f"verify {certificate} --html {path}")
    assert not path.exists()
