"""Code, docstrings, comments and messages use the field's terms; so do the names in the engine."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
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
        for words, better in WORDS.items():
            for match in re.finditer(rf"(?<!\w)({words})(?!\w)", flat, re.IGNORECASE):
                letters = flat[: match.start()].count(" ")
                before = "".join(re.split(r"(\s+)", text)[: 2 * letters + 1])
                yield first + before.count("\n"), match[0], better


def wrong_names(source: str) -> Iterator[tuple[int, str, str]]:
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.NAME and token.string in NAMES:
            yield token.start[0], token.string, NAMES[token.string]


def report(wrong: Iterator[tuple[int, str, str]], path: Path) -> list[str]:
    place = path.relative_to(ROOT)
    return [f"{place}:{line}: {bad!r}: say {good}" for line, bad, good in wrong]


def test_texts_use_the_field_s_terms() -> None:
    here = Path(__file__)
    wrong = [
        sentence
        for path in files(SOURCES)
        if path != here
        for sentence in report(wrong_words(path.read_text(encoding="utf-8")), path)
    ]
    assert not wrong, "\n".join(wrong)


def test_names_say_what_it_is_that_was_found_or_given() -> None:
    wrong = [
        sentence
        for path in files(NAMED)
        for sentence in report(wrong_names(path.read_text(encoding="utf-8")), path)
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("source", "line", "better"),
    [
        ('"""Of PC."""', 1, "what it is, the noun first"),
        ('x = """One.\n\nA whole\ntable."""', 3, "full contingency table"),
        ("# A run asks for noise.", 1, "requires (or: requested)"),
        ('"the causes of y"', 1, "parents"),
    ],
)
def test_a_word_that_is_not_the_field_s_is_seen(source: str, line: int, better: str) -> None:
    assert [(at, good) for at, _, good in wrong_words(source)] == [(line, better)]


def test_degrees_of_freedom_and_names_within_names_pass() -> None:
    source = '"χ² with 3 degrees of\\nfreedom"\nhas_found = given_name = "given z"'
    assert list(wrong_names(source)) == []
    assert list(wrong_words('"3 degrees of freedom"')) == []
    assert list(wrong_names("found = 1")) == [(1, "found", "what it is")]
