"""Certificates kept beside the ledger, so that what was paid for outlives the session.

One file each, `certificates/certificate-ID.json`; the ID is random, so that a name tells nothing.
"""

from __future__ import annotations

import json
import os
import re
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from privcore.errors import CertificateError
from privcore.reporting.certificate import certificate_json
from privcore.text import short

FOLDER = "certificates"
_NAME = re.compile(r"certificate-[0-9a-f]{1,64}\.json")


class Kept(NamedTuple):
    """A certificate that was kept, and what it says of itself; `verify` checks it."""

    path: Path
    time: str
    budget: str
    algorithm: str


def keep(directory: Path, document: Mapping[str, Any]) -> Path:
    """Write a certificate into the folder of a data directory; raises OSError as `write_whole`."""
    folder = directory / FOLDER
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / f"certificate-{document['id']}.json"
    write_whole(path, certificate_json(document))
    return path


def write_whole(path: Path, text: str) -> None:
    """Write a file, whole or not at all; raises OSError if it cannot be written."""
    part = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        with part.open("x", encoding="utf-8", errors="surrogatepass") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def kept_certificates(directory: Path) -> list[Kept]:
    """The certificates in the folder of a data directory, the latest first.

    Files that are none are left out.  Raises CertificateError if the folder cannot be read.
    """
    folder = directory / FOLDER
    try:
        paths = [path for path in folder.iterdir() if _NAME.fullmatch(path.name)]
    except FileNotFoundError:
        return []
    except OSError:
        raise CertificateError(
            f"The folder {short(folder, 200)!r} cannot be read; check its permissions."
        ) from None
    found = [kept for kept in map(_described, paths) if kept is not None]
    return sorted(found, key=lambda kept: (kept.time, kept.path.name), reverse=True)


def kept_document(path: Path) -> dict[str, Any]:
    """The certificate in a file; raises CertificateError if it cannot be read."""
    try:
        document = json.loads(path.read_text("utf-8", "surrogatepass"))
    except (OSError, ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise CertificateError(f"The certificate {short(path, 200)!r} cannot be read.")
    return document


def _described(path: Path) -> Kept | None:
    try:
        document = kept_document(path)
        said = document["time"], document["ledger"]["budget"], document["algorithm"]["name"]
    except (CertificateError, KeyError, TypeError):
        return None
    return Kept(path, *map(str, said))
