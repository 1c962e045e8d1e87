"""Calibration of stated probabilities on real tables: one half of the rows against the other.

    python -m benchmarks.halves FILE... [--epsilons 0.3,1,3,10] [--splits 4]

Each table, as `read_table` takes it, is cut at random into two halves that share no row.  One has
moment search at each ε, and its stated probabilities of edges; the other half determines whether
there is an edge: by PC without privacy (G², level .01), or by moment search with next to no noise
(ε = 1,000). Neither is the truth, which nobody knows.  Per table and ε, against each: the mean of
what is stated, the share that is seen, the expected calibration error, and the share seen of the
pairs stated over .99 and below .01, with their number.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import privcore
from benchmarks import parsed
from privcore.algorithms import count, discover
from privcore.algorithms.search.result import Edge
from privcore.counts import InMemoryCounts
from privcore.extras.lab.reliability import reliability
from privcore.extras.lab.stability import halves
from privcore.privacy.mechanisms import SimulatedNoise
from privcore.threads import one_thread

_NO_NOISE = 1_000.0
Statements = list[tuple[float, bool]]


def statements_of(
    source: InMemoryCounts, epsilons: Sequence[float], splits: int
) -> dict[str, Statements]:
    """What one half states and whether the other sees it, by "ε | by what"."""
    statements: dict[str, Statements] = {}
    for split in range(splits):
        one, other = halves(source, SimulatedNoise(split))
        seen: dict[str, frozenset[Edge]] = {
            "PC": discover(other, "pc", {"score": "g2", "threshold": 0.01}).graph.skeleton,
            "moment search": discover(
                other, "moment-search", {"epsilon": _NO_NOISE}, seed=split
            ).graph.skeleton,
        }
        for epsilon in epsilons:
            run = discover(one, "moment-search", {"epsilon": epsilon}, seed=split)
            for by, edges in seen.items():
                key = f"{epsilon:g} | {by}"
                statements.setdefault(key, []).extend(
                    (finding.probability, pair in edges)
                    for pair, finding in run.findings.items()
                    if finding.probability is not None
                )
    return statements


def row(statements: Statements) -> str:
    stated, seen = zip(*statements, strict=True)
    sure = [came for probability, came in statements if probability > 0.99]
    never = [came for probability, came in statements if probability < 0.01]
    ends = (f"{sum(end) / len(end):.3f} of {len(end)}" if end else "–" for end in (sure, never))
    mean, share = sum(stated) / len(stated), sum(seen) / len(seen)
    error = reliability(stated, seen).error
    return " | ".join((f"{mean:.3f}", f"{share:.3f}", f"{error:.3f}", *ends))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--epsilons", default="0.3,1,3,10")
    parser.add_argument("--splits", type=int, default=4)
    options = parsed(parser, epsilons="1", splits=1)
    epsilons = [float(word) for word in options.epsilons.split(",")]
    print(
        "| table | ε | seen by | stated | seen | error | of those over .99 | of those below .01 |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for path in options.files:
        data = privcore.read_table(path)
        with one_thread():
            source = count(data)
            if not isinstance(source, InMemoryCounts):
                sys.exit(f"{path.name} has numbers that are not cut; choose another table.")
            for key, statements in statements_of(source, epsilons, options.splits).items():
                print(f"| {path.name.split('.')[0]} | {key} | {row(statements)} |", flush=True)


if __name__ == "__main__":
    main()
