"""Compile loops that run without Python's global lock, and cache them if a folder is writable."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from threading import RLock
from typing import Any, TypeVar, cast

import numba

from privcore.kernels.preparing import failed, preparing

Function = TypeVar("Function", bound=Callable[..., Any])

# A kernel is compiled by one thread, together with the kernels that it calls.
_LOCK = RLock()
# Wrappers are for callbacks from C, and take time to compile.
_OPTIONS: dict[str, Any] = {"nogil": True, "no_cfunc_wrapper": True}


class Kernel:
    """A function that is compiled for its signature when it is first called, or used by another."""

    def __init__(self, function: Callable[..., Any], signature: Any) -> None:
        self.py_func, self._signature = function, signature
        self._code: Any = None

    def __call__(self, *arguments: Any) -> Any:
        return (self._code or self.code())(*arguments)

    @property
    def _numba_type_(self) -> Any:
        """What numba asks for where another kernel calls this one."""
        return self.code()._numba_type_

    def code(self) -> Any:
        """The compiled function; raises KernelError if numba cannot compile it."""
        with _LOCK:
            if self._code is None:
                try:
                    self._code = self._compiled()
                except Exception as error:
                    raise failed(error) from error
            return self._code

    def _compiled(self) -> Any:
        code = _dispatcher(self.py_func)
        with preparing(cached=_is_cached(code)):
            try:
                code.compile(self._signature)
            except OSError:  # the disk is full
                code = numba.njit(**_OPTIONS)(self.py_func)
                code.compile(self._signature)
        code.disable_compile()
        return code


def compiled(signature: Any) -> Callable[[Function], Function]:
    """A decorator that makes a `Kernel`; signature: the types of the result and the arguments."""

    def decorated(function: Function) -> Function:
        return cast(Function, Kernel(function, signature))

    return decorated


def _dispatcher(function: Callable[..., Any]) -> Any:
    try:
        return numba.njit(cache=True, **_OPTIONS)(function)
    except RuntimeError:  # no folder can be written
        return numba.njit(**_OPTIONS)(function)


def _is_cached(code: Any) -> bool:
    folder, function = code.stats.cache_path, code.py_func
    module = function.__module__.rpartition(".")[2]
    return bool(folder) and any(Path(folder).glob(f"{module}.{function.__name__}-*.nbi"))


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
