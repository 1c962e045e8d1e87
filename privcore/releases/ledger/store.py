"""The ledger's file: its table of entries, and file errors.

Whenever the file is opened, the chain of entries is checked, and compared with the head file and
the certificates next to the ledger.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

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

# "CVLg", which identifies the file among other databases.
APPLICATION = 0x43564C67
_CORRUPT = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)

# The file's format.
VERSION = 3


@contextmanager
def transaction(path: Path, timeout: float, *, reading: bool = False) -> Iterator[Chain]:
    """Open the checked entries in one transaction: committed at the end, undone after an error.

    reading: whether the transaction only reads; a writing transaction locks the file at its start.

    Creates the file in a separate transaction.  Waits up to `timeout` seconds for other processes.
    Raises LedgerError if the file cannot be used, or is not in the state written last.
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
            if _version(connection) == 0:
                with _begun(connection, "IMMEDIATE"):
                    _start(connection, path, key)
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
    whole = connection.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok"
    if not whole or _version(connection) < VERSION:
        raise damaged(path)


def _start(connection: sqlite3.Connection, path: Path, key: Ed25519PrivateKey) -> None:
    # Checked again: another process may have started it while this one waited.
    if _version(connection) == VERSION:
        return
    connection.execute(TABLE)
    Chain(connection, path, key).add({"kind": "opened", "salt": secrets.token_hex(32)})
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
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
