"""Commands, files, tests and links that the pages of the documentation name exist."""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import yaml

from docs import reference
from privcore.faces.cli import build_parser
from tests.test_floors import FLOORS

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
PAGES = [README, ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
GENERATED = {*reference.PAGES, "contributing.md", "changelog.md"}

_FENCE = re.compile(
    r"(?:^ *<!-- not run: (?P<reason>.+?) -->\n(?:\n)?)?"
    r"^(?P<indent> *)```(?P<language>sh|python)\n(?P<text>.*?)^(?P=indent)```$",
    re.MULTILINE | re.DOTALL,
)
# Code within a sentence, on one line or broken over two.
_INLINE = re.compile(r"(?<!`)`([^`]+)`(?!`)")
_COMMAND = re.compile(r"(?:\S*/)?(?=python -m |causalveil |make )")


class Block(NamedTuple):
    language: str
    text: str
    not_run: str


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@cache
def blocks(page: Path) -> tuple[Block, ...]:
    """The blocks of code of a page, in their order."""
    found = []
    for match in _FENCE.finditer(page.read_text(encoding="utf-8")):
        indent = match["indent"]
        lines = match["text"].splitlines(keepends=True)
        text = "".join(line.removeprefix(indent) for line in lines)
        found.append(Block(match["language"], text, match["reason"] or ""))
    return tuple(found)


def commands(page: Path, *, run: bool = True) -> list[str]:
    """Every command of a page; run: with those that the page's own test runs.

    After a benchmark, options alone are the same benchmark again, up to the end of the paragraph.
    """
    found = [
        line
        for block in blocks(page)
        if block.language == "sh" and (run or block.not_run)
        for line in block.text.replace("\\\n", " ").splitlines()
    ]
    text = re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.DOTALL)
    for paragraph in text.split("\n\n"):
        benchmark = ""
        for inline in _INLINE.findall(paragraph):
            words = inline.split()
            if words[:1] == ["python"] and words[2].startswith("benchmarks."):
                benchmark = " ".join(words[:3])
            if words and words[0].startswith("--") and benchmark:
                words.insert(0, benchmark)
            found.append(" ".join(words))
    matches = [(_COMMAND.match(line), line) for line in (" ".join(f.split()) for f in found)]
    return [line[match.end() :].split(" #")[0] for match, line in matches if match]


@cache
def options_of(command: str) -> frozenset[str]:
    """The options of a command of the command line and of the commands within it."""
    parser = build_parser([command])
    found: set[str] = set()
    waiting = [_subparsers(parser)[command]]
    while waiting:
        here = waiting.pop()
        found |= {word for action in here._actions for word in action.option_strings}
        waiting += _subparsers(here).values()
    return frozenset(found)


def _subparsers(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    return {}


def fault(command: str) -> str:
    """What is wrong with a command, or nothing."""
    words = shlex.split(command, comments=True)
    if words[0] == "make":
        made = subprocess.run(["make", "-n", *words[1:]], cwd=ROOT, capture_output=True, text=True)
        return made.stderr
    if words[:3] == ["python", "-m", "privcore"] or words[0] == "causalveil":
        rest = words[1:] if words[0] == "causalveil" else words[3:]
        if not rest or rest[0] == "COMMAND":
            return ""
        try:
            known = options_of(rest[0])
        except KeyError:
            return f"there is no command {rest[0]}"
        rest = rest[1:]
    elif words[2].startswith(("benchmarks.", "docs.")):
        place = ROOT.joinpath(*words[2].split("."))
        files = [place.with_suffix(".py")] if place.with_suffix(".py").is_file() else []
        files += sorted(place.glob("*.py"))
        if not files:
            return f"there is no module {words[2]}"
        source = "".join(file.read_text(encoding="utf-8") for file in files)
        if words[2].startswith("benchmarks.") and "parsed(" not in source:
            return f"{words[2]} has no smallest form, which `benchmarks.parsed` makes"
        known = frozenset(re.findall(r'"(--[a-z0-9-]+)"', source))
        rest = words[3:]
    elif words[2] == "pytest":
        lost = [word for word in words[3:] if "/" in word and not (ROOT / word).exists()]
        return f"there is no {lost[0]}" if lost else ""
    else:
        return ""
    unknown = [
        word
        for word in (word.split("=")[0] for word in rest)
        if word.startswith("--") and word not in known | {"--help"}
    ]
    return f"there is no option {unknown[0]}" if unknown else ""


@cache
def names_of_tests() -> frozenset[str]:
    files = (ROOT / "tests").rglob("*.py")
    return frozenset(
        name
        for file in files
        for name in re.findall(r"(?:def |/)(test_\w+)", str(file) + file.read_text("utf-8"))
    )


def files_named(text: str) -> Iterator[str]:
    """Files, modules and tests that a page names and that are not there."""
    for path in re.findall(r"`([\w.-]+(?:/[\w.-]+)+\.(?:py|json|parquet|toml|sql|yml))`", text):
        if not (ROOT / path).is_file():
            yield path
    for module in re.findall(r"`(privcore(?:\.[a-z_]+)+)", text):
        parts, place = module.split("."), ROOT
        while parts and (place / parts[0]).is_dir():
            place /= parts.pop(0)
        # A module, or a name in the package or the module.
        if parts and not (place / f"{parts[0]}.py").is_file():
            package = (place / "__init__.py").read_text("utf-8")
            stub = place / "__init__.pyi"
            package += stub.read_text("utf-8") if stub.is_file() else ""
            if parts[0] not in package:
                yield module
    for name in re.findall(r"`(test_\w+)`", text):
        if name not in names_of_tests():
            yield name


def links(page: Path, text: str) -> Iterator[str]:
    """Links that lead nowhere."""
    made = {f"docs/{name}" for name in GENERATED}
    text = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
        if "://" in target or target.startswith("mailto:"):
            continue
        path = Path(os.path.normpath(page.parent / target))
        if not path.exists() and path.relative_to(ROOT).as_posix() not in made:
            yield target


def _files(entry: object) -> set[str]:
    """Pages of the site's navigation."""
    if isinstance(entry, str):
        return {entry}
    parts = list(entry.values()) if isinstance(entry, dict) else entry
    assert isinstance(parts, list)
    return set().union(*map(_files, parts))


def faults() -> Iterator[str]:
    for page in PAGES:
        text, name = page.read_text(encoding="utf-8"), name_of(page)
        yield from (f"{name}: {line}: {fault(line)}" for line in commands(page) if fault(line))
        yield from (f"{name}: names {each}, which is not there" for each in files_named(text))
        yield from (f"{name}: links {target}, which is not there" for target in links(page, text))
        for block in blocks(page):
            if block.not_run and len(block.not_run.split()) < 3:
                yield f"{name}: a block is not run, without a reason"
    nav = _files(yaml.safe_load((ROOT / "mkdocs.yml").read_text("utf-8"))["nav"])
    written = {p.relative_to(ROOT / "docs").as_posix() for p in [*PAGES[2:], *NOTEBOOKS]}
    for page_name in nav ^ (written | GENERATED):
        yield f"mkdocs.yml: {page_name} is in its nav or in docs/, and not in both"
    design = (ROOT / "docs" / "design.md").read_text("utf-8")
    line = design.split("<!-- floors -->\n")[1].split("\n\n")[0]
    if re.findall(r"`([\w.]+)`", line) != [room for room in FLOORS[::-1] if room != "ground"]:
        yield "docs/design.md: its floors are not those of tests/test_floors.py"
    readme = README.read_text("utf-8")
    if reference.readme(readme) != readme:
        yield "README.md: its table is old; run `python -m docs.reference`"
    if len(readme.splitlines()) > 130:
        yield "README.md: has more than 130 lines"
