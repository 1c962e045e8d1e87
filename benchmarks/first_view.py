"""Make what the first view of the dashboard shows: graphs at several ε, and Trade-off's sweep.

    python -m benchmarks.first_view

Run it again after a change to the recommended algorithm: tests compare some of the graphs.
"""

from __future__ import annotations

import argparse
import json

from benchmarks import parsed
from pages.ui.discover.epsilon import FEW, ROLLS, STRIP
from pages.ui.discover.runs import DATA_SEED, FILE, NETWORK, NOISE_SEED, ROWS
from privcore.algorithms import count, discover
from privcore.algorithms.registry import RECOMMENDED
from privcore.data import load_network
from privcore.extras.lab.sweeps.cells import edges_text
from privcore.extras.lab.sweeps.eight_networks import FIRST_VIEW
from privcore.faces.cli import main as sweep

USUAL_EPSILON = 1.0
# What the page Trade-off asks for when it opens.
SWEEP = [
    "sweep",
    f"--network={NETWORK}",
    f"--rows={ROWS}",
    "--algorithms=pc,moment-search,svt-pc,priv-pc,em-pc",
    "--epsilons=0.1,0.2,0.5,1,2,5,10,20",
    "--seeds=5",
]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options = parsed(parser)
    more, few = (0, 0) if options.smallest else (ROLLS, FEW - 1)
    source = count(load_network(NETWORK).sample(ROWS, DATA_SEED))
    graphs = []
    for epsilon in STRIP:
        last = NOISE_SEED + (more if epsilon == USUAL_EPSILON else few)
        for seed in range(NOISE_SEED, last + 1):
            run = discover(source, RECOMMENDED, {"epsilon": epsilon}, seed=seed, keep_trace=False)
            graphs.append([epsilon, seed, edges_text(run.graph)])
    if more:
        lines = ",\n".join(json.dumps(graph) for graph in graphs)
        FILE.write_text(f'{{"graphs": [\n{lines}\n]}}\n', "utf-8")
        print(f"{len(graphs)} graphs: {FILE.name}")
        sweep([*SWEEP, "--out", str(FIRST_VIEW)])


if __name__ == "__main__":
    main()
