"""Small tables whose links are trends, bends or unordered, and which kinds of links are found.

    python -m benchmarks.kinds_of_links [--tables "answers 12 x 1000,bent 12 x 2000,…"] [--graphs 8]
        [--first 7000] [--epsilons 1] [--algorithms moment-search] [--set NAME=VALUE …]
        [--rivals] [--limit 300]

*Answers*: a random linear model, rounded to 1 … 5 (`small_tables`).  *Bent*: the same graphs, but a
cause acts by a line, a saturating curve, a sine or a U, drawn for each edge.  *Unordered*: five
levels without an order, additive in the logits, 1.2 edges a column, at most three parents.  Printed
for each table and ε: mean skeleton and CPDAG F1, the share of drawn links that are wrong, the links
found of each kind, the calibration error of edge probabilities (ten bins), and the seconds of a
run.  Graph, data and noise have one seed, from --first; δ = 10⁻⁶.  --rivals: MST and AIM too, each
then PC on its private rows (`private_rows`), with the same ε and δ for one record replaced; a
synthesis that takes more than --limit seconds is ended, and its graph left out.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from benchmarks import parsed
from benchmarks.private_rows import RIVALS, NotMade, graph_of
from benchmarks.random_networks import parents_among
from benchmarks.small_tables import as_levels, of_answers
from privcore import kernels
from privcore.algorithms import discover, get_algorithm
from privcore.arrays import Matrix
from privcore.data import Column, Dataset
from privcore.data.network import BayesianNetwork, Variable
from privcore.graphs import PDAG, cpdag_of_dag
from privcore.measures import cpdag_metrics, skeleton_metrics

TABLES = (
    "answers 12 x 1000,answers 25 x 3000,answers 12 x 10000,unordered 16 x 2000,"
    "unordered 8 x 1000,bent 12 x 2000,bent 12 x 10000"
)
_LEVELS = 5
_EDGES, _MOST_PARENTS = 1.2, 3
_BENDS: dict[str, Callable[[Matrix], Matrix]] = {
    "linear": lambda x: x,
    "saturating": lambda x: np.tanh(2 * x),
    "sine": lambda x: np.sin(3 * x),
    "U": lambda x: x * x - 1,
}
_SHARES = (0.4, 0.2, 0.15, 0.25)
_BINS = 10

Kinds = dict[tuple[int, int], str]


class Table(NamedTuple):
    """A table, its true CPDAG, and the kind of each link (i < j)."""

    data: Dataset
    truth: PDAG
    kinds: Kinds


def _dag(columns: int, generator: np.random.Generator) -> tuple[list[int], list[list[int]]]:
    order = [int(c) for c in generator.permutation(columns)]
    pairs = [(order[i], order[j]) for j in range(columns) for i in range(j)]
    generator.shuffle(pairs)
    levels = [_LEVELS] * columns
    wanted = int(_EDGES * columns)
    return order, parents_among(pairs, levels, wanted, _MOST_PARENTS, _LEVELS**_MOST_PARENTS)


def _edges(parents: list[list[int]]) -> set[tuple[int, int]]:
    return {(cause, effect) for effect, causes in enumerate(parents) for cause in causes}


def answers(columns: int, rows: int, seed: int) -> Table:
    data, truth = of_answers(columns, rows, seed)
    return Table(data, truth, dict.fromkeys(truth.skeleton, "linear"))


def bent(columns: int, rows: int, seed: int) -> Table:
    """Answers 1 … 5 of a model whose links are lines, saturating curves, sines and Us."""
    generator = np.random.default_rng([83, seed])
    order, parents = _dag(columns, generator)
    values, kinds = np.zeros((rows, columns)), {}
    for column in order:
        values[:, column] = generator.normal(size=rows)
        for cause in parents[column]:
            kind = str(generator.choice(list(_BENDS), p=_SHARES))
            part = _BENDS[kind](values[:, cause])
            weight = generator.uniform(0.5, 0.9) * generator.choice([-1, 1])
            values[:, column] += weight * part / part.std()
            kinds[min(cause, column), max(cause, column)] = kind
        values[:, column] /= values[:, column].std()
    shifted = 2 + 1.1 * values + generator.uniform(-0.4, 0.4, columns)
    names = tuple(f"q{column + 1}" for column in range(columns))
    codes = np.clip(np.round(shifted), 0, _LEVELS - 1).astype(int)
    return Table(as_levels(codes, names), cpdag_of_dag(names, _edges(parents)), kinds)


def unordered(columns: int, rows: int, seed: int) -> Table:
    """Columns of five levels without an order, additive in the logits."""
    generator = np.random.default_rng([89, seed])
    _, parents = _dag(columns, generator)
    variables = []
    for column, causes in enumerate(parents):
        logits = np.zeros((_LEVELS,) * (len(causes) + 1))
        logits = logits + generator.normal(0, 0.5, _LEVELS)
        for k in range(len(causes)):
            shape = [1] * len(causes) + [_LEVELS]
            shape[k] = _LEVELS
            logits = logits + generator.normal(0, 1.1, (_LEVELS, _LEVELS)).reshape(shape)
        shares = np.exp(logits - logits.max(axis=-1, keepdims=True))
        shares = (shares / shares.sum(axis=-1, keepdims=True)).reshape(-1, _LEVELS)
        levels = tuple("abcde"[:_LEVELS])
        described = Column(f"X{column + 1}", "nominal", levels, declared=True)
        variables.append(Variable(described, tuple(causes), shares))
    network = BayesianNetwork("unordered", "Unordered levels", "", "", tuple(variables))
    names, edges = network.sample(10, 0).names, _edges(parents)
    truth = cpdag_of_dag(names, edges)
    return Table(network.sample(rows, seed), truth, dict.fromkeys(truth.skeleton, "unordered"))


_MADE = {"answers": answers, "bent": bent, "unordered": unordered}


def table(name: str, seed: int) -> Table:
    """The table of a name such as "bent 12 x 2000"."""
    kind, columns, _, rows = name.split()
    return _MADE[kind](int(columns), int(rows), seed)


def calibration_error(stated: list[tuple[float, bool]]) -> float:
    """The expected calibration error: mean distance of stated and observed shares over bins."""
    bins: dict[int, list[tuple[float, bool]]] = {}
    for probability, holds in stated:
        bins.setdefault(min(int(probability * _BINS), _BINS - 1), []).append((probability, holds))
    gaps = [abs(sum(p for p, _ in b) - sum(holds for _, holds in b)) for b in bins.values()]
    return sum(gaps) / max(len(stated), 1)


def measured(
    name: str, algorithm: str, settings: dict[str, Any], seeds: range, limit: int = 0
) -> str:
    """One line of figures; limit: the seconds of a rival's synthesis."""
    scores, found, true, stated = [], Counter[str](), Counter[str](), []
    drawn = wrong = 0
    rival = algorithm in RIVALS
    private = not rival and get_algorithm(algorithm).private
    for seed in seeds:
        data, truth, kinds = table(name, seed)
        start = time.perf_counter()
        findings: Any = {}
        if rival:
            try:
                graph = graph_of(algorithm, data, settings["epsilon"], seed, limit)
            except NotMade:
                continue
        else:
            result = discover(data, algorithm, settings, **({"seed": seed} if private else {}))
            graph, findings = result.graph, result.findings
        seconds = time.perf_counter() - start
        scores.append((skeleton_metrics(graph, truth).f1, cpdag_metrics(graph, truth).f1, seconds))
        links = set(graph.skeleton)
        drawn, wrong = drawn + len(links), wrong + len(links - set(truth.skeleton))
        true.update(kinds.values())
        found.update(kind for pair, kind in kinds.items() if pair in links)
        for pair, finding in findings.items():
            if finding.probability is not None:
                stated.append((finding.probability, pair in truth.skeleton))
    if not scores:
        return "– | – | – | – | –"
    skeleton, cpdag, seconds = np.mean(scores, axis=0)
    graphs = f" ({len(scores)} graphs)" if len(scores) < len(seeds) else ""
    kinds_found = ", ".join(f"{kind} {found[kind]}/{many}" for kind, many in sorted(true.items()))
    error = f"{calibration_error(stated):.3f}" if stated else "–"
    return (
        f"{skeleton:.3f} / {cpdag:.3f}{graphs} | {wrong / max(drawn, 1):.2f} | {kinds_found} | "
        f"{error} | {seconds:.2f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--tables", default=TABLES)
    parser.add_argument("--graphs", type=int, default=8)
    parser.add_argument("--first", type=int, default=7000)
    parser.add_argument("--epsilons", default="1")
    parser.add_argument("--algorithms", default="moment-search")
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--rivals", action="store_true")
    parser.add_argument("--limit", type=int, default=300)
    given = parsed(parser, tables="answers 12 x 1000", graphs=1, rivals=False)
    kernels.load()
    extra = dict(setting.split("=", 1) for setting in given.set)
    print("| table | ε | algorithm | skeleton / CPDAG | wrong | found | calibration error | s |")
    print("|---|---|---|---|---|---|---|---|")
    seeds = range(given.first, given.first + given.graphs)
    for name in given.tables.split(","):
        for epsilon in map(float, given.epsilons.split(",")):
            for algorithm in [*given.algorithms.split(","), *(RIVALS if given.rivals else ())]:
                private = algorithm in RIVALS or get_algorithm(algorithm).private
                settings = {"epsilon": epsilon} if private else {}
                line = measured(name, algorithm, {**settings, **extra}, seeds, given.limit)
                print(f"| {name} | {epsilon:g} | {algorithm} | {line} |", flush=True)


if __name__ == "__main__":
    main()
