"""What hosted checks run: the commands that a developer runs."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
WORKFLOW = ROOT / ".github" / "workflows" / "checks.yml"


def steps():
    jobs = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))["jobs"]
    return [(job, step) for job in jobs.values() for step in job["steps"]]


def test_the_same_two_commands_are_run():
    commands = {
        step["run"].replace("${{ matrix.command }}", command)
        for job, step in steps()
        for command in job["strategy"]["matrix"]["command"]
        if "run" in step
    }
    assert {"make test", "make test-all"} <= commands
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)
    assert {"test", "test-all"} <= set(targets)
    assert (ROOT / ".ci" / "run").read_text(encoding="utf-8").endswith("\nmake test\n")


def test_a_missing_browser_is_no_reason_to_pass():
    assert all(job["env"]["CAUSALVEIL_REQUIRE_BROWSER"] == "1" for job, _ in steps())
    assert "export CAUSALVEIL_REQUIRE_BROWSER=1" in (ROOT / ".ci" / "run").read_text("utf-8")


def test_actions_are_pinned_by_their_full_version():
    used = [step["uses"] for _, step in steps() if "uses" in step]
    assert used
    assert [u for u in used if not re.fullmatch(r"[\w-]+/[\w-]+@v\d+\.\d+\.\d+", u)] == []


@pytest.mark.skipif(shutil.which("actionlint") is None, reason="actionlint is not installed")
def test_actionlint_finds_nothing():
    made = subprocess.run(["actionlint", WORKFLOW], capture_output=True, text=True, check=False)
    assert made.stdout + made.stderr == ""
