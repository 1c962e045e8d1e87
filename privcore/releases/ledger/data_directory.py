"""Where the ledger and the signing key are kept."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from privcore.errors import LedgerError
from privcore.text import short

VARIABLE = "CAUSALVEIL_DATA_DIR"


def data_directory() -> Path:
    """The directory that CAUSALVEIL_DATA_DIR names, or the platform's place for a user's data.

    That is %LOCALAPPDATA% on Windows, ~/Library/Application Support on macOS, and elsewhere
    $XDG_DATA_HOME, or ~/.local/share (XDG Base Directory Specification).  Raises LedgerError for
    the home directory of a user that there is not.
    """
    chosen = os.environ.get(VARIABLE)
    if chosen:
        try:
            return Path(chosen).expanduser()
        except RuntimeError:
            raise LedgerError(
                f"{VARIABLE} is {short(chosen, 200)!r}, in the home directory of an unknown user; "
                "name another directory."
            ) from None
    home = Path.home()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "CausalVeil"
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / "CausalVeil"
    return Path(os.environ.get("XDG_DATA_HOME") or home / ".local" / "share") / "causalveil"
