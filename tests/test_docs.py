"""README and documentation: their commands run, their links lead somewhere, their figures are made.

A fenced block of `sh` or `python` is run where it stands: the blocks of a page in their order, in a
new folder, which has the table of docs/how-to/table.md where a page uses it.  A block that cannot
be run, such as one that starts a server, has the comment `<!-- not run: REASON -->` on the line
before it; then, as for the commands within sentences, it is checked that the command and its
options exist.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml
from streamlit.testing.v1 import AppTest

import privcore
from docs import reference
from privcore.cli import build_parser
from privcore.extras.lab.sweeps.eight_networks import eight_networks
from tests.test_floors import FLOORS

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
PAGES = [README, ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
GENERATED = {*reference.PAGES, "contributing.md", "changelog.md"}
TABLE = ROOT / "docs" / "how-to" / "table.md"

_FENCE = re.compile(
    r"(?:^ *<!-- not run: (?P<reason>.+?) -->\n(?:\n)?)?"
    r"^(?P<indent> *)```(?P<language>sh|python)\n(?P<text>.*?)^(?P=indent)```$",
    re.MULTILINE | re.DOTALL,
)
# Code within a sentence, on one line or broken over two.
_INLINE = re.compile(r"(?<!`)`((?:python -m |causalveil |make )[^`]+)`(?!`)")


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


RUN = [page for page in PAGES if any(not block.not_run for block in blocks(page))]


class Shell:
    """What a reader has: `causalveil` and `python` of this environment, and a folder."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "work"
        self.data = folder / "data"
        tools = folder / "bin"
        for made in (self.home, self.data, tools):
            made.mkdir(exist_ok=True)
        for name, words in (("causalveil", "-m privcore"), ("python", "")):
            tool = tools / name
            tool.write_text(f'#!/bin/sh\nexec "{sys.executable}" {words} "$@"\n')
            tool.chmod(0o755)
        self.environment = os.environ | {
            "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "CAUSALVEIL_DATA_DIR": str(self.data),
            "MPLBACKEND": "Agg",
        }

    def __call__(self, command: list[str], text: str) -> None:
        done = subprocess.run(
            command,
            input=text,
            cwd=self.home,
            env=self.environment,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, f"{text}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"


@pytest.fixture
def shell(tmp_path):
    return Shell(tmp_path)


@pytest.fixture(scope="module")
def after_table(tmp_path_factory):
    """A shell after the page whose table, and whose confirmed schema, others use."""
    shell = Shell(tmp_path_factory.mktemp("table"))
    run_page(TABLE, shell)
    return shell


def run_page(page: Path, shell: Shell) -> None:
    """Blocks in their order; those of Python know what the ones before them defined."""
    script = ""
    for block in blocks(page):
        if block.not_run:
            continue
        if block.language == "sh":
            shell(["bash", "-euo", "pipefail", "-s"], block.text)
        else:
            script += block.text
            shell([sys.executable, "-"], script)


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, id=name_of(page), marks=[] if page == README else pytest.mark.long)
        for page in RUN
    ],
)
def test_what_a_page_tells_to_run_runs(page, shell, request):
    if any("table.csv" in block.text for block in blocks(page)):
        before = request.getfixturevalue("after_table")
        if page == TABLE:
            return
        shutil.copytree(before.home, shell.home, dirs_exist_ok=True)
        shutil.copytree(before.data, shell.data, dirs_exist_ok=True)
    run_page(page, shell)


@pytest.mark.long
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(notebook, shell):
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    shell([sys.executable, "-"], "\n".join(code))


def test_notebooks_are_committed_as_they_ran():
    assert len(NOTEBOOKS) == 2
    for notebook in NOTEBOOKS:
        for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
            if cell["cell_type"] == "code":
                assert cell["execution_count"], f"{notebook.name} has a cell that was not run"
                kinds = {output["output_type"] for output in cell["outputs"]}
                assert "error" not in kinds, f"{notebook.name} has a cell that failed"


def commands(page: Path) -> list[str]:
    """Every command of a page, whether it is run or not."""
    found = [
        line.strip()
        for block in blocks(page)
        if block.language == "sh"
        for line in block.text.replace("\\\n", " ").splitlines()
    ]
    found += [" ".join(inline.split()) for inline in _INLINE.findall(page.read_text("utf-8"))]
    return [line for line in found if line.startswith(("python -m ", "causalveil ", "make "))]


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
        known = frozenset(re.findall(r'"(--[a-z0-9-]+)"', source))
        rest = words[3:]
    else:
        return ""
    unknown = [
        word
        for word in (word.split("=")[0] for word in rest)
        if word.startswith("--") and word not in known | {"--help"}
    ]
    return f"there is no option {unknown[0]}" if unknown else ""


@pytest.mark.parametrize("page", [p for p in PAGES if commands(p)], ids=name_of)
def test_commands_and_their_options_exist(page):
    assert not [f"{line}: {fault(line)}" for line in commands(page) if fault(line)]


@pytest.mark.parametrize(
    "command",
    [
        "causalveil discover --network asia --epsilonn 1",
        "causalveil invent",
        "python -m benchmarks.nothing",
        "python -m benchmarks.overview --in file",
        "make tea",
    ],
)
def test_a_wrong_command_is_seen(command):
    assert fault(command)


def test_a_block_is_left_out_only_for_a_reason():
    for page in PAGES:
        for block in blocks(page):
            assert not block.not_run or len(block.not_run.split()) >= 3, name_of(page)
    sentence = "<!-- not run: it starts a server -->\n```sh\nmake app\n```\n"
    assert _FENCE.search(sentence)["reason"] == "it starts a server"
    assert _FENCE.search(sentence.replace("not run", "note"))["reason"] is None


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_files_and_tests_that_a_page_names_are_there(page):
    text = page.read_text(encoding="utf-8")
    for path in re.findall(r"`([\w.-]+(?:/[\w.-]+)+\.(?:py|json|parquet|toml|sql|yml))`", text):
        assert (ROOT / path).is_file(), f"{name_of(page)} names {path}, which is not there"
    for module in re.findall(r"`(privcore(?:\.[a-z_]+)+)", text):
        parts, place = module.split("."), ROOT
        while parts and (place / parts[0]).is_dir():
            place /= parts.pop(0)
        # A module, or a name in the package or the module.
        if parts and not (place / f"{parts[0]}.py").is_file():
            package = (place / "__init__.py").read_text("utf-8")
            stub = place / "__init__.pyi"
            package += stub.read_text("utf-8") if stub.is_file() else ""
            assert parts[0] in package, f"{name_of(page)} names {module}, which is not there"


@cache
def names_of_tests() -> frozenset[str]:
    files = (ROOT / "tests").rglob("*.py")
    return frozenset(
        name
        for file in files
        for name in re.findall(r"(?:def |/)(test_\w+)", str(file) + file.read_text("utf-8"))
    )


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_tests_that_a_page_names_are_there(page):
    for name in re.findall(r"`(test_\w+)`", page.read_text(encoding="utf-8")):
        assert name in names_of_tests(), f"{name_of(page)} names {name}, which is not there"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_to_files(page):
    made = {f"docs/{name}" for name in reference.PAGES} | {
        "docs/contributing.md",
        "docs/changelog.md",
    }
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
        if "://" in target or target.startswith("mailto:"):
            continue
        path = Path(os.path.normpath(page.parent / target))
        known = path.exists() or path.relative_to(ROOT).as_posix() in made
        assert known, f"{name_of(page)} links {target}, which is not there"


def test_the_site_has_every_page():
    def files(entry) -> set[str]:
        if isinstance(entry, str):
            return {entry}
        if isinstance(entry, dict):
            entry = list(entry.values())
        return set().union(*map(files, entry))

    nav = files(yaml.safe_load((ROOT / "mkdocs.yml").read_text("utf-8"))["nav"])
    written = {p.relative_to(ROOT / "docs").as_posix() for p in [*PAGES[2:], *NOTEBOOKS]}
    assert nav == written | GENERATED


def test_every_algorithm_score_and_parameter_is_in_the_reference():
    page = reference.algorithms_page()
    for algorithm in privcore.ALGORITHMS.values():
        section = page.split(f"{{ #{algorithm.name} }}")[1].split("\n## ")[0]
        for parameter in algorithm.parameters:
            assert f"`{parameter.option}`" in section.replace("\\", "")
        assert ("Why the published" in section) == bool(algorithm.published_flaw)
    for name in reference.SCORES:
        assert f"{{ #{name} }}" in reference.scores_page()


def test_the_floors_of_the_design_are_those_that_are_held():
    design = (ROOT / "docs" / "design.md").read_text("utf-8")
    line = design.split("<!-- floors -->\n")[1].split("\n\n")[0]
    assert re.findall(r"`(\w+)`", line) == [room for room in FLOORS[::-1] if room != "ground"]


# What the README says.


def test_the_readme_is_short():
    text = README.read_text("utf-8")
    assert len(text.splitlines()) <= 130
    assert 400 <= len(re.sub(r"<!--.*?-->|\|", "", text).split()) <= 650


def test_the_table_of_the_readme_is_made_from_the_rows_that_are_shipped():
    text = README.read_text("utf-8")
    assert reference.readme(text) == text, "run `python -m docs.reference`"
    assert len(re.findall(r"^\| `", text, re.MULTILINE)) == len(privcore.ALGORITHMS)
    assert reference.readme(text.replace("0.9", "0.8")) == text


def test_what_the_readme_says_of_its_table():
    rows = eight_networks()
    said = README.read_text("utf-8").split("## Results")[1]
    assert "eight networks of 5 to 37 columns: 100,000 rows, δ = 10⁻⁶" in said
    assert "five runs each" in said
    frame = reference.eight_networks_means()
    names = frame["data"].unique()
    sizes = [len(privcore.load_network(name).names) for name in names]
    assert (len(names), min(sizes), max(sizes)) == (8, 5, 37)
    assert set(frame["rows"]) == {100_000}
    assert "--seeds 5" in rows.command
    assert set(frame["delta"].dropna()) <= {0.0, 1e-6}
    assert set(frame["calibration"].dropna()) <= {"proven", "none"}


def test_the_readme_counts_its_algorithms():
    assert "Fourteen algorithms" in README.read_text("utf-8")
    assert len(privcore.ALGORITHMS) == 14


def test_discover_opens_as_the_readme_and_the_tour_say():
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120).run()
    assert not app.exception
    state = app.session_state
    assert (state["data"], state["rows"], state["algorithm"]) == ("asia", "100000", "moment-search")
    assert state["parameters"]["epsilon"] == 1.0
    for page in (README, ROOT / "docs" / "tutorials" / "presenter.md"):
        text = " ".join(page.read_text("utf-8").replace("*", "").split())
        assert "Discover opens on asia, 100,000 rows, with moment search at ε = 1" in text


def test_the_package_runs_from_the_versions_that_the_readme_says():
    assert "Python 3.11 or later" in README.read_text("utf-8")
    assert 'requires-python = ">=3.11"' in (ROOT / "pyproject.toml").read_text("utf-8")
