"""How often the findings of `moment-search` on pairs are right, on random networks and numbers.

    python -m benchmarks.findings [--random 25] [--first 200] [--cells 0,4096] [--rows 50000]
        [--epsilons 0.1,0.3,1,3] [--numbers 12]

As many random networks as --random says, their seeds from --first (defaults were chosen on 0 to 40,
which are refused), with --cells only those with more combinations of levels than the first number
and no more than the second, one run for each ε; then linear-Gaussian graphs of 20 columns, as
many as --numbers says for each of densities 0.1 and 0.2 and 10,000 and 100,000 rows, their seeds
from --first as well.  Data seed 1000, noise seeds from 500.  In each part: edges by their
probability, and the share of them in the true skeleton; arrows on true edges by the probability of
their direction, mean said and share right; pairs without an edge by verdict, for each ε and for
all, and the share of them with a true edge.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from itertools import islice, product
from statistics import mean
from typing import NamedTuple

from benchmarks import parsed
from benchmarks.linear_gaussian import linear_gaussian
from benchmarks.random_networks import networks_from
from privcore.algorithms import count, discover
from privcore.algorithms.search.result import PairFinding
from privcore.data import Dataset
from privcore.graphs import PDAG

_CHOSEN_ON = 40
_EDGES = (
    ("over 0.99", 0.99),
    ("0.9 to 0.99", 0.9),
    ("0.7 to 0.9", 0.7),
    ("below 0.7", 0.0),
)
_ARROWS = (
    ("over 0.85", 0.85),
    ("0.75 to 0.85", 0.75),
    ("0.65 to 0.75", 0.65),
    ("0.5 to 0.65", 0.5),
    ("below 0.5", 0.0),
)
_VERDICTS = ("no edge seen", "not enough budget")


class PairStatement(NamedTuple):
    """What one run said of a pair, whether that has a true edge, and whether its arrow is right."""

    epsilon: float
    finding: PairFinding
    true_edge: bool
    right: bool


def statements_of(samples: Iterable[Dataset], epsilons: list[float]) -> Iterator[PairStatement]:
    for k, data in enumerate(samples):
        source = count(data)
        truth = PDAG.from_names(data.names, directed=data.true_edges or ())
        for epsilon in epsilons:
            result = discover(
                source, "moment-search", {"epsilon": epsilon}, seed=500 + k, keep_trace=False
            )
            arrows = {(min(edge), max(edge)): edge for edge in result.graph.directed}
            for pair, finding in result.findings.items():
                right = arrows.get(pair) in truth.directed
                yield PairStatement(epsilon, finding, pair in truth.skeleton, right)


def share(of: list[bool]) -> str:
    return f"{mean(of):.4f}" if of else "–"


def show(title: str, every: list[PairStatement], epsilons: list[float]) -> None:
    print(f"\n{title}\n\n| edges of probability | edges | share true |\n|---|---|---|")
    high = 1.1
    for label, low in _EDGES:
        hits = [
            s.true_edge
            for s in every
            if s.finding.verdict == "edge" and low <= (s.finding.probability or 0.0) < high
        ]
        print(f"| {label} | {len(hits)} | {share(hits)} |")
        high = low
    print("\n| arrows on true edges, said | arrows | mean said | share right |\n|---|---|---|---|")
    arrows = [(s.finding.direction, s.right) for s in every if s.true_edge]
    high = 1.1
    for label, low in _ARROWS:
        within = [(d, right) for d, right in arrows if d is not None and low <= d < high]
        text = f"{mean(d for d, _ in within):.3f}" if within else "–"
        print(f"| {label} | {len(within)} | {text} | {share([right for _, right in within])} |")
        high = low
    print("\n| no edge, ε | verdict | pairs | share with a true edge |\n|---|---|---|---|")
    for verdict in _VERDICTS:
        concerned = [s for s in every if s.finding.verdict == verdict]
        for epsilon in epsilons:
            missed = [s.true_edge for s in concerned if s.epsilon == epsilon]
            print(f"| {epsilon:g} | {verdict} | {len(missed)} | {share(missed)} |")
        missed = [s.true_edge for s in concerned]
        print(f"| all | {verdict} | {len(missed)} | {share(missed)} |", flush=True)


def graphs_of_numbers(graphs: int, first: int) -> Iterator[Dataset]:
    for density, rows, k in product((0.1, 0.2), (10_000, 100_000), range(graphs)):
        yield linear_gaussian(density, rows, first + k)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--random", type=int, default=25)
    parser.add_argument("--first", type=int, default=200)
    parser.add_argument("--cells", default=None)
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--epsilons", default="0.1,0.3,1,3")
    parser.add_argument("--numbers", type=int, default=12)
    options = parsed(parser, random=1, rows=1_000, epsilons="1", numbers=1)
    if options.first <= _CHOSEN_ON:
        parser.error(f"--first must be above {_CHOSEN_ON}: defaults were chosen on those before.")
    epsilons = [float(word) for word in options.epsilons.split(",")]
    if options.random > 0:
        chosen = islice(networks_from(options.first, options.cells), options.random)
        networks = (network.sample(options.rows, 1000) for network in chosen)
        title = f"{options.random} random networks, {options.rows:,} rows"
        show(title, list(statements_of(networks, epsilons)), epsilons)
    if options.numbers > 0:
        numbers = graphs_of_numbers(options.numbers, options.first)
        title = f"{options.numbers} linear-Gaussian graphs of each kind, 20 columns"
        show(title, list(statements_of(numbers, epsilons)), epsilons)


if __name__ == "__main__":
    main()
