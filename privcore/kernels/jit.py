"""Compile loops that run without Python's global lock, and cache them if a folder is writable."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

import numba

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


def compiled(signature: Any = None) -> Callable[[Kernel], Kernel]:
    """A decorator like numba's njit; with a signature the function is compiled immediately."""

    def decorated(function: Kernel) -> Kernel:
        try:
            kept: Kernel = numba.njit(signature, cache=True, nogil=True)(function)
        except (RuntimeError, OSError):  # no folder can be written, or the disk is full
            kept = numba.njit(signature, nogil=True)(function)
        return kept

    return decorated


def drop_stale(folder: Path) -> None:
    """Delete the cached code if any source in the folder has changed.

    numba checks only the source of a function, not the sources of the functions that it calls.
    """
    sources = sorted(folder.glob("*.py"))
    mark = sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()
    kept = folder / "__pycache__" / "sources.sha256"
    with suppress(OSError):
        if kept.exists() and kept.read_text() == mark:
            return
        for index in kept.parent.glob("*.nbi"):
            index.unlink(missing_ok=True)
        kept.parent.mkdir(exist_ok=True)
        kept.write_text(mark)


drop_stale(Path(__file__).parent)
