"""Limits the number of threads that linear algebra uses."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

from threadpoolctl import ThreadpoolController


class _Held:
    """The number of open contexts, and the callback that ends their common limit."""

    def __init__(self) -> None:
        self.lock, self.contexts, self.limit = Lock(), 0, None


_held: Any = _Held()


@contextmanager
def one_thread() -> Iterator[None]:
    """A context in which linear algebra uses one thread.

    The number of threads affects the last bits of a matrix product.  If contexts overlap, even in
    different Python threads, the limit therefore lasts until the last context ends.

    On small matrices, several threads slow each other down, up to a hundredfold if another process
    is busy as well.
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
    # Finding the libraries takes milliseconds, so it is done once.
    return ThreadpoolController()
