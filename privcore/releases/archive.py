"""Certificates kept next to the ledger, so that a paid release outlives the session.

Each certificate is a file `certificate-ID.json` in the folder `Ledger.certificates`.  The ID is
random, so the name of the file reveals nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from privcore.errors import CertificateError
from privcore.files import write_whole
from privcore.releases.certificate import certificate_json
from privcore.strict_json import JsonFault, read_json
from privcore.text import short

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
        raise CertificateError(
            f"The folder {short(folder, 200)!r} cannot be read; check its permissions."
        ) from None
    certificates = [stored for stored in map(_described, paths) if stored is not None]
    return sorted(certificates, key=lambda stored: (stored.time, stored.path.name), reverse=True)


def stored_document(path: Path) -> dict[str, Any]:
    """The certificate in a file; raises CertificateError if it cannot be read."""
    try:
        document = read_json(path.read_bytes())
    except (OSError, JsonFault):
        document = None
    if not isinstance(document, dict):
        raise CertificateError(
            f"The certificate {short(path, 200)!r} cannot be read; choose another certificate."
        )
    return document


def _described(path: Path) -> StoredCertificate | None:
    try:
        document = stored_document(path)
        facts = document["time"], document["ledger"]["budget"], document["algorithm"]["name"]
    except (CertificateError, KeyError, TypeError):
        return None
    return StoredCertificate(path, *map(str, facts))
