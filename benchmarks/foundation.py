"""F1 and engine seconds of PC and Priv-PC on every built-in network.

    python -m benchmarks.foundation [--rows 100000] [--seeds 5] [--epsilons 0.1,1,10]

Skeleton and CPDAG F1 are against the CPDAG of the true DAG.  PC is deterministic: its seconds are
for a first run on fresh counts.  Priv-PC's are the median over seeds, counts warm (what a slider
move costs) and, in the last column, the first run on fresh counts.
"""

from __future__ import annotations

import argparse
from statistics import mean, median

from benchmarks import parsed
from privcore.algorithms import count, discover
from privcore.data import NETWORKS, load_network
from privcore.graphs import cpdag_of_names
from privcore.measures import cpdag_metrics, skeleton_metrics


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--epsilons", default="0.1,1,10")
    options = parsed(parser, rows=1_000, seeds=1, epsilons="1")
    epsilons = [float(e) for e in options.epsilons.split(",")]
    print(f"n = {options.rows:,}, delta = 1e-6, {options.seeds} noise seeds, data seed 1")
    print(f"{'network':<11} {'algorithm':<22} skeleton  CPDAG  seconds   first")
    for name in NETWORKS:
        dataset = load_network(name).sample(options.rows, 1)
        truth = cpdag_of_names(dataset.names, dataset.true_edges or ())
        for score in ("g2", "z-star"):
            run = discover(count(dataset), "pc", {"score": score})
            quality = skeleton_metrics(run.graph, truth).f1, cpdag_metrics(run.graph, truth).f1
            _row(name, f"pc {score}", *quality, run.seconds, run.seconds)
        for epsilon in epsilons:
            source = count(dataset)
            runs = [
                discover(source, "priv-pc", {"epsilon": epsilon}, seed=seed)
                for seed in range(options.seeds)
            ]
            _row(
                name,
                f"priv-pc epsilon {epsilon:g}",
                mean(skeleton_metrics(r.graph, truth).f1 for r in runs),
                mean(cpdag_metrics(r.graph, truth).f1 for r in runs),
                median(r.seconds for r in runs),
                runs[0].seconds,
            )


def _row(
    name: str, label: str, skeleton: float, cpdag: float, seconds: float, first: float
) -> None:
    print(f"{name:<11} {label:<22} {skeleton:8.3f} {cpdag:6.3f} {seconds:8.4f} {first:7.3f}")


if __name__ == "__main__":
    main()
