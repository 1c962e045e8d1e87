"""README and documentation: their commands run, and what they say of figures is so.

A fenced block of `sh` or `python` is run where it stands: the blocks of a page in their order, in a
new folder, which has the table of docs/how-to/table.md where a page uses it.  A block that cannot
be run, such as one that starts a server, has the comment `<!-- not run: REASON -->` on the line
before it.  That commands, options, links and files exist is for `make lint`.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

import privcore
from docs import reference
from privcore.extras.lab.sweeps.eight_networks import eight_networks
from tests.lint.documents import NOTEBOOKS, PAGES, README, ROOT, blocks, name_of
from tests.messages import shows

TABLE = ROOT / "docs" / "how-to" / "table.md"

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

    def ended(self, command: list[str], text: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command, input=text, cwd=self.home, env=self.environment, capture_output=True, text=True
        )

    def __call__(self, command: list[str], text: str) -> None:
        done = self.ended(command, text)
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


@pytest.mark.long
@pytest.mark.parametrize("page", [pytest.param(page, id=name_of(page)) for page in RUN])
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
    assert len(NOTEBOOKS) == 3
    for notebook in NOTEBOOKS:
        for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
            if cell["cell_type"] == "code":
                assert cell["execution_count"], f"{notebook.name} has a cell that was not run"
                kinds = {output["output_type"] for output in cell["outputs"]}
                assert "error" not in kinds, f"{notebook.name} has a cell that failed"


def test_every_algorithm_score_and_parameter_is_in_the_reference():
    page = reference.algorithms_page()
    for algorithm in privcore.ALGORITHMS.values():
        section = page.split(f"{{ #{algorithm.name} }}")[1].split("\n## ")[0]
        for parameter in algorithm.parameters:
            assert f"`{parameter.option}`" in section.replace("\\", "")
        assert (shows(section, "why-published")) == bool(algorithm.published_flaw)
    for name in reference.SCORES:
        assert f"{{ #{name} }}" in reference.scores_page()


# What the README says.


def test_what_the_readme_says_of_its_table():
    rows = eight_networks()
    said = README.read_text("utf-8").split("## What to expect")[1]
    assert shows(said, "eight-networks")
    assert shows(said, "runs-each", runs="five")
    frame = reference.eight_networks_means()
    names = frame["data"].unique()
    sizes = [len(privcore.load_network(name).names) for name in names]
    assert (len(names), min(sizes), max(sizes)) == (8, 5, 37)
    assert set(frame["rows"]) == {100_000}
    assert "--seeds 5" in rows.command
    assert set(frame["delta"].dropna()) <= {0.0, 1e-6}
    assert set(frame["calibration"].dropna()) <= {"proven", "none"}


def test_the_readme_counts_its_algorithms():
    assert shows(" ".join(README.read_text("utf-8").split()), "algorithms-counted")
    counted = Counter(a.private for a in privcore.ALGORITHMS.values())
    assert counted == {True: 12, False: 2}, "README.md, tests/messages.py and here count them"


def test_discover_opens_as_the_readme_and_the_tour_say():
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120).run()
    assert not app.exception
    state = app.session_state
    assert (state["data"], state["rows"], state["algorithm"]) == ("asia", "5000", "moment-search")
    assert state["epsilon"] == "1"
    for page in (README, ROOT / "docs" / "tutorials" / "presenter.md"):
        text = " ".join(page.read_text("utf-8").replace("*", "").split())
        assert shows(
            text, "opens-on", data="asia", rows="5,000", algorithm="moment search", epsilon=1
        )


def test_the_package_runs_from_the_versions_that_the_readme_says():
    assert shows(README.read_text("utf-8"), "python-version", version="3.11")
    assert 'requires-python = ">=3.11"' in (ROOT / "pyproject.toml").read_text("utf-8")
