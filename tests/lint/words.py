"""Code, docstrings, comments and messages use the field's terms.

`TERMS` is a rule everywhere, `DROPPED` one for what users read: the engine, the pages and the
documents.  What is `SOMETIMES` right is only counted, by `python -m tests.lint --count`.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = ("privcore", "pages", "app.py", "benchmarks", "tests")
TEXTS = ("README.md", "CONTRIBUTING.md", "docs")

# What is not said, and the term in its place.
TERMS = {
    r"whole table": "full contingency table",
    r"level of false edges|false edges q": "false discovery rate (FDR) level",
    r"shares of (a|the) table|tables? of shares": "probabilities",
    r"shuffled?": "columns permuted",
}
# What a native reader stumbles over, and what a statistician writes.
DROPPED = {
    r"beside": "as well as, next to",
    r"so many": "k, this number",
    r"those (of|that|who|which)": "the noun itself",
    r"apart": "distinguish, except",
    r"told": "shown, known, distinguished",
    r"borne out": "supported",
    r"what is left of": "residual of, remaining",
    r"(what is )?beyond chance": "Monte Carlo error",
    r"(middle )?nine tenths": "5th–95th percentile",
    r"what of": "the part that",
    r"worth": "value, gain",
    r"in the address": "in the URL",
    r"(?<!noise-)(?<!cause-)laws?": "distribution",
    r"(re-)?roll(s|ed|ing)?": "noise draw",
    r"can be seen of": "is known of",
    r"says? (nothing|something) of": "states nothing about",
    r"(test|run|table|row|graph|release|algorithm|release)s? (see|say|know|tell|ask)s?": (
        "a verb of what it does: contains, uses, shows"
    ),
    r"(public|trusted|protected|counted|charged) (is|are) (then|the|what|only)": (
        "the subject first"
    ),
    r"of (a|an|each|every|these|all) [^.,;:]{1,40} that [^.,;:]{1,40}, (none|one|some|all)": (
        "the subject first"
    ),
    r"no (common )?causes? (that )?(is|are) missing|missing common causes?": (
        "no unobserved confounder"
    ),
    r"called found|whatever became of|somebody who|one server bears": "plain words",
}
SOMETIMES = {
    r"apart",
    r"worth",
    r"(re-)?roll(s|ed|ing)?",
    r"(test|run|table|row|graph|release|algorithm|release)s? (see|say|know|tell|ask)s?",
}


def files(places: tuple[str, ...], suffix: str) -> Iterator[Path]:
    for place in places:
        path = ROOT / place
        yield from sorted(path.rglob(f"*{suffix}")) if path.is_dir() else [path]


def texts(source: str) -> Iterator[tuple[int, str]]:
    """Strings and comments, each with the line that it begins in."""
    tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
    for token in tokens:
        if token.type in (tokenize.STRING, tokenize.COMMENT):
            yield token.start[0], token.string


def uses(table: Mapping[str, str], text: str) -> Iterator[tuple[int, str, str]]:
    """Where a text has what a table lists: lines before it, its words, and the entry."""
    # On one line, so that what is broken over two is seen.
    flat = re.sub(r"\s+", " ", text)
    for entry in table:
        for match in re.finditer(rf"(?<!\w)(?:{entry})(?!\w)", flat, re.IGNORECASE):
            blanks = flat[: match.start()].count(" ")
            before = "".join(re.split(r"(\s+)", text)[: 2 * blanks + 1])
            yield before.count("\n"), match[0], entry


def wrong_words(source: str) -> Iterator[tuple[int, str, str]]:
    for first, text in texts(source):
        for lines, words, entry in uses(TERMS, text):
            yield first + lines, words, TERMS[entry]


def dropped() -> Iterator[tuple[str, Path, int, str, str]]:
    """Uses of what is dropped, of code in its strings and comments: place, path, line, entry."""
    for place in ("pages", "privcore"):
        for path in files((place,), ".py"):
            for first, text in texts(path.read_text(encoding="utf-8")):
                for lines, words, entry in uses(DROPPED, text):
                    yield place, path, first + lines, words, entry
    for path in files(TEXTS, ".md"):
        text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        for lines, words, entry in uses(DROPPED, text):
            yield "docs", path, lines + 1, words, entry


def counts() -> dict[str, Counter[str]]:
    """Uses of what is dropped, by entry and then by place."""
    found: dict[str, Counter[str]] = {entry: Counter() for entry in DROPPED}
    for place, *_, entry in dropped():
        found[entry][place] += 1
    return found


def counted() -> Iterator[str]:
    """The counts as lines of a table, the most frequent first."""
    places = ("pages", "privcore", "docs")
    yield "".join(f"{name:>10}" for name in (*places, "all")) + "  dropped: instead"
    rows = sorted(counts().items(), key=lambda row: -row[1].total())
    for entry, number in rows:
        cells = "".join(f"{number[place]:10,}" for place in places)
        yield f"{cells}{number.total():10,}  {entry}: {DROPPED[entry]}"
    total = sum((number for _, number in rows), Counter())
    yield "".join(f"{total[place]:10,}" for place in places) + f"{total.total():10,}  in all"


def faults() -> Iterator[str]:
    for path in files(SOURCES, ".py"):
        if path.parent == Path(__file__).parent or path.name == "test_lint.py":
            continue
        place = path.relative_to(ROOT)
        for line, bad, good in wrong_words(path.read_text(encoding="utf-8")):
            yield f"{place}:{line}: {bad!r}: say {good}"
    for _, path, line, bad, entry in dropped():
        if entry not in SOMETIMES:
            yield f"{path.relative_to(ROOT)}:{line}: {bad!r}: say {DROPPED[entry]}"
