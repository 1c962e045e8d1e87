"""The glossary leads only to what exists, and every choice is shown in words of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from pages.ui.glossary import body
from privcore.algorithms import ALGORITHMS
from privcore.extras.pairs import GENERATORS, generator_parameters
from privcore.extras.pairs.parameters import PARAMETERS
from privcore.extras.teaching import PANELS
from privcore.extras.teaching.glossary import Term, glossary, is_written
from privcore.extras.teaching.lessons import LESSONS
from privcore.parameter import Parameter

ROOT = Path(__file__).parents[2]


def wrong_term(term: Term) -> Iterator[str]:
    """What is wrong with a term of the glossary."""
    if not re.fullmatch(r"[a-z][a-z0-9_-]*", term.name) or not term.title:
        yield "has no plain name, or no title"
    if not term.text.endswith("."):
        yield "does not end its text with a full stop"
    if is_written(term.name) and not 1 <= len(re.findall(r"\.(?= [A-Z]|$)", term.text)) <= 3:
        yield "has not one to three sentences"
    for name in set(term.see) - (glossary().keys() - {term.name}):
        yield f"leads to {name}, which is no other term"
    if term.panel and term.panel not in PANELS:
        yield f"leads to the panel {term.panel}, which is not there"
    if term.lesson and term.lesson not in LESSONS:
        yield f"leads to the lesson {term.lesson}, which is not there"
    if term.docs and not (ROOT / term.docs).is_file():
        yield f"leads to {term.docs}, which is not there"


def wrong_choice(parameter: Parameter) -> Iterator[str]:
    """What is wrong with the words of a choice: they are distinct, and no short option names."""
    shown = [parameter.label(choice) for choice in parameter.choices]
    if len(set(shown)) != len(shown):
        yield "shows two choices in the same words"
    for choice, text in zip(parameter.choices, shown, strict=True):
        words = text.removesuffix(f" ({choice})")
        # No digits but in symbols, no arrow of code, no single letter.
        if not words[0].isupper() or not re.fullmatch(r"(?!\w+-\w+$)[^0-9>_]{2,}", words):
            yield f"shows {choice!r} as {text!r}"


def links() -> Iterator[tuple[str, str]]:
    """Where a term is linked, and its name."""
    for path in [*(ROOT / "pages").rglob("*.py"), *(ROOT / "docs").rglob("*.md")]:
        text = path.read_text(encoding="utf-8")
        for pattern in (
            r'(?:term_link|glossary_note)\(\s*"([^"]*)"',
            r"glossary\?term=([\w-]+)",
        ):
            for name in re.findall(pattern, text):
                yield str(path.relative_to(ROOT)), name
    for term in glossary().values():
        for name in re.findall(r"glossary\?term=([\w-]+)", body(term)):
            yield f"the glossary's {term.name}", name


def faults() -> Iterator[str]:
    terms = glossary()
    for term in terms.values():
        yield from (f"The term {term.name} {wrong}" for wrong in wrong_term(term))
    yield from (f"{place}: links {name}, no term" for place, name in links() if name not in terms)
    for owner, declared in {
        **{a.name: a.parameters for a in ALGORITHMS.values()},
        **{p.name: p.parameters for p in PANELS.values()},
        **{kind: generator_parameters(kind) for kind in GENERATORS},
        "direction": PARAMETERS,
    }.items():
        for parameter in declared:
            if parameter.kind == "choice":
                for wrong in wrong_choice(parameter):
                    yield f"{owner}: the parameter {parameter.name} {wrong}"
    for algorithm in ALGORITHMS.values():
        for parameter in algorithm.parameters:
            if parameter.name not in terms or algorithm.title not in terms[parameter.name].used_by:
                yield f"The glossary lacks the parameter {parameter.name} of {algorithm.name}"
