"""Whether a second spelling of a column changes other links.

    python -m benchmarks.second_spelling [--tables 40] [--rows 5000] [--first 1] [--epsilons 1,10]

Random networks of up to 10 columns (`random_networks`) as levels and by a few numbers each, and
random linear models of 8 columns of numbers.  One column with a link is spelt a second time: its
levels in another order, or −x for numbers; all rows (*exact*), or 99 of 100 rows (*99 %*).
PC, FCI and moment search run with and without the second spelling.  Printed for each: tables in
which it is found as a repeat; tables whose skeleton changes, if a link with the second spelling
counts as one with its column; links without it; and those that go and come with it.  Moment search
draws other noise for one more column, and may measure in another form, so the last two columns
state how many links differ between two draws of noise without the second spelling.  Graph, data and
noise have one seed, from --first; δ = 10⁻⁶.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks import parsed
from benchmarks.random_networks import random_network
from privcore.algorithms import Discovery, discover
from privcore.data import Column, Dataset

_MOST_COLUMNS, _NUMBERS, _LINK = 10, 8, 0.3
_COPIES = {"exact": 0.0, "99 %": 0.01}


def tables_of_levels(first: int, wanted: int, rows: int) -> Iterator[tuple[int, Dataset]]:
    """Samples of random networks with few columns, with their seeds."""
    seed = first
    while wanted:
        network = random_network(seed)
        if len(network.variables) <= _MOST_COLUMNS:
            yield seed, network.sample(rows, seed)
            wanted -= 1
        seed += 1


def tables_of_numbers(first: int, wanted: int, rows: int) -> Iterator[tuple[int, Dataset]]:
    """Samples of random linear models with normal noise, with their seeds."""
    for seed in range(first, first + wanted):
        generator = np.random.default_rng([5, seed])
        values = generator.standard_normal((_NUMBERS, rows))
        links = [(i, j) for j in range(_NUMBERS) for i in range(j) if generator.random() < _LINK]
        for i, j in links or [(0, 1)]:
            values[j] += generator.choice([-1, 1]) * generator.uniform(0.4, 1.0) * values[i]
        values = np.clip(values / values.std(axis=1, keepdims=True), -5, 5)
        names = [f"x{k}" for k in range(_NUMBERS)]
        columns = tuple(Column(n, "continuous", bounds=(-5.0, 5.0), declared=True) for n in names)
        true = tuple((names[i], names[j]) for i, j in links or [(0, 1)])
        yield seed, Dataset(f"numbers {seed}", columns, tuple(values), true)


def spelt_again(data: Dataset, share: float, seed: int) -> tuple[Dataset, int]:
    """The table with a second spelling of one of its linked columns, and that column.

    share: the share of rows in which the second spelling has the value of another row.
    """
    assert data.true_edges is not None
    generator = np.random.default_rng([6, seed])
    linked = sorted({data.names.index(name) for edge in data.true_edges for name in edge})
    column = int(generator.choice([c for c in linked if np.ptp(data.values[c])]))
    own, values = data.columns[column], data.values[column]
    other = np.where(generator.random(data.n) < share, generator.permutation(values), values)
    if own.is_categorical:
        other = generator.permutation(len(own.levels)).astype(values.dtype)[other]
    else:
        other = -other
    again = Column("again", own.kind, own.levels, own.bounds, declared=True)
    return Dataset(data.name, (*data.columns, again), (*data.values, other)), column


def links(result: Discovery, column: int | None = None) -> set[tuple[int, int]]:
    """The links of a graph, where those of the second spelling count as those of its column."""
    last = len(result.graph.nodes) - 1
    pairs = result.graph.skeleton
    if column is not None:
        pairs = {tuple(sorted(column if c == last else c for c in pair)) for pair in pairs}
    return {(i, j) for i, j in pairs if i != j}


def compared(
    tables: list[tuple[int, Dataset]], share: float, algorithm: str, parameters: dict[str, Any]
) -> Counter[str]:
    """How often the second spelling is found, and how many other links differ."""
    counts: Counter[str] = Counter()
    for seed, data in tables:
        more, column = spelt_again(data, share, seed)
        noise = {} if algorithm == "pc" else {"seed": seed}
        plain = discover(data, algorithm, parameters, keep_trace=False, **noise)
        result = discover(more, algorithm, parameters, keep_trace=False, **noise)
        before, after = links(plain), links(result, column)
        counts["found"] += result.repeats.get(data.p) == result.repeats.get(column, column)
        counts["changed"] += before != after
        counts["links"] += len(before)
        counts["gone"] += len(before - after)
        counts["new"] += len(after - before)
        if noise:
            other = links(discover(data, algorithm, parameters, seed=seed + 10**6))
            counts["gone by noise"] += len(before - other)
            counts["new by noise"] += len(other - before)
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--tables", type=int, default=40)
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--epsilons", default="1,10")
    options = parsed(parser, tables=1, rows=500, epsilons="1")
    levels = list(tables_of_levels(options.first, options.tables, options.rows))
    numbers = list(tables_of_numbers(options.first, options.tables, options.rows))
    runs: list[tuple[str, list[tuple[int, Dataset]], str, dict[str, Any]]] = []
    for kind, tables in (("levels", levels), ("numbers", numbers)):
        runs += [
            (f"{kind}: PC", tables, "pc", {}),
            (f"{kind}: FCI", tables, "pc", {"hidden_causes": True}),
        ]
    for epsilon in map(float, options.epsilons.split(",")):
        for kind, tables, measured in (
            ("levels", levels, "levels"),
            ("lines", levels, "lines"),
            ("numbers", numbers, None),
        ):
            name = f"{kind}: moment search, ε = {epsilon:g}"
            settings = {"epsilon": epsilon, "measured": measured}
            runs.append((name, tables, "moment-search", settings))
    print(
        "| run | copy | found | tables changed | links | gone | new | gone by noise | "
        "new by noise |\n|---|---|---|---|---|---|---|---|---|"
    )
    for name, tables, algorithm, parameters in runs:
        for copy, share in _COPIES.items():
            c = compared(tables, share, algorithm, parameters)
            noise = [c[f"{way} by noise"] if algorithm != "pc" else "" for way in ("gone", "new")]
            cells = [c[key] for key in ("found", "changed", "links", "gone", "new")]
            print("|", " | ".join(map(str, (name, copy, *cells, *noise))), "|", flush=True)


if __name__ == "__main__":
    main()
