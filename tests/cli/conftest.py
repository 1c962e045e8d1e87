"""What a call of the command line gives, by what a test wants of it."""

import pytest

from tests.cli.calling import Shell


@pytest.fixture
def run(capsys):
    return Shell(capsys).run


@pytest.fixture
def printed(capsys):
    return Shell(capsys).printed


@pytest.fixture
def report(capsys):
    return Shell(capsys).report


@pytest.fixture
def refused(capsys):
    return Shell(capsys).refused
