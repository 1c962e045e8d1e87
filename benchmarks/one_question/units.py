"""Coverage and width of intervals of effects on numbers, in their unit.

    python -m benchmarks.one_question.units [--dags 20] [--first 1] [--rows 1000,10000]
        [--epsilons 0.3,1,3] [--questions 4] [--share 0.5] [--columns 8] [--out FILE]

Random DAGs of numbers; in every second one, columns without parents may be yes/no or have three
levels.  A number is a linear function of its parents plus normal noise or, if "curved", of tanh of
twice each of them.  Public bounds are ten standard deviations wide.  A question is a cause and one
of its descendants, or for every fourth question any later column.  The truth is exact, for a
curved model from 200,000 rows, all of them raised by one unit.

Printed for each number of rows and ε, with the true graph given, with a graph found by the rest of
ε, and with one found when the order of the columns is known: questions, those left open and those
too noisy to tell, the share of the other intervals that hold the truth, the same for all intervals,
the median width relative to least squares on the exact rows with the true parents, and the median
of middles of intervals relative to the truth.
"""

from __future__ import annotations

import argparse
import csv
import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from typing import NamedTuple

import numpy as np

from benchmarks import parsed
from privcore.algorithms import discover
from privcore.algorithms.search.result import Discovery
from privcore.arrays import Matrix
from privcore.data import Column, Dataset
from privcore.effects import EffectPlan, Question, effects_of, without_privacy
from privcore.effects.asking import Doubts, answered, hull, second_release
from privcore.effects.evidence import parent_sets
from privcore.effects.model import reach, too_noisy
from privcore.graphs import PDAG
from privcore.graphs.constraints import Constraints
from privcore.graphs.knowledge import Knowledge
from privcore.privacy.mechanisms import SimulatedNoise
from privcore.threads import one_thread

_BOUND, _LARGE = 5.0, 200_000


@dataclass(frozen=True)
class Model:
    """A random structural model; columns are in causal order.

    weights: [j, i] of column i in column j.  levels: of each column, 0 for numbers.  steps: what
    each level adds.
    """

    weights: Matrix
    levels: tuple[int, ...]
    steps: Matrix
    curved: bool

    @classmethod
    def drawn(cls, seed: int, columns: int, *, curved: bool) -> Model:
        random = np.random.default_rng(seed)
        there = np.tril(random.random((columns, columns)) < 2.5 / (columns - 1), -1)
        size = random.uniform(0.3, 1.2, there.shape) * random.choice([-1, 1], there.shape)
        roots = ~there.any(axis=1)
        kinds = random.choice([0, 2, 3], columns) if seed % 2 else np.zeros(columns, int)
        levels = tuple(int(k) for k in np.where(roots, kinds, 0))
        return cls(there * size, levels, random.normal(0, 1.5, (columns, 3)), curved)

    def rows(self, n: int, seed: int, cause: int = -1, value: float = 0.0) -> tuple[Matrix, Matrix]:
        """Values as they act, and as they are stored.

        cause: the column that is set to a level, by its index, or, if a number, raised by `value`.
        """
        random = np.random.default_rng([seed, 7])
        acts = np.zeros((n, len(self.levels)))
        stored = np.zeros_like(acts)
        for j, levels in enumerate(self.levels):
            before = np.tanh(2 * acts) if self.curved else acts
            own = before @ self.weights[j] + random.normal(size=n)
            if levels:
                own = random.integers(0, levels, n).astype(float)
            if j == cause:
                own = np.full(n, value) if levels else own + value
            stored[:, j] = own
            acts[:, j] = self.steps[j][stored[:, j].astype(int)] if levels else stored[:, j]
        return acts, stored

    def dataset(self, n: int, seed: int) -> Dataset:
        _, stored = self.rows(n, seed)
        spread = self.rows(20_000, 0)[1].std(axis=0) * _BOUND
        columns, values = [], []
        for j, levels in enumerate(self.levels):
            own = stored[:, j]
            if levels:
                columns.append(Column(f"c{j}", "nominal", tuple("abc"[:levels]), declared=True))
                values.append(own.astype(np.uint8))
            else:
                ends = (-float(spread[j]), float(spread[j]))
                columns.append(Column(f"c{j}", "continuous", bounds=ends, declared=True))
                values.append(np.clip(own, *ends))
        return Dataset("random", tuple(columns), tuple(values))

    @property
    def graph(self) -> PDAG:
        names = [f"c{j}" for j in range(len(self.levels))]
        edges = [(names[i], names[j]) for j, i in zip(*np.nonzero(self.weights), strict=True)]
        return PDAG.from_names(names, directed=edges)

    def questions(self, many: int, seed: int) -> list[tuple[int, int]]:
        random, p = np.random.default_rng([seed, 3]), len(self.levels)
        reached = np.linalg.inv(np.eye(p) - (self.weights != 0)) > 0.5
        after = [(i, j) for i in range(p) for j in range(i + 1, p) if reached[j, i]]
        later = [(i, j) for i in range(p) for j in range(i + 1, p) if not self.levels[j]]
        asked: dict[tuple[int, int], None] = {}
        for k in range(20 * many):
            pairs = later if k % 4 == 3 or not after else after
            asked[pairs[int(random.integers(len(pairs)))]] = None
            if len(asked) == many:
                break
        return list(asked)

    def truth(self, cause: int, outcome: int) -> float:
        """The change of the outcome's mean: per unit, or from the first to the last level."""
        low, high = (0, self.levels[cause] - 1) if self.levels[cause] else (-0.5, 0.5)
        if self.curved:
            ends = [
                self.rows(_LARGE, 1, cause, value)[0][:, outcome].mean() for value in (low, high)
            ]
            return float(ends[1] - ends[0])
        change = self.steps[cause][high] - self.steps[cause][low] if self.levels[cause] else 1.0
        total = np.linalg.inv(np.eye(len(self.levels)) - self.weights)
        return float(total[outcome, cause] * change)


class Task(NamedTuple):
    """One model, and what is tried on it."""

    seed: int
    columns: int
    curved: bool
    rows: tuple[int, ...]
    epsilons: tuple[float, ...]
    questions: int
    share: float


class Tried(NamedTuple):
    """One interval; exact: width by least squares on the rows.  holds: None if left open."""

    seed: int
    kind: str
    given: str
    rows: int
    epsilon: float
    cause: int
    outcome: int
    holds: bool | None
    noisy: bool
    width: float
    exact: float
    truth: float
    low: float
    high: float


def tried(task: Task) -> list[Tried]:
    with one_thread():
        return list(_tried(task))


def _tried(task: Task) -> Iterator[Tried]:
    model = Model.drawn(task.seed, task.columns, curved=task.curved)
    kind = "curved" if task.curved else "mixed" if any(model.levels) else "numbers"
    order = Knowledge.of(tiers=";".join(model.graph.nodes)).text
    for rows, epsilon in product(task.rows, task.epsilons):
        data = model.dataset(rows, 1000 + task.seed)
        runs: dict[str, Discovery] = {}
        for k, (cause, outcome) in enumerate(model.questions(task.questions, task.seed)):
            levels = data.columns[cause].levels
            ends = (levels[0], levels[-1]) if levels else (None, None)
            question = Question(data.names[cause], data.names[outcome], *ends)
            indexed, truth = question.on(data.columns), model.truth(cause, outcome)
            (best,) = without_privacy(data, model.graph, question)
            assert best.estimate is not None
            least, most = best.estimate.high - best.estimate.low, reach(data, indexed)
            plan = EffectPlan(question, task.share)
            # Each run has noise of its own.
            case = task.seed, k, rows, round(1_000 * epsilon)
            seed = int(np.random.default_rng(case).integers(2**31))
            intervals = {}
            for given, known in (("found", ""), ("order", order)):
                whole = {"epsilon": epsilon, "knowledge": known}
                if given not in runs:
                    settings = plan.of_graph(whole, data)
                    runs[given] = discover(
                        data, "moment-search", settings, seed=seed, keep_trace=False
                    )
                noise = SimulatedNoise(seed)
                intervals[given] = effects_of(runs[given], data, plan, whole, noise=noise).interval
            none = Constraints.none(len(data.columns))
            sets = parent_sets(model.graph, (), none, cause, outcome)
            (event,) = plan.second({"epsilon": epsilon}, data, runs["found"].planned)
            evidence = second_release(
                runs["found"], data, indexed, sets, Doubts(), event, SimulatedNoise(seed)
            )
            intervals["given"], _ = hull(answered(indexed, sets, evidence, data.names), True)
            for given, interval in intervals.items():
                told = (task.seed, kind, given, rows, epsilon, cause, outcome)
                if interval is None:
                    yield Tried(*told, None, False, math.nan, least, truth, math.nan, math.nan)
                    continue
                low, high = interval
                holds, wide = low - 1e-9 <= truth <= high + 1e-9, too_noisy(interval, most)
                yield Tried(*told, holds, wide, high - low, least, truth, low, high)


def line(name: str, some: Sequence[Tried]) -> str:
    closed = [one for one in some if one.holds is not None]
    told = [one for one in closed if not one.noisy]
    opened, noisy = len(some) - len(closed), len(closed) - len(told)
    if not told:
        return f"| {name} | {len(some)} | {opened} | {noisy} | – | – | – | – |"
    both = (sum(bool(one.holds) for one in part) / len(part) for part in (told, closed))
    wide = [one.width / one.exact for one in told if one.width > 0 and one.exact > 0]
    ratio = f"{median(wide):.2f}" if wide else "–"
    middles = [(one.low + one.high) / 2 / one.truth for one in told if one.truth]
    shares = " | ".join(f"{share:.3f}" for share in both)
    bias = f"{median(middles):.2f}" if middles else "–"
    return f"| {name} | {len(some)} | {opened} | {noisy} | {shares} | {ratio} | {bias} |"


def units(options: argparse.Namespace) -> list[Tried]:
    """Run all tasks and print the table."""
    rows = tuple(int(word) for word in options.rows.split(","))
    epsilons = tuple(float(word) for word in options.epsilons.split(","))
    shared = rows, epsilons, options.questions, options.share
    seeds = range(options.first, options.first + options.dags)
    tasks = [
        Task(seed, options.columns, curved, *shared) for curved in options.curved for seed in seeds
    ]
    with get_context("spawn").Pool(2) as pool:
        every = [one for part in pool.map(tried, tasks, chunksize=1) for one in part]
    print(
        "| graph, truth, rows, ε | questions | open | too noisy | hold | of all | width | middle |"
    )
    print("|---|---|---|---|---|---|---|---|")
    groups: dict[str, list[Tried]] = defaultdict(list)
    for one in every:
        kind = "curved" if one.kind == "curved" else "linear"
        groups[f"{one.given}, {kind}, all"].append(one)
        if kind == "linear":
            groups[f"{one.given}, {one.kind}, all"].append(one)
            groups[f"{one.given}, {kind}, {one.rows:,}, {one.epsilon:g}"].append(one)
    for name in sorted(groups, reverse=True):
        print(line(name, groups[name]))
    return every


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dags", type=int, default=20)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--columns", type=int, default=8)
    parser.add_argument("--rows", default="1000,10000")
    parser.add_argument("--epsilons", default="0.3,1,3")
    parser.add_argument("--questions", type=int, default=4)
    parser.add_argument("--share", type=float, default=0.5)
    parser.add_argument(
        "--linear", dest="curved", action="store_const", const=(False,), default=(False, True)
    )
    parser.add_argument("--out", type=Path)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add_options(parser)
    few = {"dags": 1, "questions": 1, "columns": 4}
    options = parsed(parser, rows="1000", epsilons="1", out=None, **few)
    every = units(options)
    if options.out is not None:
        with options.out.open("w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(Tried._fields)
            writer.writerows(every)


if __name__ == "__main__":
    main()
