"""Does a graph hold: random DAGs, and the same with an arrow taken away, added or turned.

    python -m benchmarks.one_question.graph [--graphs 40] [--rows 1000,10000] [--epsilon 1]

Linear models over 8 columns with 1.2 arrows a column, at most three parents, weights of .4 to .8:
as numbers, and rounded to answers 1 … 5.  A wrong contradiction is one of an independence that the
true graph implies.  Printed per kind of columns and number of rows:

graphs contradicted although right; of the arrows taken away, how many contradict the graph at their
own pair, and how many are among the links asked for; of the arrows added, how many are seen as
supported, not seen, or left open; of the arrows turned (so that the independences change), how many
contradict the graph; wrong contradictions of all tests of an independence that holds.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from benchmarks import parsed
from benchmarks.small_tables import as_levels
from privcore.arrays import Matrix
from privcore.data import Column, Dataset
from privcore.effects.by_graph import check_data
from privcore.graphs import cpdag_of_dag
from privcore.graphs.adjustment import d_separated
from privcore.graphs.pdag import Edge
from privcore.graphs.stated import StatedGraph
from privcore.measures.graph_check import GraphCheck, PairCheck
from privcore.privacy.mechanisms import SimulatedNoise

COLUMNS, FAR = 8, 4.0
_EDGES, _MOST_PARENTS = 1.2, 3
KINDS = ("numbers", "answers")


def drawn(kind: str, rows: int, seed: int) -> tuple[Dataset, StatedGraph]:
    """A table of a random linear model, and the model's graph."""
    rng = np.random.default_rng([7, seed])
    order = rng.permutation(COLUMNS)
    pairs = [(int(order[i]), int(order[j])) for j in range(COLUMNS) for i in range(j)]
    rng.shuffle(pairs)
    parents: list[list[int]] = [[] for _ in order]
    for cause, effect in pairs:
        if sum(map(len, parents)) < int(_EDGES * COLUMNS) and len(parents[effect]) < _MOST_PARENTS:
            parents[effect].append(cause)
    values = np.zeros((rows, COLUMNS))
    for column in order:
        values[:, column] = rng.normal(size=rows)
        for cause in parents[column]:
            weight = rng.uniform(0.4, 0.8) * rng.choice([-1, 1])
            values[:, column] += weight * values[:, cause]
        values[:, column] /= values[:, column].std()
    names = tuple(f"q{k}" for k in range(COLUMNS))
    arrows = frozenset((int(i), j) for j, causes in enumerate(parents) for i in causes)
    return table(kind, values, names), StatedGraph(names, arrows)


def table(kind: str, values: Matrix, names: Sequence[str]) -> Dataset:
    """Standardised values as numbers between public bounds, or as answers."""
    if kind == "answers":
        return as_levels(np.clip(np.round(values * 1.2), -2, 2) + 2, names)
    columns = [Column(name, "continuous", bounds=(-FAR, FAR), declared=True) for name in names]
    return Dataset("linear", tuple(columns), tuple(np.clip(values, -FAR, FAR).T.copy()))


def wrong_graphs(graph: StatedGraph, seed: int) -> dict[str, tuple[StatedGraph, Edge]]:
    """The graph with an arrow taken away, added or turned, and this arrow."""
    rng = np.random.default_rng([8, seed])
    own = [sorted(graph.directed)[k] for k in rng.permutation(len(graph.directed))]
    absent = sorted(graph.independences())
    made = {"taken": (replace(graph, directed=graph.directed - {own[0]}), own[0])}
    added = graph.with_link(*absent[int(rng.integers(len(absent)))])[0]
    (new,) = added.directed - graph.directed
    made["added"] = added, new
    usual = cpdag_of_dag(graph.names, graph.directed)
    for arrow in own:
        left = replace(graph, directed=graph.directed - {arrow})
        for turned in left.with_link(*arrow):
            if arrow[::-1] in turned.directed and (
                cpdag_of_dag(graph.names, turned.directed) != usual
            ):
                return {**made, "turned": (turned, arrow)}
    return made


def holds(graph: StatedGraph, pair: PairCheck) -> bool:
    """Whether the true graph implies the independence that is tested."""
    x, y, *given = (graph.names.index(name) for name in (*pair.pair, *(pair.given or ())))
    parents = [{i for i, j in graph.directed if j == k} for k in range(len(graph.names))]
    return d_separated(parents, x, y, given)


def verdict_on(check: GraphCheck, pair: Edge) -> str:
    """The verdict on a pair of columns."""
    ends = {check.graph.names[end] for end in pair}
    return next(one.verdict for one in check.pairs if set(one.pair) == ends)


def cell(kind: str, rows: int, graphs: int, epsilon: float) -> Counter[str]:
    """The counts of one kind of columns and one number of rows."""
    counts: Counter[str] = Counter()
    for seed in range(graphs):
        data, true = drawn(kind, rows, seed)
        states = {"right": (true, (0, 1)), **wrong_graphs(true, seed)}
        for name, (graph, arrow) in states.items():
            noise = SimulatedNoise(seed)
            check = check_data(data, graph, {"epsilon": epsilon}, noise=noise).check
            against = check.having("contradicted")
            counts["wrong"] += sum(holds(true, pair) for pair in against)
            counts["implied"] += sum(holds(true, pair) for pair in check.implied)
            counts[name] += 1
            if name in ("right", "turned"):
                counts[f"{name} contradicted"] += bool(against)
            elif name == "taken":
                ends = {graph.names[end] for end in arrow}
                counts["taken contradicted"] += verdict_on(check, arrow) == "contradicted"
                counts["taken asked for"] += any(set(link) == ends for link in check.asked_for)
            else:
                counts[f"added {verdict_on(check, arrow)}"] += 1
    return counts


def graph_part(
    graphs: int = 40, rows: Sequence[int] = (1_000, 10_000), epsilon: float = 1.0
) -> None:
    """Print the table."""
    print(
        f"{'columns':<9}{'rows':>8}{'right':>10}{'taken away':>12}{'asked for':>11}"
        f"{'added: seen/not/open':>22}{'turned':>10}{'wrong contradictions':>24}"
    )
    for kind in KINDS:
        for many in rows:
            got = cell(kind, many, graphs, epsilon)
            added = "/".join(
                str(got[f"added {verdict}"])
                for verdict in ("supported", "not seen", "inconclusive")
            )
            print(
                f"{kind:<9}{many:>8,}{_of(got, 'right contradicted', 'right'):>10}"
                f"{_of(got, 'taken contradicted', 'taken'):>12}"
                f"{_of(got, 'taken asked for', 'taken'):>11}{added:>22}"
                f"{_of(got, 'turned contradicted', 'turned'):>10}"
                f"{_of(got, 'wrong', 'implied'):>24}",
                flush=True,
            )


def _of(counts: Counter[str], part: str, whole: str) -> str:
    return f"{counts[part]} of {counts[whole]:,}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", type=int, default=40)
    parser.add_argument("--rows", default="1000,10000", help="numbers of rows")
    parser.add_argument("--epsilon", type=float, default=1.0)
    options = parsed(parser, graphs=1, rows="500")
    graph_part(options.graphs, [int(n) for n in options.rows.split(",")], options.epsilon)


if __name__ == "__main__":
    main()
