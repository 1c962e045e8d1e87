"""Where calls of the command line are made."""

import pytest


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A folder to be in, with a ledger of its own."""
    monkeypatch.setenv("CAUSALVEIL_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    return tmp_path
