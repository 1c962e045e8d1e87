"""A sample of docstrings and of strings that users read, for a reader to judge.

`python -m tests.lint --sample SEED` prints 60 docstrings of public functions and classes, and 90
strings of pages and of the engine that have five words or more.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Iterator

from tests.lint.words import ROOT, files

DOCSTRINGS, STRINGS, WORDS = 60, 90, 5


def texts() -> tuple[list[str], list[str]]:
    """Docstrings and strings, each with its place; placeholders of f-strings as {…}."""
    docstrings, strings = [], []
    for path in files(("privcore", "pages", "app.py"), ".py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        place = path.relative_to(ROOT)
        inner: set[int] = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module):
                text = ast.get_docstring(node)
                if text:
                    inner.add(id(node.body[0].value))  # type: ignore[attr-defined]
                    name = getattr(node, "name", "module")
                    if not name.startswith("_"):
                        docstrings.append(f"{place} {name}\n{text}")
            if isinstance(node, ast.JoinedStr):
                inner |= {id(part) for part in ast.walk(node) if part is not node}
        for node in ast.walk(tree):
            if id(node) not in inner and (text := _shown(node)) and len(text.split()) >= WORDS:
                strings.append(f"{place}:{node.lineno}\n{text}")  # type: ignore[attr-defined]
    return docstrings, strings


def _shown(node: ast.AST) -> str:
    if isinstance(node, ast.JoinedStr):
        return "".join(_shown(part) or "{…}" for part in node.values)
    text = node.value if isinstance(node, ast.Constant) else ""
    return text if isinstance(text, str) else ""


def sampled(seed: int) -> Iterator[str]:
    """The sample, one text after another."""
    draw = random.Random(seed)
    for title, kind, size in zip(
        ("docstring", "string"), texts(), (DOCSTRINGS, STRINGS), strict=True
    ):
        for number, text in enumerate(draw.sample(kind, size), 1):
            yield f"--- {title} {number}: {text}"
