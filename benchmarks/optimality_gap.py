"""What limits the weakest edges on the shapes of eight networks: rows, budget or algorithm.

    python -m benchmarks.optimality_gap [--rows 1000,10000,100000]

Prints Markdown: the ε that a weak edge needs of the oracle and of moment search, and what limits it
at each ε, first on public surrogates and then on the edges of the networks themselves.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace

from benchmarks import parsed
from privcore.algorithms.moment_search.parameters import MomentSearchParameters
from privcore.data import load_network
from privcore.extras.lab.planning.optimality_gap import optimality_gap
from privcore.extras.lab.planning.surrogate import Shape, Surrogates, edge_laws
from privcore.extras.lab.sweeps.eight_networks import NETWORKS

EPSILONS = (0.1, 0.3, 1.0, 3.0)


def table(rows: Sequence[int], *, own: bool) -> Iterator[str]:
    """Lines of a table.  own: the weak edge is the network's, and not the surrogates'."""
    at = " | ".join(f"limit at ε = {epsilon:g}" for epsilon in EPSILONS)
    yield f"| network | columns | rows | Cramér's V | oracle ε | moment search ε | times | {at} |"
    yield "|---|" + "---|" * (6 + len(EPSILONS))
    parameters = MomentSearchParameters(epsilon=1.0, delta=1e-6)
    for name in NETWORKS:
        network = load_network(name)
        levels = tuple(len(v.column.levels) for v in network.variables)
        for n in rows:
            surrogates = Surrogates(Shape(n, levels=levels))
            if own:
                laws = sorted(edge_laws(network), key=lambda law: law.information)
                surrogates.weak_edge = laws[len(laws) // 10]
            gap = optimality_gap(surrogates, parameters)
            assert gap is not None
            limits = [replace(gap, epsilon=epsilon).limit for epsilon in EPSILONS]
            times = f"{gap.algorithm / gap.oracle:,.1f}" if gap.oracle < gap.algorithm else ""
            cells = [
                *(name, f"{len(levels)}", f"{n:,}", f"{gap.effect:.3f}"),
                *(f"{gap.oracle:.2g}", f"{gap.algorithm:.2g}"),
                times,
                *limits,
            ]
            yield f"| {' | '.join(cells)} |".replace("inf", "∞")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", default="1000,10000,100000", help="comma-separated")
    rows = [int(word) for word in parsed(parser, rows="1000").rows.split(",")]
    for own, title in ((False, "Public surrogates"), (True, "The networks' own edges")):
        print(f"\n### {title}\n")
        print("\n".join(table(rows, own=own)))


if __name__ == "__main__":
    main()
