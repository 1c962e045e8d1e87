"""When the compiled kernels may be used, and how they come to be ready without anyone waiting.

Importing numba and reading the kernels from its cache takes about a second, compiling them for the
first time several; a run on small data takes a millisecond without them.  So they are loaded by a
thread in the background once a process has counted for a while, or has requested them (`start`),
and until then, or where numba is missing or fails, the same results come from numpy, to the last
bit.  Where that cannot be had, `loaded` waits for them, so that no result depends on when a process
got that far.

Compiled code is kept beside the module (`__pycache__`), or where that cannot be written in the
user's cache folder; where neither can, numpy does the counting.  `start(wait=True)` fills the cache
ahead of time, as `make app` does when it installs.
"""

from __future__ import annotations

import atexit
import importlib
import os
from functools import cache
from threading import Lock, Thread
from typing import Any

# Visits of a row that take about half a second in numpy.
_WORK_BEFORE_LOADING = 200_000_000
# Set to "0" to stay with numpy.
_SWITCH = "CAUSALVEIL_KERNELS"


class _State:
    """What this process knows of the kernels."""

    def __init__(self) -> None:
        self.kernels: Any = None
        self.thread: Thread | None = None
        self.work = 0
        self.lock = Lock()


_state = _State()


def ready() -> Any:
    """The module of kernels if it is loaded, else None."""
    return _state.kernels


def loaded() -> Any:
    """The module of kernels, waited for; None where there is none on this machine."""
    return _state.kernels if _state.kernels is not None or start(wait=True) else None


@cache
def moment_tests() -> Any:
    """The module of kernels for tests on noisy moments, which have no form in numpy."""
    return importlib.import_module("privcore.kernels.moment_tests")


@cache
def table_tests() -> Any:
    """The module of kernels for tests and scores on noisy tables; see `moment_tests`."""
    return importlib.import_module("privcore.kernels.table_tests")


@cache
def family_walk() -> Any:
    """The module of the walk over DAGs by scores of families; see `moment_tests`."""
    return importlib.import_module("privcore.kernels.family_walk")


def note(visits: int) -> None:
    """Count work done without the kernels; enough of it starts loading them."""
    if _state.thread is None and _state.kernels is None:
        _state.work += visits
        if _state.work > _WORK_BEFORE_LOADING:
            start()


def start(*, wait: bool = False) -> bool:
    """Load the kernels in the background; with `wait`, whether they are ready."""
    with _state.lock:
        if _state.thread is None and os.environ.get(_SWITCH) != "0":
            _state.thread = Thread(target=_load, name="kernels", daemon=True)
            _state.thread.start()
            # A process must not end in the middle of compiling.
            atexit.register(_state.thread.join)
    if wait and _state.thread is not None:
        _state.thread.join()
    return _state.kernels is not None


def _load() -> None:
    try:
        _state.kernels = importlib.import_module("privcore.kernels.loops")
    except Exception:  # numba missing, its cache broken, or a processor that it does not know
        _state.kernels = None
