"""`causalveil app`: it finds the dashboard, and says what is missing."""

import os
from pathlib import Path

import pytest

from privcore.faces.cli import app
from tests.messages import says, shows

ROOT = Path(__file__).parents[2]


@pytest.fixture
def started(monkeypatch):
    calls = []
    monkeypatch.setattr(os, "execv", lambda program, words: calls.append(words))
    monkeypatch.chdir(ROOT)
    return calls


def test_it_starts_streamlit_where_its_settings_are(started, run):
    assert run("app --port 8123").code == 0
    (words,) = started
    assert words[1:] == ["-m", "streamlit", "run", str(ROOT / "app.py"), "--server.port", "8123"]
    assert (Path.cwd() / ".streamlit" / "config.toml").is_file()


def test_without_streamlit_it_says_what_to_install(started, monkeypatch, refused):
    monkeypatch.setattr(app, "find_spec", lambda name: None)
    assert shows(refused("app"), "install-app")
    assert not started


@pytest.mark.parametrize("port", ["0", "65536", "http", "-1"])
def test_a_port_that_there_is_not(started, port, refused):
    assert shows(refused(f"app --port={port}"), "port-out-of-range")
    assert not started


def test_without_its_files_it_says_so(tmp_path):
    with pytest.raises(app.ParameterError, match=says("app-files-missing")):
        app.dashboard(tmp_path / "privcore")
