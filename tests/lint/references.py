"""Modules, files and names that docstrings, comments and texts mention exist."""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
# First words of names from other packages.
OUTSIDE = {"dask", "distributed", "np", "pgmpy", "sklearn", "st"}
FULL = re.compile(r"\bprivcore(?:\.[A-Za-z_]\w*)+")
QUOTED = re.compile(r"`([A-Za-z_]\w*(?:\.\w+)+)(?:\([^`]*\))?`")
PATH = re.compile(r"(?<![\w./…-])(?:[\w-]+/)*\w+\.pyi?\b(?!\w)")


@cache
def sources() -> tuple[Path, ...]:
    folders = ("privcore", "pages", "benchmarks", "tests")
    found = [path for folder in folders for path in (ROOT / folder).rglob("*.py*")]
    return tuple(sorted(p for p in (ROOT / "app.py", *found) if p.suffix in (".py", ".pyi")))


@cache
def paths() -> frozenset[str]:
    return frozenset(str(path.relative_to(ROOT)) for path in sources())


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def bound(body: list[ast.stmt]) -> Iterator[str]:
    """Names that statements bind."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from ((alias.asname or alias.name).split(".")[0] for alias in node.names)
        elif isinstance(node, ast.If | ast.Try | ast.With):
            yield from bound(node.body)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name))


@cache
def known() -> dict[str, set[str]]:
    """By a class's name, or a module's whole name and its last word: names within it."""
    inside: dict[str, set[str]] = defaultdict(set)
    bases: dict[str, set[str]] = defaultdict(set)
    for path in sources():
        parts = path.relative_to(ROOT).with_suffix("").parts
        parts = parts[:-1] if parts[-1] == "__init__" else parts
        for module in (".".join(parts), parts[-1]):
            inside[module] |= set(bound(tree(path).body))
        if len(parts) > 1:
            for folder in (".".join(parts[:-1]), parts[-2]):
                inside[folder].add(parts[-1])
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.ClassDef):
                bases[node.name] |= {ast.unparse(b).split("[")[0] for b in node.bases}
                inside[node.name] |= set(bound(node.body)) | {
                    n.attr
                    for n in ast.walk(node)
                    if isinstance(n, ast.Attribute)
                    and isinstance(n.value, ast.Name)
                    and n.value.id == "self"
                }
    for _ in range(4):  # More generations than there are.
        for name, above in bases.items():
            inside[name] |= set().union(*(inside.get(base, set()) for base in above))
    return inside


@cache
def members() -> set[str]:
    return set().union(*known().values())


def exists(name: str, here: frozenset[str]) -> bool:
    """here: identifiers of the file that mentions it, whose values' classes are not looked up."""
    *owners, last = name.split(".")
    if owners[0] in OUTSIDE or (owners[0] in sys.stdlib_module_names and owners[0] not in known()):
        return True
    whole = ".".join(owners)
    if last in known().get(whole, ()):
        return True
    if owners[0] == "privcore":
        *outer, owner = owners
        return owner in known().get(".".join(outer), ()) and last in known().get(owner, ())
    if owners[0] in known():
        return last in known()[owners[-1]]
    return owners[0] in here and last in members()


def wrong(text: str, here: frozenset[str] = frozenset(), *, prose: bool = True) -> Iterator[str]:
    """Names in a text that do not exist; of one that is not prose only those in full."""
    named = set(FULL.findall(text))
    if prose:
        named |= {m for m in QUOTED.findall(text) if not PATH.fullmatch(m)}
        for path in sorted(set(PATH.findall(text))):
            if not any(each == path or each.endswith(f"/{path}") for each in paths()):
                yield path
    yield from sorted(name for name in named if not exists(name, here))


def texts(path: Path) -> Iterator[tuple[int, str, bool]]:
    """Line, text, and whether it is prose, of every comment and string."""
    for token in tokenize.generate_tokens(io.StringIO(path.read_text(encoding="utf-8")).readline):
        if token.type in (tokenize.COMMENT, tokenize.STRING):
            prose = token.type == tokenize.COMMENT or token.string.startswith('"""')
            yield token.start[0], token.string, prose


def faults() -> Iterator[str]:
    for path in sources():
        if path.relative_to(ROOT).parts[0] == "tests" or path.suffix != ".py":
            continue
        here = frozenset(
            str(getattr(node, field))
            for node in ast.walk(tree(path))
            for field in ("id", "arg", "attr")
            if hasattr(node, field)
        )
        for line, text, prose in texts(path):
            for name in wrong(text, here, prose=prose):
                place = path.relative_to(ROOT)
                yield f"{place}:{line}: mentions {name}, which does not exist"
