"""Release, ledger, accounts and verify from a shell."""

import contextlib
import errno
import json
import math
import os
import shutil
import sys
from pathlib import Path

import pytest

from privcore.errors import LedgerError
from privcore.faces.cli import release as release_command
from privcore.releases import signing
from privcore.releases.ledger.ledger import Ledger
from tests.cli.schemas import confirmed
from tests.messages import begins, shows

TEXT = "a,b,c\n" + "".join(f"{i % 2},{(i // 2) % 3},{(i * 7) % 5 % 2}\n" for i in range(600))


@pytest.fixture
def files(home):
    (home / "table.csv").write_text(TEXT)
    confirmed(home / "table.csv")
    return home


ASKED = (
    "release --csv table.csv --schema table.schema.json --algorithm lapmech"
    " --budget-name clinic --out out"
)


def test_from_an_uploaded_table_to_a_verified_certificate(files, printed, report, refused):
    out = printed("ledger total clinic --epsilon 1 --delta 0")
    assert str(files / "data" / "ledger.sqlite") in out
    out = printed(f"{ASKED} --epsilon 0.75")
    assert shows(out, "guarantee-of-run", epsilon="0.75", delta=0, status="proven")
    assert "remaining epsilon 0.25" in out
    paths = out.split("\n")[-3:-1]
    out = printed(f"verify {paths[0]}")
    assert begins(out, "signer-not-checked")
    assert "Verified" not in out
    assert shows(out, "planned-steps-cost", epsilon="0.75")
    fingerprint = json.loads(Path(paths[0]).read_text())["signature"]["fingerprint"]
    assert printed(f"verify {paths[0]} --key {fingerprint}").startswith("Verified:")
    assert shows(refused(f"verify {paths[0]} --key ab"), "signed-by-another")
    assert Path(paths[1]).read_text().startswith("<!DOCTYPE html>")
    assert "0.25 is left" in refused(f"{ASKED} --epsilon 0.3")
    out = printed("ledger list")
    assert "lapmech epsilon 0.75 delta 0.0 released" in out.replace("delta 0 ", "delta 0.0 ")
    assert report("ledger export --form json")["charges"][0]["state"] == "released"
    assert len(printed("ledger export").splitlines()) == 2
    (kept,) = printed("ledger certificates").splitlines()
    assert " clinic lapmech " in kept
    assert kept.endswith(f"certificates/{Path(paths[0]).name}")
    assert Path(kept.split(" ", 3)[3]).read_text() == Path(paths[0]).read_text()
    tampered = files / "tampered.json"
    tampered.write_text(Path(paths[0]).read_text().replace("0.75", "0.15"))
    assert "was changed" in refused(f"verify {tampered}")


def test_the_ledger_may_be_another_file(files, run):
    run("ledger total clinic --epsilon 1 --delta 0 --ledger other.sqlite")
    assert "clinic" in run("ledger --ledger other.sqlite")[1]
    assert "0 budgets" in run("ledger")[1]
    assert "no certificates" in run("ledger certificates")[1]
    assert run(f"{ASKED} --ledger other.sqlite").code == 0
    assert len(list((files / "out").iterdir())) == 2


def test_rows_left_out_must_be_accepted(printed, files, run, refused):
    run("ledger total clinic --epsilon 1 --delta 0")
    (files / "table.csv").write_text(f"{TEXT},1,0\n")
    dropped = f"{ASKED} --missing drop"
    assert shows(refused(dropped), "missing-rows-left-out")
    assert shows(printed(f"{dropped} --accept-caveats"), "missing-rows-accepted")


@pytest.mark.parametrize(
    "arguments",
    [
        "ledger total clinic --epsilon much --delta 0",
        "ledger total clinic --epsilon 1 --delta 2",
        "ledger total clinic --epsilon 1 --delta 0 --unit zcdp",
        "ledger total clinic --epsilon 1",
        "verify /nowhere/at/all",
        "accounts",
        "accounts --event laplace:1 --algorithm priv-pc",
        "accounts --algorithm pc",
        "accounts --algorithm priv-pc --calibration published",
        "accounts --algorithm priv-pc --columns 1",
        "accounts --algorithm priv-pc --columns 10000000",
        "release --network asia --algorithm priv-pc",
    ],
)
def test_wrong_questions_get_one_sentence(files, refused, arguments):
    refused(arguments)


def test_nothing_is_charged_where_the_certificate_could_not_be_written(files, run, refused):
    run("ledger total clinic --epsilon 1 --delta 0")
    (files / "out").write_text("a file")
    assert shows(refused(ASKED), "cannot-be-made")
    assert "spent epsilon 0," in run("ledger")[1]


def full(*arguments):
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_full_disk_at_the_directory_asked_for_names_the_copy(files, run, monkeypatch):
    run("ledger total clinic --epsilon 1 --delta 0")
    monkeypatch.setattr(release_command, "write_whole", full)
    code, out, err = run(ASKED)
    assert code == 2
    (kept,) = (files / "data" / "certificates").iterdir()
    assert err.count("\n") == 1
    assert shows(err, "cannot-be-written")
    assert str(kept) in err
    assert shows(out, "epsilon-and-delta", epsilon=1, delta=0)
    assert run(f"verify {kept}")[0] == 0
    # Not even the copy: the certificate itself is printed, for nothing else has it.
    monkeypatch.setattr(signing, "write_whole", full)
    run("ledger total clinic --epsilon 2 --delta 0")
    code, out, err = run(ASKED)
    assert code == 2
    assert shows(err, "save-certificate")
    (files / "saved.json").write_text(out[out.index('{\n "schema"') :])
    assert run("verify saved.json")[0] == 0


def test_what_is_in_no_file_is_printed_and_listed_as_what_may_be_out(files, run, monkeypatch):
    """The disk is full after the charge, and the ledger cannot be read either."""

    def unwritable(ledger, sequence, state):
        raise LedgerError("The disk is full.")

    run("ledger total clinic --epsilon 1 --delta 1e-5")
    words = f"{ASKED} --algorithm moment-search --epsilon 0.5 --keep-numbers"
    with monkeypatch.context() as patch:
        patch.setattr(release_command, "write_whole", full)
        patch.setattr(signing, "write_whole", full)
        patch.setattr(Ledger, "finish", unwritable)
        patch.setattr(Ledger, "budget", lambda ledger, name: unwritable(ledger, 0, ""))
        code, out, err = run(words)
    assert code == 2
    assert shows(err, "save-certificate")
    begin, middle = out.index('{"schema"'), out.index('{\n "schema"')
    for name, content in (("numbers", out[begin:middle]), ("certificate", out[middle:])):
        (files / f"{name}.json").write_text(content)
        assert run(f"verify {files / f'{name}.json'}")[0] == 0
    listed = run("ledger list")[1]
    assert shows(listed, "maybe-handed-out")
    assert "spent epsilon 0.5" in listed


def test_interrupted_after_the_charge_it_says_where_to_look(files, run, refused, monkeypatch):
    def stop(document):
        raise KeyboardInterrupt

    run("ledger total clinic --epsilon 1 --delta 0")
    monkeypatch.setattr(release_command, "certificate_html", stop)
    try:
        assert shows(refused(ASKED), "interrupted")
    except KeyboardInterrupt:
        pytest.fail("the interrupt was not turned into a sentence")
    assert " lapmech " in run("ledger list")[1]
    assert str(files / "data" / "certificates") in run("ledger certificates")[1]


def test_nothing_is_printed_before_the_certificate_is_written(files, run, monkeypatch):
    """So that a reader that goes away, as in `release … | head -1`, loses nothing."""

    def gone(made):
        raise BrokenPipeError

    run("ledger total clinic --epsilon 1 --delta 0")
    monkeypatch.setattr(release_command, "_words", gone)
    with contextlib.suppress(BrokenPipeError):
        run(ASKED)
    assert {path.suffix for path in (files / "out").iterdir()} == {".json", ".html"}
    assert len(list((files / "data" / "certificates").iterdir())) == 1
    assert " released\n" in run("ledger list")[1]


def test_verify_says_what_a_file_is(files, run, printed, refused):
    """What is signed or confirmed is verified, and anything else that is written is named."""
    run("ledger total clinic --epsilon 1 --delta 0")
    run(ASKED)
    ledger, schema = files / "data" / "ledger.sqlite", files / "table.schema.json"
    assert begins(printed(f"verify {ledger}"), "ledger-intact")
    assert begins(printed(f"verify {schema}"), "schema-confirmed")
    assert shows(refused(f"verify {schema} --key ab"), "for-releases-alone")
    changed = files / "changed.json"
    changed.write_text(schema.read_text().replace('"kind"', '"missing": true, "kind"', 1))
    assert shows(refused(f"verify {changed}"), "schema-unconfirmed")
    alone = files / "alone"
    alone.mkdir()
    shutil.copy(ledger, alone)
    assert shows(refused(f"verify {alone / ledger.name}"), "ledger-without-key")
    assert [kept.name for kept in alone.iterdir()] == [ledger.name]
    written = {
        "report of a run": "discover --network cancer --json",
        "graph": "discover --network cancer --format json",
        "copy of a ledger": "ledger export --form json",
    }
    for what, command in written.items():
        changed.write_text(run(command)[1])
        assert what in refused(f"verify {changed}")
    (page,) = (files / "out").glob("*.html")
    assert "page to read" in refused(f"verify {page}")


@pytest.mark.skipif(os.name != "posix", reason="devices and pipes with a name")
def test_endless_files_pipes_and_directories_are_no_certificates(files, refused):
    os.mkfifo(files / "pipe")
    for name in ("/dev/zero", files / "pipe", files, "no\0name", "\udcff.json"):
        assert shows(refused("verify", name), "is-no-readable-file")


def test_verify_reads_no_more_than_a_certificate_can_have(files, refused):
    # A file with a hole: it takes no room on the disk, but would take a terabyte of memory.
    with (files / "large.json").open("wb") as file:
        file.truncate(10**12)
    assert shows(refused("verify large.json"), "file-too-large")


def test_accounts_of_steps_and_of_a_plan(printed, report):
    out = printed("accounts --event laplace:0.1:30")
    assert "2.2978" in out.split("privacy-loss distribution")[1][:30]
    described = report("accounts --algorithm svt-pc --epsilon 2 --columns 5 --json")
    assert described["events"][0]["count"] == 10
    assert min(a["epsilon"] for a in described["accounts"] if a["epsilon"]) <= 2.0
    out = printed("accounts --event discrete-laplace:1:2 --delta 0")
    assert shows(out, "needs-delta-above-0")


@pytest.mark.parametrize("command", ["release", "verify", "accounts", "ledger"])
def test_help_of_a_command(printed, command):
    assert command in printed(f"{command} --help")


EXTREME = [
    (["laplace:1e-100", "laplace:1e100"], "1e-6"),
    (["laplace:1:1000000000000000"], "1e-6"),
    (["gaussian:1e-20", "gaussian:1e100:1000000000000000"], "1e-6"),
    (["gaussian:1e-50", "laplace:0.1"], "1e-6"),
    (["zcdp:1e100"], "1e-6"),
    (["pure:10000000000:10", "exponential:800:3"], "0.9999999999999999"),
    (["discrete-laplace:1e-5:1000000000"], "1e-6"),
    (["pure:1e-100:1000000000"], "1e-5"),
    (["zcdp:1", "gaussian:1"], "5e-324"),
    (["gaussian:3:1000000000000000"] * 3, "1e-300"),
    ([f"laplace:{0.001 * step:.3f}:3" for step in range(1, 2001)], "1e-6"),
    (["discrete-laplace:800"], "1e-6"),
    (["laplace:1"], "0"),
]
IMPOSSIBLE = [
    *("laplace:1e300", "gaussian:1e-300", "zcdp:1e-320", "pure:inf", "pure:nan", "pure:1e400"),
    *("pure:0", "laplace:1:0", "laplace:1:-3", "laplace:-1", "laplace:1:1e18", "laplace:x"),
    *(
        "laplace:1:1000000000000000001",
        "laplace:1:" + "9" * 5000,
        "laplace",
        "normal:1",
        "\udcff:1",
    ),
]


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize(("events", "delta"), EXTREME)
def test_accounts_of_extreme_steps_are_numbers_or_say_why_not(printed, events, delta):
    words = " ".join(f"--event {event}" for event in events)
    out = printed(f"accounts {words} --delta {delta} --json")
    for account in json.loads(out, parse_constant=pytest.fail)["accounts"]:
        if account["epsilon"] is None:
            assert account["note"].startswith("not defined: ")
        else:
            assert 0 <= account["epsilon"] < math.inf


@pytest.mark.parametrize("epsilon", ["1e-300", "1e-160", "1e300"])
@pytest.mark.parametrize("name", ["em-pc", "priv-pc", "lapmech"])
def test_accounts_of_a_plan_at_the_edges_end_in_an_answer_or_a_sentence(run, name, epsilon):
    code, out, err = run(f"accounts --algorithm {name} --epsilon {epsilon}")
    assert (code, err) == (0, "") or (code == 2 and out == "" and err.count("\n") == 1)


@pytest.mark.parametrize(
    "events",
    [
        " --event ".join(f"laplace:0.{step}" for step in range(1, 60)),
        "discrete-laplace:1e-5:1000001",
    ],
)
def test_accounts_that_would_take_too_long_say_so(report, events):
    accounts = report(f"accounts --event {events} --json")["accounts"]
    assert shows(accounts[-1]["note"], "takes-too-long")


@pytest.mark.parametrize(
    ("event", "delta"),
    [
        *((event, "1e-6") for event in IMPOSSIBLE),
        *(("laplace:1", delta) for delta in ("1", "-1e-9", "nan", "inf", "x", "\udcff")),
    ],
)
def test_impossible_steps_are_refused_in_one_sentence(refused, event, delta):
    refused(f"accounts --event {event} --delta={delta}")


@pytest.mark.skipif(sys.platform != "linux", reason="names that are no text")
def test_names_that_are_no_text_are_names_like_others(printed, files, run, monkeypatch):
    """File names are bytes: what is no UTF-8 comes as surrogates."""
    folder = files / "b\udcffd"
    folder.mkdir()
    monkeypatch.setenv("CAUSALVEIL_DATA_DIR", str(folder / "data\udcfe"))
    run("ledger total clinic --epsilon 1 --delta 0")
    (files / "table.csv").rename(folder / "table\udcff.csv")
    (files / "table.schema.json").rename(folder / "schema\udcff.json")
    monkeypatch.chdir(folder)
    printed(
        "release --csv table\udcff.csv --schema schema\udcff.json --algorithm lapmech"
        " --budget-name clinic --out out\udcff"
    )
    (made,) = (folder / "out\udcff").glob("*.json")
    assert run(f"verify {made}").code == 0
    assert run("ledger certificates").code == 0
    assert run("ledger --ledger other\udcff").code == 0


@pytest.mark.parametrize("name", ["b\udcff", "b\0", "\ud800", "", " ", "a\nb"])
def test_budget_names_that_are_no_text_are_refused(files, run, refused, name):
    refused("ledger total --epsilon 1 --delta 0", name)
    run("ledger total clinic --epsilon 1 --delta 0")
    assert shows(refused(f"{ASKED} --budget-name", name), "no-such-budget")


@pytest.mark.skipif(os.name != "posix", reason="devices and pipes with a name")
def test_what_is_no_file_is_no_ledger(files, refused, monkeypatch):
    folder = files / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    os.mkfifo("pipe")
    for name in ("null", "zero"):
        Path(name).symlink_to(f"/dev/{name}")
    before = sorted(folder.iterdir())
    for name in ("pipe", "null", "zero", "", ".", "x\0y"):
        refused("ledger --ledger", name)
    assert sorted(folder.iterdir()) == before


def test_a_ledger_named_memory_is_a_file_like_others(files, run, refused, monkeypatch):
    for _ in range(2):
        run("ledger total c --epsilon 1 --delta 0 --ledger=:memory:")
    assert "c: total" in run("ledger --ledger :memory:")[1]
    monkeypatch.setenv("CAUSALVEIL_DATA_DIR", "~nobody\udcff/x")
    assert "unknown user" in refused("ledger")


@pytest.mark.parametrize("algorithm", ["lapmech", "laplace-pc"])
def test_what_is_known_is_released_and_verified_along(files, run, printed, refused, algorithm):
    run("ledger total clinic --epsilon 1 --delta 1e-6")
    known = f"--tiers a;b,c --require a->c --algorithm {algorithm}"
    out = printed(f"{ASKED} --epsilon 0.75 {known}")
    path = out.split("\n")[-3]
    certificate = json.loads(Path(path).read_text())
    assert any("a before b, c; a → c required" in f for f in certificate["guarantee"]["public"])
    assert "docs/proofs/background_knowledge.md" in certificate["guarantee"]["proof"]
    assert '["a","->","c"]' in certificate["algorithm"]["parameters"]["knowledge"]
    assert ["a", "c"] in certificate["released"]["graph"]["directed"]
    assert run(f"verify {path}").code == 0
    assert shows(refused(f"{ASKED} --epsilon 0.1 --require 'b->a; a->b'"), "take-one-back")
