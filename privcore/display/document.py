"""Pages to read and to print: self-contained HTML without scripts, and its parts."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from html import escape
from typing import Any

_STYLE = """
:root { color-scheme: light dark; --line: #cbd5df; --shade: #f1f5f8; }
@media screen and (prefers-color-scheme: dark) {
  :root { --line: #3a4653; --shade: #1d252e; }
  body { color: #e6ebf0; background: #12171d; } }
@media print { :root { color-scheme: light; } }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 52rem; padding: 0 1rem; }
h1 { font-size: 1.5rem; margin: 0 0 .3rem; overflow-wrap: anywhere; }
h2 { font-size: 1.05rem; margin: 1.5rem 0 .4rem; border-bottom: 1px solid var(--line); }
.promise { font-size: 1.1rem; margin: .2rem 0 .8rem; }
.warned { border-left: 4px solid #d55e00; padding-left: .7rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .15rem .8rem .15rem 0;
  border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
tbody th { font-weight: 600; width: 32%; }
pre, code { font-size: .85em; overflow-wrap: anywhere; }
pre { background: var(--shade); padding: .6rem; white-space: pre-wrap; }
svg { max-width: 100%; height: auto; }
@page { size: A4; margin: 15mm; }
@media print { body { margin: 0; max-width: none; padding: 0; font-size: 10pt; }
  tr, svg, li { break-inside: avoid; } h2 { break-after: avoid; }
  thead { display: table-header-group; } }
"""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def document_of(title: str, parts: Iterable[str]) -> str:
    """A whole page from parts of HTML; the title is plain text."""
    body = "\n".join(parts)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escaped(title)}</title>\n<style>{_STYLE}</style>\n</head>\n"
        f"<body>\n{body}\n</body>\n</html>\n"
    )


def table(rows: Iterable[Sequence[object]], heads: Sequence[str] = ()) -> str:
    """A table of plain text; the first cell of a row is its heading."""
    top = "".join(f"<th>{escaped(head)}</th>" for head in heads)
    lines = [
        f"<tr><th>{escaped(first)}</th>"
        + "".join(f"<td>{escaped(cell)}</td>" for cell in rest)
        + "</tr>"
        for first, *rest in rows
    ]
    head = f"<thead><tr>{top}</tr></thead>\n" if heads else ""
    return f"<table>\n{head}<tbody>\n" + "\n".join(lines) + "\n</tbody>\n</table>"


def listed(lines: Iterable[str]) -> str:
    """A list of plain text; nothing for no lines."""
    items = "\n".join(f"<li>{escaped(line)}</li>" for line in lines)
    return f"<ul>\n{items}\n</ul>" if items else ""


def escaped(value: object) -> str:
    """Plain text as HTML; a lone surrogate, which no file can hold, becomes a question mark."""
    return escape(str(value)).encode("utf-8", "replace").decode()


def json_in_html(content: Mapping[str, Any]) -> str:
    """JSON that cannot end its HTML element or begin another one."""
    text = json.dumps(content, separators=(",", ":"), allow_nan=False)
    return re.sub("[<>&]", lambda sign: f"\\u{ord(sign[0]):04x}", text)


def policy_hash(text: str) -> str:
    """The hash by which a page's policy allows a script or a style."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
