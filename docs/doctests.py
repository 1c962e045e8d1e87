"""Examples in docstrings as code in the reference: a griffe extension."""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, Module, Object

_HEADING = re.compile(r"^(\s*)Example:$", re.MULTILINE)
# Lines of a doctest that stand in the text, not under a heading.
_IN_TEXT = re.compile(r"(?:^>>> .*\n(?:.+(?:\n|\Z))*)", re.MULTILINE)


def with_code(text: str) -> str:
    """A docstring whose doctests are fenced blocks, and whose "Example:" is a section."""
    if "```" in text:
        return text
    fenced = _IN_TEXT.sub(lambda block: f"```pycon\n{block[0].rstrip()}\n```\n", text)
    return _HEADING.sub(r"\1Examples:", fenced)


class Doctests(Extension):
    """Every docstring `with_code`; griffe calls `on_object` for all but the top package."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        if obj.docstring:
            obj.docstring.value = with_code(obj.docstring.value)

    def on_package(self, *, pkg: Module, **_: Any) -> None:
        self.on_object(obj=pkg)
