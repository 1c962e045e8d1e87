"""Coverage and width of confidence intervals of effects.

    python -m benchmarks.effects [--data cancer,…,alarm] [--random 0] [--first 81000]
        [--rows 10000,100000] [--epsilons 0.1,0.3,1,3] [--seeds 4] [--questions 8]
        [--share 0.5] [--discovered] [--out FILE]
    python -m benchmarks.effects --figure docs/images/effects_coverage.png GIVEN DISCOVERED

For each network, `--questions` questions are drawn: a cause and one of its descendants, or for
every fifth question any other column.  The truth is by exact inference.  Without --discovered the
true graph is given, and one table of cause, outcome and parents of the cause is measured with all
of ε; from all counts at once where there are no more than 2,048 combinations of levels (--share 0),
else with the share of ε.  With --discovered the graph is found with the rest of ε, and the interval
accounts for the unknown graph too. Printed: the number of runs, runs that leave the question open,
the coverage of the others, the median width, and the width with exact counts.  Data seeds from
1000, noise seeds from 500.  --out: one CSV line for each run; --figure draws the coverage of two
such files.
"""

from __future__ import annotations

import argparse
import csv
from collections import defaultdict
from collections.abc import Sequence
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from typing import NamedTuple

import numpy as np

from benchmarks import parsed
from benchmarks.random_networks import networks_from, random_network
from privcore.algorithms import count, discover
from privcore.algorithms.moment_search.moments import Moments
from privcore.algorithms.moment_search.plan import plan_whole
from privcore.algorithms.search.result import NoisyTables
from privcore.counts import InMemoryCounts
from privcore.data import load_network
from privcore.data.network import TIERS, BayesianNetwork
from privcore.effects import EffectPlan, effects_of
from privcore.effects.asking import measured
from privcore.effects.evidence import ExactTables, ParentSet, Tables
from privcore.effects.question import Question, true_effect
from privcore.errors import PrivcoreError
from privcore.graphs import PDAG
from privcore.graphs.adjustment import adjustment_sets, descendants
from privcore.privacy.mechanisms import SimulatedNoise
from privcore.threads import one_thread


class Task(NamedTuple):
    """One network, by its name or by the seed of a random one, and what is tried on it."""

    network: str
    rows: tuple[int, ...]
    epsilons: tuple[float, ...]
    seeds: int
    questions: int
    share: float
    discovered: bool


class Tried(NamedTuple):
    """One interval; holds: whether it has the truth, None where the question was left open."""

    network: str
    rows: int
    epsilon: float
    holds: bool | None
    width: float
    exact: float


def network_of(name: str) -> BayesianNetwork:
    return random_network(int(name)) if name.isdigit() else load_network(name)


def questions_of(network: BayesianNetwork, many: int) -> list[Question]:
    """The same for the same network."""
    names = network.names
    graph = PDAG.from_names(names, network.edges)
    random = np.random.default_rng(len(names))
    after = [sorted(descendants(graph, k) - {k}) for k in range(len(names))]
    causes = [k for k, others in enumerate(after) if others]
    drawn: dict[tuple[int, int], None] = {}
    for k in range(20 * many):
        cause = int(random.choice(causes))
        others = after[cause] if k % 5 else [c for c in range(len(names)) if c != cause]
        drawn[cause, int(random.choice(others))] = None
        if len(drawn) == many:
            break
    return [Question(names[a], names[b]) for a, b in drawn]


def tried(task: Task) -> list[Tried]:
    network = network_of(task.network)
    names = network.names
    columns = [variable.column for variable in network.variables]
    graph = PDAG.from_names(names, network.edges)
    made = []
    for rows in task.rows:
        for seed in range(task.seeds):
            data = network.sample(rows, 1000 + seed)
            try:
                source = count(data)
            except PrivcoreError:
                continue  # A column of one value in so few rows.
            assert isinstance(source, InMemoryCounts)
            exact = Tables([ExactTables(source)], rows)
            runs = {}
            for k, question in enumerate(questions_of(network, task.questions)):
                indexed = question.on(columns)
                truth = true_effect(network, indexed)
                parents = frozenset(network.variables[indexed.cause].parents)
                ways = adjustment_sets(graph, indexed.cause, indexed.outcome)
                best = exact.answer(indexed, tuple(sorted(parents)), False)
                assert best is not None or len(parents) > 3
                least = np.nan if best is None else best.effect.high - best.effect.low
                for epsilon in task.epsilons:
                    noise = SimulatedNoise(500 + 97 * seed + k)
                    with one_thread():
                        if task.discovered:
                            plan, whole = EffectPlan(question, task.share), {"epsilon": epsilon}
                            if epsilon not in runs:
                                runs[epsilon] = discover(
                                    source,
                                    "moment-search",
                                    plan.of_graph(whole, data),
                                    seed=500 + seed,
                                    keep_trace=False,
                                )
                            estimated = effects_of(runs[epsilon], data, plan, whole, noise=noise)
                            interval = estimated.interval
                        elif not ways.affected:
                            continue
                        else:
                            release: NoisyTables
                            plan_of_all = plan_whole(rows, source.levels, epsilon, cells=2048)
                            if task.share or plan_of_all is None or plan_of_all.whole is None:
                                only = ParentSet(parents, ways, graph, True, 1.0)
                                spent = epsilon * (task.share or 0.5)
                                release = measured(source, indexed, [only], spent, noise)
                            else:
                                table = plan_of_all.whole.measure(source, noise)
                                release = Moments(rows, source.levels, [table])
                            evidence = Tables([release], rows)
                            others = min(
                                (*ways.minimal, ways.efficient, ways.parents),
                                key=lambda columns: evidence.cells(tuple(columns)),
                            )
                            answer = evidence.answer(indexed, tuple(sorted(others)), False)
                            interval = answer and (answer.effect.low, answer.effect.high)
                    if interval is None:
                        made.append(Tried(task.network, rows, epsilon, None, np.nan, least))
                        continue
                    low, high = interval
                    holds = low - 1e-9 <= truth <= high + 1e-9
                    made.append(Tried(task.network, rows, epsilon, holds, high - low, least))
    return made


def line(name: str, some: list[Tried]) -> str:
    closed = [one for one in some if one.holds is not None]
    if not closed:
        return f"| {name} | {len(some)} | {len(some)} | – | – | – |"
    held = sum(bool(one.holds) for one in closed) / len(closed)
    # Without adjustment there may be nothing to state: an effect that is known to be none.
    wide = [one for one in closed if one.width > 0]
    width = median(one.width for one in wide) if wide else 0.0
    ratio = median(one.width / one.exact for one in wide if one.exact > 0) if wide else np.nan
    opened = len(some) - len(closed)
    return f"| {name} | {len(some)} | {opened} | {held:.3f} | {width:.3f} | {ratio:.2f} |"


def draw(path: Path, files: Sequence[Path]) -> None:
    """Coverage by ε of runs with the graph given, and of runs that discover it."""
    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt
    import pandas as pd

    figure, axes = plt.subplots(1, len(files), figsize=(7.2, 3.2), dpi=130, sharey=True)
    for place, file, title in zip(axes, files, ("true graph given", "graph found"), strict=True):
        every = pd.read_csv(file)
        closed = every[every["holds"].notna()]
        place.axhline(0.95, linestyle=":", color="#777777")
        for shift, (rows, some) in zip((0.96, 1.04), closed.groupby("rows"), strict=True):
            by = some.astype({"holds": bool}).groupby("epsilon")["holds"].agg(["mean", "size"])
            error = 1.96 * np.sqrt((by["mean"] * (1 - by["mean"]) + 0.01) / by["size"])
            at = by.index.to_numpy() * shift
            place.errorbar(at, by["mean"], error, marker="o", capsize=3, label=f"{rows:,} rows")
        opened = every["holds"].isna().mean()
        place.set(title=f"{title}, {opened:.0%} left open", xscale="log", xlabel="ε")
        place.set_ylim(0.8, 1.01)
        place.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("intervals that hold the effect")
    axes[0].legend(frameon=False, loc="lower right")
    figure.tight_layout()
    figure.savefig(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", default=",".join(TIERS))
    parser.add_argument("--random", type=int, default=0)
    parser.add_argument("--first", type=int, default=81_000)
    parser.add_argument("--cells", default=None)
    parser.add_argument("--rows", default="10000,100000")
    parser.add_argument("--epsilons", default="0.1,0.3,1,3")
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--questions", type=int, default=8)
    parser.add_argument("--share", type=float, default=0.5)
    parser.add_argument("--discovered", action="store_true")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--figure", type=Path)
    parser.add_argument("files", type=Path, nargs="*")
    few = {"random": 1, "seeds": 1, "questions": 1}
    options = parsed(parser, data="cancer", rows="1000", epsilons="1", out=None, **few)
    if options.figure is not None:
        draw(options.figure, options.files)
        return
    rows = tuple(int(word) for word in options.rows.split(","))
    epsilons = tuple(float(word) for word in options.epsilons.split(","))
    chosen = islice(networks_from(options.first, options.cells), options.random)
    networks = [network.name.split()[1] for network in chosen]
    networks = [*filter(None, options.data.split(",")), *networks]
    shared = rows, epsilons, options.seeds, options.questions, options.share, options.discovered
    tasks = [Task(network, *shared) for network in networks]
    with get_context("spawn").Pool(2) as pool:
        every = [one for part in pool.map(tried, tasks, chunksize=1) for one in part]
    if options.out is not None:
        with options.out.open("w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(Tried._fields)
            writer.writerows(every)
    print("| network, rows, ε | runs | left open | coverage | width | beside exact counts |")
    print("|---|---|---|---|---|---|")
    groups: dict[str, list[Tried]] = defaultdict(list)
    for one in every:
        groups[f"all, {one.rows:,}, {one.epsilon:g}"].append(one)
    for one in every:
        name = "random" if one.network.isdigit() else one.network
        groups[f"{name}, {one.rows:,}, all"].append(one)
    for name, some in {"all": every, **groups}.items():
        print(line(name, some))


if __name__ == "__main__":
    main()
