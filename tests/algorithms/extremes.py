"""Tables at the ends of their domain."""

import numpy as np

from privcore.data import Column, Dataset


def column(name, levels):
    return Column(name, "ordinal", tuple(f"v{k}" for k in range(levels)), declared=True)


def extreme_tables():
    """Neighbours at the ends of a domain: nothing varies, one record does, every record does."""
    n, levels = 12, (2, 3, 4)
    columns = tuple(column(f"c{i}", k) for i, k in enumerate(levels))
    zeros = np.zeros((n, 3), dtype=np.uint8)
    one = zeros.copy()
    one[-1] = [1, 2, 3]
    spread = np.column_stack([np.arange(n) % k for k in levels]).astype(np.uint8)
    same = np.column_stack([np.arange(n) % 2] * 3).astype(np.uint8)
    two = zeros.copy()
    two[:6, 0] = 1
    for rows in (zeros, one, spread, same, two):
        yield Dataset("t", columns, tuple(np.ascontiguousarray(c) for c in rows.T))


def extreme_numbers():
    n = 12
    columns = tuple(
        Column(f"x{i}", "continuous", bounds=(-1.0, 1e9), declared=True) for i in range(3)
    )
    zeros = np.zeros((n, 3))
    one = zeros.copy()
    one[-1] = 1e9
    ends = np.where(np.arange(n)[:, None] % 2, -1.0, 1e9) * np.ones(3)
    tiny = 1e-300 * np.arange(n)[:, None] * np.ones(3)
    for rows in (zeros, one, ends, tiny):
        yield Dataset("t", columns, tuple(np.ascontiguousarray(c) for c in rows.T))
