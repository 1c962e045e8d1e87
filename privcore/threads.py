"""How many threads the linear algebra may use."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

from threadpoolctl import ThreadpoolController


class _Held:
    """How many contexts there are, and what ends the limit of them all."""

    def __init__(self) -> None:
        self.lock, self.contexts, self.limit = Lock(), 0, None


_held: Any = _Held()


@contextmanager
def one_thread() -> Iterator[None]:
    """A context in which linear algebra uses one thread.

    It stays so until the last of several contexts ends, in whichever threads of Python they are:
    how many threads there are decides the last bits of a product.

    On small matrices more than one get in each other's way, a hundredfold where another process
    is busy too.
    """
    with _held.lock:
        if not _held.contexts:
            _held.limit = _controller().limit(limits=1, user_api="blas")
        _held.contexts += 1
    try:
        yield
    finally:
        with _held.lock:
            _held.contexts -= 1
            if not _held.contexts:
                _held.limit.restore_original_limits()


@cache
def _controller() -> ThreadpoolController:
    # Looking for the libraries takes milliseconds, so it is done once.
    return ThreadpoolController()
