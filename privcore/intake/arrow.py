"""Reads the cells of Parquet or text files, in batches that fit into a memory limit."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from privcore.data.model import check_names
from privcore.errors import DataError
from privcore.intake.cells import AT_ONCE, Memory
from privcore.text import short

if TYPE_CHECKING:
    import pyarrow as pa


class UnevenError(Exception):
    """A row has a different number of cells from the first row."""


class TooLongError(Exception):
    """A row is longer than one block of the reader."""


@contextmanager
def reading(sentence: str = "") -> Iterator[None]:
    """Replaces an Arrow error, whose text may quote cells, by a DataError with this sentence."""
    import pyarrow as pa

    try:
        yield
    except DataError:
        raise
    except (pa.ArrowException, OSError, ValueError, OverflowError):
        raise DataError(sentence or "parquet-unreadable") from None


def column_names(schema: pa.Schema) -> list[str]:
    """Names of the columns; raises DataError unless every cell holds a single value."""
    names = [str(name) for name in schema.names]
    check_names(names)
    for field in schema:
        if _is_unfit(field.type):
            raise DataError("nested-cells", name=short(field.name))
    return names


def batches(
    source: bytes | str, names: Sequence[str], memory: Memory, at_once: int = AT_ONCE
) -> Iterator[list[pa.Array]]:
    """Yields the named columns in batches of rows; texts stay dictionary-encoded.

    Raises DataError for a row group that is too large for the memory, judging by the sizes stated
    in the file.  Delta-encoded texts are read in smaller batches, because a single such text may
    be as long as its whole encoded column.
    """
    import pyarrow.parquet as pq

    file = pq.ParquetFile(_stream(source))
    schema, about = file.schema_arrow, file.metadata
    places = {name: schema.names.index(name) for name in names}
    texts = {name for name in names if _is_text(schema.field(name).type)}
    rows = max(1, at_once // len(names))
    for group in map(about.row_group, range(about.num_row_groups)):
        chunks = {name: group.column(place) for name, place in places.items()}
        memory.need(2 * sum(chunk.total_uncompressed_size for chunk in chunks.values()))
        grown = {name for name in texts if "DELTA_BYTE_ARRAY" in chunks[name].encodings}
        if grown:
            # These are not dictionary-encoded, so a batch holds them in full, and twice.
            longest = sum(chunks[name].total_uncompressed_size for name in grown)
            rows = max(1, min(rows, memory.left // (8 * longest + 1)))
            texts -= grown
    again = pq.ParquetFile(_stream(source), read_dictionary=sorted(texts))
    for batch in again.iter_batches(batch_size=rows, columns=list(names), use_threads=False):
        # Chosen by name: the reader would take "a.b" for a nested field of "a".
        yield [batch.column(name) for name in names]


def text_batches(
    content: bytes, width: int, delimiter: str, longest: int
) -> Iterator[pa.RecordBatch]:
    """Yields the rows of a UTF-8 text in batches, every cell as text; blank lines are skipped.

    Raises UnevenError for a row without exactly `width` cells, and TooLongError for a row of more
    than about `longest` bytes.
    """
    import pyarrow as pa
    from pyarrow import csv

    names = [str(k) for k in range(width)]
    options = {
        "read_options": csv.ReadOptions(block_size=longest, column_names=names),
        "parse_options": csv.ParseOptions(delimiter=delimiter, newlines_in_values=b'"' in content),
        "convert_options": csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False
        ),
    }
    try:
        yield from csv.open_csv(pa.BufferReader(content), **options)
    except pa.ArrowInvalid as error:
        # The text of Arrow's error may quote a cell.
        if "straddling" in str(error):
            raise TooLongError from None
        raise UnevenError from None


def distinct_cells(values: pa.Array) -> tuple[list[Any], NDArray[np.intp]]:
    """A list of cells, None for missing ones, and the position of each row's cell in this list.

    Repeated cells are listed once, except for floating-point numbers.
    """
    import pyarrow as pa
    from pyarrow import types

    # 0 and -0 are one number but two texts.
    if not (types.is_dictionary(values.type) or types.is_floating(values.type)):
        with suppress(pa.ArrowNotImplementedError):
            values = values.dictionary_encode()
    if not types.is_dictionary(values.type):
        return _python(values), np.arange(len(values))
    indices = values.indices.cast(pa.int32()).fill_null(-1).to_numpy(zero_copy_only=False)
    used, where = np.unique(indices, return_inverse=True)
    listed = _python(values.dictionary.take(pa.array(used[used >= 0])))
    return [None] * (len(used) - len(listed)) + listed, where


def _python(values: pa.Array) -> list[Any]:
    """The values as Python objects; a date outside Python's calendar is missing."""
    with suppress(OverflowError, ValueError):
        return list(values.to_pylist())
    listed: list[Any] = []
    for value in values:
        try:
            listed.append(value.as_py())
        except (OverflowError, ValueError):
            listed.append(None)
    return listed


def numbers_of(values: pa.Array) -> NDArray[np.float64] | None:
    """The cells as floats, NaN where missing; None if the cells are not stored as numbers."""
    import pyarrow as pa
    from pyarrow import types

    if not (types.is_integer(values.type) or types.is_floating(values.type)):
        return None
    numbers = values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return np.asarray(numbers, dtype=np.float64)


def _stream(source: bytes | str) -> Any:
    return source if isinstance(source, str) else io.BytesIO(source)


def _is_text(kind: pa.DataType) -> bool:
    from pyarrow import types

    return bool(types.is_string(kind) or types.is_large_string(kind))


def _is_unfit(kind: pa.DataType) -> bool:
    """Whether a type holds something other than one readable value."""
    from pyarrow import types

    if types.is_dictionary(kind):
        return _is_unfit(kind.value_type)
    return bool(
        types.is_nested(kind)
        or types.is_binary(kind)
        or types.is_large_binary(kind)
        or types.is_fixed_size_binary(kind)
    )
