"""A quick slice of `fuzz`: whatever is asked, one sentence or an answer, never a traceback."""

import os

import pytest

from tests.cli.fuzz import run
from tests.examples import few
from tests.messages import shows


@pytest.mark.parametrize("seed", few([1, 2, 3], 1))
def test_every_call_ends_with_an_answer_or_one_sentence(seed):
    codes, problems = run(40, seed)
    assert problems == []
    assert codes[0] + codes[2] == 40
    assert min(codes[0], codes[2]) > 5


@pytest.mark.parametrize("option", ["--seed", "--set", "--network"])
def test_two_dashes_are_no_value(refused, option):
    assert shows(refused(f"discover {option}=--"), "no-value-for-option")


@pytest.mark.parametrize("command", ["--csv", "--table", "--schema", "--truth"])
def test_a_name_that_is_no_text_is_an_ordinary_one(refused, tmp_path, command):
    """Names of files are bytes; those that are not UTF-8 reach a program with surrogates."""
    path = tmp_path / os.fsdecode(b"t\xff.csv")
    path.write_bytes(b"a,b\n1,2\n1\n")
    given = f"--csv {path}" if command != "--csv" else ""
    said = refused(f"discover {given} {command} {path}")
    assert len(said) < 300
