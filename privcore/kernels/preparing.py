"""What goes on around the compilation of a loop: who has to wait, and who says so.

This module does not load numba.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from math import inf

from privcore.errors import KernelError

# Seconds for which the thread in the background waits after a run had to compile something.
_PATIENCE = 2.0


@dataclass
class _Listener:
    """What to call, the number of calls so far, and how many loops deep compilation is."""

    call: Callable[[int], None]
    number: int = 0
    depth: int = 0


_listener: ContextVar[_Listener | None] = ContextVar("listener", default=None)
in_background: ContextVar[bool] = ContextVar("in_background", default=False)
_last_needed = -inf


def failed(error: Exception) -> KernelError:
    """The error to raise if numba is missing, or does not support the processor."""
    return KernelError("numba-cannot-compile-loops-run-needs", error=error)


@contextmanager
def announced_to(listener: Callable[[int], None]) -> Iterator[None]:
    """Announce to `listener` each loop that this thread compiles because it is not cached.

    It is called with 1, 2, … before each loop, which is compiled together with the loops that it
    calls, and with 0 after each.
    """
    token = _listener.set(_Listener(listener))
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def preparing(*, cached: bool) -> Iterator[None]:
    """Around the compilation of a loop, which takes milliseconds if its code is cached."""
    global _last_needed
    if cached:
        yield
        return
    waiting = _listener.get() or _Listener(lambda _: None)
    if not waiting.depth:
        waiting.number += 1
        waiting.call(waiting.number)
    waiting.depth += 1
    try:
        yield
    finally:
        waiting.depth -= 1
        if not waiting.depth:
            waiting.call(0)
        if not in_background.get():
            _last_needed = time.monotonic()


def first_start_sentence(number: int) -> str:
    """What to show while loop `number` in a run is compiled."""
    return f"First start: preparing the calculations (part {number}), once, 5 to 15 s"


def give_way() -> None:
    """In the background, wait until no run has needed a loop for a while."""
    while in_background.get() and time.monotonic() - _last_needed < _PATIENCE:
        time.sleep(0.1)
