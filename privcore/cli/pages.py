"""Writes pages to share."""

from __future__ import annotations

from pathlib import Path

from privcore.errors import DataError
from privcore.files import write_whole
from privcore.text import short


def write_page(name: str, page: str) -> None:
    """Write an HTML file and print its size; raises DataError if the file cannot be written."""
    try:
        write_whole(Path(name), page)
    except (OSError, ValueError):
        raise DataError(f"The file {short(name)!r} cannot be written; name another one.") from None
    print(
        f"{short(name)}: {len(page.encode()) / 1000:,.0f} kB; the page opens in any browser, "
        "even offline"
    )
