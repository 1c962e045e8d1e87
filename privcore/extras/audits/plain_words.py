"""Plain English for the internal names of features, such as "separated: a,d given {}?"."""

from __future__ import annotations

import re
from collections.abc import Callable

_PHRASES: tuple[tuple[str, Callable[[re.Match[str]], str]], ...] = (
    (r"spent", lambda m: "the budget spent"),
    (r"tests", lambda m: "the number of tests run"),
    (r"(\w+(?: \w+)*) used", lambda m: f"the number of {m[1]} used"),
    (r"number of edges", lambda m: "the number of edges"),
    (r"answers above", lambda m: "the number of “above” answers"),
    (r"answers", lambda m: "the number of answers given"),
    (r"refusals", lambda m: "the number of refusals"),
    (r"number", lambda m: "the released number"),
    (r"number (\d+)", lambda m: f"released number {m[1]}"),
    (r"entry (\d+), (\d+)", lambda m: f"the released number in row {m[1]}, column {m[2]}"),
    (r"score (.+)", lambda m: f"the released score of {m[1]}"),
    (r"log range of (.+)", lambda m: f"the log of the released interquartile range of {m[1]}"),
    (r"weight (.+)", lambda m: f"the released weight of {m[1]}"),
    (r"(covariance|median|log-likelihood ratio)(.*)", lambda m: f"the {m[1]}{m[2]}"),
)


def _given(text: str) -> str:
    return text.replace(",", " and") or "nothing"


# A sentence for a feature that holds, and one for its opposite.
_FACTS: tuple[tuple[str, Callable[[re.Match[str]], tuple[str, str]]], ...] = (
    (
        r"separated: (.+),(.+) given \{(.*)\}",
        lambda m: (
            f"{m[1]} and {m[2]} are judged independent given {_given(m[3])}",
            f"{m[1]} and {m[2]} are not judged independent given {_given(m[3])}",
        ),
    ),
    (
        r"edge (.+)–(.+)",
        lambda m: (
            f"the graph has an undirected edge between {m[1]} and {m[2]}",
            f"the graph has no undirected edge between {m[1]} and {m[2]}",
        ),
    ),
    (
        r"edge (.+[→↔].+)",
        lambda m: (f"the graph has the arrow {m[1]}", f"the graph does not have the arrow {m[1]}"),
    ),
    (
        r"(.+ and .+) adjacent",
        lambda m: (f"the graph connects {m[1]}", f"the graph does not connect {m[1]}"),
    ),
    (
        r"answer (\d+) is above",
        lambda m: (f"answer {m[1]} is “above”", f"answer {m[1]} is not “above”"),
    ),
    (r"(.+) refused", lambda m: (f"{m[1]} is refused", f"{m[1]} is not refused")),
)


def thing(name: str) -> str:
    """The name of a number or feature as a plain phrase; unknown names are returned unchanged."""
    if name.endswith("?"):
        return f"whether {fact(name, True)}"
    for pattern, phrase in _PHRASES:
        match = re.fullmatch(pattern, name)
        if match:
            return phrase(match)
    return name


def fact(name: str, holds: bool) -> str:
    """A feature whose name ends in "?", or its opposite, as a sentence without a full stop.

    holds: False for the opposite.
    """
    bare = name.removesuffix("?")
    for pattern, sentences in _FACTS:
        match = re.fullmatch(pattern, bare)
        if match:
            return sentences(match)[0 if holds else 1]
    return bare if holds else f"it is not true that {bare}"


def side(bound: float, above: bool) -> str:
    """The side of a bound in words, such as "is at least 0.3"."""
    return f"is {'at least' if above else 'below'} {bound:.3g}"
