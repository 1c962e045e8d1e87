"""Compiled loops, in modules that are loaded when they are first used.

Importing numba takes half a second, so it is loaded only when needed.  A loop is compiled when it
is first called, but only once: compiled code is cached next to the modules (`__pycache__`), or in
the user's cache folder.

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
from privcore.kernels.preparing import failed, give_way, in_background

_MODULES = (
    "cells",
    "moment_tests",
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
    except Exception as error:  # numba is missing
        raise failed(error) from error


def load() -> None:
    """Load all modules, and compile the loops that are not cached."""
    for name in _MODULES:
        module = __getattr__(name)
        from privcore.kernels.jit import Kernel

        for value in vars(module).values():
            if isinstance(value, Kernel):
                give_way()
                value.code()


@cache
def start() -> Thread:
    """Start `load` in a background thread, only once, and return the thread.

    It waits while runs compile what they need: they come first.
    """
    thread = Thread(target=_load_quietly, name="kernels", daemon=True)
    thread.start()
    return thread


def _load_quietly() -> None:
    in_background.set(True)
    # A run that needs them raises the error.
    with suppress(KernelError):
        load()
