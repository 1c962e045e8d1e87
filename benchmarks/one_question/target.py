"""What is linked with one column: the whole graph, the column alone, and without noise.

    python -m benchmarks.one_question.target [--graphs 60] [--first 9000] [--epsilon 1]
        [--shapes 25x1000,40x1000,60x1000,60x3000,25x10000,12x1000] [--corpus FOLDER] [--tables 60]

Answers 1 … 5 of random linear models with 1.25 edges a column (`small_tables`); the target is a
random column with a link. Printed for each shape: mean F1 of the target's Markov blanket and, after
the slash, of its links alone; by moment search on the whole graph (as it measures by itself), by
the products of the target, by the form that public facts choose, and by PC without privacy; the
share of stated links that are wrong, and the calibration error of their probabilities.
Graph, data and noise have one seed, from --first; δ = 10⁻⁶.

With --corpus, a folder of real tables in one archive, with links that two references without
privacy agree on: in each of --tables tables, the column with the most supported links is the
target. Printed: the share of its supported links that are found, and the share of drawn links in
neither reference.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import tempfile
import zipfile
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from benchmarks import parsed, small_tables
from benchmarks.kinds_of_links import calibration_error
from privcore import read_table
from privcore.algorithms import discover
from privcore.data import Dataset
from privcore.errors import PrivcoreError
from privcore.graphs import PDAG

SHAPES = "25x1000,40x1000,60x1000,60x3000,25x10000,12x1000"
_EDGES = 1.25
_DELTA = 1e-6
WAYS: dict[str, dict[str, Any]] = {
    "whole": {"whole": True},
    "one column": {"measured": "target"},
    "chosen": {},
}


class Asked(NamedTuple):
    """A table, its true graph and the column that is asked about."""

    data: Dataset
    truth: PDAG
    target: int


def asked(columns: int, rows: int, seed: int) -> Asked:
    usual, small_tables._EDGES = small_tables._EDGES, _EDGES
    try:
        data, truth = small_tables.of_answers(columns, rows, seed)
    finally:
        small_tables._EDGES = usual
    linked = [c for c in range(columns) if truth.adjacent(c)]
    return Asked(data, truth, int(np.random.default_rng([5, seed]).choice(linked)))


def blanket(graph: PDAG, column: int) -> set[int]:
    """The columns with an edge in the part of a graph that is about one column."""
    return {end for pair in graph.near(column).skeleton for end in pair} - {column}


def f1(found: set[int], true: set[int]) -> float:
    return 2 * len(found & true) / max(len(found) + len(true), 1) if found or true else 1.0


def run(data: Dataset, name: str, way: Mapping[str, Any], epsilon: float, seed: int) -> Any:
    """The result of one way to ask about a column."""
    settings = {"epsilon": epsilon, "delta": _DELTA, "target": name, **way}
    if settings.pop("whole", False):
        del settings["target"]
    return discover(data, "moment-search", settings, seed=seed)


def on_models(shapes: str, seeds: range, epsilon: float) -> None:
    heads = [*WAYS, "without noise (PC)"]
    print(f"| columns × rows | {' | '.join(heads)} | wrong | calibration error |")
    print("|---|" + "---|" * (len(heads) + 2))
    for shape in shapes.split(","):
        columns, rows = map(int, shape.split("x"))
        scores: dict[str, list[tuple[float, float]]] = {head: [] for head in heads}
        stated: list[tuple[float, bool]] = []
        drawn = wrong = 0
        for seed in seeds:
            data, truth, target = asked(columns, rows, seed)
            true, near = blanket(truth, target), truth.adjacent(target)
            for head in heads:
                if head in WAYS:
                    result = run(data, data.names[target], WAYS[head], epsilon, seed)
                else:
                    result = discover(data, "pc")
                links = result.graph.adjacent(target)
                scores[head].append((f1(blanket(result.graph, target), true), f1(links, near)))
                if head == "one column":
                    drawn, wrong = drawn + len(links), wrong + len(links - near)
                    for (i, j), finding in result.findings.items():
                        if finding.probability is not None:
                            stated.append((finding.probability, i + j - target in near))
        means = ["{:.2f} / {:.2f}".format(*np.mean(scores[head], axis=0)) for head in heads]
        share, error = wrong / max(drawn, 1), calibration_error(stated)
        print(
            f"| {columns} × {rows:,} | {' | '.join(means)} | {share:.2f} | {error:.2f} |",
            flush=True,
        )


def on_tables(folder: pathlib.Path, tables: int, epsilon: float, seed: int) -> None:
    references = json.loads((folder / "references.json").read_text())
    references = sorted(references, key=lambda each: str(each["file"]))
    references = references[:: max(len(references) // tables, 1)][:tables]
    counts = {way: np.zeros(3, dtype=int) for way in WAYS}
    whole, many, supported_links = 0, 0, 0
    with zipfile.ZipFile(folder / "tables.zip") as held, tempfile.TemporaryDirectory() as place:
        for reference in references:
            path = pathlib.Path(place) / "table.csv"
            path.write_bytes(held.read(reference["file"]))
            try:
                data = read_table(path)
            except PrivcoreError:
                continue
            names, old = set(data.names), reference["columns"]
            supported, either = (
                {frozenset((old[i], old[j])) for i, j in reference[kind]}
                for kind in ("supported", "either")
            )
            supported = {pair for pair in supported if pair <= names}
            if not supported:
                continue
            target = max(data.names, key=lambda name: sum(name in pair for pair in supported))
            wanted = {pair for pair in supported if target in pair}
            many, supported_links = many + 1, supported_links + len(wanted)
            for way, given in WAYS.items():
                result = run(data, target, given, epsilon, seed)
                at = data.names.index(target)
                drawn = {frozenset((target, data.names[c])) for c in result.graph.adjacent(at)}
                drawn = {pair for pair in drawn if pair <= set(old)}
                counts[way] += (len(drawn), len(drawn & wanted), len(drawn - supported - either))
                if way == "chosen":
                    whole += not result.alone
    print(f"\n{many} tables, {supported_links} supported links; whole graph chosen {whole} times")
    print("| | found | in neither |\n|---|---|---|")
    for way, (drawn, found, neither) in counts.items():
        shares = found / max(supported_links, 1), neither / max(drawn, 1)
        print("| {} | {:.2f} | {:.2f} |".format(way, *shares))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--graphs", type=int, default=60)
    parser.add_argument("--first", type=int, default=9000)
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--shapes", default=SHAPES)
    parser.add_argument("--corpus", type=pathlib.Path)
    parser.add_argument("--tables", type=int, default=60)
    given = parsed(parser, shapes="12x500", graphs=1)
    if given.shapes:
        seeds = range(given.first, given.first + given.graphs)
        on_models(given.shapes, seeds, given.epsilon)
    if given.corpus:
        on_tables(given.corpus, given.tables, given.epsilon, given.first)


if __name__ == "__main__":
    main()
