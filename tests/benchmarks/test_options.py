"""What every benchmark shares: its smallest form, and what it says of a package that is missing."""

import argparse
import os
import subprocess
import sys

import pytest

from benchmarks import parsed
from tests.lint.documents import ROOT
from tests.messages import reads


def options(monkeypatch, *words, **smallest):
    monkeypatch.setattr(sys, "argv", ["a benchmark", *words])
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--data", default="asia")
    return parsed(parser, **smallest)


def test_the_smallest_form_overrules_what_is_given(monkeypatch):
    few = options(monkeypatch, "--rows", "5000", "--data", "child", "--smallest", rows=100)
    assert (few.rows, few.data, few.smallest) == (100, "child", True)
    many = options(monkeypatch, "--rows", "5000", rows=100)
    assert (many.rows, many.data, many.smallest) == (5_000, "asia", False)


def test_the_smallest_form_is_made_of_options_that_are_there(monkeypatch):
    with pytest.raises(AssertionError):
        options(monkeypatch, seeds=1)


@pytest.mark.parametrize(
    ("benchmark", "module", "package"),
    [
        ("large_files", "duckdb", "duckdb"),
        ("dashboard_load", "playwright", "playwright"),
        ("film", "PIL", "pillow"),
    ],
)
def test_a_missing_package_is_named_in_one_sentence(tmp_path, benchmark, module, package):
    (tmp_path / f"{module}.py").write_text(f'raise ModuleNotFoundError("none", name="{module}")')
    done = subprocess.run(
        [sys.executable, "-m", f"benchmarks.{benchmark}"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout) == (2, "")
    how = f"install it with `pip install {package}`"
    assert reads(done.stderr, "benchmark-lacks", what=f"the package {package}", how=how)


def test_a_missing_module_of_our_own_is_no_package(tmp_path):
    code = (
        "import sys; sys.argv = ['-m']; import benchmarks; "
        "raise ModuleNotFoundError('none', name='privcore.nowhere')"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 1
    assert "Traceback" in done.stderr
