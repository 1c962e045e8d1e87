"""Read files up to a size limit, write files completely or not at all, and write no core files."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path

from privcore.errors import DataError
from privcore.text import short


def read_most(name: Path | str, most: int) -> bytes:
    """Return the first `most` + 1 bytes of a file, or all bytes of a shorter file.

    The extra byte shows the caller that a file is too large.  Raises DataError if the path is not a
    regular file or cannot be read.
    """
    path = Path(name)
    try:
        # A pipe or a device may block, or never end.
        if not path.is_file():
            raise OSError
        with path.open("rb") as file:
            return file.read(most + 1)
    except (OSError, ValueError):
        raise DataError("is-no-readable-file", name=short(name)) from None


def write_named(name: Path | str | None, text: str) -> str | None:
    """Write a file that the user named; without a name, return the text.

    A file of that name is replaced.  Raises DataError if the file cannot be written.
    """
    if name is None:
        return text
    try:
        write_whole(Path(name), text)
    except (OSError, ValueError):
        raise DataError("schema-unwritable", path=short(name)) from None
    return None


def no_core_files() -> None:
    """Make a crash of this process leave no core file, which would hold the rows of a table."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))


def write_whole(path: Path, text: str) -> None:
    """Write a file and flush it to disk; on failure, raise OSError and keep any old file."""
    part = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        with part.open("x", encoding="utf-8", errors="surrogatepass") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
