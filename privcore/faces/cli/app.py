"""`app`: opens the dashboard in a browser on this machine."""

from __future__ import annotations

import argparse
import os
import sys
from importlib.util import find_spec
from pathlib import Path

from privcore.errors import ParameterError
from privcore.text import short, whole_of

# In a checkout the dashboard is next to the engine; in a wheel, in its own folder.
_PLACES = (".", "causalveil_app")


def add_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("--port", default="8501", help="port on this machine (8501)")
    command.set_defaults(run=_run)


def dashboard(engine: Path = Path(__file__).parents[2]) -> Path:
    """The path of the script that Streamlit runs; raises ParameterError if there is no script."""
    for place in _PLACES:
        script = engine.parent / place / "app.py"
        if (script.parent / "pages" / "discover.py").is_file():
            return script
    raise ParameterError("app-files-missing")


def _run(options: argparse.Namespace) -> None:
    port = whole_of(options.port)
    if port is None or not 1 <= port <= 65_535:
        raise ParameterError("port-out-of-range", port=short(options.port))
    if find_spec("streamlit") is None or find_spec("plotly") is None:
        raise ParameterError("install-app")
    script = dashboard()
    # Streamlit reads its settings from the working directory.
    os.chdir(script.parent)
    words = ["-m", "streamlit", "run", str(script), "--server.port", str(port)]
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, *words])
