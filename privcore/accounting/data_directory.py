"""Where the ledger and the signing key are kept."""

from __future__ import annotations

import os
import sys
from pathlib import Path

VARIABLE = "CAUSALVEIL_DATA_DIR"


def data_directory() -> Path:
    """The directory that CAUSALVEIL_DATA_DIR names, or the platform's place for a user's data.

    That is %LOCALAPPDATA% on Windows, ~/Library/Application Support on macOS, and elsewhere
    $XDG_DATA_HOME, or ~/.local/share (XDG Base Directory Specification).
    """
    chosen = os.environ.get(VARIABLE)
    if chosen:
        return Path(chosen).expanduser()
    home = Path.home()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "CausalVeil"
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / "CausalVeil"
    return Path(os.environ.get("XDG_DATA_HOME") or home / ".local" / "share") / "causalveil"
