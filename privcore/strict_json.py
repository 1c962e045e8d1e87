"""Reads JSON from files that others made, and refuses what readers could understand differently."""

from __future__ import annotations

import json
import math
from collections import Counter
from typing import Any

from privcore.text import short

# No document is nested as deeply, and none of this depth exhausts the stack of whoever reads it.
_DEEPEST = 100


class JsonFault(ValueError):
    """Why a text is refused, as the end of a sentence, such as "is not JSON in UTF-8"."""


def read_json(content: bytes | str) -> Any:
    """The value of a JSON text in UTF-8, which may begin with a byte-order mark.

    Raises JsonFault for any other text, for a key that is twice in an object, for NaN, infinities
    and numbers beyond the range of a double, and for a nesting of more than 100 levels.

    Example:
        >>> read_json('{"a": 1, "a": 2}')
        Traceback (most recent call last):
        ...
        privcore.strict_json.JsonFault: has the key 'a' twice
    """
    try:
        text = content if isinstance(content, str) else content.decode("utf-8", "surrogatepass")
        value = json.loads(
            text.removeprefix("\ufeff"),
            object_pairs_hook=_distinct,
            parse_constant=_finite,
            parse_float=_finite,
            parse_int=_whole,
        )
    except JsonFault:
        raise
    except RecursionError:
        raise JsonFault("is nested too deeply") from None
    except ValueError:
        raise JsonFault("is not JSON in UTF-8") from None
    inside: list[Any] = [[value]]
    for _ in range(_DEEPEST + 1):
        parts = (part.values() if isinstance(part, dict) else part for part in inside)
        inside = [each for part in parts for each in part if isinstance(each, (dict, list))]
    if inside:
        raise JsonFault("is nested too deeply")
    return value


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        (twice, _), *_ = Counter(name for name, _ in pairs).most_common(1)
        raise JsonFault(f"has the key {short(twice)!r} twice")
    return fields


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise JsonFault(f"holds {short(text, 20)}, which is not a finite number")
    return number


def _whole(text: str) -> int:
    # A shorter text is within the range of a double.
    if len(text) > 300:
        _finite(text)
    return int(text)
