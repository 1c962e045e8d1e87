"""Code, docstrings, comments and messages use the field's terms; so do the names in the engine."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = ("privcore", "pages", "app.py", "benchmarks", "tests")

# What is not said, and what is said in its place.
WORDS = {
    r"whole table": "full contingency table",
    r"level of false edges|false edges q": "false discovery rate (FDR) level",
    r"st[ao]nd(s|ing)? out|stood out": "is significant",
    r"ask(s|ed|ing)? for": "requires (or: requested)",
    r"(its|the|other|direct|most) causes": "parents",
    r"shares of (a|the) table|tables? of shares": "probabilities",
    r"(?<!degrees of )(?<!degree of )freedom": "degrees of freedom",
    r"t(old|ells?) ([a-z]+ ){0,2}apart|telling|sight": "informative, power",
    r"shuffled?": "columns permuted",
    r"(in the )?present form": "nothing",
    r'"""Of(?= )': "what it is, the noun first",
}
_ANY = re.compile("|".join(WORDS), re.IGNORECASE)
# Names that say only that something was found or given; and the table's others.
NAMES = {"found": "what it is", "given": "what it is", "freedom": "dof", "telling": "informative"}
# `given` is hypothesis's, and tests name their own values.
NAMED = ("privcore", "pages")


def files(places: tuple[str, ...]) -> Iterator[Path]:
    for place in places:
        path = ROOT / place
        yield from sorted(path.rglob("*.py")) if path.is_dir() else [path]


def texts(source: str) -> Iterator[tuple[int, str]]:
    """Strings and comments, each with the line that it begins in."""
    tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
    for token in tokens:
        if token.type in (tokenize.STRING, tokenize.COMMENT):
            yield token.start[0], token.string


def wrong_words(source: str) -> Iterator[tuple[int, str, str]]:
    for first, text in texts(source):
        # On one line, so that what is broken over two is seen.
        flat = re.sub(r"\s+", " ", text)
        if not _ANY.search(flat):
            continue
        for words, better in WORDS.items():
            for match in re.finditer(rf"(?<!\w)({words})(?!\w)", flat, re.IGNORECASE):
                letters = flat[: match.start()].count(" ")
                before = "".join(re.split(r"(\s+)", text)[: 2 * letters + 1])
                yield first + before.count("\n"), match[0], better


def wrong_names(source: str) -> Iterator[tuple[int, str, str]]:
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.NAME and token.string in NAMES:
            yield token.start[0], token.string, NAMES[token.string]


def faults() -> Iterator[str]:
    for places, wrong in ((SOURCES, wrong_words), (NAMED, wrong_names)):
        for path in files(places):
            if path.parent == Path(__file__).parent or path.name == "test_lint.py":
                continue
            place = path.relative_to(ROOT)
            for line, bad, good in wrong(path.read_text(encoding="utf-8")):
                yield f"{place}:{line}: {bad!r}: say {good}"
