"""What makes a ledger hard to change unseen: its key, its chain, and its witnesses.

The Ed25519 key that signs the ledger's entries and the certificates (RFC 8032).

The key is created once, in the data directory, and only its owner can read it.

Files next to the ledger's file that reveal whether the ledger was reset to an older state.

The head file names the last entry at the time of writing, and every kept certificate names a
charge.  These files are written after their entry is on the disk, and read before the ledger's
file.  They therefore never name an entry that is not yet in the ledger, even if a process is killed
or another process writes.

The entries of the ledger as a chain: the signed hash of each entry covers all earlier entries.

The hash of an entry is SHA-256 of the previous entry's hash and of its own content.  Editing,
removing, inserting or moving an entry therefore changes all later hashes, and the signature of the
last entry covers the whole chain.  The chain cannot show that it was cut short; see `witnesses`.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from privcore.errors import LedgerError
from privcore.files import write_whole
from privcore.releases.ledger.entries import Books, Charge, Entry
from privcore.text import short

KEY_FILE = "signing_key.pem"


def load_key(directory: Path) -> Ed25519PrivateKey:
    """Load the signing key in `directory`, and create it if there is none.

    Raises LedgerError if the key cannot be read or written, or if other users can read it.
    """
    path = directory / KEY_FILE
    name = short(path, 200)
    try:
        if not path.exists():
            _make(path)
        if os.name == "posix" and path.stat().st_mode & 0o077:
            raise LedgerError("key-readable-by-others", name=name)
        key = load_pem_private_key(path.read_bytes(), password=None)
    except OSError:
        raise LedgerError("signing-key-cannot-read-written", name=name) from None
    except (ValueError, TypeError) as error:
        if isinstance(error, LedgerError):
            raise
        raise LedgerError("not-a-signing-key", name=name) from None
    if not isinstance(key, Ed25519PrivateKey):
        raise LedgerError("file-not-ed25519-key", name=name)
    return key


def _make(path: Path) -> None:
    """Write a new key atomically, without replacing a key that another process has written."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    pem = Ed25519PrivateKey.generate().private_bytes(
        Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()
    )
    part = path.with_name(f"{KEY_FILE}.{secrets.token_hex(8)}")
    with os.fdopen(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
        file.write(pem)
        file.flush()
        os.fsync(file.fileno())
    try:
        os.link(part, path)
    except FileExistsError:
        pass
    finally:
        part.unlink()


LEDGER_FILE = "ledger.sqlite"
FOLDER = "certificates"
_CERTIFICATE = re.compile(r"certificate-([0-9a-f]{32})\.json")
_LONGEST_HEAD = 1_000


class Witnesses(NamedTuple):
    """What the files next to a ledger name.

    head: number and hash of an entry, from the head file; None if there is no head file.
    certificates: the IDs of the kept certificates.
    """

    head: tuple[int, str] | None
    certificates: frozenset[str]


def certificates_folder(path: Path) -> Path:
    """The folder for a ledger's certificates; each ledger file name has its own folder."""
    return path.with_name(FOLDER if path.name == LEDGER_FILE else f"{path.name}.{FOLDER}")


def head_file(path: Path) -> Path:
    return path.with_name(f"{path.name}.head")


def witnesses(path: Path) -> Witnesses:
    """Read the files next to a ledger.

    Raises LedgerError for an invalid head file, and OSError if a file cannot be read.
    """
    try:
        names = [entry.name for entry in certificates_folder(path).iterdir()]
    except (FileNotFoundError, NotADirectoryError):
        names = []
    matches = filter(None, map(_CERTIFICATE.fullmatch, names))
    return Witnesses(_head(head_file(path)), frozenset(match[1] for match in matches))


def _head(path: Path) -> tuple[int, str] | None:
    try:
        with path.open("rb") as file:
            head = json.loads(file.read(_LONGEST_HEAD))
        sequence, digest = head["sequence"], head["hash"]
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError, RecursionError):
        sequence = digest = None
    if type(sequence) is not int or sequence < 1 or not isinstance(digest, str):
        raise LedgerError("remove-if-sure", path=short(path, 200))
    return sequence, digest


def check_witnesses(
    path: Path, seen: Witnesses, hashes: Sequence[bytes], charges: Sequence[Charge]
) -> None:
    """Raises LedgerError unless a ledger holds the entry and the charges that `seen` names."""
    reasons = []
    if seen.head is not None:
        sequence, digest = seen.head
        if sequence > len(hashes) or hashes[sequence - 1].hex() != digest:
            reasons.append(f"entry {sequence}, which {head_file(path).name} names")
    missing = seen.certificates - {charge.certificate for charge in charges}
    if missing:
        one = f"the charge of certificate-{min(missing)}.json"
        others = f" and of {len(missing) - 1} other certificates" if len(missing) > 1 else ""
        reasons.append(one + others)
    if reasons:
        raise LedgerError(
            "old-copy", path=short(path, 200), choices=", or ".join(reasons), advice=advice(path)
        )


def write_head(path: Path, seen: Witnesses, hashes: Sequence[bytes]) -> None:
    """Write the last entry to the head; if this fails, the head names an earlier entry."""
    latest = (len(hashes), hashes[-1].hex())
    if latest != seen.head:
        with suppress(OSError):
            text = json.dumps({"sequence": latest[0], "hash": latest[1]})
            write_whole(head_file(path), text + "\n")


def advice(path: Path) -> str:
    """Advice for a ledger that was changed or replaced."""
    folder = certificates_folder(path).name
    return (
        f"restore the latest copy, or move the ledger, {head_file(path).name} and the folder "
        f"{folder} elsewhere and set new totals, reduced by what was spent"
    )


TABLE = (
    "CREATE TABLE entries (sequence INTEGER PRIMARY KEY, content BLOB NOT NULL, "
    "hash BLOB NOT NULL, signature BLOB NOT NULL)"
)
# Prefix of the signed text, so that no other signature by the key can pass for an entry's.
_PURPOSE = b"causalveil ledger entry\n"


class Chain:
    """The checked entries of the ledger, within an open transaction.

    books: the state after all entries.  hashes: the hash of each entry, in order.

    Raises LedgerError if any entry was changed, or cannot follow the entries before it.
    """

    def __init__(self, connection: sqlite3.Connection, path: Path, key: Ed25519PrivateKey) -> None:
        self.books = Books()
        self.hashes: list[bytes] = []
        self._connection, self._path, self._key = connection, path, key
        rows = connection.execute(
            "SELECT sequence, content, hash, signature FROM entries ORDER BY sequence"
        ).fetchall()
        try:
            for sequence, content, stated, _ in rows:
                digest = self._next(content)
                if sequence != len(self.hashes) + 1 or stated != digest:
                    raise ValueError
                self.books.add(json.loads(content))
                self.hashes.append(digest)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise damaged(path) from None
        if rows:
            self._check_signature(rows[-1][-1])

    def add(self, entry: Entry) -> None:
        """Append an entry; raises ValueError, KeyError or TypeError if it cannot come next."""
        content = json.dumps(entry, allow_nan=False).encode()
        # As the entry will be read from the file.
        self.books.add(json.loads(content))
        digest = self._next(content)
        self._connection.execute(
            "INSERT INTO entries (sequence, content, hash, signature) VALUES (?, ?, ?, ?)",
            (len(self.hashes) + 1, content, digest, self._key.sign(_PURPOSE + digest)),
        )
        self.hashes.append(digest)

    def _next(self, content: bytes) -> bytes:
        return hashlib.sha256((self.hashes[-1] if self.hashes else b"") + content).digest()

    def _check_signature(self, signature: bytes) -> None:
        try:
            self._key.public_key().verify(signature, _PURPOSE + self.hashes[-1])
        except (InvalidSignature, TypeError):
            raise LedgerError(
                "key-of-another",
                path=short(self._path, 200),
                key_file=KEY_FILE,
                advice=advice(self._path),
            ) from None


def damaged(path: Path) -> LedgerError:
    """The error for a file that cannot be trusted; the file is left unchanged."""
    return LedgerError("ledger-damaged", path=short(path, 200), advice=advice(path))
