"""What a ledger survives: damage, full disks, other processes, being killed."""

import multiprocessing
import os
import sqlite3

import pytest

from privcore.errors import BudgetError, LedgerError
from privcore.releases.ledger import store as ledger_store
from privcore.releases.ledger.ledger import Ledger
from privcore.releases.ledger.store import VERSION
from tests.messages import raises_code, says
from tests.releases.ledger.charging import charge

FORK = multiprocessing.get_context("fork")
RACES = 20


@pytest.fixture
def ledger(tmp_path):
    made = Ledger(tmp_path / "ledger.sqlite", timeout=60)
    made.set_total("clinic", 1.0, 1e-6)
    return made


def racer(path, barrier, attempts, results):
    ledger = Ledger(path, timeout=60)
    for race in range(RACES):
        barrier.wait()
        for _ in range(attempts):
            try:
                ledger.reserve(
                    f"race {race}", [], algorithm="priv-pc", parameters={}, epsilon=0.5, delta=0.0
                )
            except BudgetError:
                results.put((race, 0))
            except LedgerError:
                # Not a number that any race can end with; the others must not wait for this one.
                results.put((race, 1000))
            else:
                results.put((race, 1))


def test_racing_processes_get_exactly_what_is_left(tmp_path):
    """Races of 3 processes with 2 attempts each for the last 3 shares of a budget."""
    path = tmp_path / "ledger.sqlite"
    ledger = Ledger(path, timeout=60)
    for race in range(RACES):
        ledger.set_total(f"race {race}", 1.5, 0.0)
    results, barrier = FORK.Queue(), FORK.Barrier(3)
    processes = [FORK.Process(target=racer, args=(path, barrier, 2, results)) for _ in range(3)]
    for process in processes:
        process.start()
    got = [results.get(timeout=120) for _ in range(RACES * 6)]
    for process in processes:
        process.join()
    granted = [sum(won for race, won in got if race == number) for number in range(RACES)]
    assert granted == [3] * RACES
    kept = ledger.charges()
    assert len(kept) == 3 * RACES
    assert len({c.sequence for c in kept}) == 3 * RACES


def limited(monkeypatch, statement):
    """Every connection made by the ledger starts with a statement."""
    real = sqlite3.connect

    def connect(*arguments, **options):
        connection = real(*arguments, **options)
        connection.execute(statement)
        return connection

    monkeypatch.setattr(ledger_store.sqlite3, "connect", connect)


def fill(ledger):
    for _ in range(10):
        ledger.reserve("clinic", [], algorithm="a" * 4000, parameters={}, epsilon=0.001, delta=0.0)


def test_a_full_disk_charges_nothing(ledger, monkeypatch):
    pages = ledger.path.stat().st_size // 4096
    with monkeypatch.context() as patch:
        limited(patch, f"PRAGMA max_page_count = {pages}")
        with raises_code(LedgerError, "ledger-disk-full"):
            fill(ledger)
    kept = ledger.charges()
    assert len(kept) < 10
    assert ledger.spending("clinic").charges == len(kept)
    charge(ledger)


def test_a_file_that_cannot_be_written_charges_nothing_but_can_be_read(ledger, monkeypatch):
    charge(ledger)
    limited(monkeypatch, "PRAGMA query_only = ON")
    with pytest.raises(LedgerError, match=says("ledger-unwritable")):
        charge(ledger)
    assert len(ledger.charges()) == 1


def test_a_directory_that_cannot_be_made_is_said(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(LedgerError, match=says("check-permissions")):
        Ledger(tmp_path / "file" / "ledger.sqlite").set_total("a", 1.0, 0.0)


def test_another_process_that_holds_the_file_is_waited_for(ledger):
    with sqlite3.connect(ledger.path, isolation_level=None) as holder:
        holder.execute("BEGIN IMMEDIATE")
        with raises_code(LedgerError, "ledger-held"):
            charge(Ledger(ledger.path, timeout=0.05))
        holder.execute("ROLLBACK")
    holder.close()
    charge(ledger)


@pytest.mark.parametrize(
    "damage",
    [
        lambda whole: b"this is not a database at all, but some text of a user",
        lambda whole: whole[:4096] + os.urandom(len(whole) - 4096),
        lambda whole: whole[: len(whole) // 2],
    ],
)
def test_a_damaged_file_is_said_and_left_as_it_is(ledger, damage):
    charge(ledger)
    broken = damage(ledger.path.read_bytes())
    ledger.path.write_bytes(broken)
    for use in (ledger.budgets, lambda: charge(ledger), lambda: ledger.set_total("a", 1.0, 0.0)):
        with raises_code(LedgerError, "ledger-damaged"):
            use()
    assert ledger.path.read_bytes() == broken


def test_other_databases_and_later_versions_are_left_alone(ledger, tmp_path):
    path = tmp_path / "other.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE mine (a)")
    connection.close()
    with raises_code(LedgerError, "ledger-of-another-program"):
        Ledger(path).budgets()
    with sqlite3.connect(ledger.path) as connection:
        connection.execute(f"PRAGMA user_version = {VERSION + 1}")
    connection.close()
    with raises_code(LedgerError, "ledger-of-a-later-version"):
        ledger.budgets()
    with sqlite3.connect(ledger.path) as connection:
        connection.execute(f"PRAGMA user_version = {VERSION - 1}")
    connection.close()
    with pytest.raises(LedgerError, match=says("ledger-damaged")):
        ledger.budgets()
