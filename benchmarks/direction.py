"""Accuracy of private directions on generated pairs, in the form of Kusner et al. 2016, Table 2.

Run with ``python -m benchmarks.direction``; ``--write`` ships the table with the product.
"""

from __future__ import annotations

import argparse
import math
import time
from multiprocessing import get_context
from pathlib import Path

from benchmarks import parsed
from privcore.extras.pairs import GENERATORS, directions, infer
from privcore.extras.pairs.directions import Accuracy, accuracy, accuracy_json
from privcore.extras.pairs.generators import PairGenerator

NOISE_LAWS = ("gaussian", "uniform", "laplace")
EPSILONS = (0.1, 1.0, 2.0)
# The paper's four scores one by one, each with all of ε, and ours.
SCORES = ("spearman", "kendall", "hsic", "hsic-root", "iqr")
SETTINGS = [
    *({"protects": "both", "score": score} for score in SCORES),
    *({"protects": "test", "score": score} for score in SCORES),
]


def one(task: tuple[str, str, int, int, int, int]) -> list[Accuracy]:
    """The rows of one generator and one noise distribution."""
    kind, law, rows, datasets, repeats, seed = task
    return accuracy(
        kind,
        law,
        rows=rows,
        datasets=datasets,
        epsilons=EPSILONS,
        settings=SETTINGS,
        repeats=repeats,
        seed=seed,
    )


def table(rows: list[Accuracy], protects: str) -> str:
    """Markdown: generator and score by ε."""
    titles = ["no noise" if math.isinf(e) else f"ε = {e:g}" for e in (math.inf, *EPSILONS)]
    lines = [
        f"| mechanism | noise | score | {' | '.join(titles)} |",
        "|---|---|---|" + "---|" * len(titles),
    ]
    found = {
        (r.generator, r.noise_law, r.score, r.epsilon): r for r in rows if r.protects == protects
    }
    for kind in GENERATORS:
        for law in NOISE_LAWS:
            for score in SCORES:
                cells = [found[kind, law, score, e] for e in (math.inf, *EPSILONS)]
                shown = " | ".join(f"{c.mean:.2f} ± {c.error:.2f}" for c in cells)
                lines.append(f"| {kind} | {law} | {score} | {shown} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=2_000)
    parser.add_argument("--datasets", type=int, default=50)
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", action="store_true", help="ship the table with the product")
    options = parsed(parser, rows=300, datasets=1, repeats=1, write=False)

    pair = PairGenerator("polynomial").sample(8_000, seed=1)
    infer(pair, seed=1)
    start = time.perf_counter()
    result = infer(pair, seed=1)
    print(
        f"n = 8,000: one inference {time.perf_counter() - start:.2f} s "
        f"({result.releases[0].score}, protects {result.parameters['protects']})"
    )
    tasks = [
        (kind, law, options.rows, options.datasets, options.repeats, options.seed)
        for kind in GENERATORS
        for law in NOISE_LAWS
    ]
    start = time.perf_counter()
    with get_context("spawn").Pool(2) as pool:
        rows = [row for part in pool.map(one, tasks, chunksize=1) for row in part]
    for protects in ("both", "test"):
        print(
            f"\nprotects {protects} (mean share of {options.repeats} runs on each of "
            f"{options.datasets} data sets of {options.rows:,} records; standard error)\n"
        )
        print(table(rows, protects))
    print(f"\n{time.perf_counter() - start:.0f} s")
    if options.write:
        path = Path(directions.__file__).parent / "results" / "direction_accuracy.json"
        path.parent.mkdir(exist_ok=True)
        command = "python -m benchmarks.direction"
        path.write_text(
            accuracy_json(
                rows,
                rows_each=options.rows,
                repeats=options.repeats,
                seed=options.seed,
                command=command,
            ),
            encoding="utf-8",
        )


if __name__ == "__main__":
    main()
