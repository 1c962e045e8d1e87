"""Draw the README's picture: a private graph, the non-private one, and accuracy against ε.

    python -m benchmarks.overview [--out docs/images/overview.png]

The graphs are of 100,000 rows of asia.  The private one is a typical run: of the noise seeds 1 to
9, the first whose skeleton F1 is their median.  The curves are of the sweep over eight networks
that comes with the product.
"""

from __future__ import annotations

import argparse
import os

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch

import privcore
from benchmarks import parsed
from privcore.display.layout import shared_layout
from privcore.extras.lab.sweeps.eight_networks import (
    eight_networks_means,
)
from privcore.measures.comparison import skeleton_metrics

TRUE, WRONG, MISSING = "#1b7f5c", "#c2410c", "#9aa3ad"
# The private algorithms that run on all eight networks; the two baselines of the field in colour.
LABELS = {"moment-search": 8, "em-pc": 9, "priv-pc": -19}  # points above the curve
SHOWN = {"moment-search": "#1b7f5c", "em-pc": "#3b6fb6", "priv-pc": "#a855a0"}


def draw_graph(axes: Axes, graph: privcore.PDAG, truth: privcore.PDAG, title: str) -> None:
    """Arrows and lines by how they fare against the true graph; missing edges dashed."""
    places = shared_layout(truth.nodes, dag=truth.directed)
    for a, b in sorted(graph.skeleton | truth.skeleton):
        found, true = (a, b) in graph.skeleton, (a, b) in truth.skeleton
        arrow = next((edge for edge in ((a, b), (b, a)) if edge in graph.directed), None)
        against = arrow is not None and true and arrow not in truth.directed
        tail, head = arrow or (a, b)
        colour = MISSING if not found else TRUE if true and not against else WRONG
        axes.add_patch(
            FancyArrowPatch(
                (places[tail][0], -places[tail][1]),
                (places[head][0], -places[head][1]),
                arrowstyle="-|>" if arrow else "-",
                mutation_scale=16,
                shrinkA=17,
                shrinkB=17,
                linewidth=2.2,
                linestyle="-" if found else (0, (4, 3)),
                color=colour,
            )
        )
    for node, (x, y) in zip(truth.nodes, places, strict=True):
        axes.text(
            x,
            -y,
            node,
            ha="center",
            va="center",
            fontsize=11,
            bbox={"boxstyle": "round,pad=0.45", "facecolor": "white", "edgecolor": "#5b6570"},
        )
    axes.set(xlim=(-1.3, 1.3), ylim=(-1.25, 1.25))
    axes.set_title(title, fontsize=13, loc="left")
    axes.axis("off")


def typical(data: privcore.Dataset, truth: privcore.PDAG) -> privcore.Discovery:
    """The first of nine runs at ε = 1 whose skeleton F1 is the median of the nine."""
    runs = [privcore.discover(data, epsilon=1, seed=seed) for seed in range(1, 10)]
    f1 = [skeleton_metrics(run.graph, truth).f1 for run in runs]
    return runs[f1.index(sorted(f1)[4])]


def draw_curves(axes: Axes) -> None:
    """Mean skeleton F1 over the eight networks against the total ε."""
    means = eight_networks_means()
    for name, colour in SHOWN.items():
        mine = means[means["algorithm"] == name].groupby("epsilon")["mean"].mean()
        axes.plot(mine.index, mine, "o-", color=colour, linewidth=2.2, markersize=4)
        axes.annotate(
            privcore.ALGORITHMS[name].title,
            (10, float(mine[10])),
            textcoords="offset points",
            xytext=(0, LABELS[name]),
            ha="center",
            color=colour,
            fontsize=11,
        )
    plain = means[means["algorithm"] == "pc"]["mean"].mean()
    axes.axhline(plain, color="#5b6570", linestyle="--", linewidth=1.4)
    axes.text(0.045, plain + 0.008, "PC, no privacy", fontsize=11, va="bottom", color="#5b6570")
    axes.set(xscale="log", ylim=(0.25, 1.06), xlabel="ε, for the whole run")
    axes.set_xticks([0.1, 1, 10], ["0.1", "1", "10"])
    axes.set_title("Mean skeleton F1, eight networks", fontsize=13, loc="left")
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", default="docs/images/overview.png")
    options = parsed(parser, out=os.devnull)
    data = privcore.load_network("asia").sample(100_000, seed=1)
    truth = privcore.PDAG.from_names(data.names, data.true_edges)
    private = typical(data, truth)
    plain = privcore.discover(data, "pc")
    figure, (left, middle, right) = plt.subplots(
        1, 3, figsize=(14.5, 4.6), width_ratios=(1, 1, 1.05), layout="constrained"
    )
    draw_graph(left, private.graph, truth, "Private: moment search, ε = 1")
    draw_graph(middle, plain.graph, truth, "Not private: PC")
    draw_curves(right)
    figure.legend(
        handles=[
            plt.Line2D([], [], color=TRUE, linewidth=2.2, label="in the true graph"),
            plt.Line2D([], [], color=WRONG, linewidth=2.2, label="false, or against its direction"),
            plt.Line2D([], [], color=MISSING, linewidth=2.2, linestyle="--", label="missing"),
        ],
        loc="outside lower left",
        ncols=3,
        frameon=False,
        fontsize=11,
    )
    figure.savefig(options.out, dpi=110)
    print(f"{options.out}: {len(private.graph.skeleton)} and {len(plain.graph.skeleton)} edges")


if __name__ == "__main__":
    main()
