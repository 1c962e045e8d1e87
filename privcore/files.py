"""Files that are there whole, or not at all."""

from __future__ import annotations

import os
import secrets
from pathlib import Path


def write_whole(path: Path, text: str) -> None:
    """Write a file, on the disk when this returns; raises OSError, and changes nothing, if it
    cannot be written."""
    part = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        with part.open("x", encoding="utf-8", errors="surrogatepass") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
