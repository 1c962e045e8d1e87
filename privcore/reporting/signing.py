"""Canonical JSON, its hash, and an Ed25519 signature of it (RFC 8032).

The key is made once, in the data directory, readable by its owner only.  A signature shows that a
document was not changed since this key signed it; whose key it is, the reader must know.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)

from privcore.errors import CertificateError, LedgerError
from privcore.text import short

FILE = "signing_key.pem"
ALGORITHM = "Ed25519"
_FIELDS = {"algorithm", "content_sha256", "fingerprint", "public_key", "value"}


def canonical(content: Mapping[str, Any]) -> bytes:
    """JSON in UTF-8 with sorted keys, no spaces, and numbers as Python writes them."""
    text = json.dumps(
        content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )
    return text.encode("utf-8", "surrogatepass")


def load_key(directory: Path) -> Ed25519PrivateKey:
    """The key in `directory`, made if there is none.

    Raises LedgerError if it cannot be read or written, or others may read it.
    """
    path = directory / FILE
    name = short(path, 200)
    try:
        if not path.exists():
            _make(path)
        if os.name == "posix" and path.stat().st_mode & 0o077:
            raise LedgerError(
                f"Others may read the signing key {name!r}; let its owner alone (chmod 600), or "
                "remove it to get a new one."
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
        raise LedgerError(f"The file {name!r} is not a signing key; move it away.") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise LedgerError(f"The file {name!r} is not an Ed25519 key; move it away.")
    return key


def _make(path: Path) -> None:
    """A new key, whole or not at all, and never over another process's."""
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


def fingerprint(public_key: bytes) -> str:
    """SHA-256 of the 32 bytes of a public key, in hexadecimal."""
    return hashlib.sha256(public_key).hexdigest()


def signed(content: Mapping[str, Any], key: Ed25519PrivateKey) -> dict[str, Any]:
    """The content with `signature` added: its hash, the public key, and the signature."""
    text = canonical(content)
    public = key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    signature = {
        "algorithm": ALGORITHM,
        "content_sha256": hashlib.sha256(text).hexdigest(),
        "public_key": public.hex(),
        "fingerprint": fingerprint(public),
        "value": key.sign(text).hex(),
    }
    return {**content, "signature": signature}


def check_signature(document: Mapping[str, Any]) -> str:
    """The fingerprint of the key that signed the rest of the document.

    Raises CertificateError if there is no signature, or anything was changed since.
    """
    signature = document.get("signature")
    if not isinstance(signature, Mapping) or set(signature) != _FIELDS:
        raise CertificateError("The certificate has no complete signature; ask for the original.")
    if signature["algorithm"] != ALGORITHM:
        raise CertificateError(f"The signature is not an {ALGORITHM} one; ask for the original.")
    content = {name: value for name, value in document.items() if name != "signature"}
    text = canonical(content)
    if hashlib.sha256(text).hexdigest() != signature["content_sha256"]:
        raise CertificateError(
            "The certificate was changed: its content does not have the hash that it states."
        )
    try:
        public = bytes.fromhex(signature["public_key"])
        Ed25519PublicKey.from_public_bytes(public).verify(bytes.fromhex(signature["value"]), text)
    except (ValueError, TypeError, InvalidSignature):
        raise CertificateError(
            "The certificate was changed: its signature is not one of its content by its key."
        ) from None
    # Case and spaces are let through by fromhex, but are changes all the same.
    if public.hex() != signature["public_key"] or fingerprint(public) != signature["fingerprint"]:
        raise CertificateError("The certificate was changed: its key has another fingerprint.")
    if signature["value"] != bytes.fromhex(signature["value"]).hex():
        raise CertificateError("The certificate was changed: its signature is written otherwise.")
    return str(signature["fingerprint"])
