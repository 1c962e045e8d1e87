"""The Ed25519 key that signs the ledger's entries and the certificates (RFC 8032).

The key is created once, in the data directory, and only its owner can read it.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from privcore.errors import LedgerError
from privcore.text import short

FILE = "signing_key.pem"


def load_key(directory: Path) -> Ed25519PrivateKey:
    """Load the signing key in `directory`, and create it if there is none.

    Raises LedgerError if the key cannot be read or written, or if other users can read it.
    """
    path = directory / FILE
    name = short(path, 200)
    try:
        if not path.exists():
            _make(path)
        if os.name == "posix" and path.stat().st_mode & 0o077:
            raise LedgerError(
                f"Other users can read the signing key {name!r}; make the file private (chmod 600)."
            )
        key = load_pem_private_key(path.read_bytes(), password=None)
    except OSError:
        raise LedgerError(
            f"The signing key {name!r} cannot be read and written; check the directory's "
            "permissions."
        ) from None
    except (ValueError, TypeError) as error:
        if isinstance(error, LedgerError):
            raise
        raise LedgerError(f"The file {name!r} is not a signing key; move it elsewhere.") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise LedgerError(f"The file {name!r} is not an Ed25519 key; move it elsewhere.")
    return key


def _make(path: Path) -> None:
    """Write a new key atomically, without replacing a key that another process has written."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    pem = Ed25519PrivateKey.generate().private_bytes(
        Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()
    )
    part = path.with_name(f"{FILE}.{secrets.token_hex(8)}")
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
