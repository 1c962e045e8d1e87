"""The value of background knowledge: every algorithm on eight networks, with more or less of it.

    python -m benchmarks.background_knowledge [--data cancer,…,alarm] [--algorithms pc,…]
        [--epsilons 0.1,0.3,1] [--rows 100000] [--seeds 5]
    python -m benchmarks.background_knowledge --worth
    python -m benchmarks.background_knowledge --sensitivity

For each algorithm and ε the means over networks and seeds of skeleton F1, CPDAG F1 and the share of
the true arrows that the graph has, with nothing known, with two tiers (the first of three before
the rest), with three (from `privcore.data.network`), and with a random tenth of the true
non-edges forbidden.  CPDAGs are compared with the true one, completed with what is known. Data
seeds from 1000, noise seeds from 500.
worth: the ε that knowledge saves on random models of 8 and 20 columns that obey it, by
`privcore.extras.lab.planning.knowledge_gain`.  sensitivity: that of the counts of all pairs, and of
the pairs that a tenth of them, or half, ruled out would leave.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from itertools import combinations
from statistics import mean

import numpy as np

from benchmarks import parsed
from privcore.algorithms import ALGORITHMS, count, discover
from privcore.algorithms.moment_search.plan import pair_features_sensitivity
from privcore.data import Dataset, load_network
from privcore.data.network import TIERS
from privcore.errors import PrivcoreError
from privcore.extras.lab.planning.knowledge_gain import knowledge_gain
from privcore.extras.lab.planning.surrogate import Shape, Surrogates
from privcore.graphs import PDAG
from privcore.graphs.knowledge import Knowledge, statement
from privcore.measures import cpdag_metrics, skeleton_metrics
from privcore.measures.references import true_graph

KINDS = ("nothing", "two tiers", "three tiers", "a tenth of the non-edges")


def known_of(data: Dataset, seed: int) -> dict[str, Knowledge]:
    """By kind; the non-edges drawn from the seed."""
    three = Knowledge.of(tiers=TIERS[data.name])
    first, *rest = three.tiers
    edges = {frozenset(edge) for edge in data.true_edges or ()}
    nonadjacent = [pair for pair in combinations(data.names, 2) if frozenset(pair) not in edges]
    many = round(len(nonadjacent) / 10)
    drawn = np.random.default_rng([977, seed]).choice(len(nonadjacent), many, replace=False)
    ruled_out = frozenset(statement(nonadjacent[k][0], "--", nonadjacent[k][1]) for k in drawn)
    two = Knowledge((first, tuple(name for tier in rest for name in tier)))
    return dict(zip(KINDS, (Knowledge(), two, three, Knowledge((), ruled_out)), strict=True))


def measured(name: str, epsilon: float | None, data: Dataset, seed: int) -> dict[str, list[float]]:
    """Skeleton F1, CPDAG F1 and share of true arrows, by kind; raises PrivcoreError."""
    source, algorithm = count(data), ALGORITHMS[name]
    chosen = {} if epsilon is None else {"epsilon": epsilon}
    arrows = PDAG.from_names(data.names, data.true_edges or ()).directed
    values = {}
    for kind, known in known_of(data, seed).items():
        settings = {**chosen, "knowledge": known.text}
        graph = discover(source, name, settings, seed=500 + seed, keep_trace=False).graph
        truth = true_graph(algorithm, data.names, data.true_edges or (), known.text)
        values[kind] = [
            skeleton_metrics(graph, truth).f1,
            cpdag_metrics(graph, truth).f1,
            len(graph.directed & arrows) / len(arrows),
        ]
    return values


def table(options: argparse.Namespace) -> None:
    print("| algorithm | ε | networks | " + " | ".join(KINDS) + " |")
    print("|---|---|---|" + "---|" * len(KINDS))
    epsilons = [float(word) for word in options.epsilons.split(",")]
    for name in options.algorithms.split(","):
        for epsilon in epsilons if ALGORITHMS[name].private else (None,):
            rows: dict[str, list[list[float]]] = {kind: [] for kind in KINDS}
            networks = 0
            for network in options.data.split(","):
                try:
                    for seed in range(options.seeds):
                        data = load_network(network).sample(options.rows, 1000 + seed)
                        for kind, values in measured(name, epsilon, data, seed).items():
                            rows[kind].append(values)
                    networks += 1
                except PrivcoreError:
                    continue  # Such as a full table of too many columns.
            shown = "" if epsilon is None else f"{epsilon:g}"
            cells = " | ".join(_cell(rows[kind]) for kind in KINDS)
            print(f"| `{name}` | {shown} | {networks} | {cells} |", flush=True)


def _cell(values: list[list[float]]) -> str:
    if not values:
        return "–"
    return " / ".join(f"{mean(column):.3f}" for column in zip(*values, strict=True))


def print_gain(options: argparse.Namespace) -> None:
    """On random models of yes/no columns."""
    for columns, rows in ((8, 20_000), (20, 20_000)):
        shape = Shape(rows, levels=(2,) * columns)
        names, third = shape.names, columns // 3
        pairs = list(combinations(names, 2))
        drawn = np.random.default_rng(977).choice(len(pairs), len(pairs) // 10, replace=False)
        kinds: Mapping[str, Knowledge] = {
            "two tiers": Knowledge((names[:third], names[third:])),
            "three tiers": Knowledge((names[:third], names[third : 2 * third], names[2 * third :])),
            "a tenth of the pairs ruled out": Knowledge(
                (), frozenset(statement(pairs[k][0], "--", pairs[k][1]) for k in drawn)
            ),
        }
        for name in options.algorithms.split(","):
            if not ALGORITHMS[name].private:
                continue
            for kind, known in kinds.items():
                surrogates = Surrogates(shape, range(1, options.seeds + 1), known.text)
                sentence = knowledge_gain(surrogates, name, {"epsilon": 0.3}).sentence
                print(f"{columns} columns, {name}, {kind}: {sentence}", flush=True)


def sensitivity() -> None:
    """By trying all sets of columns in which two records may differ."""
    for columns in (8, 14, 20):
        whole = pair_features_sensitivity((2,) * columns)
        tenth, half = (_without(columns, share) for share in (10, 2))
        print(
            f"{columns} yes/no columns: {whole:.3f}, without a tenth of the pairs {tenth:.3f}, "
            f"without half of them {half:.3f}"
        )


def _without(columns: int, one_in: int) -> float:
    """The sensitivity without a random share of the pairs.

    A column that differs moves its own code by 2, and the product with each asked column that does
    not by 2k, with k = 1 − 1/levels; that with one that does, too, by 2 less than both.
    """
    measured_pairs = ~np.eye(columns, dtype=bool)
    pairs = list(combinations(range(columns), 2))
    for k in np.random.default_rng(977).choice(len(pairs), len(pairs) // one_in, replace=False):
        i, j = pairs[k]
        measured_pairs[i, j] = measured_pairs[j, i] = False
    alone = 2 + 2 * measured_pairs @ np.full(columns, 0.5)
    best, inside = np.zeros(1), np.zeros((1, columns))
    for column in range(columns):
        more = best + alone[column] - 2 * inside[:, column]
        best = np.concatenate([best, more])
        inside = np.concatenate([inside, inside + measured_pairs[column]])
    return float(np.sqrt(best.max()))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", default=",".join(TIERS))
    parser.add_argument("--algorithms", default=",".join(ALGORITHMS))
    parser.add_argument("--epsilons", default="0.1,0.3,1")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--worth", action="store_true")
    parser.add_argument("--sensitivity", action="store_true")
    options = parsed(parser, data="cancer", rows=1_000, seeds=1, epsilons="1")
    if options.sensitivity:
        sensitivity()
    elif options.worth:
        print_gain(options)
    else:
        table(options)


if __name__ == "__main__":
    main()
