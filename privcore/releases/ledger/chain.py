"""The entries of the ledger as a chain: the signed hash of each entry covers all earlier entries.

The hash of an entry is SHA-256 of the previous entry's hash and of its own content.  Editing,
removing, inserting or moving an entry therefore changes all later hashes, and the signature of the
last entry covers the whole chain.  The chain cannot show that it was cut short; see `witnesses`.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from pathlib import Path

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from privcore.errors import LedgerError
from privcore.releases.ledger.entries import Books, Entry
from privcore.releases.ledger.signing_key import FILE
from privcore.releases.ledger.witnesses import advice
from privcore.text import short

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
                f"The ledger {short(self._path, 200)!r} was not signed by the key in {FILE} next "
                f"to it, so the ledger or the key was changed; {advice(self._path)}."
            ) from None


def damaged(path: Path) -> LedgerError:
    """The error for a file that cannot be trusted; the file is left unchanged."""
    return LedgerError(
        f"The ledger {short(path, 200)!r} is damaged and was left as it is; {advice(path)}."
    )
