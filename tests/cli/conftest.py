"""Calls of the command line, each written as one line; words after it are taken as they are."""

import json
import shlex
from functools import partial

import pytest

from tests.cli import calling


def _called(capsys, call, line: str, *words: object):
    return call(capsys, *shlex.split(line), *words)


@pytest.fixture
def run(capsys):
    """Exit code, stdout and stderr."""
    return partial(_called, capsys, calling.run)


@pytest.fixture
def refused(capsys):
    """The one sentence of a call that is refused."""
    return partial(_called, capsys, calling.refused)


@pytest.fixture
def printed(run):
    """What a call prints that goes well, without a word on stderr."""

    def printed(line: str, *words: object) -> str:
        code, out, err = run(line, *words)
        assert (code, err) == (0, "")
        return out

    return printed


@pytest.fixture
def report(printed):
    """What a call prints as JSON."""
    return lambda line, *words: json.loads(printed(line, *words))
