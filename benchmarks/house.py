"""The size of the house: lines, statements, files, public names, imports, and modules of runs.

    python -m benchmarks.house

Lines are all lines of a file, statements those of its syntax tree without docstrings.  A name is
public if it is defined at the top of a module and has no leading underscore.  Imports are shares
of statements; `from` is how many other rooms a room imports from.  The modules of a run are those
of `privcore` that a fresh process has loaded at its end.  The same script measures peers that are
installed.
"""

from __future__ import annotations

import argparse
import ast
import subprocess
import sys
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from statistics import median

from benchmarks import parsed

ROOT = Path(__file__).parents[1]
# Rooms that stand next to the core.
ROOMS = ("intake", "storage", "exchange", "display", "faces", "extras")
PEERS = ("causallearn", "pgmpy", "dp_accounting", "mbi", "httpx")
RUNS = {
    "discover on asia": "import privcore as p; p.discover(p.load_network('asia').sample(5000,"
    " seed=1), epsilon=1, seed=1)",
    "PC on asia": "import privcore as p; p.discover(p.load_network('asia').sample(5000, seed=1),"
    " 'pc')",
    "an effect on asia": "import privcore as p; p.effect(p.load_network('asia').sample(5000,"
    " seed=1), 'smoke', 'lung', epsilon=1, seed=1)",
}
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def main() -> None:
    options = parsed(argparse.ArgumentParser(description=__doc__))
    package = ROOT / "privcore"
    core = [p for p in _files(package) if p.relative_to(package).parts[0] not in ROOMS]
    print(
        f"{'':<16}{'lines':>8}{'statements':>12}{'files':>7}{'per 1,000':>11}{'names':>7}"
        f"{'per 1,000':>11}{'imports':>9}{'function':>10}"
    )
    _row("core", core)
    for folder in sorted({p.relative_to(package).parts[0] for p in core}):
        if (package / folder).is_dir():
            _row(f"  {folder}", _files(package / folder))
    for name in ROOMS:
        if (package / name).is_dir():
            _row(name, _files(package / name))
    _row("privcore", _files(package))
    for name in ("pages", "tests", "benchmarks"):
        _row(name, _files(ROOT / name))
    for name in PEERS:
        found = find_spec(name)
        if found and found.submodule_search_locations:
            _row(name, _files(Path(found.submodule_search_locations[0])))
    print()
    for run, code in list(RUNS.items())[: 1 if options.smallest else None]:
        print(f"modules of privcore in {run}: {_modules(code)}")


def _files(folder: Path) -> list[Path]:
    return sorted(p for p in folder.rglob("*.py") if "__pycache__" not in p.parts)


def _row(name: str, files: Iterable[Path]) -> None:
    texts = [p.read_text(encoding="utf-8", errors="replace") for p in files]
    trees = [ast.parse(text) for text in texts]
    nodes = [node for tree in trees for node in _statements(tree)]
    lines = sum(len(text.splitlines()) for text in texts)
    names = sum(
        isinstance(node, _DEFINITIONS) and not node.name.startswith("_")
        for tree in trees
        for node in tree.body
    )
    imports = sum(isinstance(node, ast.Import | ast.ImportFrom) for node in nodes)
    functions = [
        (node.end_lineno or 0) - node.lineno + 1 - _docstring_lines(node)
        for node in nodes
        if isinstance(node, _DEFINITIONS[:2])
    ]
    print(
        f"{name:<16}{lines:>8,}{len(nodes):>12,}{len(texts):>7}{1e3 * len(texts) / lines:>11.1f}"
        f"{names:>7,}{1e3 * names / lines:>11.0f}{imports / len(nodes):>9.1%}"
        f"{median(functions or [0]):>10.0f}"
    )


def _statements(tree: ast.AST) -> Iterator[ast.stmt]:
    for node in ast.walk(tree):
        text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if isinstance(node, ast.stmt) and not text:
            yield node


def _docstring_lines(node: ast.AST) -> int:
    first = node.body[0]  # type: ignore[attr-defined]
    text = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return first.end_lineno - first.lineno + 1 if text else 0


def _modules(code: str) -> int:
    """Count modules of the engine in a fresh process that runs the code."""
    counted = f"{code}; import sys; print(sum(m.split('.')[0] == 'privcore' for m in sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", counted], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return int(done.stdout.split()[-1])


if __name__ == "__main__":
    main()
