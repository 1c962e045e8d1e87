"""Canonical JSON, its SHA-256 hash, and its Ed25519 signature (RFC 8032).

A signature shows that a document was not changed after the key signed it; the signature does not
show who owns the key.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from privcore.errors import CertificateError

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
        raise CertificateError("The file has no complete signature; get the original.")
    if signature["algorithm"] != ALGORITHM:
        raise CertificateError(f"The signature is not an {ALGORITHM} signature; get the original.")
    content = {name: value for name, value in document.items() if name != "signature"}
    text = canonical(content)
    if hashlib.sha256(text).hexdigest() != signature["content_sha256"]:
        raise CertificateError("The file was changed: its content does not have the stated hash.")
    try:
        public = bytes.fromhex(signature["public_key"])
        Ed25519PublicKey.from_public_bytes(public).verify(bytes.fromhex(signature["value"]), text)
    except (ValueError, TypeError, InvalidSignature):
        raise CertificateError(
            "The file was changed: its signature does not match its content and key."
        ) from None
    # fromhex accepts other case and spaces, but they are changes all the same.
    if public.hex() != signature["public_key"] or fingerprint(public) != signature["fingerprint"]:
        raise CertificateError(
            "The file was changed: its key does not have the stated fingerprint."
        )
    if signature["value"] != bytes.fromhex(signature["value"]).hex():
        raise CertificateError(
            "The file was changed: its signature is not in lower-case hexadecimal digits."
        )
    signer = str(signature["fingerprint"])
    if keys and signer not in {key.strip().lower() for key in keys}:
        raise CertificateError(f"The file was signed by another key, {signer}; do not trust it.")
    return signer
