"""The same rows as every kind of source, and counted one by one."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from privcore.data import Column, Dataset
from privcore.intake import ColumnSchema
from privcore.storage.external import ExternalCounts, ShardedRows
from privcore.storage.parquet import ParquetRows, open_parquet

MEMORY = 1 << 28


def dataset(rows, levels):
    """Codes of shape (n, p) as a data set, column i cut off at its number of levels."""
    columns = tuple(
        Column(f"c{i}", "ordinal", tuple(f"v{k}" for k in range(count)), declared=True)
        for i, count in enumerate(levels)
    )
    values = tuple(np.ascontiguousarray(rows[:, i] % k) for i, k in enumerate(levels))
    return Dataset("t", columns, values)


def schema_of(data):
    return [ColumnSchema(c.name, c.kind, c.levels, declared=c.declared) for c in data.columns]


def frame_of(data):
    """Cells as text, as a table would have them."""
    return pd.DataFrame(
        {c.name: np.array(c.levels)[v] for c, v in zip(data.columns, data.values, strict=True)}
    )


def write_parquet(folder, data, ends=()):
    """One file for each stretch of rows between `ends`."""
    folder.mkdir()
    frame = frame_of(data)
    for number, (start, end) in enumerate(pairwise([0, *ends, len(frame)])):
        part = pa.Table.from_pandas(frame.iloc[start:end], preserve_index=False)
        pq.write_table(
            part, folder / f"part{number:03}.parquet", row_group_size=max(7, len(frame) // 6)
        )
    return folder


def parquet_rows(folder, data):
    return ParquetRows(open_parquet(folder, schema_of(data), memory=MEMORY))


class Pieces:
    """Shards in this process."""

    def __init__(self, data, ends=()):
        self.names, self.levels, self.caveats = data.names, data.levels, data.caveats
        self.ordered = data.ordered
        cuts = [(a, b) for a, b in pairwise([0, *ends, data.n]) if a < b]
        self.sizes = tuple(b - a for a, b in cuts)
        self._codes = [tuple(v[a:b].astype(np.int64) for v in data.values) for a, b in cuts]

    def map(self, function):
        return (function(number, codes) for number, codes in enumerate(self._codes))


def external(rows, memory=MEMORY):
    """Counts that never bring the unique rows here."""
    return ExternalCounts(rows, memory)


def sharded(data, ends=()):
    return external(ShardedRows(Pieces(data, ends)))


def loop_table(data, columns):
    """The reference: one row after the other."""
    table = np.zeros([data.levels[c] for c in columns], dtype=np.int64)
    for row in zip(*data.values, strict=True):
        table[tuple(row[c] for c in columns)] += 1
    return table
