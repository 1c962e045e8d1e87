"""Bytes to text: the encoding and the delimiter of a table that says neither."""

from __future__ import annotations

import csv
import io
import unicodedata
from itertools import islice

from charset_normalizer import from_bytes

from privcore.errors import DataError

ENCODINGS = (
    "utf-8",
    "cp1252",
    "cp1250",
    "cp1251",
    "cp1253",
    "shift_jis",
    "gb18030",
    "big5",
    "euc_kr",
)
_DELIMITERS = ",;\t|"
_BINARY_STARTS = (b"\x89PNG", b"\xff\xd8\xff", b"PK\x03\x04", b"%PDF", b"\x1f\x8b", b"GIF8")
_MARKS = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
_SAMPLE = 200_000


def decode(content: bytes, wanted: str | None = None) -> tuple[str, str]:
    """Text and encoding: as wanted, else a byte-order mark, UTF-8, or the likeliest other.

    Raises DataError for bytes that are no text in it.
    """
    if content.startswith(_BINARY_STARTS):
        raise _not_text()
    marked = next((e for mark, e in _MARKS.items() if content.startswith(mark)), None)
    if marked is None and b"\x00" in content:
        raise _not_text()
    for encoding in _candidates(content, wanted or marked):
        try:
            text = content.decode(encoding)
        except (UnicodeError, LookupError):
            continue
        # Spaces such as U+00A0 and U+3000 are text; control characters speak of junk.
        junk = sum(unicodedata.category(c) == "Cc" and c not in "\r\n\t" for c in text[:10_000])
        if junk <= 0.02 * min(len(text), 10_000):
            return text.removeprefix("\ufeff"), encoding
    raise _not_text()


def _candidates(content: bytes, certain: str | None) -> list[str]:
    """Encodings to try, in order."""
    if certain is not None:
        return [certain]
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        pass
    else:
        return ["utf-8"]
    sample = content[:_SAMPLE]
    if len(content) > _SAMPLE:
        # Cut at a line end: half a character would rule its encoding out.
        sample = sample[: sample.rfind(b"\n") + 1] or sample
    matches = list(from_bytes(sample, cp_isolation=list(ENCODINGS[1:])))
    fits = [(m.chaos, m.coherence) for m in matches]
    # Encodings that fit as well as the best are tried in our order, the most frequent first.
    equal = [m.encoding for m, fit in zip(matches, fits, strict=True) if fit == fits[0]]
    rest = [m.encoding for m, fit in zip(matches, fits, strict=True) if fit != fits[0]]
    return sorted(equal, key=ENCODINGS.index) + rest


def _not_text() -> DataError:
    return DataError(
        "The file is neither text in a known encoding nor Parquet; save it as CSV in UTF-8."
    )


def find_delimiter(text: str) -> str:
    """The delimiter that gives the first rows equally many cells, and the most of them."""

    def quality(delimiter: str) -> tuple[bool, int]:
        lines = io.StringIO(text[:100_000], newline="")
        try:
            rows = list(islice(csv.reader(lines, delimiter=delimiter), 50))
        except csv.Error:
            return False, 0
        # The last row may be cut in the middle.
        sizes = [len(row) for row in rows[: max(1, len(rows) - 1)] if row]
        return len(set(sizes)) == 1 and sizes[0] > 1, max(sizes, default=0)

    return max(_DELIMITERS, key=quality)
