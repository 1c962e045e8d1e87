"""How many examples a test makes: all of them under `make test-all`, fewer before."""

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import settings


def examples(full: int) -> int:
    """As many of `full` as the profile makes of hypothesis's 100 (`tests/conftest.py`), at least
    five."""
    return min(full, max(5, full * settings().max_examples // 100))


def few(cases: Iterable[Any], quick: int) -> list[Any]:
    """The cases of a parametrised test; all but `quick` of them, evenly spread, are long."""
    every = list(cases)
    kept = {round(k * (len(every) - 1) / max(quick - 1, 1)) for k in range(quick)}
    return [
        case
        if at in kept
        else pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.long)
        for at, case in enumerate(every)
    ]
