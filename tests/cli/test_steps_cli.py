"""Spending in steps from a shell: release, search again, verify."""

import json
import os
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from privcore.faces.cli import build_parser, main
from privcore.releases.release_file import file_text, read_release_file
from privcore.releases.signing import signed
from tests.cli.calling import refused, run
from tests.cli.fuzz import USUAL, options_of
from tests.cli.schemas import confirmed
from tests.messages import shows

TEXT = "a,b,c\n" + "".join(f"{i % 2},{(i // 2) % 3},{(i * 7) % 5 % 2}\n" for i in range(600))


@pytest.fixture
def files(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("CAUSALVEIL_DATA_DIR", str(tmp_path / "data"))
    (tmp_path / "table.csv").write_text(TEXT)
    confirmed(tmp_path / "table.csv")
    run(capsys, "ledger", "total", "clinic", "--epsilon", "1", "--delta", "1e-5")
    return tmp_path


def source(files):
    schema = str(files / "table.schema.json")
    return ("--csv", str(files / "table.csv"), "--schema", schema, "--out", str(files / "out"))


def first_release(files, capsys, *more, epsilon="0.1"):
    """The release file that the first release writes."""
    code, out, err = run(
        *(capsys, "release", *source(files), "--algorithm", "moment-search"),
        *("--budget-name", "clinic", "--epsilon", epsilon, "--keep-numbers"),
        *("--set", "measured=levels", *more),
    )
    assert (code, err) == (0, "")
    (path,) = [line for line in out.splitlines() if Path(line).name.startswith("release-")]
    return path


def spent(capsys):
    return json.loads(run(capsys, "ledger", "export", "--form", "json")[1])["charges"]


@pytest.mark.long
def test_from_a_release_to_searches_of_its_numbers(files, capsys):
    path = first_release(files, capsys)
    assert Path(path).parent == files / "out"
    code, out, err = run(capsys, "search-again", path)
    assert (code, err) == (0, "")
    assert shows(out, "searched-again", epsilon="0.1", delta=0)
    assert shows(out, "pairs-unclear", size="0.1")
    assert shows(out, "no-budget-would-do")
    code, out, _ = run(capsys, "search-again", path, "--set", "reference_effect=0.4")
    assert code == 0
    assert shows(out, "edge-missed", size="0.4")
    assert "in total, " in out
    code, out, _ = run(capsys, "search-again", path, "--json", "--forbid", "a--b")
    said = json.loads(out)
    assert code == 0
    assert said["guarantee"]["epsilon"] == 0.1
    assert said["parameters"]["knowledge"]
    assert {tuple(p["columns"]) for p in said["cannot_be_told"]} <= {("a", "c"), ("b", "c")}
    assert len(spent(capsys)) == 1


def test_who_signed_is_shown_and_can_be_expected(files, capsys):
    path = first_release(files, capsys)
    file, other = read_release_file(path), files / "other.json"
    document = json.loads(Path(path).read_text("utf-8"))
    content = {name: part for name, part in document.items() if name != "signature"}
    other.write_text(file_text(signed(content, Ed25519PrivateKey.generate())), "utf-8")
    stranger = read_release_file(other).signer
    for name, signer in ((path, file.signer), (str(other), stranger)):
        for command in ("verify", "search-again"):
            code, out, err = run(capsys, command, name)
            assert (code, err) == (0, "")
            assert signer in out
            assert shows(out, "signer-not-checked")
            code, out, err = run(capsys, command, name, "--key", signer)
            assert (code, err) == (0, "")
            assert signer in out
            assert not shows(out, "signer-not-checked")
    for command in ("verify", "search-again"):
        said = refused(capsys, command, str(other), "--key", file.signer)
        assert shows(said, "signed-by-another")
    for more in ((), ("--key", stranger)):
        said = json.loads(run(capsys, "search-again", str(other), "--json", *more)[1])
        assert said["signers"] == [stranger]
        assert said["signers_checked"] == bool(more)
    page = files / "numbers.html"
    for command in ("verify", "search-again"):
        code, out, _ = run(capsys, command, str(other), "--html", str(page))
        assert code == 0
        assert stranger in page.read_text("utf-8")
        assert shows(out, "signer-not-checked")


HOSTILE = {
    "an infinite ε": lambda text: text.replace('"epsilon": 0.1', '"epsilon": 1e999'),
    "an ε beyond a double": lambda text: text.replace('"epsilon": 0.1', '"epsilon": 1' + "0" * 400),
    "ε twice": lambda text: text.replace('"epsilon": 0.1', '"epsilon": 0.01, "epsilon": 0.1'),
    "nothing but brackets": lambda text: "[" * 100_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_numbers_that_no_double_holds_are_refused_by_every_command(files, capsys, name):
    path, page = Path(first_release(files, capsys)), str(files / "x.html")
    (certificate,) = (files / "out").glob("certificate-*.json")
    for file in (path, certificate):
        file.write_text(HOSTILE[name](file.read_text("utf-8")), "utf-8")
        refused(capsys, "verify", str(file))
        refused(capsys, "verify", str(file), "--html", page)
        refused(capsys, "search-again", str(file))
    assert not Path(page).exists()
    assert [charge["epsilon"] for charge in spent(capsys)] == [0.1]


def test_releases_like_the_first_are_pooled(files, capsys):
    path = first_release(files, capsys)
    like = ("--like", path, "--algorithm", "moment-search", "--budget-name", "clinic")
    out = ("--out", str(files / "out"))
    for epsilon in ("0.2", "0.3"):
        # Levels come from the file.
        code, _, err = run(
            capsys, "release", *like, "--csv", str(files / "table.csv"), *out, "--epsilon", epsilon
        )
        assert (code, err) == (0, "")
    assert [charge["epsilon"] for charge in spent(capsys)] == [0.1, 0.2, 0.3]
    kept = sorted(map(str, (files / "out").glob("release-*.json")))
    assert len(kept) == 3
    said = json.loads(run(capsys, "search-again", *kept, "--json")[1])
    assert said["guarantee"]["epsilon"] == pytest.approx(0.6)
    assert {read_release_file(name).parameters["measured"] for name in kept} == {"levels"}
    network = ("release", *like, *out, "--network", "cancer", "--epsilon", "0.1")
    assert shows(refused(capsys, *network), "like-another")
    for other in (files / "none", next((files / "out").glob("certificate-*.json"))):
        refused(capsys, "release", "--like", str(other), *like[2:], *source(files))
    assert len(spent(capsys)) == 3


def test_topup_says_what_does_it_now(files, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["topup", "release.json", "--epsilon", "1"])
    assert ended.value.code == 2
    assert shows(capsys.readouterr().err, "topup-is-no-command")


def test_without_the_option_no_numbers_are_written(files, capsys):
    run(
        *(capsys, "release", *source(files), "--algorithm", "moment-search"),
        *("--budget-name", "clinic", "--epsilon", "0.1"),
    )
    assert {p.suffix for p in (files / "out").iterdir()} == {".json", ".html"}
    assert not list((files / "out").glob("release-*"))


@pytest.mark.long
def test_two_sites_are_searched_together(files, tmp_path, monkeypatch, capsys):
    path = first_release(files, capsys)
    monkeypatch.setenv("CAUSALVEIL_DATA_DIR", str(tmp_path / "other"))
    run(capsys, "ledger", "total", "clinic", "--epsilon", "1", "--delta", "1e-5")
    other = first_release(files, capsys, epsilon="0.25")
    said = json.loads(run(capsys, "search-again", path, other, "--sites", "--json")[1])
    assert said["guarantee"]["epsilon"] == 0.25
    assert shows(said["guarantee"]["public"][0], "rows-public", rows=600)
    said = json.loads(run(capsys, "search-again", path, other, "--json")[1])
    assert said["guarantee"]["epsilon"] == pytest.approx(0.35)
    assert shows(refused(capsys, "search-again", path, path), "file-twice")


@pytest.mark.long
@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--epsilon", "5"),
        ("--delta", "0.1"),
        ("--set", "rows_per_unit=2"),
        ("--calibration", "proven"),
    ],
)
def test_what_was_spent_is_no_setting_of_a_search(files, capsys, option, value):
    path = first_release(files, capsys)
    assert shows(refused(capsys, "search-again", path, option, value), "spent-already")


def test_wrong_files_and_settings_are_one_sentence(files, capsys):
    path = first_release(files, capsys)
    certificate = next((files / "out").glob("certificate-*.json"))
    (files / "bad.json").write_text(
        Path(path).read_text().replace('"epsilon": 0.1', '"epsilon": 0.01')
    )
    assert shows(refused(capsys, "search-again", str(certificate)), "no-release-file")
    assert "was changed" in refused(capsys, "search-again", str(files / "bad.json"))
    for other in (files / "none", files):
        assert shows(refused(capsys, "search-again", str(other)), "is-no-readable-file")
    refused(capsys, "search-again")
    refused(capsys, "search-again", path, "--set", "nothing=1")
    refused(capsys, "search-again", path, "--forbid", "a--nobody")
    assert len(spent(capsys)) == 1


def test_an_algorithm_that_keeps_nothing_is_refused_before_it_is_charged(files, capsys):
    said = refused(
        *(capsys, "release", *source(files), "--algorithm", "lapmech", "--keep-numbers"),
        *("--budget-name", "clinic", "--epsilon", "0.1"),
    )
    assert shows(said, "nothing-to-search-again")
    assert spent(capsys) == []


def test_every_command_is_fuzzed():
    assert set(options_of(build_parser())) - {"app"} == set(USUAL)


def test_a_pipe_is_no_release_file(tmp_path, capsys):
    """It may never end: nobody writes into this one."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert shows(refused(capsys, "search-again", str(pipe)), "is-no-readable-file")
