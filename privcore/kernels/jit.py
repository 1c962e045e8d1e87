"""`njit` of numba; where that is missing or switched off, functions stay as they are.

For kernels that have no form in numpy beside: they are plain Python then, and take many times as
long.
"""

from __future__ import annotations

import contextlib
import os
from typing import Any


def _as_it_is(*_: Any, **__: Any) -> Any:
    return lambda function: function


njit: Any = _as_it_is
if os.environ.get("CAUSALVEIL_KERNELS") != "0":
    with contextlib.suppress(ImportError):
        from numba import njit  # noqa: F401
