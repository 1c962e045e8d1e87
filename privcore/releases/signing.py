"""Signed documents, and where copies of them are kept.

Canonical JSON, its SHA-256 hash, and its Ed25519 signature (RFC 8032).

A signature shows that a document was not changed after the key signed it; the signature does not
show who owns the key.

Certificates kept next to the ledger, so that a paid release outlives the session.

Each certificate is a file `certificate-ID.json` in the folder `Ledger.certificates`.  The ID is
random, so the name of the file reveals nothing.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from privcore.errors import CertificateError
from privcore.files import write_whole
from privcore.releases.certificate import certificate_json
from privcore.strict_json import JsonFault, read_json
from privcore.text import short

ALGORITHM = "Ed25519"
_FIELDS = {"algorithm", "content_sha256", "fingerprint", "public_key", "value"}


def canonical(content: Mapping[str, Any]) -> bytes:
    """Canonical JSON in UTF-8: sorted keys, no spaces, and numbers as Python writes them."""
    text = json.dumps(
        content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )
    return text.encode("utf-8", "surrogatepass")


def fingerprint(public_key: bytes) -> str:
    """The fingerprint of a public key: SHA-256 of its 32 bytes, in hexadecimal."""
    return hashlib.sha256(public_key).hexdigest()


def public_bytes(key: Ed25519PrivateKey) -> bytes:
    """The 32 bytes of the public key."""
    return key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)


def signed(content: Mapping[str, Any], key: Ed25519PrivateKey) -> dict[str, Any]:
    """The content with the field `signature`: its hash, the public key, and the signature."""
    text = canonical(content)
    public = public_bytes(key)
    signature = {
        "algorithm": ALGORITHM,
        "content_sha256": hashlib.sha256(text).hexdigest(),
        "public_key": public.hex(),
        "fingerprint": fingerprint(public),
        "value": key.sign(text).hex(),
    }
    return {**content, "signature": signature}


def check_signature(document: Mapping[str, Any], keys: Collection[str] = ()) -> str:
    """Check the signature of a document; returns the fingerprint of the key that signed it.

    keys: fingerprints of the expected signers; empty if anyone may have signed.

    Raises CertificateError if there is no signature, if anything was changed after signing, or if
    none of the expected signers signed.
    """
    signature = document.get("signature")
    if not isinstance(signature, Mapping) or set(signature) != _FIELDS:
        raise CertificateError("file-no-complete-signature")
    if signature["algorithm"] != ALGORITHM:
        raise CertificateError("signature-not-signature", algorithm=ALGORITHM)
    content = {name: value for name, value in document.items() if name != "signature"}
    text = canonical(content)
    if hashlib.sha256(text).hexdigest() != signature["content_sha256"]:
        raise CertificateError("content-changed")
    try:
        public = bytes.fromhex(signature["public_key"])
        Ed25519PublicKey.from_public_bytes(public).verify(bytes.fromhex(signature["value"]), text)
    except (ValueError, TypeError, InvalidSignature):
        raise CertificateError("signature-does-not-match") from None
    # fromhex accepts other case and spaces, but they are changes all the same.
    if public.hex() != signature["public_key"] or fingerprint(public) != signature["fingerprint"]:
        raise CertificateError("key-changed")
    if signature["value"] != bytes.fromhex(signature["value"]).hex():
        raise CertificateError("signature-not-hexadecimal")
    signer = str(signature["fingerprint"])
    if keys and signer not in {key.strip().lower() for key in keys}:
        raise CertificateError("signed-by-another", signer=signer)
    return signer


_NAME = re.compile(r"certificate-[0-9a-f]{1,64}\.json")


class StoredCertificate(NamedTuple):
    """A certificate file, with the time, budget and algorithm stated in it (not verified)."""

    path: Path
    time: str
    budget: str
    algorithm: str


def keep(folder: Path, document: Mapping[str, Any]) -> Path:
    """Write a certificate into the folder and return its path; raises OSError if that fails."""
    return keep_text(folder, f"certificate-{document['id']}.json", certificate_json(document))


def keep_text(folder: Path, name: str, text: str) -> Path:
    """Write a file into the folder, created if missing, and return its path.

    Raises OSError if the file cannot be written.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / name
    write_whole(path, text)
    return path


def stored_certificates(folder: Path) -> list[StoredCertificate]:
    """The certificates in the folder, the latest first.

    Other files are skipped.  Raises CertificateError if the folder cannot be read.
    """
    try:
        paths = [path for path in folder.iterdir() if _NAME.fullmatch(path.name)]
    except FileNotFoundError:
        return []
    except OSError:
        raise CertificateError("folder-cannot-read", folder=short(folder, 200)) from None
    certificates = [stored for stored in map(_described, paths) if stored is not None]
    return sorted(certificates, key=lambda stored: (stored.time, stored.path.name), reverse=True)


def stored_document(path: Path) -> dict[str, Any]:
    """The certificate in a file; raises CertificateError if it cannot be read."""
    try:
        document = read_json(path.read_bytes())
    except (OSError, JsonFault):
        document = None
    if not isinstance(document, dict):
        raise CertificateError("certificate-cannot-read", path=short(path, 200))
    return document


def _described(path: Path) -> StoredCertificate | None:
    try:
        document = stored_document(path)
        facts = document["time"], document["ledger"]["budget"], document["algorithm"]["name"]
    except (CertificateError, KeyError, TypeError):
        return None
    return StoredCertificate(path, *map(str, facts))
