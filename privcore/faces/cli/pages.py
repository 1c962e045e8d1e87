"""Writes pages to share."""

from __future__ import annotations

from privcore.files import write_named
from privcore.text import short


def write_page(name: str, page: str) -> None:
    """Write an HTML file and print its size; raises DataError if the file cannot be written."""
    write_named(name, page)
    print(
        f"{short(name)}: {len(page.encode()) / 1000:,.0f} kB; the page opens in any browser, "
        "even offline"
    )
