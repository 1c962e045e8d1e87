"""Compiled loops, in modules that are loaded when they are first used.

Importing numba takes half a second, so it is loaded only when needed.  Compiling all loops takes
two minutes, but only once: compiled code is cached next to the modules (`__pycache__`), or in the
user's cache folder.

>>> from privcore import kernels
>>> kernels.cells.log_ndtr(0.0)
-0.6931471805599453
"""

from contextlib import suppress
from functools import cache
from importlib import import_module
from threading import Thread
from typing import Any

from privcore.errors import KernelError

_MODULES = (
    "cells",
    "distance",
    "every",
    "margins",
    "moment_tests",
    "scan",
    "table_fits",
    "table_tests",
    "tables",
    "walks",
)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return import_module(f"{__name__}.{name}")
    except Exception as error:  # numba is missing, or does not support the processor
        raise KernelError(
            f"numba cannot compile the loops that a run needs ({error}); reinstall numba with "
            "`python -m pip install --force-reinstall numba`."
        ) from error


def load() -> None:
    """Load all modules, and compile the loops that are not cached."""
    for name in _MODULES:
        __getattr__(name)


@cache
def start() -> Thread:
    """Start `load` in a background thread, only once, and return the thread.

    If a run needs a module that is not loaded yet, the run waits.
    """
    thread = Thread(target=_load_quietly, name="kernels")
    thread.start()
    return thread


def _load_quietly() -> None:
    # A run that needs them raises the error.
    with suppress(KernelError):
        load()
