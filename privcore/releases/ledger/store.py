"""The ledger's file: its table of entries, upgrades of older formats, and file errors.

Whenever the file is opened, the chain of entries is checked, and compared with the head file and
the certificates next to the ledger.
"""

from __future__ import annotations

import json
import os
import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from privcore.errors import LedgerError
from privcore.releases.ledger.chain import (
    TABLE,
    Chain,
    Witnesses,
    check_witnesses,
    damaged,
    load_key,
    witnesses,
    write_head,
)
from privcore.text import short

TABLES = ("secret", "budgets", "totals", "fingerprints", "charges")


def entries_of(connection: sqlite3.Connection) -> Iterator[dict[str, Any]]:
    """Convert the rows of older tables to entries; raises ValueError or TypeError if invalid.

    A row that refers to an unknown budget becomes an entry with the budget None, which is invalid
    as well.
    """
    (salt,) = connection.execute("SELECT salt FROM secret").fetchone()
    yield {"kind": "opened", "salt": salt.hex()}
    for time, budget, unit, epsilon, delta, rho in connection.execute(
        "SELECT t.time, b.name, t.unit, t.epsilon, t.delta, t.rho FROM totals t "
        "LEFT JOIN budgets b ON b.id = t.dataset ORDER BY t.sequence"
    ):
        yield {
            "kind": "total",
            "time": time,
            "budget": budget,
            "unit": unit,
            "epsilon": float(epsilon),
            "delta": float(delta),
            "rho": _number(rho),
        }
    for fingerprint, budget in connection.execute(
        "SELECT f.fingerprint, b.name FROM fingerprints f "
        "LEFT JOIN budgets b ON b.id = f.dataset ORDER BY f.rowid"
    ):
        yield {"kind": "data", "budget": budget, "fingerprints": [fingerprint]}
    charges = connection.execute(
        "SELECT c.sequence, c.time, b.name, c.algorithm, c.parameters, c.epsilon, c.delta, c.rho, "
        "c.certificate, c.state FROM charges c LEFT JOIN budgets b ON b.id = c.dataset "
        "ORDER BY c.sequence"
    )
    for (
        sequence,
        time,
        budget,
        algorithm,
        parameters,
        epsilon,
        delta,
        rho,
        certificate,
        state,
    ) in charges:
        yield {
            "kind": "charge",
            "sequence": sequence,
            "time": time,
            "budget": budget,
            "algorithm": algorithm,
            "parameters": json.loads(parameters),
            "epsilon": float(epsilon),
            "delta": float(delta),
            "rho": _number(rho),
            "certificate": certificate,
        }
        if state != "charged":
            yield {"kind": "state", "sequence": sequence, "state": state}


def _number(text: str | None) -> float | None:
    return None if text is None else float(text)


# "CVLg", which identifies the file among other databases.
APPLICATION = 0x43564C67
_CORRUPT = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)

# Each upgrades a file from the previous version; a new file runs through all of them.
MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        "CREATE TABLE secret (salt BLOB NOT NULL)",
        "CREATE TABLE datasets (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, "
        "fingerprint TEXT UNIQUE, epsilon TEXT NOT NULL, delta TEXT NOT NULL, "
        "created TEXT NOT NULL)",
        "CREATE TABLE charges (sequence INTEGER PRIMARY KEY AUTOINCREMENT, "
        "dataset INTEGER NOT NULL, time TEXT NOT NULL, algorithm TEXT NOT NULL, "
        "parameters TEXT NOT NULL, epsilon TEXT NOT NULL, delta TEXT NOT NULL, "
        "state TEXT NOT NULL CHECK (state IN ('charged', 'released', 'failed')))",
    ),
    (
        # Charges store their ρ and their certificate; a budget has a history of totals, and any
        # number of fingerprints.
        "ALTER TABLE charges ADD COLUMN rho TEXT",
        "ALTER TABLE charges ADD COLUMN certificate TEXT NOT NULL DEFAULT ''",
        "CREATE TABLE budgets (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, "
        "created TEXT NOT NULL)",
        "CREATE TABLE fingerprints (fingerprint TEXT PRIMARY KEY, dataset INTEGER NOT NULL)",
        "CREATE TABLE totals (sequence INTEGER PRIMARY KEY AUTOINCREMENT, "
        "dataset INTEGER NOT NULL, time TEXT NOT NULL, "
        "unit TEXT NOT NULL CHECK (unit IN ('basic', 'zcdp')), "
        "epsilon TEXT NOT NULL, delta TEXT NOT NULL, rho TEXT)",
        "INSERT INTO budgets SELECT id, name, created FROM datasets",
        "INSERT INTO fingerprints SELECT fingerprint, id FROM datasets "
        "WHERE fingerprint IS NOT NULL",
        "INSERT INTO totals (dataset, time, unit, epsilon, delta) "
        "SELECT id, created, 'basic', epsilon, delta FROM datasets ORDER BY id",
        "DROP TABLE datasets",
    ),
    # One table of chained entries; the rows of the older tables become its first entries.
    (TABLE,),
)
VERSION = len(MIGRATIONS)


@contextmanager
def transaction(path: Path, timeout: float, *, reading: bool = False) -> Iterator[Chain]:
    """Open the checked entries in one transaction: committed at the end, undone after an error.

    reading: whether the transaction only reads; a writing transaction locks the file at its start.

    Creates the file, or upgrades an older file, in separate transactions.  Waits up to `timeout`
    seconds for other processes.  Raises LedgerError if the file cannot be used, or is not in the
    state written last.
    """
    with _explained(path):
        # Read before the file: it held each recorded entry before the record was written.
        seen = witnesses(path)
        _create(path, seen)
        with closing(sqlite3.connect(path, timeout=timeout, isolation_level=None)) as connection:
            # A power cut after a commit must not restore the state before it.
            connection.execute("PRAGMA synchronous = EXTRA")
            _check(connection, path)
            key = load_key(path.parent)
            if _version(connection) < VERSION:
                with _begun(connection, "IMMEDIATE"):
                    _migrate(connection, path, key)
                    _opened(connection, path, key, seen)
            with _begun(connection, "DEFERRED" if reading else "IMMEDIATE"):
                chain = _opened(connection, path, key, seen)
                yield chain
        write_head(path, seen, chain.hashes)


def _create(path: Path, seen: Witnesses) -> None:
    """Create an empty file that only its owner can read, unless the file exists."""
    if path.exists() and not path.is_file():
        raise LedgerError("ledger-is-no-file", path=short(path, 200))
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not path.exists() or path.stat().st_size == 0:
        check_witnesses(path, seen, [], [])
    if not path.exists():
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))


def _opened(
    connection: sqlite3.Connection, path: Path, key: Ed25519PrivateKey, seen: Witnesses
) -> Chain:
    """The checked entries; raises LedgerError unless they are in the state written last."""
    # A trigger, for example, could undo what is written here.
    rest = "SELECT type, name, sql FROM sqlite_master WHERE name != 'sqlite_sequence'"
    if connection.execute(rest).fetchall() != [("table", "entries", TABLE)]:
        raise damaged(path)
    chain = Chain(connection, path, key)
    if not chain.hashes:
        raise damaged(path)
    check_witnesses(path, seen, chain.hashes, chain.books.charges)
    return chain


@contextmanager
def _begun(connection: sqlite3.Connection, kind: str) -> Iterator[None]:
    connection.execute(f"BEGIN {kind}")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _check(connection: sqlite3.Connection, path: Path) -> None:
    """Raises LedgerError for a file that is damaged, or from another program or later version."""
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if not tables:
        return
    if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION:
        raise LedgerError("ledger-of-another-program", path=short(path, 200))
    if _version(connection) > VERSION:
        raise LedgerError("ledger-of-a-later-version", path=short(path, 200))
    if connection.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
        raise damaged(path)


def _migrate(connection: sqlite3.Connection, path: Path, key: Ed25519PrivateKey) -> None:
    # Checked again: another process may have upgraded it while this one waited.
    version = _version(connection)
    if version == VERSION:
        return
    # A new file needs only the current format.
    for step in MIGRATIONS[version:] if version else MIGRATIONS[-1:]:
        for statement in step:
            connection.execute(statement)
    chain = Chain(connection, path, key)
    if version == 0:
        chain.add({"kind": "opened", "salt": secrets.token_hex(32)})
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
    else:
        try:
            for entry in entries_of(connection):
                chain.add(entry)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise damaged(path) from None
        for table in TABLES:
            connection.execute(f"DROP TABLE {table}")
    connection.execute(f"PRAGMA user_version = {VERSION}")


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Turns errors from the database or the disk into a LedgerError of one sentence."""
    name = short(path, 200)
    try:
        yield
    except sqlite3.Error as error:
        # The low byte is the kind of error; the rest is where it arose.
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in _CORRUPT:
            raise damaged(path) from None
        if code in _BUSY:
            raise LedgerError("ledger-held", name=name) from None
        if code == sqlite3.SQLITE_FULL:
            raise LedgerError("ledger-disk-full", name=name) from None
        raise LedgerError("ledger-cannot-read-written-not-changed", name=name) from None
    except OSError:
        raise LedgerError("ledger-cannot-read-written", name=name) from None
