"""A film for the documentation: the private graph of asia as the privacy budget ε grows.

    python -m benchmarks.film [FILE]

Moment search on one sample of 20,000 rows, with the same noise seed for each ε from 0.05 to 10.
Lines are as wide as their edges are probable, in the colours of the page Discover, and compared
with the true graph.  Writes docs/images/asia_epsilon.gif, or FILE.
"""

from __future__ import annotations

import argparse
import os
from io import BytesIO
from pathlib import Path

from PIL import Image

from benchmarks import parsed
from pages.ui.controls.data import layout_of
from pages.ui.pictures.graphs import graph_picture
from privcore.algorithms import count, discover
from privcore.data import load_network
from privcore.display.drawing import Pane
from privcore.display.findings import line_widths
from privcore.graphs import PDAG, cpdag_of_names
from privcore.measures import compare

EPSILONS = (0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 1.0, 2.0, 5.0, 10.0)
ROWS, DATA_SEED, SEED = 20_000, 1, 6
_SIZE, _COLOURS = (960, 540), 64
_EACH_MS, _LAST_MS = 1_000, 3_000
_FILE = Path(__file__).resolve().parents[1] / "docs" / "images" / "asia_epsilon.gif"


def film(epsilons: tuple[float, ...] = EPSILONS) -> bytes:
    """The film as a GIF, one frame for each ε; the same for the same engine."""
    data = load_network("asia").sample(ROWS, DATA_SEED)
    source, places = count(data), layout_of(data)
    truth: PDAG = cpdag_of_names(data.names, data.true_edges or ())
    frames = []
    for epsilon in epsilons:
        result = discover(source, "moment-search", {"epsilon": epsilon}, seed=SEED)
        against = compare(result.graph, truth, "truth")
        kinds = {(pair.i, pair.j): pair.kind for pair in against.pairs}
        widths = line_widths(result.findings)
        drawn = graph_picture(
            [Pane("graph", "", result.graph, "", kinds, truth, widths=widths)],
            places,
            title=f"Private graph of asia, ε = {epsilon:g}",
            lines=["Thicker lines are more probable.", f"{ROWS:,} rows, noise seed {SEED}."],
            reference_name="truth",
            form="png",
        )
        frame = Image.open(BytesIO(drawn)).convert("RGB").resize(_SIZE, Image.Resampling.LANCZOS)
        method, dither = Image.Quantize.MAXCOVERAGE, Image.Dither.NONE
        frames.append(frame.quantize(_COLOURS, method, dither=dither))
    out = BytesIO()
    held = [_EACH_MS] * (len(frames) - 1) + [_LAST_MS]
    frames[0].save(out, "GIF", save_all=True, append_images=frames[1:], duration=held, loop=0)
    return out.getvalue()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("file", type=Path, nargs="?", default=_FILE)
    options = parsed(parser, file=Path(os.devnull))
    made = film(EPSILONS[:1] if options.smallest else EPSILONS)
    options.file.write_bytes(made)
    print(f"{options.file}: {len(made) // 1000} kB")


if __name__ == "__main__":
    main()
