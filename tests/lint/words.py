"""Code, docstrings, comments and messages use the field's terms.

`TERMS` is a rule.  `DROPPED` lists what the texts are to lose: its uses are counted by
`python -m tests.lint --count`, and an entry whose count is 0 may move to `TERMS`.
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
# What is to go, and what a statistician writes; only what is never right, or nearly never.
DROPPED = {
    r"beside": "as well as, next to",
    r"so many": "k, this number",
    r"those (of|that|who|which)": "the noun itself",
    r"apart": "distinguish, except",
    r"told": "shown, known, distinguished",
    r"borne out": "supported",
    r"what is left of|left of": "residual of, remaining",
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


def counts() -> dict[str, Counter[str]]:
    """Uses of what is dropped, by entry and then by place: of code its strings and comments."""
    found: dict[str, Counter[str]] = {entry: Counter() for entry in DROPPED}
    for place in ("pages", "privcore"):
        for path in files((place,), ".py"):
            for _, text in texts(path.read_text(encoding="utf-8")):
                for _, _, entry in uses(DROPPED, text):
                    found[entry][place] += 1
    for path in files(TEXTS, ".md"):
        text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        for _, _, entry in uses(DROPPED, text):
            found[entry]["docs"] += 1
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
