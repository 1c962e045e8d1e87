"""A run as a page to print: self-contained HTML for A4."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from pages.ui import tables
from pages.ui.controls.data import Loaded
from pages.ui.pictures.run import RunPictures, edge_rows, plain_guarantee
from pages.ui.pictures.sheet import clean
from privcore.algorithms import ALGORITHMS
from privcore.releases import command_line, python_code
from privcore.releases.answer import columns_words
from privcore.releases.promise import NOT_PRIVATE, SIMULATED

_STYLE = """
:root { color-scheme: light; }
body { font: 15px/1.5 system-ui, sans-serif; color: #1b2733; background: #fff; margin: 2rem auto;
  max-width: 52rem; padding: 0 1rem; }
h1 { font-size: 1.5rem; margin: 0 0 .3rem; overflow-wrap: anywhere; }
h2 { font-size: 1.05rem; margin: 1.5rem 0 .4rem; border-bottom: 1px solid #cbd5df; }
.guarantee { font-size: 1.1rem; margin: .2rem 0 .8rem; }
.not-private { border-left: 4px solid #d55e00; padding-left: .7rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .15rem .8rem .15rem 0;
  border-bottom: 1px solid #e3e9ef; overflow-wrap: anywhere; }
pre { font-size: .8em; background: #f1f5f8; padding: .6rem; white-space: pre-wrap;
  overflow-wrap: anywhere; }
svg { width: 100%; height: auto; }
@page { size: A4; margin: 15mm; }
@media print { body { margin: 0; max-width: none; padding: 0; font-size: 10pt; }
  tr, svg, li { break-inside: avoid; } h2 { break-after: avoid; }
  thead { display: table-header-group; }
  pre { border: 1px solid #cbd5df; background: none; } }
"""


def run_page(pictures: RunPictures, loaded: Loaded, *, sentence: str = "") -> str:
    """A self-contained HTML file: graphs, guarantee, settings, edges, and the command.

    sentence: the answer of the run, in plain text.
    """
    result, dataset = pictures.result, loaded.dataset
    guarantee, algorithm = result.guarantee, ALGORITHMS[result.algorithm]
    comparisons = pictures.comparisons()
    draw = pictures.pair if pictures.private else pictures.graph
    svg = draw("svg", framed=False).decode()
    seed = 1 if pictures.seed is None else pictures.seed
    again = [
        write(result, dataset, network=loaded.is_network, data_seed=loaded.seed, seed=seed)
        for write in (command_line, python_code)
    ]
    sentences = [sentence, *(f"Against {c.reference_name}: {c.summary()}." for c in comparisons)]
    facts = [
        ("Calibration", guarantee.calibration),
        ("Neighbours", guarantee.neighbours),
        ("Accountant", guarantee.accountant),
        ("Taken as public", "; ".join(guarantee.public)),
        ("Proof", guarantee.proof or "none"),
    ]
    settings = tables.parameters(algorithm.parameters, dict(result.parameters))
    parts = [
        f"<h1>{escape(pictures.title)}</h1>",
        f'<p class="guarantee">{escape(plain_guarantee(result))}</p>',
        *(f"<p>{escape(line)}</p>" for line in sentences if line),
        # The drawing without its file header.
        svg[svg.index("<svg") :],
        *([f'<p class="not-private">{NOT_PRIVATE}</p>'] if pictures.private else []),
        *([f"<p>{SIMULATED}</p>"] if result.noise == "simulated" else []),
        "<h2>Guarantee</h2>",
        _table((), facts if pictures.private else facts[:1]),
        _list(f"Limit: {caveat}." for caveat in guarantee.caveats),
        "<h2>Settings</h2>",
        _table(
            ("", "value"),
            [
                ("Data", f"{dataset.name}: {dataset.n:,} rows, {columns_words(dataset)}"),
                *zip(settings["parameter"], settings["value"], strict=True),
                *([("Noise seed", str(seed))] if pictures.private else []),
            ],
        ),
        "<h2>Edges</h2>",
        _table(
            ("edge", *(f"against {c.reference_name}" for c in comparisons)),
            edge_rows(comparisons, result.graph) or [("none",)],
        ),
        "<h2>To repeat this run</h2>",
        *(f"<pre>{escape(text)}</pre>" for text in again),
        f"<p>Source: {escape(algorithm.citation)}</p>",
    ]
    body = "\n".join(parts)
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(pictures.title)}</title>\n<style>{_STYLE}</style>\n</head>\n"
        f"<body>\n{body}\n</body>\n</html>\n"
    )


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    top = "".join(f"<th>{escape(head)}</th>" for head in heads)
    lines = ["".join(f"<td>{escape(clean(cell))}</td>" for cell in row) for row in rows]
    return (
        "<table>\n"
        + (f"<thead><tr>{top}</tr></thead>\n" if heads else "")
        + "\n".join(f"<tr>{line}</tr>" for line in lines)
        + "\n</table>"
    )


def _list(lines: Iterable[str]) -> str:
    items = "\n".join(f"<li>{escape(line)}</li>" for line in lines)
    return f"<ul>\n{items}\n</ul>" if items else ""
