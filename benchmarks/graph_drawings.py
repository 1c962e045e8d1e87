"""How legible drawn graphs are: crossings, overlapping names and their letters, by columns.

    python -m benchmarks.graph_drawings [--columns 20,37,76,200] [--folder FOLDER]

Draws networks of 20 (child), 37 (alarm), 76 (win95pts) and 200 columns (a random DAG of 1.3 edges a
column), as the page Discover draws them on a screen of 1280 × 800, and reads the drawing: how often
two lines cross, how many names meet another, how large their letters are in pixels, and how many of
the names are drawn.  Once with the columns in layers, and once as they are placed.  FOLDER gets the
pictures.
"""

from __future__ import annotations

import argparse
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import parsed
from benchmarks.screenshots import browser
from privcore.data import load_network
from privcore.display.drawing import Pane, graph_css, graph_script, scene
from privcore.display.layout import _layered, shared_layout
from privcore.graphs import PDAG

_NETWORKS = {20: "child", 37: "alarm", 76: "win95pts"}
_PAGE = f"""<!DOCTYPE html><html><head><style>body {{ margin: 0 }} {graph_css()}</style></head>
<body><main id="root"></main><script type="module">{graph_script()}
window.show = (made) => drawGraphs(document.getElementById("root"), made, {{}});</script></body>"""
# The width that the page leaves beside the menu.
_SCREEN = {"width": 988, "height": 800}
_DRAWN = """() => {
  const pane = document.querySelector(".pane");
  const names = [...pane.querySelectorAll(".node text")].map((text) => {
    const { x, y, width, height } = text.getBoundingClientRect();
    return { x, y, width, height, size: parseFloat(getComputedStyle(text).fontSize) };
  });
  const lines = [...pane.querySelectorAll("[data-pair]")].map((pair) => ({
    ends: pair.dataset.pair.split("-").map(Number),
    points: pair.querySelector(".line").getAttribute("d").split(/[ML]/).slice(1)
      .map((point) => point.split(" ").map(Number)),
  }));
  const named = [...pane.querySelectorAll(".node")].filter((node) => node.querySelector("text"));
  return { names, lines, named: named.length };
}"""


def graph(count: int) -> PDAG:
    if count in _NETWORKS:
        network = load_network(_NETWORKS[count])
        return PDAG.from_names(network.names, network.edges)
    rng = np.random.default_rng(1)
    pairs = [(i, j) for i in range(count) for j in range(i + 1, count)]
    chosen = rng.choice(len(pairs), round(1.3 * count), replace=False)
    names = tuple(f"column_{i}" for i in range(count))
    return PDAG(names, frozenset(pairs[k] for k in chosen))


def crossing(one: list[list[float]], two: list[list[float]]) -> bool:
    """Whether two lines of straight pieces cross."""
    a, b = np.array(one), np.array(two)
    start, step = a[:-1, None], (a[1:] - a[:-1])[:, None]
    other, across = b[None, :-1], (b[1:] - b[:-1])[None]

    def cross(p: Any, q: Any) -> Any:
        return p[..., 0] * q[..., 1] - p[..., 1] * q[..., 0]

    sides = cross(step, other - start) * cross(step, other + across - start)
    others = cross(across, start - other) * cross(across, start + step - other)
    return bool(((sides < 0) & (others < 0)).any())


def overlapping(names: list[dict[str, float]]) -> int:
    """Pairs of names of which one lies on the other, by a pixel or more."""

    def meet(a: dict[str, float], b: dict[str, float], at: str, long: str) -> bool:
        return min(a[at] + a[long], b[at] + b[long]) - max(a[at], b[at]) > 1

    return sum(
        meet(a, b, "x", "width") and meet(a, b, "y", "height") for a, b in combinations(names, 2)
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--columns", default="20,37,76,200")
    parser.add_argument("--folder", type=Path)
    options = parsed(parser, columns="20", folder=None)
    print("| columns | links | places | crossings | names that meet | letters, px | names drawn |")
    print("|---|---|---|---|---|---|---|")
    with browser() as running:
        page = running.new_page(viewport=_SCREEN)
        for count in map(int, options.columns.split(",")):
            drawn = graph(count)
            joined = sorted({end for pair in drawn.skeleton for end in pair})
            number = {node: k for k, node in enumerate(joined)}
            inner = frozenset((number[i], number[j]) for i, j in drawn.directed)
            placed = dict(zip(joined, _layered(len(joined), inner), strict=True))
            now = shared_layout(drawn.nodes, graph=drawn)
            layers = [placed.get(node, now[node]) for node in range(count)]
            for word, places in (("layers", layers), ("as they are", now)):
                panes = [Pane("one", "One", drawn), Pane("two", "Two", drawn)]
                page.set_content(_PAGE)
                page.evaluate("made => show(made)", {**scene(places, panes), "theme": "light"})
                found = page.evaluate(_DRAWN)
                crossings = sum(
                    crossing(a["points"], b["points"])
                    for a, b in combinations(found["lines"], 2)
                    if not set(a["ends"]) & set(b["ends"])
                )
                print(
                    f"| {count} | {len(drawn.skeleton)} | {word} | {crossings} "
                    f"| {overlapping(found['names'])} "
                    f"| {min(name['size'] for name in found['names']):g} "
                    f"| {found['named']} |",
                    flush=True,
                )
                if options.folder:
                    options.folder.mkdir(parents=True, exist_ok=True)
                    page.screenshot(path=options.folder / f"{count}-{word.split()[0]}.png")


if __name__ == "__main__":
    main()
