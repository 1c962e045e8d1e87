"""`causalveil app`: it finds the dashboard, and says what is missing."""

import os
from pathlib import Path

import pytest

from privcore.faces.cli import app, main
from tests.messages import says, shows

ROOT = Path(__file__).parents[2]


@pytest.fixture
def started(monkeypatch):
    calls = []
    monkeypatch.setattr(os, "execv", lambda program, words: calls.append(words))
    monkeypatch.chdir(ROOT)
    return calls


def test_it_starts_streamlit_where_its_settings_are(started):
    assert main(["app", "--port", "8123"]) == 0
    (words,) = started
    assert words[1:] == ["-m", "streamlit", "run", str(ROOT / "app.py"), "--server.port", "8123"]
    assert (Path.cwd() / ".streamlit" / "config.toml").is_file()


def test_without_streamlit_it_says_what_to_install(started, monkeypatch, capsys):
    monkeypatch.setattr(app, "find_spec", lambda name: None)
    assert main(["app"]) == 2
    assert shows(capsys.readouterr().err, "install-app")
    assert not started


@pytest.mark.parametrize("port", ["0", "65536", "http", "-1"])
def test_a_port_that_there_is_not(started, port, capsys):
    assert main(["app", f"--port={port}"]) == 2
    assert shows(capsys.readouterr().err, "port-out-of-range")
    assert not started


def test_without_its_files_it_says_so(tmp_path):
    with pytest.raises(app.ParameterError, match=says("app-files-missing")):
        app.dashboard(tmp_path / "privcore")
