"""Whatever is done to the ledger's file by another hand is seen at the next opening, and said."""

import hashlib
import json
import multiprocessing
import os
import shutil
import signal
import sqlite3

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privcore import files
from privcore.errors import BudgetError, LedgerError
from privcore.releases.ledger import chain
from privcore.releases.ledger import store as ledger_store
from privcore.releases.ledger.chain import _PURPOSE, head_file, load_key
from privcore.releases.ledger.ledger import Ledger
from tests.examples import examples
from tests.messages import says
from tests.releases.ledger.charging import charge

FORK = multiprocessing.get_context("fork")


@pytest.fixture
def ledger(tmp_path):
    """A budget of 0.2 that is used up by two charges, of which one was released."""
    made = Ledger(tmp_path / "ledger.sqlite")
    made.set_total("clinic", 0.2, 0.0)
    made.finish(charge(made, certificate="0" * 32)[0].sequence, "released")
    charge(made)
    return made


def keep_certificate(ledger, identity):
    ledger.certificates.mkdir(exist_ok=True)
    (ledger.certificates / f"certificate-{identity}.json").write_text("{}")


def run_sql(path, *statements):
    with sqlite3.connect(path) as connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()


def rows_of(ledger):
    with sqlite3.connect(ledger.path) as connection:
        found = connection.execute("SELECT content, hash, signature FROM entries ORDER BY sequence")
        rows = [list(row) for row in found]
    connection.close()
    return rows


def write_rows(ledger, rows, numbers=None):
    with sqlite3.connect(ledger.path) as connection:
        connection.execute("DELETE FROM entries")
        connection.executemany(
            "INSERT INTO entries VALUES (?, ?, ?, ?)",
            [(n, *row) for n, row in zip(numbers or range(1, len(rows) + 1), rows, strict=True)],
        )
    connection.close()


def chained(rows, key=None):
    """The rows with the hashes that they should have, and signed too by whoever has the key."""
    digest, made = b"", []
    for content, _, signature in rows:
        digest = hashlib.sha256(digest + content).digest()
        made.append([content, digest, key.sign(_PURPOSE + digest) if key else signature])
    return made


def entry(**fields):
    return [json.dumps(fields).encode(), b"", b"\0" * 64]


def place(rows, **wanted):
    """Where the entry with these fields is."""
    return next(
        number
        for number, (content, *_) in enumerate(rows)
        if wanted.items() <= json.loads(content).items()
    )


def changed(kind, **fields):
    """An edit of the first entry of a kind."""

    def edit(rows):
        row = rows[place(rows, kind=kind)]
        row[0] = json.dumps({**json.loads(row[0]), **fields}).encode()

    return edit


def removed(**wanted):
    return lambda rows: rows.pop(place(rows, **wanted))


def reordered(rows):
    first, second = place(rows, kind="total"), place(rows, kind="charge")
    rows[first], rows[second] = rows[second], rows[first]


BOUND = {"time": "t", "budget": "clinic", "epsilon": 0.1, "delta": 0.0, "rho": None}


def total_entry(**fields):
    return entry(**{"kind": "total", "unit": "basic", **BOUND, **fields})


def charge_entry(**fields):
    made = {"kind": "charge", "sequence": 3, "algorithm": "a", "parameters": {}, "certificate": ""}
    return entry(**{**made, **BOUND, **fields})


def appended(**fields):
    return lambda rows: rows.append(charge_entry(**fields))


TAMPERING = {
    "total raised by hand": changed("total", epsilon=0.4),
    "charge made smaller": changed("charge", epsilon=0.01),
    "state edited": changed("state", state="failed"),
    "budget of the data edited": changed("data", fingerprints=["another"]),
    "salt of the fingerprints edited": changed("opened", salt="00" * 32),
    "charge removed": removed(kind="charge", sequence=1),
    "state removed": removed(kind="state"),
    "fingerprint removed": removed(kind="data"),
    "total removed": removed(kind="total"),
    "first entry removed": removed(kind="opened"),
    "last charge removed": removed(kind="charge", sequence=2),
    "entry inserted": lambda rows: rows.insert(2, total_entry(epsilon=9.0)),
    "entries reordered": reordered,
    "negative charge": appended(epsilon=-0.2),
    "charge of no budget": appended(budget="nobody"),
    "all entries removed": lambda rows: rows.clear(),
}


def uses(ledger):
    return (
        ledger.budgets,
        ledger.charges,
        lambda: ledger.fingerprint([b"rows"]),
        lambda: ledger.set_total("clinic", 5.0, 0.0),
        lambda: charge(ledger, epsilon=0.01),
        lambda: ledger.finish(2, "released"),
        lambda: ledger.export("csv"),
    )


def assert_refused(ledger, key="ledger-damaged-copy", **values):
    """Every use is refused in one sentence, and nothing is done to the file."""
    before = ledger.path.read_bytes() if ledger.path.exists() else None
    for use in uses(Ledger(ledger.path)):
        with pytest.raises(LedgerError, match=says(key, **values)) as caught:
            use()
        assert "\n" not in str(caught.value)
    assert (ledger.path.read_bytes() if ledger.path.exists() else None) == before


@pytest.mark.parametrize("tampering", TAMPERING)
@pytest.mark.parametrize("how", ["hashes left", "hashes made anew", "head removed too"])
def test_every_edit_of_the_rows_is_refused(ledger, tampering, how):
    """Also where all hashes after the edit are made to fit: they are not signed.

    The chain sees it without the head beside the file, which alone sees that the last is gone.
    """
    if how == "head removed too" and tampering != "last charge removed":
        head_file(ledger.path).unlink()
    rows = rows_of(ledger)
    TAMPERING[tampering](rows)
    write_rows(ledger, rows if how == "hashes left" else chained(rows))
    assert_refused(ledger)


def test_hashes_and_numbers_of_rows_are_checked_too(ledger):
    rows = rows_of(ledger)
    rows[2][1] = b"\0" * 32
    write_rows(ledger, rows)
    assert_refused(ledger, "ledger-damaged")
    rows = chained(rows)
    write_rows(ledger, rows, range(2, len(rows) + 2))
    assert_refused(ledger, "ledger-damaged")
    write_rows(ledger, rows)
    assert len(ledger.charges()) == 2


@pytest.mark.parametrize(
    "made",
    [
        charge_entry(epsilon=-0.2),
        charge_entry(epsilon=float("nan")),
        charge_entry(epsilon=0.0),
        charge_entry(epsilon=float("inf")),
        charge_entry(epsilon="0.1"),
        charge_entry(delta=-0.1),
        charge_entry(delta=1.0),
        charge_entry(rho=-1.0),
        charge_entry(budget="nobody"),
        charge_entry(sequence=2),
        charge_entry(sequence=4),
        charge_entry(parameters=[]),
        charge_entry(more=1),
        charge_entry(kind="gift"),
        entry(kind="state", sequence=1, state="charged"),
        entry(kind="state", sequence=0, state="failed"),
        entry(kind="state", sequence=1, state="failed"),
        entry(kind="opened", salt="00" * 32),
        entry(kind="data", budget="nobody", fingerprints=["x"]),
        total_entry(epsilon=-1.0),
        total_entry(budget=" "),
        entry(),
        [b"[]", b"", b""],
        [b"\xff", b"", b""],
        [b"[" * 100_000, b"", b""],
    ],
)
def test_entries_that_make_no_sense_are_damage_even_if_they_are_signed(ledger, made):
    write_rows(ledger, chained([*rows_of(ledger), made], load_key(ledger.path.parent)))
    assert_refused(ledger, "ledger-damaged")


def test_data_bound_to_two_budgets_are_damage(ledger):
    ledger.set_total("other", 1.0, 0.0)
    rows = rows_of(ledger)
    data = json.loads(rows[place(rows, kind="data")][0])
    rows.append(entry(**{**data, "budget": "other"}))
    write_rows(ledger, chained(rows, load_key(ledger.path.parent)))
    assert_refused(ledger, "ledger-damaged")


def old_copy(ledger):
    ledger.set_total("clinic", 0.3, 0.0)
    shutil.copy(ledger.path, ledger.path.with_name("copy"))
    charge(ledger)
    shutil.copy(ledger.path.with_name("copy"), ledger.path)


def another_ledger_of_the_key(ledger):
    other = Ledger(ledger.path.with_name("other.sqlite"))
    for total in range(1, 20):
        other.set_total("clinic", float(total), 0.0)
    shutil.copy(other.path, ledger.path)


def without_key(ledger):
    (ledger.path.parent / chain.KEY_FILE).unlink()


def trigger_that_undoes_charges(ledger):
    """It would be fired by the charge itself, before anything can be checked."""
    run_sql(
        ledger.path,
        "CREATE TRIGGER undo AFTER INSERT ON entries BEGIN DELETE FROM entries WHERE "
        "sequence = new.sequence; END",
    )


@pytest.mark.parametrize(
    ("tampered", "key", "values"),
    [
        (old_copy, "old-copy", {}),
        (another_ledger_of_the_key, "named-by-head", {"file": "ledger.sqlite.head"}),
        (without_key, "key-of-another", {"key_file": "signing_key.pem"}),
        (trigger_that_undoes_charges, "ledger-damaged", {}),
    ],
)
def test_a_file_that_is_not_what_was_written_is_refused(ledger, tampered, key, values):
    tampered(ledger)
    assert_refused(ledger, key, **values)


def test_an_old_copy_put_back_with_its_head_is_refused_while_a_certificate_is_there(ledger):
    ledger.set_total("clinic", 0.3, 0.0)
    for path in (ledger.path, head_file(ledger.path)):
        shutil.copy(path, path.with_name(f"{path.name}.copy"))
    charge(ledger, certificate="5" * 32)
    keep_certificate(ledger, "5" * 32)
    assert len(ledger.charges()) == 3
    for path in (ledger.path, head_file(ledger.path)):
        shutil.copy(path.with_name(f"{path.name}.copy"), path)
    assert_refused(ledger, "charge-of-certificate", certificate="5" * 32)
    # Certificates are of one ledger: another beside it is not concerned.
    other = Ledger(ledger.path.with_name("other.sqlite"))
    other.set_total("clinic", 1.0, 0.0)
    charge(other)
    # Without the certificate nothing tells: that much a rollback of everything can do.
    (ledger.certificates / f"certificate-{'5' * 32}.json").unlink()
    assert len(ledger.charges()) == 2


@pytest.mark.parametrize("witness", ["head", "certificate"])
@pytest.mark.parametrize("how", ["deleted", "emptied", "made anew", "no tables"])
def test_a_ledger_deleted_or_emptied_is_refused(ledger, witness, how, tmp_path):
    """0.4 of 0.2 could be spent otherwise: twice 0.2."""
    keep_certificate(ledger, "0" * 32)
    assert len(ledger.charges()) == 2
    if witness == "head":
        shutil.rmtree(ledger.certificates)
    else:
        head_file(ledger.path).unlink()
    ledger.path.unlink()
    if how == "emptied":
        ledger.path.touch()
    elif how == "made anew":
        other = Ledger(tmp_path / "new" / "ledger.sqlite")
        other.set_total("clinic", 0.2, 0.0)
        shutil.copy(other.path, ledger.path)
        shutil.copy(other.path.with_name(chain.KEY_FILE), ledger.path.parent)
    elif how == "no tables":
        run_sql(ledger.path, "PRAGMA user_version = 0", "VACUUM")
    assert_refused(ledger, "old-copy")


def test_moved_away_with_what_lies_beside_it_one_begins_anew(ledger):
    keep_certificate(ledger, "0" * 32)
    ledger.path.unlink()
    head_file(ledger.path).unlink()
    shutil.rmtree(ledger.certificates)
    ledger.set_total("clinic", 0.1, 0.0)
    assert ledger.charges() == []


ZERO, FRACTION = '{"sequence": 0, "hash": "0"}', '{"sequence": 1.0, "hash": "0"}'


@pytest.mark.parametrize(
    "said", ["", "no JSON", "[]", "{}", ZERO, FRACTION, pytest.param("[" * 100_000, id="deep")]
)
def test_a_head_that_is_none_is_said(ledger, said):
    head_file(ledger.path).write_text(said)
    assert_refused(ledger, "remove-if-sure")
    head_file(ledger.path).unlink()
    assert len(ledger.charges()) == 2
    assert head_file(ledger.path).exists()


@settings(max_examples=examples(150), deadline=None)
@given(st.data())
def test_no_bit_of_an_entry_can_be_turned(data):
    """In memory: the same reading of the entries as at every opening."""
    rows = _TURNED["rows"]
    number = data.draw(st.integers(0, len(rows) - 1))
    # Only the last signature is read: it covers all that is before it.
    column = data.draw(st.integers(0, 1 if number < len(rows) - 1 else 2))
    bits = bytearray(rows[number][column])
    bit = data.draw(st.integers(0, 8 * len(bits) - 1))
    bits[bit // 8] ^= 1 << bit % 8
    turned = [list(row) for row in rows]
    turned[number][column] = bytes(bits)
    with sqlite3.connect(":memory:") as connection:
        connection.execute(chain.TABLE)
        connection.executemany(
            "INSERT INTO entries VALUES (?, ?, ?, ?)",
            [(n, *row) for n, row in enumerate(turned, 1)],
        )
        with pytest.raises(LedgerError):
            ledger_store.Chain(connection, _TURNED["path"], _TURNED["key"])
    connection.close()


_TURNED = {}


@pytest.fixture(scope="module", autouse=True)
def turned(tmp_path_factory):
    made = Ledger(tmp_path_factory.mktemp("turned") / "ledger.sqlite")
    made.set_total("clinic", 0.2, 0.0)
    made.finish(charge(made)[0].sequence, "released")
    key = load_key(made.path.parent)
    _TURNED.update(rows=rows_of(made), path=made.path, key=key)


# Killed at every step, a right ledger is never refused.


def die(*arguments):
    os.kill(os.getpid(), signal.SIGKILL)


def then_die(function):
    return lambda *arguments: (function(*arguments), die())


# What is replaced so that a charge dies there.
STEPS = {
    "key made": (ledger_store, "load_key", then_die(load_key)),
    "opened": (ledger_store, "_opened", die),
    "before the commit": None,
    "after the commit": (ledger_store, "write_head", die),
    "head half written": (files.os, "fsync", die),
    "head written": (ledger_store, "write_head", then_die(ledger_store.write_head)),
}


def killed_at(step, path):
    ledger = Ledger(path)
    if STEPS[step]:
        setattr(*STEPS[step])
    ledger.set_total("clinic", 1.0, 0.0)
    charge(ledger, checkpoint=die)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("start", ["none", "present"])
def test_killed_at_every_step_a_right_ledger_is_not_refused(tmp_path, step, start):
    path = tmp_path / "ledger.sqlite"
    if start == "present":
        Ledger(path).set_total("clinic", 1.0, 0.0)
        charge(Ledger(path))
    before = 0 if start == "none" else 1
    process = FORK.Process(target=killed_at, args=(step, path))
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    ledger = Ledger(path)
    assert len(ledger.charges()) == before
    if start == "none":
        assert ledger.budget_of([ledger.fingerprint([b"rows"])]) is None
    ledger.set_total("clinic", 2.0, 0.0)
    charge(ledger)
    assert len(ledger.charges("clinic")) == before + 1
    assert json.loads(head_file(path).read_text())["sequence"] == len(rows_of(ledger))


def test_a_head_that_stays_behind_is_brought_up_and_is_no_harm(ledger, monkeypatch):
    behind = head_file(ledger.path).read_text()
    ledger.set_total("clinic", 1.0, 0.0)
    charge(ledger)
    head_file(ledger.path).write_text(behind)
    assert len(ledger.charges()) == 3
    assert json.loads(head_file(ledger.path).read_text())["sequence"] == len(rows_of(ledger))
    with monkeypatch.context() as patch:
        patch.setattr(files.os, "fsync", lambda number: (_ for _ in ()).throw(OSError()))
        charge(ledger)
    assert len(ledger.charges()) == 4


def test_a_head_is_written_for_what_is_there_only(ledger):
    """A charge that is refused, or undone, leaves the head as it was."""
    ledger.set_total("clinic", 0.25, 0.0)
    head = head_file(ledger.path).read_text()
    with pytest.raises(BudgetError):
        charge(ledger)
    assert head_file(ledger.path).read_text() == head

    def interrupt(step):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        charge(ledger, epsilon=1e-9, checkpoint=interrupt)
    assert head_file(ledger.path).read_text() == head
    assert len(ledger.charges()) == 2


def test_certificates_and_head_are_read_before_the_file(ledger, monkeypatch):
    """A release made by another process in between is no reason to refuse."""
    real = ledger_store.witnesses

    def meanwhile(path):
        with monkeypatch.context() as patch:
            patch.setattr(ledger_store, "witnesses", real)
            other = Ledger(ledger.path, timeout=0.05)
            other.set_total("clinic", 1.0, 0.0)
            identity = f"{len(other.charges()) + 1:032}"
            charge(other, certificate=identity)
            keep_certificate(other, identity)
        return real(path)

    monkeypatch.setattr(ledger_store, "witnesses", meanwhile)
    assert len(ledger.charges()) == 3
