"""Calibration of the probabilities of edges and arrows stated by `moment-search`.

    python -m benchmarks.edge_probabilities [--random 16] [--first 9000] [--cells 0,2048]
        [--rows 5000,20000,100000] [--epsilons 0.1,0.3,1,3,10] [--numbers] [--write]
    python -m benchmarks.edge_probabilities --figure docs/images/edge_probabilities.png

As many random networks as --random says, their seeds from --first, with more combinations of levels
than the first number of --cells and no more than the second; one run for each number of rows and
each ε, data seed 1000, noise seed 500.  For all pairs of columns, by the stated probability of an
edge: their number and the share with a true edge; the expected calibration error and the Brier
score. The same for drawn arrows, which are true if the true DAG has them.  --numbers: of
linear-Gaussian graphs in place of networks, of 6 to 20 columns and density 0.1 to 0.3, where runs
by second moments and on intervals are counted alike.  --write ships the result with the product
(`privcore.extras.lab.reliability`); --figure draws what is shipped.
"""

from __future__ import annotations

import argparse
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks import parsed
from benchmarks.random_networks import networks_from, random_network
from privcore.algorithms import count, discover
from privcore.data import StructuralExample
from privcore.extras.lab import reliability as shipped
from privcore.extras.lab.reliability import (
    Reliability,
    reliability,
    reliability_json,
    shipped_reliability,
)
from privcore.threads import one_thread


class Task(NamedTuple):
    """One network or graph, by its seed, with every number of rows and ε."""

    seed: int
    numbers: bool
    rows: tuple[int, ...]
    epsilons: tuple[float, ...]


class Statement(NamedTuple):
    """One statement and whether it is true."""

    epsilon: float
    arrow: bool
    probability: float
    true: bool


def graph_of_numbers(seed: int) -> StructuralExample:
    """A linear-Gaussian graph, the same for the same seed."""
    generator = np.random.default_rng(seed)
    nodes, density = int(generator.choice([6, 8, 10, 15, 20])), generator.choice([0.1, 0.2, 0.3])
    return StructuralExample("linear-gaussian", nodes=nodes, density=density, graph_seed=seed)


def statements_of(task: Task) -> list[Statement]:
    drawn = graph_of_numbers(task.seed) if task.numbers else random_network(task.seed)
    statements = []
    for rows in task.rows:
        data = drawn.sample(rows, 1000)
        arrows = set(data.true_edges or ())
        with one_thread():
            source = count(data)
            for epsilon in task.epsilons:
                run = discover(source, "moment-search", {"epsilon": epsilon}, seed=500)
                names = run.graph.nodes
                for (i, j), finding in run.findings.items():
                    there = (names[i], names[j]) in arrows or (names[j], names[i]) in arrows
                    if finding.probability is None:
                        continue
                    statements.append(Statement(epsilon, False, finding.probability, there))
                    if finding.direction is not None:
                        cause, effect = (i, j) if (i, j) in run.graph.directed else (j, i)
                        right = (names[cause], names[effect]) in arrows
                        stated = finding.probability * finding.direction
                        statements.append(Statement(epsilon, True, stated, right))
    return statements


def table(title: str, rated: Reliability) -> str:
    rows = [f"| {r.stated:.3f} | {r.true:.3f} | {r.many:,} |" for r in rated.ranges]
    figures = (
        f"{title}: expected calibration error {rated.error:.3f}, Brier score {rated.brier:.4f}"
    )
    return "\n".join([figures, "", "| stated | true | statements |", "|---|---|---|", *rows, ""])


def of(statements: list[Statement]) -> Reliability:
    return reliability([s.probability for s in statements], [s.true for s in statements])


def draw(path: str) -> None:
    """The reliability diagram, as the page Papers has it."""
    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt

    held = shipped_reliability()
    figure, axes = plt.subplots(figsize=(5.2, 4.6), dpi=130)
    axes.plot([0, 1], [0, 1], ":", color="#777777", label="as stated")
    for name, rated, marker in (("edges", held.edges, "o"), ("arrows", held.arrows, "s")):
        stated, true = ([getattr(r, part) for r in rated.ranges] for part in ("stated", "true"))
        (line,) = axes.plot(stated, true, linewidth=1.2, label=name)
        most = max(r.many for r in rated.ranges)
        sizes = [15 + 110 * r.many / most for r in rated.ranges]
        axes.scatter(stated, true, sizes, marker=marker, color=line.get_color())
    axes.set(xlabel="stated probability", ylabel="share that is true")
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--random", type=int, default=16)
    parser.add_argument("--first", type=int, default=9000)
    parser.add_argument("--cells", default="0,2048")
    parser.add_argument("--rows", default="5000,20000,100000")
    parser.add_argument("--epsilons", default="0.1,0.3,1,3,10")
    parser.add_argument("--numbers", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--figure", default=None)
    options = parsed(parser, random=1, rows="20000", epsilons="10", write=False)
    if options.figure:
        draw(options.figure)
        return
    rows = tuple(int(word) for word in options.rows.split(","))
    epsilons = tuple(float(word) for word in options.epsilons.split(","))
    if options.numbers:
        seeds = list(range(options.first, options.first + options.random))
    else:
        chosen = islice(networks_from(options.first, options.cells), options.random)
        seeds = [int(network.name.split()[1]) for network in chosen]
    tasks = [Task(seed, options.numbers, rows, epsilons) for seed in seeds]
    with get_context("spawn").Pool(2) as pool:
        every = [s for part in pool.map(statements_of, tasks, chunksize=1) for s in part]
    pairs, arrows = ([s for s in every if s.arrow is arrow] for arrow in (False, True))
    print(table("Edges", of(pairs)))
    print(table("Arrows", of(arrows)))
    by_epsilon = {e: of([s for s in pairs if s.epsilon == e]) for e in epsilons}
    for epsilon, rated in by_epsilon.items():
        print(table(f"Edges at ε = {epsilon:g}", rated))
    if options.write:
        path = Path(shipped.__file__).parent / "results" / "edge_probabilities.json"
        listed = ", ".join(f"{n:,}" for n in rows)
        about = (
            f"{len(seeds)} random networks of up to {options.cells.split(',')[1]} combinations of "
            f"levels; {listed} rows; ε from {min(epsilons):g} to {max(epsilons):g}"
        )
        command = "python -m benchmarks.edge_probabilities"
        written = reliability_json(of(pairs), of(arrows), by_epsilon, about=about, command=command)
        path.write_text(written, encoding="utf-8")


if __name__ == "__main__":
    main()
