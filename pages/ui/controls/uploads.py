"""File uploads: the only place that accepts them, so that one setting turns them off.

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
    "computer: the table stays there."
)


def uploads_allowed() -> bool:
    """Whether the setting is "on" or absent: a misspelt value must not allow uploads."""
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
    """Draw an uploader; if uploads are off, a message in its place (nothing if it is optional)."""
    if not uploads_allowed():
        if not optional:
            st.info(NO_UPLOADS, icon=":material/block:")
        return None
    return st.file_uploader(
        label, type=endings, key=key, max_upload_size=megabytes, help=help, on_change=on_change
    )
