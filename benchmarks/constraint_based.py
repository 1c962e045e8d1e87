"""Every constraint-based algorithm on the same data at the same budget, as one table.

    python -m benchmarks.constraint_based [--rows 100000] [--seeds 20] [--epsilons 0.1,1,10]
        [--networks cancer,…] [--algorithms svt-pc,…] [--calibrations proven,published]

Mean skeleton F1 against the true graph over noise seeds, and in brackets the median engine seconds
of a run with counts warm (what a slider move costs).  δ = 1e-6, data seed 1, defaults otherwise.  A
dash: the algorithm refuses the data, with the reason below the table.  In published runs that
compute their total afterwards ε is the cost of one round or test; the mean of those totals follows
the seconds.
"""

from __future__ import annotations

import argparse
from statistics import mean, median

from privcore.dataset import load_network
from privcore.discovery import ALGORITHMS, count, discover
from privcore.errors import PrivcoreError
from privcore.evaluation import skeleton_metrics
from privcore.graphs import cpdag_of_names

_NETWORKS = "cancer,earthquake,survey,asia,sachs,child"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--epsilons", default="0.1,1,10")
    parser.add_argument("--networks", default=_NETWORKS)
    parser.add_argument(
        "--algorithms", default=",".join(n for n, a in ALGORITHMS.items() if a.private)
    )
    parser.add_argument("--calibrations", default="proven,published")
    options = parser.parse_args()
    epsilons = [float(e) for e in options.epsilons.split(",")]
    networks = options.networks.split(",")
    sources, truths = {}, {}
    for name in networks:
        dataset = load_network(name).sample(options.rows, 1)
        sources[name] = count(dataset)
        truths[name] = cpdag_of_names(dataset.names, dataset.true_edges or ())

    print(f"n = {options.rows:,}, delta = 1e-6, {options.seeds} noise seeds, data seed 1\n")
    heads = [f"{name}, ε = {epsilon:g}" for name in networks for epsilon in epsilons]
    print(f"| algorithm | {' | '.join(heads)} |")
    print("|---" * (1 + len(heads)) + "|")
    refusals: dict[str, str] = {}

    def cell(algorithm: str, calibration: str, name: str, epsilon: float) -> str:
        known = {parameter.name for parameter in ALGORITHMS[algorithm].parameters}
        asked = {"epsilon": epsilon, "delta": 1e-6, "calibration": calibration}
        given = {k: v for k, v in asked.items() if k in known}
        try:
            runs = [
                discover(sources[name], algorithm, given, seed=seed, keep_trace=False)
                for seed in range(options.seeds + 1)
            ][1:]
        except PrivcoreError as error:
            refusals[f"{algorithm}, {name}"] = str(error)
            return "–"
        f1 = mean(skeleton_metrics(run.graph, truths[name]).f1 for run in runs)
        text = f"{f1:.3f} ({median(run.seconds for run in runs):.4f}"
        if calibration == "published" and ALGORITHMS[algorithm].published_epsilon != "total":
            text += f"; ε = {mean(run.guarantee.epsilon for run in runs):.3g}"
        return text + ")"

    for score in ("g2", "z-star", "fisher-z"):
        cells = []
        for name in networks:
            run = discover(sources[name], "pc", {"score": score}, keep_trace=False)
            f1 = skeleton_metrics(run.graph, truths[name]).f1
            cells += [f"{f1:.3f} ({run.seconds:.4f})"] * len(epsilons)
        print(f"| pc, {score} | {' | '.join(cells)} |", flush=True)
    for calibration in options.calibrations.split(","):
        for algorithm in options.algorithms.split(","):
            if calibration not in ALGORITHMS[algorithm].calibrations:
                continue
            cells = [cell(algorithm, calibration, n, e) for n in networks for e in epsilons]
            print(f"| {algorithm}, {calibration} | {' | '.join(cells)} |", flush=True)
    for where, why in refusals.items():
        print(f"\n{where}: {why}")


if __name__ == "__main__":
    main()
