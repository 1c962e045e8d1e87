"""A data set as bytes that do not depend on the order of its rows or columns."""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np

from privcore.dataset.model import Dataset

_BLOCK = 1 << 20


def canonical_bytes(dataset: Dataset) -> Iterator[bytes]:
    """Names, kinds, levels and bounds in the order of the names, then the rows, sorted.

    For fingerprints: the same table gives the same bytes however it is ordered, another table other
    bytes.  The data set's own name is left out.
    """
    order = sorted(range(dataset.p), key=lambda i: dataset.names[i])
    columns = [dataset.columns[i] for i in order]
    described = [[c.name, c.kind, list(c.levels), c.bounds] for c in columns]
    yield json.dumps([dataset.n, described]).encode()
    cells = []
    for i in order:
        values = dataset.values[i]
        # Adding 0 turns −0.0, which is the same number, into 0.0.
        wide = values.astype(">u2") if dataset.columns[i].is_categorical else values + 0.0
        cells.append(wide.astype(wide.dtype.newbyteorder(">"))[:, None])
    rows = np.concatenate([np.ascontiguousarray(cell).view(np.uint8) for cell in cells], axis=1)
    rows = np.ascontiguousarray(rows)
    ordered = np.sort(rows.view(np.dtype((np.void, rows.shape[1]))).ravel())
    for start in range(0, len(ordered), _BLOCK):
        yield ordered[start : start + _BLOCK].tobytes()
