"""The engine's rooms stand on floors: imports run downward, and none runs in a circle."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import networkx as nx

ROOT = Path(__file__).parents[1]

# From the ground up.  A room may import those before it; modules that are alone in `privcore/` are
# the ground, but for `__init__` and `__main__`, which are the roof.  No core module imports an
# extra.
FLOORS = (
    "ground",
    "kernels",
    "graphs",
    "privacy",
    "data",
    "counts",
    "independence",
    "algorithms",
    "measures",
    "effects",
    "releases",
    "intake",
    "storage",
    "exchange",
    "display",
    "extras",
    "extras.pairs",
    "extras.audits",
    "extras.lab",
    "extras.teaching",
    "faces",
    "faces.api",
    "faces.estimators",
    "faces.cli",
)
# Within `algorithms`, the search knows no algorithm; of those only the registry and what stands on
# it know each other.
SEARCH = "privcore.algorithms.search"
# What the package itself tells its rooms: its version, and how a result that shows itself is shown.
FROM_ROOF = {"__version__", "show"}


def modules(root: Path = ROOT) -> dict[str, Path]:
    """Modules of the engine by name."""
    found = {}
    for path in sorted((root / "privcore").rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def _statements(path: Path) -> list[ast.Import | ast.ImportFrom]:
    """Those that import, wherever in a file."""
    tree = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    return [node for node in tree if isinstance(node, ast.Import | ast.ImportFrom)]


def imports(module: str, known: dict[str, Path]) -> Iterator[tuple[str, str]]:
    """What a module imports, wherever in it: (module, name in it or "")."""
    for node in _statements(known[module]):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, ""
        else:
            assert node.level == 0, f"{known[module]} imports relatively"
            assert node.module is not None
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                yield (full, "") if full in known else (node.module, alias.name)


def room(module: str, known: dict[str, Path]) -> str:
    parts = module.split(".")
    if len(parts) == 1 or parts[1] == "__main__":
        return "roof"
    if parts[1] in ("extras", "faces") and known[module].parent.name != parts[1]:
        return ".".join(parts[1:3])
    if parts[1] in FLOORS:
        return parts[1]
    return "ground" if known[module].parent.name == "privcore" else parts[1]


def arrows(known: dict[str, Path]) -> Iterator[tuple[str, str, str]]:
    for module in known:
        for target, name in imports(module, known):
            if target in known and target != module:
                yield module, target, name


def place(module: str) -> str:
    return str(modules()[module].relative_to(ROOT))


def test_every_room_is_on_a_floor() -> None:
    known = modules()
    strangers = {room(m, known) for m in known} - {*FLOORS, "roof"}
    assert not strangers, f"FLOORS in {Path(__file__).name} does not say where {strangers} stand"


def test_imports_run_downward() -> None:
    known, wrong = modules(), []
    for module, target, name in arrows(known):
        here, there = room(module, known), room(target, known)
        if here == "roof" or (there == "roof" and name in FROM_ROOF):
            continue
        if there == "roof" or FLOORS.index(there) > FLOORS.index(here):
            wrong.append(f"{place(module)} imports {place(target)}: {here} is below {there}")
    assert not wrong, "\n".join(wrong)


def test_the_search_knows_no_algorithm() -> None:
    wrong = [
        f"{place(module)} imports {place(target)}"
        for module, target, _ in arrows(modules())
        if module.startswith(SEARCH)
        and target.startswith("privcore.algorithms.")
        and not target.startswith(SEARCH)
    ]
    assert not wrong, "\n".join(wrong)


def test_no_imports_run_in_a_circle() -> None:
    """Neither among files nor among the packages within a room."""
    known = modules()
    files: nx.DiGraph[str] = nx.DiGraph()
    packages: nx.DiGraph[str] = nx.DiGraph()
    for module, target, _ in arrows(known):
        if {room(module, known), room(target, known)} & {"roof"}:
            continue
        files.add_edge(module, target)
        here, there = (".".join(m.split(".")[:3]) for m in (module, target))
        if here != there and room(module, known) == room(target, known):
            packages.add_edge(here, there)
    circles = [
        sorted(circle)
        for graph in (files, packages)
        for circle in nx.strongly_connected_components(graph)
        if len(circle) > 1
    ]
    assert not circles, "\n".join(" and ".join(circle) for circle in circles)


def test_the_engine_has_no_dashboard() -> None:
    known = modules()
    wrong = [
        f"{place(module)} imports {target}"
        for module in known
        for target, _ in imports(module, known)
        if target.split(".")[0] in {"streamlit", "plotly", "pyvis", "pages"}
    ]
    assert not wrong, "\n".join(wrong)


def test_what_is_installed_imports_nothing_that_is_not() -> None:
    """Neither by a statement nor by a call of `import_module` and the like."""
    wrong = []
    for path in (*ROOT.glob("privcore/**/*.py"), *ROOT.glob("pages/**/*.py"), ROOT / "app.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            named: list[object] = []
            if isinstance(node, ast.Import):
                named = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                named = [node.module]
            elif isinstance(node, ast.Call) and re.search(
                r"(import_module|__import__|find_spec|run_module)$", ast.unparse(node.func)
            ):
                named = [each.value for each in ast.walk(node) if isinstance(each, ast.Constant)]
            wrong += [
                f"{path.relative_to(ROOT)} imports {name}"
                for name in named
                if str(name).split(".")[0] in ("benchmarks", "docs", "tests")
            ]
    assert not wrong, "\n".join(wrong)


# The secure source: what it draws comes from its library and from the operating system.
SECURE = ("privcore.privacy.mechanisms.secure",)


def test_what_is_not_seeded_is_drawn_by_the_secure_source_alone() -> None:
    """Everything else that the engine draws can be drawn again."""
    known, wrong = modules(), []
    for module, path in known.items():
        taken = [f"{target}.{name}" for target, name in imports(module, known)]
        wrong += [
            f"{place(module)} imports {name}"
            for name in taken
            if name.startswith(("random.", "numpy.random"))
        ]
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and not (node.args or node.keywords):
                called = ast.unparse(node)
                if called.startswith(("np.random.", "numpy.random.")):
                    wrong.append(f"{place(module)} calls {called}")
    assert not wrong, "\n".join(wrong)


def names_of(statement: ast.stmt) -> list[str]:
    """What a statement of a module defines."""
    named = [getattr(statement, "name", "")]
    return named + [ast.unparse(target) for target in getattr(statement, "targets", ())]


def test_the_secure_source_has_no_generator_of_numpy() -> None:
    """Nor has any function or class that it takes from other modules."""
    known, wrong = modules(), []
    for module in SECURE:
        parts: list[ast.AST] = [ast.parse(known[module].read_text(encoding="utf-8"))]
        for target, name in imports(module, known):
            if target in known:
                tree = ast.parse(known[target].read_text(encoding="utf-8"))
                parts += [node for node in tree.body if name in names_of(node)]
        wrong += [
            f"{place(module)} uses {ast.unparse(node)}"
            for part in parts
            for node in ast.walk(part)
            if isinstance(node, ast.Attribute) and node.attr == "random"
        ]
    assert not wrong, "\n".join(wrong)
