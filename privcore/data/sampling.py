"""Checks the arguments of every function that samples: number of rows and seed."""

from __future__ import annotations

from numbers import Real

import numpy as np

from privcore.errors import ParameterError
from privcore.text import short

MAX_ROWS = 10_000_000


def check_rows(rows: int) -> int:
    """Returns `rows`; raises ParameterError unless it is a whole number from 2 to 10,000,000."""
    if not _is_whole(rows) or not 2 <= rows <= MAX_ROWS:
        raise ParameterError(
            f"rows is {short(rows)}; it must be a whole number from 2 to {MAX_ROWS:,}."
        )
    return int(rows)


def check_seed(seed: int | np.random.Generator) -> np.random.Generator:
    """A random generator seeded with `seed`, or `seed` itself if it is a generator.

    Raises ParameterError unless `seed` is a generator or a non-negative whole number.
    """
    if isinstance(seed, np.random.Generator):
        return seed
    if not _is_whole(seed) or seed < 0:
        raise ParameterError(f"seed is {short(seed)}; it must be a whole number, at least 0.")
    return np.random.default_rng(int(seed))


def _is_whole(value: object) -> bool:
    """Whether `value` is a finite number without a fraction (True and False are not)."""
    return isinstance(value, Real) and not isinstance(value, bool) and bool(value % 1 == 0)
