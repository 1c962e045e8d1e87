"""Each command that a document gives runs, in its smallest form.

The commands are read from the documents.  Those in blocks that a page runs as they stand are for
test_docs.py; here are all others, and the benchmarks that no document names.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
from pathlib import Path

import numpy as np
import pytest

from privcore import SAMPLES
from tests.lint.documents import PAGES, ROOT, commands, fault
from tests.messages import reads
from tests.test_docs import TABLE, Shell, run_page

# What makes a command small that begins so.
SMALLEST = {
    "python -m benchmarks.": "--smallest",
    "causalveil audit ": "--runs 40",
    "causalveil reproduce ": "--quick",
}
# What a reader puts in, and what is put in here.
STANDS_FOR = {
    "COMMAND": "discover",
    "D": "0.4",
    "FOLDER": "tables",
    "KIND": "nonlinear",
    "NAME": "priv-pc",
    "NAME=VALUE": "whole_table=0",
    "S": "1",
}
# Commands with these words are not run, and why.
NOT_RUN = {
    "make ": "it sets up an environment; lint sees that the target is there",
    "python -m pytest": "these are the tests; lint sees that the files are there",
    "python -m streamlit": "it serves until it is stopped",
    "causalveil app --port": "it serves until it is stopped",
    "--scheduler": "it needs a cluster; tests/extras/lab/test_sweep_dask.py has one",
    "privcore.faces.estimators.stub": "it writes sources; tests/test_estimators.py checks them",
    "benchmarks.effect_rivals": "it installs another library, in an environment of its own",
    "benchmarks.synthetic_rivals": "it installs another library, in an environment of its own",
    "reproduce xu-adult": "its table is not shipped; tests/cli/test_reproduce_cli.py makes one",
}
# What a benchmark may find missing: the tests' environment does not have it.
NOT_THERE = ["the package duckdb"]
if "CAUSALVEIL_REQUIRE_BROWSER" not in os.environ:
    NOT_THERE.append("Chromium")
# They need the files of a release, and run in this order.
AFTER_A_RELEASE = ("release", "verify", "search-again")


def benchmarks() -> list[str]:
    """Every benchmark, as a command."""
    parts = [
        file.relative_to(ROOT).with_suffix("").parts
        for file in sorted((ROOT / "benchmarks").rglob("*.py"))
        if "ArgumentParser(" in (text := file.read_text("utf-8")) and '"__main__"' in text
    ]
    return [f"python -m {'.'.join(part for part in each if part != '__main__')}" for each in parts]


def given() -> list[str]:
    """The commands of the documents, each once, and then the benchmarks that are in none."""
    found = [line for page in PAGES for line in commands(page, run=False)]
    found = [re.sub(r"^python -m privcore\b(?!\.)", "causalveil", line) for line in found]
    named = {" ".join(line.split()[:3]) for line in found}
    return list(dict.fromkeys([*found, *(line for line in benchmarks() if line not in named)]))


def after_a_release(line: str) -> bool:
    return line.startswith(tuple(f"causalveil {name} " for name in AFTER_A_RELEASE))


def smallest(line: str) -> str:
    """Of a command by its name alone, its help."""
    if re.fullmatch(r"causalveil( \S+)?", line):
        return f"{line} --help"
    words = [STANDS_FOR.get(word, word) for word in shlex.split(line)]
    more = next((more for start, more in SMALLEST.items() if line.startswith(start)), "")
    return f"{shlex.join(words)} {more}"


GIVEN = given()
RUN = [line for line in GIVEN if not any(words in f"{line} " for words in NOT_RUN)]
ALONE = [line for line in RUN if not after_a_release(line)]


@pytest.mark.parametrize("line", benchmarks())
def test_a_benchmark_has_a_smallest_form(line):
    assert fault(line) == ""


@pytest.mark.parametrize("words", [*NOT_RUN, *SMALLEST, *STANDS_FOR])
def test_an_exception_is_of_some_command(words):
    assert any(f" {words} " in f" {line} " or line.startswith(words) for line in GIVEN)


@pytest.fixture
def shell(tmp_path):
    """A folder with tables and graphs by the names in the documents, and FOLDER."""
    made = Shell(tmp_path)
    folder = made.home / STANDS_FOR["FOLDER"]
    sample = SAMPLES["survey"]
    names = {word for line in ALONE for word in line.split() if re.search(r"\w\.(csv|txt)$", word)}
    paths = [made.home / name for name in names]
    paths += [folder / "survey.csv", folder / "survey.graph.txt"]
    # Of a checkout of causal-learn: a table of three columns, and its graph.
    table = folder / "data" / "toy.txt"
    graph = folder / "benchmark_returned_results" / "toy_pc_chisq_0.05_stable_0_-1.txt"
    for path in (*paths, table, graph):
        path.parent.mkdir(exist_ok=True)
    for path in paths:
        shutil.copy(sample.graph if "graph" in path.name else sample.path, path)
    np.savetxt(table, np.random.default_rng(1).integers(0, 2, (50, 3)), fmt="%d", header="a b c")
    np.savetxt(graph, np.zeros((3, 3)))
    return made


def times():
    """Of each file that a benchmark could write over."""
    files = (file for part in ("docs", "privcore") for file in (ROOT / part).rglob("*.*"))
    return {file: file.stat().st_mtime_ns for file in files if "__pycache__" not in file.parts}


@pytest.mark.long
@pytest.mark.parametrize("line", ALONE)
def test_a_command_of_the_documents_runs(line, shell):
    before = times(), sorted(shell.home.rglob("*"))
    done = shell.ended(["bash", "-c", smallest(line)])
    for what in NOT_THERE:
        if done.returncode == 2 and reads(done.stderr, "benchmark-lacks", what=what):
            pytest.skip(done.stderr)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    if "--smallest" in smallest(line):
        assert (times(), sorted(shell.home.rglob("*"))) == before


@pytest.mark.long
def test_what_follows_a_release_runs(tmp_path):
    shell = Shell(tmp_path)
    for page in (TABLE, TABLE.with_name("release.md")):
        run_page(page, shell)
    lines = sorted(filter(after_a_release, RUN), key=lambda x: AFTER_A_RELEASE.index(x.split()[1]))
    assert len({line.split()[1] for line in lines}) == len(AFTER_A_RELEASE)
    for line in lines:
        words = shlex.split(line)
        for place, word in enumerate(words):
            if "NUMBER" in word or (place == 2 and words[1] != "release"):
                kind = "certificate" if words[1] == "verify" else "release"
                made = (shell.home / "certificates").glob(f"{kind}-*.json")
                words[place] = str(max(made, key=lambda path: path.stat().st_mtime_ns))
        if "FINGERPRINT" in words:
            signed = json.loads(Path(words[2]).read_text("utf-8"))
            words[words.index("FINGERPRINT")] = signed["signature"]["fingerprint"]
        shell(words, "")
