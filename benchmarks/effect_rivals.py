"""Private effects compared with present alternatives, from the same samples and at the same ε.

    python -m benchmarks.effect_rivals [--data cancer,…,asia] [--rows 100000] [--seeds 3]
        [--questions 4] [--epsilons 0.3,1,3] [--limit 300] [--environments FOLDER]

AIM + PC + regression: private synthetic rows (dpmm, in an environment of its own, made on first
use; its noise lowered so that all have (ε, δ) for one record replaced), PC on them as if they were
real, effects over its class with the intervals of exact counts.  Averaged groups: the rows in
groups, the effect in each by standardisation over the true parents, which it is given, the mean of
these with Laplace noise, and a second noisy number for their spread (after Guha & Reiter 2024).
Ours: the graph is found, half of ε measures the effect.  The questions of `benchmarks.effects`.
For each: the share of intervals that contain the true effect, the median width, the mean distance
of the middle of the estimates from the truth, and runs left open or refused. Data seeds from 1000,
noise seeds from 500.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from pathlib import Path
from statistics import mean, median
from typing import NamedTuple

import numpy as np

from benchmarks import parsed
from benchmarks.effects import questions_of
from benchmarks.peers.environments import default_folder, interpreter
from benchmarks.private_rows import COSTS, PC, NotMade, synthetic
from privcore.algorithms import count, discover
from privcore.counts import InMemoryCounts
from privcore.data import Dataset, load_network
from privcore.data.network import BayesianNetwork
from privcore.effects import Effect, EffectPlan, Question, effects_of, true_effect, without_privacy
from privcore.effects.question import IndexedQuestion
from privcore.errors import PrivcoreError
from privcore.privacy.mechanisms import SimulatedNoise

OURS, AIM, GROUPS = "moment search", "AIM + PC + regression", "averaged groups, parents known"
_SHARE, _GROUPS = 0.5, 200


class RivalAnswer(NamedTuple):
    """One answer; interval: None where the question was left open."""

    method: str
    epsilon: float
    truth: float
    middle: float
    interval: tuple[float, float] | None


def of_effects(effects: tuple[Effect, ...]) -> tuple[float, tuple[float, float] | None]:
    """The middle of the estimates, and the interval that holds theirs."""
    stated = [e.estimate for e in effects if e.estimate is not None]
    if not stated:
        return math.nan, None
    values = [e.value for e in stated]
    return (min(values) + max(values)) / 2, (
        min(e.low for e in stated),
        max(e.high for e in stated),
    )


def averaged_groups(
    data: Dataset, indexed: IndexedQuestion, parents: tuple[int, ...], epsilon: float, seed: int
) -> tuple[float, tuple[float, float]]:
    """The mean of the groups' effects and its 95 % interval, ε-DP for one record replaced.

    A record is in one group, whose effect is in [−1, 1]: the mean changes by 2/M at most, the
    spread, clipped at 1, by 1/M.  A third of ε is for the spread.
    """
    noise = SimulatedNoise(seed)
    groups = np.random.default_rng(seed).permutation(data.n) % _GROUPS
    causes, outcomes = data.values[indexed.cause], data.values[indexed.outcome]
    strata = np.zeros(data.n, dtype=np.int64)
    for parent in parents:
        strata = strata * data.levels[parent] + data.values[parent]
    many = math.prod(data.levels[p] for p in parents)
    here = np.zeros((_GROUPS, many, 2, 2))
    total = np.zeros((_GROUPS, many))
    for at, value in enumerate((indexed.compared, indexed.to)):
        of = causes == value
        np.add.at(here, (groups[of], strata[of], at, (outcomes[of] == indexed.level) * 1), 1)
    np.add.at(total, (groups, strata), 1)
    rates = (here[..., 1] + 0.5) / (here.sum(axis=3) + 1)
    each = ((rates[..., 1] - rates[..., 0]) * total).sum(axis=1) / total.sum(axis=1)
    middle = noise.laplace(float(each.mean()), 2 / (_GROUPS * epsilon * 2 / 3))
    spread = noise.laplace(min(float(each.var()), 1.0), 1 / (_GROUPS * epsilon / 3))
    wide = math.sqrt(max(spread, 0.0) / _GROUPS + 2 * (2 / (_GROUPS * epsilon * 2 / 3)) ** 2)
    return middle, (middle - 1.96 * wide, middle + 1.96 * wide)


def answers(
    network: BayesianNetwork,
    data: Dataset,
    epsilon: float,
    seed: int,
    python: Path,
    limit: int,
    many: int,
) -> Iterator[RivalAnswer]:
    """By each method, of each question; seed: of the sample."""
    source = count(data)
    assert isinstance(source, InMemoryCounts)
    noise, whole = SimulatedNoise(500 + seed), {"epsilon": epsilon}
    first = EffectPlan(Question(network.names[0], network.names[1]), _SHARE).of_graph(whole, data)
    run = discover(source, "moment-search", first, noise=noise, keep_trace=False)
    rows: Dataset | None = None
    try:
        rows, _ = synthetic(python, "aim", data, epsilon, 500 + seed, limit, cost=COSTS["aim"])
        graph = discover(rows, "pc", PC, keep_trace=False).graph
    except (NotMade, PrivcoreError) as why:
        print(f"{network.name}, ε = {epsilon:g}: AIM {why}", flush=True)
    for k, question in enumerate(questions_of(network, many)):
        indexed = question.on(data.columns)
        truth = true_effect(network, indexed)
        ours = effects_of(run, data, EffectPlan(question, _SHARE), whole, noise=noise)
        yield RivalAnswer(OURS, epsilon, truth, of_effects(ours.shown)[0], ours.interval)
        if rows is not None:
            try:
                middle, interval = of_effects(without_privacy(rows, graph, question))
            except PrivcoreError:
                middle, interval = math.nan, None
            yield RivalAnswer(AIM, epsilon, truth, middle, interval)
        parents = network.variables[indexed.cause].parents
        middle, interval = averaged_groups(data, indexed, parents, epsilon, 900 + 31 * seed + k)
        yield RivalAnswer(GROUPS, epsilon, truth, middle, interval)


def line(name: str, epsilon: float, method: str, given: list[RivalAnswer]) -> str:
    closed = [(s, s.interval) for s in given if s.interval is not None]
    if not closed:
        return f"| {name} | {epsilon:g} | {method} | – | – | – | {len(given)} of {len(given)} |"
    held = mean(low - 1e-9 <= s.truth <= high + 1e-9 for s, (low, high) in closed)
    width = median(high - low for _, (low, high) in closed)
    away = mean(abs(s.middle - s.truth) for s in given if not math.isnan(s.middle))
    opened = len(given) - len(closed)
    return (
        f"| {name} | {epsilon:g} | {method} | {held:.2f} | {width:.3f} | {away:.3f} | "
        f"{opened} of {len(given)} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", default="cancer,earthquake,survey,asia")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--questions", type=int, default=4)
    parser.add_argument("--epsilons", default="0.3,1,3")
    parser.add_argument("--limit", type=int, default=300)
    parser.add_argument("--environments", type=Path, default=default_folder())
    options = parsed(parser, data="cancer", rows=1_000, seeds=1, questions=1, epsilons="1")
    python = interpreter("dpmm", options.environments)
    print("| data | ε | method | coverage | width | distance | left open |")
    print("|---|---|---|---|---|---|---|")
    for name in options.data.split(","):
        network = load_network(name)
        for epsilon in map(float, options.epsilons.split(",")):
            every = [
                answer
                for seed in range(options.seeds)
                for answer in answers(
                    network,
                    network.sample(options.rows, 1000 + seed),
                    epsilon,
                    seed,
                    python,
                    options.limit,
                    options.questions,
                )
            ]
            for method in (OURS, AIM, GROUPS):
                own = [s for s in every if s.method == method]
                if own:
                    print(line(name, epsilon, method, own), flush=True)


if __name__ == "__main__":
    main()
