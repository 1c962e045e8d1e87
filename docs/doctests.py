"""Examples in docstrings as code in the reference: a griffe extension."""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, Object

_HEADING = re.compile(r"^(\s*)Example:$", re.MULTILINE)
# Lines of a doctest that stand in the text, not under a heading.
_IN_TEXT = re.compile(r"(?:^>>> .*\n(?:.+\n?)*)", re.MULTILINE)


class Doctests(Extension):
    """Doctests in the text become fenced blocks, and "Example:" the section "Examples:"."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        if obj.docstring:
            text = _HEADING.sub(r"\1Examples:", obj.docstring.value)
            obj.docstring.value = _IN_TEXT.sub(
                lambda block: f"```pycon\n{block[0].rstrip()}\n```\n", text
            )
