"""How loops are compiled: outside of Python's lock, and once, if there is a folder to keep them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


def compiled(signature: Any = None) -> Callable[[Kernel], Kernel]:
    """As `njit` of numba; with a signature the function is compiled at once."""

    def decorated(function: Kernel) -> Kernel:
        try:
            kept: Kernel = numba.njit(signature, cache=True, nogil=True)(function)
        except (RuntimeError, OSError):  # no folder can be written, or the disk is full
            kept = numba.njit(signature, nogil=True)(function)
        return kept

    return decorated
