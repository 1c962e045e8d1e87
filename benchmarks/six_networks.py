"""Draw the sweep over six networks that comes with the product, as its page does.

    python -m benchmarks.six_networks [--out docs/images/six_networks.png]

A browser takes the picture: Chromium must be there.  The sweep itself is made by the command that
it holds, which is printed.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path

import plotly.graph_objects as go
from playwright.sync_api import sync_playwright

from pages.ui import paper_charts
from pages.ui.theme import PALETTES
from privcore.dataset import load_network
from privcore.evaluation.six_networks import (
    NETWORKS,
    best_on_average,
    six_networks,
    six_networks_means,
)

_SIZE = {"width": 1200, "height": 760}


def save(figure: go.Figure, path: str) -> None:
    """The picture of a figure, twice as fine as a screen."""
    palette = PALETTES["light"]
    figure.update_layout(
        paper_bgcolor=palette.background,
        plot_bgcolor=palette.surface,
        font={"color": palette.text, "family": "sans-serif"},
        margin={"l": 60, "r": 20, "t": 90, "b": 60},
        **_SIZE,
    )
    browser_path = next(filter(None, map(shutil.which, ("chromium", "google-chrome"))), None)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page_path = Path(folder) / "figure.html"
        figure.write_html(page_path, include_plotlyjs=True, config={"displayModeBar": False})
        browser = playwright.chromium.launch(
            executable_path=browser_path, args=["--no-sandbox", "--disable-gpu", "--disable-quic"]
        )
        context = browser.new_context(viewport=_SIZE, device_scale_factor=2)
        page = context.new_page()
        page.goto(page_path.as_uri())
        page.locator(".plotly-graph-div .main-svg").first.wait_for()
        page.locator(".plotly-graph-div").screenshot(path=path)
        browser.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", default="docs/images/six_networks.png")
    options = parser.parse_args()
    means = six_networks_means()
    titles = {name: f"{name} ({len(load_network(name).names)} columns)" for name in NETWORKS}
    save(paper_charts.sweep_figure(means, "skeleton F1", titles), options.out)
    print(f"Made from: {six_networks().command}")
    for epsilon in (0.1, 1.0, 10.0):
        print(f"\nMean skeleton F1 over the six networks at ε = {epsilon:g}:")
        print(best_on_average(means, epsilon).round(3).to_string(index=False))


if __name__ == "__main__":
    main()
