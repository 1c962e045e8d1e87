"""What a call of the command line gives, by what a test wants of it."""

import pytest

from tests.cli.calling import Shell


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A folder to be in, with a ledger of its own."""
    monkeypatch.setenv("CAUSALVEIL_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


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
