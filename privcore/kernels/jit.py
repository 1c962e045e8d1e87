"""`njit` of numba; where that is missing or switched off, functions stay as they are.

For kernels that have no form in numpy beside: they are plain Python then, and take many times as
long.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar

try:
    if os.environ.get("CAUSALVEIL_KERNELS") == "0":
        raise ImportError
    import numba
except ImportError:
    COMPILED = False
else:
    COMPILED = True

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


def njit(signature: str | None = None, **options: Any) -> Callable[[Kernel], Kernel]:
    """As `numba.njit`."""
    if not COMPILED:
        return lambda function: function
    compiled: Any = numba.njit(signature, **options)
    return compiled  # type: ignore[no-any-return]
