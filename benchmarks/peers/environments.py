"""One virtual environment for each library measured, made on demand from exact pins."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import venv
from pathlib import Path

PEERS = ("causal-learn", "pgmpy", "pyagrum")
_HERE = Path(__file__).parent


def default_folder() -> Path:
    """Where environments are kept between runs: outside the repository."""
    return Path(tempfile.gettempdir()) / "causalveil-peers"


def interpreter(peer: str, folder: Path) -> Path:
    """The Python that has `peer` installed; the environment is made first if its pins are new.

    Raises SystemExit with the installer's last lines if they cannot be installed.
    """
    pins = _HERE / f"requirements-{peer}.txt"
    home = folder / peer
    python = home / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    stamp = home / "installed.txt"
    if stamp.exists() and stamp.read_text() == pins.read_text():
        return python
    print(f"Installing {peer} in {home}", file=sys.stderr, flush=True)
    venv.create(home, clear=True, with_pip=True)
    done = subprocess.run(
        [python, "-m", "pip", "install", "--quiet", "-r", pins],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{peer} could not be installed:\n{done.stderr[-2000:]}")
    stamp.write_text(pins.read_text())
    return python
