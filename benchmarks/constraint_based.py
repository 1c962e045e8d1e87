"""Every constraint-based algorithm on the same data at the same budget, as one table.

    python -m benchmarks.constraint_based [--rows 100000] [--seeds 20] [--epsilons 0.1,1,10]
        [--networks cancer,…] [--algorithms svt-pc,…] [--calibrations proven,published]

Mean skeleton F1 against the true graph over noise seeds, one number for each ε, and in brackets
the median engine milliseconds of a run with counts warm (what a slider move costs) over all of
them; of PC, which does not change, those of a first run.  δ = 1e-6, data seed 1, defaults
otherwise.  A dash: the algorithm refuses the data, with the reason below the table.  In published
runs that compute their total afterwards ε is the cost of one round or test (of curate, what is
split over the orders); the means of those totals are listed below.
"""

from __future__ import annotations

import argparse
from statistics import mean, median

from benchmarks import parsed
from privcore.algorithms import ALGORITHMS, count, discover
from privcore.data import load_network
from privcore.errors import PrivcoreError
from privcore.graphs import cpdag_of_names
from privcore.measures import skeleton_metrics

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
    options = parsed(parser, rows=1_000, seeds=1, epsilons="1", networks="cancer")
    epsilons = [float(e) for e in options.epsilons.split(",")]
    networks = options.networks.split(",")
    sources, truths = {}, {}
    for name in networks:
        dataset = load_network(name).sample(options.rows, 1)
        sources[name] = count(dataset)
        truths[name] = cpdag_of_names(dataset.names, dataset.true_edges or ())

    print(f"n = {options.rows:,}, delta = 1e-6, {options.seeds} noise seeds, data seed 1\n")
    print(f"| algorithm | {' | '.join(networks)} |")
    print("|---" * (1 + len(networks)) + "|")
    refusals: dict[str, str] = {}
    totals: list[str] = []

    def cell(algorithm: str, calibration: str, name: str) -> str:
        known = {parameter.name for parameter in ALGORITHMS[algorithm].parameters}
        scores, seconds, claimed = [], [], []
        for epsilon in epsilons:
            settings = {"epsilon": epsilon, "delta": 1e-6, "calibration": calibration}
            given = {k: v for k, v in settings.items() if k in known}
            try:
                runs = [
                    discover(sources[name], algorithm, given, seed=seed, keep_trace=False)
                    for seed in range(options.seeds + 1)
                ][1:]
            except PrivcoreError as error:
                refusals[f"{algorithm}, {name}"] = str(error)
                return "–"
            scores.append(mean(skeleton_metrics(run.graph, truths[name]).f1 for run in runs))
            seconds += [run.seconds for run in runs]
            claimed.append(mean(run.guarantee.epsilon for run in runs))
        if calibration == "published" and ALGORITHMS[algorithm].published_epsilon != "total":
            totals.append(f"{algorithm}, {name}: {', '.join(f'{total:.3g}' for total in claimed)}")
        return _cell(scores, median(seconds))

    for score in ("g2", "z-star", "fisher-z"):
        cells = []
        for name in networks:
            run = discover(sources[name], "pc", {"score": score}, keep_trace=False)
            cells.append(_cell([skeleton_metrics(run.graph, truths[name]).f1], run.seconds))
        print(f"| pc, {score}, not private | {' | '.join(cells)} |", flush=True)
    for calibration in options.calibrations.split(","):
        for algorithm in options.algorithms.split(","):
            if calibration in ALGORITHMS[algorithm].calibrations:
                cells = [cell(algorithm, calibration, name) for name in networks]
                print(f"| {algorithm}, {calibration} | {' | '.join(cells)} |", flush=True)
    if totals:
        print("\nTotals computed after the run, mean for each ε:")
        print("\n".join(totals))
    for where, why in refusals.items():
        print(f"\n{where}: {why}")


def _cell(scores: list[float], seconds: float) -> str:
    return f"{' / '.join(f'{score:.3f}' for score in scores)} ({1000 * seconds:.1f} ms)"


if __name__ == "__main__":
    main()
