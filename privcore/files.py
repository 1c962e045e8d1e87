"""Files that are there whole, or not at all."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from privcore.errors import DataError
from privcore.text import short


def read_most(name: Path | str, most: int) -> bytes:
    """A file's bytes, one more than `most` at most: who reads them sees that there are too many.

    Raises DataError for what is no file, or cannot be read.
    """
    path = Path(name)
    try:
        # A pipe or a device may never end, or never begin.
        if not path.is_file():
            raise OSError
        with path.open("rb") as file:
            return file.read(most + 1)
    except (OSError, ValueError):
        raise DataError(
            f"{short(name)!r} is not a file that can be read; check its name."
        ) from None


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
