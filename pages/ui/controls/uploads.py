"""File uploads. No other module accepts files, so that one setting turns all uploads off.

A public server sets CAUSALVEIL_UPLOADS=off (docs/how-to/hosting.md).
"""

from __future__ import annotations

import os
from collections.abc import Callable

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

VARIABLE = "CAUSALVEIL_UPLOADS"
NO_UPLOADS = (
    "This server does not accept files. To use your own table, install CausalVeil on your "
    "computer; the table then never leaves your computer."
)


def uploads_allowed() -> bool:
    """Whether uploads are allowed: only if the setting is "on" or absent."""
    return os.environ.get(VARIABLE, "").strip().lower() in ("", "on")


def uploaded_file(
    label: str,
    *,
    endings: list[str],
    key: str,
    megabytes: int,
    help: str,
    optional: bool = False,
    on_change: Callable[[], None] | None = None,
) -> UploadedFile | None:
    """Draw an uploader; returns the uploaded file, or None.

    If uploads are off, a message is shown instead, or nothing if the file is optional.
    """
    if not uploads_allowed():
        if not optional:
            st.info(NO_UPLOADS, icon=":material/block:")
        return None
    return st.file_uploader(
        label, type=endings, key=key, max_upload_size=megabytes, help=help, on_change=on_change
    )
