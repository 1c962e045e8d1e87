"""The effect of unobserved confounders on a graph, with and without the switch that allows them.

    python -m benchmarks.hidden_causes --random 40 --rows 100000 --epsilons 0.3,1,10

Random networks of 15 or 20 columns, of which two with at least two children are hidden.  `pc` and
`moment-search` are run twice on the same rows and the same noise, without the switch (a CPDAG) and
with it (a PAG).  References: the DAG with all its columns for what is true of causes, and the true
PAG for what could be known.  Printed are means over the networks of precision and recall: of
adjacent pairs, of arrowheads (the column at the head is no cause of the other), and of causes
(i → j).  "wrong" is the number of arrows i → j a network whose tail is no cause of the head;
"confounded": of these, between two columns with a hidden common cause.  With --arrows: each false
arrow of `pc` between such columns, what FCI says of the pair, and the true PAG.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import networkx as nx
import numpy as np

from benchmarks import parsed
from benchmarks.random_networks import random_network
from privcore.algorithms import discover
from privcore.data import Dataset
from privcore.data.network import BayesianNetwork
from privcore.graphs import PDAG
from privcore.graphs.equivalence import pag_of_dag
from privcore.graphs.pdag import PAG
from privcore.privacy.mechanisms.no_noise import NoNoise

_SIZES = (15, 20)
_HIDDEN = 2
_MEASURES = (
    "adjacent P",
    "adjacent R",
    "heads P",
    "heads R",
    "causes P",
    "causes R",
    "wrong",
    "confounded",
    "seconds",
)


@dataclass(frozen=True)
class Example:
    """A network, its hidden columns, what they make dependent, and the PAG of the others."""

    network: BayesianNetwork
    hidden: tuple[str, ...]
    names: tuple[str, ...]
    truth: PAG
    above: dict[str, set[str]]
    confounded: frozenset[frozenset[str]] = field(default_factory=frozenset)

    def sample(self, rows: int, seed: int) -> Dataset:
        return self.network.sample(rows, seed).hiding(self.hidden)


def examples(first: int) -> Iterator[Example]:
    """Networks of the seeds from `first` on that have two columns with two children or more."""
    for seed in itertools.count(first):
        network = random_network(seed)
        if len(network.names) not in _SIZES:
            continue
        graph = nx.DiGraph(network.edges)
        shared = [name for name in network.names if name in graph and graph.out_degree(name) > 1]
        if len(shared) < _HIDDEN:
            continue
        chosen = np.random.default_rng([57, seed]).choice(shared, _HIDDEN, replace=False)
        yield example(network, tuple(map(str, chosen)))


def example(network: BayesianNetwork, hidden: tuple[str, ...]) -> Example:
    names, graph = network.names, nx.DiGraph(network.edges)
    graph.add_nodes_from(names)
    place = {name: k for k, name in enumerate(names)}
    edges = [(place[a], place[b]) for a, b in network.edges]
    seen = tuple(name for name in names if name not in hidden)
    return Example(
        network,
        hidden,
        seen,
        pag_of_dag(names, edges, [place[name] for name in hidden]),
        {name: set(nx.ancestors(graph, name)) for name in names},
        frozenset(
            frozenset(pair)
            for name in hidden
            for pair in itertools.combinations(graph.successors(name), 2)
        ),
    )


def measured(graph: PDAG, example: Example) -> dict[str, float]:
    """What is right of a graph over the columns that are seen."""
    names, truth, above = example.names, example.truth, example.above
    here, there = graph.skeleton, truth.skeleton
    heads, causes = _heads(graph), graph.directed
    right_heads = {(i, j) for i, j in heads if names[j] not in above[names[i]]}
    right_causes = {(i, j) for i, j in causes if names[i] in above[names[j]]}
    wrong = causes - right_causes
    confounded = {e for e in wrong if frozenset(names[k] for k in e) in example.confounded}
    return {
        "adjacent P": _ratio(len(here & there), len(here)),
        "adjacent R": _ratio(len(here & there), len(there)),
        "heads P": _ratio(len(right_heads), len(heads)),
        "heads R": _ratio(len(right_heads & _heads(truth)), len(_heads(truth))),
        "causes P": _ratio(len(right_causes), len(causes)),
        "causes R": _ratio(len(right_causes & truth.directed), len(truth.directed)),
        "wrong": float(len(wrong)),
        "confounded": float(len(confounded)),
    }


def _heads(graph: PDAG) -> set[tuple[int, int]]:
    """(i, j) with an arrowhead at j."""
    both = ((a, b) for i, j in graph.skeleton for a, b in ((i, j), (j, i)))
    return {(i, j) for i, j in both if (graph.mark(i, j) or "").endswith(">")}


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else float("nan")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--random", type=int, default=40, help="networks")
    parser.add_argument("--first", type=int, default=0, help="seed of the first one")
    parser.add_argument("--rows", default="100000,10000")
    parser.add_argument("--epsilons", default="0.3,1,10,none")
    parser.add_argument("--arrows", action="store_true", help="list false arrows of PC instead")
    options = parsed(parser, random=1, rows="1000", epsilons="1")
    some = list(itertools.islice(examples(options.first), options.random))
    if options.arrows:
        _list_arrows(some, int(options.rows.split(",")[0]))
        return
    print(f"{len(some)} random networks, {_HIDDEN} columns hidden in each\n")
    print("| rows | algorithm | ε | graph | " + " | ".join(_MEASURES) + " |")
    print("|" + "---|" * (4 + len(_MEASURES)))
    for rows in map(int, options.rows.split(",")):
        runs = [("pc", "none")]
        runs += [("moment-search", epsilon) for epsilon in options.epsilons.split(",")]
        for algorithm, epsilon in runs:
            for switch in (False, True):
                lines = []
                for number, one in enumerate(some):
                    data = one.sample(rows, 1000 + number)
                    parameters = {"hidden_causes": switch}
                    start = time.perf_counter()
                    if epsilon == "none":
                        found = discover(data, algorithm, parameters, noise=NoNoise())
                    else:
                        parameters["epsilon"] = float(epsilon)
                        found = discover(data, algorithm, parameters, seed=500 + number)
                    seconds = time.perf_counter() - start
                    lines.append(measured(found.graph, one) | {"seconds": seconds})
                means = [np.nanmean([line[name] for line in lines]) for name in _MEASURES]
                shown = " | ".join(f"{mean:.2f}" for mean in means)
                kind = "PAG" if switch else "CPDAG"
                print(f"| {rows:,} | {algorithm} | {epsilon} | {kind} | {shown} |", flush=True)


def _list_arrows(some: list[Example], rows: int) -> None:
    print("| network | hidden cause | PC | FCI | true PAG |\n|---|---|---|---|---|")
    for number, one in enumerate(some):
        data, names = one.sample(rows, 1000 + number), one.names
        off, on = (discover(data, "pc", {"hidden_causes": s}).graph for s in (False, True))
        for i, j in sorted(off.directed):
            pair = frozenset((names[i], names[j]))
            if names[i] in one.above[names[j]] or pair not in one.confounded:
                continue
            causes = [h for h in one.hidden if pair <= set(nx.DiGraph(one.network.edges)[h])]
            marks = [f"{names[i]} {g.mark(i, j) or 'no edge'} {names[j]}" for g in (on, one.truth)]
            print(
                f"| {one.network.name} | {', '.join(causes)} | {names[i]} -> {names[j]} | "
                f"{' | '.join(marks)} |"
            )


if __name__ == "__main__":
    main()
