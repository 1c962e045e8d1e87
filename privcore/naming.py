"""Names of columns in what users type and read: a name that holds marks stands in double quotes."""

from __future__ import annotations

import re
from collections.abc import Sequence

# The marks of statements, of lists, and of lines of text that show edges.
_MARKS = re.compile(r'--|->|<-|[,;"–—→←↔]|\so-o\s')
# Possessive, so that a quotation mark without its partner is found in linear time.
_QUOTED = re.compile(r'\s*"((?:[^"]|"")*+)"\s*')
QUOTING = (
    "a name with commas, semicolons or arrows stands in double quotes, and a double quote in it is "
    "doubled"
)


def quoted(name: str) -> str:
    """A name as it can be typed: in double quotes if `divided` would otherwise not read it back.

    >>> quoted("smoke"), quoted("pain, chest"), quoted('5" pipe')
    ('smoke', '"pain, chest"', '"5"" pipe"')
    """
    # A name that ends like half of a mark would join the mark that follows it.
    if name and name == name.strip() and not _MARKS.search(name) and name[-1] not in "-<":
        return name
    return '"{}"'.format(name.replace('"', '""'))


def divided(text: str, marks: str) -> list[str]:
    """The names in a text and the marks between them, in turn, from the first name to the last.

    marks: a pattern of the marks.  Spaces around a name do not belong to it.

    >>> divided('smoke -> "pain, chest"', "->|,")
    ['smoke', '->', 'pain, chest']
    """
    parts, start, pattern = list[str](), 0, re.compile(marks)
    while True:
        inside = _QUOTED.match(text, start)
        found = pattern.search(text, inside.end() if inside else start)
        end = found.start() if found else len(text)
        if inside and inside.end() == end:
            parts.append(inside[1].replace('""', '"'))
        else:
            parts.append(text[start:end].strip())
        if found is None:
            return parts
        parts.append(found[0])
        start = found.end()


def shortened(names: Sequence[str], most: int) -> list[str]:
    """Names of at most `most` characters, distinct if the names are; it depends on the names alone.

    >>> shortened(["age", "answer one", "answer two"], 7)
    ['age', 'answer…', 'answ… 2']
    """
    taken, short = {name for name in names if len(name) <= most}, []
    for name in names:
        number = 1
        found = name
        while len(found) > most or (found is not name and found in taken):
            mark = "…" if number == 1 else f"… {number}"
            found, number = name[: most - len(mark)] + mark, number + 1
        taken.add(found)
        short.append(found)
    return short


def listed(text: str) -> list[str]:
    """The names in a list that is separated by commas; empty for an empty text."""
    return divided(text, ",")[::2] if text else []
