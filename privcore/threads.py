"""How many threads the linear algebra may use."""

from __future__ import annotations

from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController


def one_thread() -> Any:
    """A context in which small products use one thread.

    On small matrices more than one get in each other's way, a hundredfold where another process
    is busy too.
    """
    return _controller().limit(limits=1, user_api="blas")


@cache
def _controller() -> ThreadpoolController:
    # Looking for the libraries takes milliseconds, so it is done once.
    return ThreadpoolController()
