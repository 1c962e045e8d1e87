"""Several sites with rows of the same columns: what secure aggregation brings a private graph.

    python -m benchmarks.sites [--part f1,lost,lie] [--data cancer,…,sachs] [--rows 20000]
        [--seeds 20] [--epsilons 0.1,0.3,1]

Skeleton F1 against the truth, the mean over seeds, each with rows, a split and noise of its own:

f1: one holder of all rows with moment search as it is (discrete Laplace noise on small tables,
  Gaussian otherwise), and with discrete Gaussian noise at ρ; 2, 4 and 16 sites with noise once, in
  a secure sum; and as many that each add all of the noise, and whose tables are pooled.
lost: of 16 sites some drop out.  What is left of ε, and F1, where noise was planned for all sites,
  and where it was planned for those that stay.
lie: one of 4 sites lies.  F1 against the truth, and against the graph that the liar wants.

ρ is the largest that (ε, 1e-6) allows.  Rows are drawn with seeds from 1000, noise from 500.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import mean

import numpy as np

from privcore.algorithms import count, discover
from privcore.data import Dataset, load_network
from privcore.evaluation import skeleton_metrics
from privcore.evaluation.sites import (
    Counts,
    all_in_one_cell,
    graph_from,
    in_place_of_all,
    in_tables,
    of_graph,
    plan_of,
    secure_sum,
    site_counts,
    split_rows,
)
from privcore.graphs import PDAG, cpdag_of_names
from privcore.privacy.accounting.composition import rho_for, zcdp
from privcore.privacy.mechanisms import SimulatedNoise
from privcore.privacy.mechanisms.distributed import SumPlan, central_sigma
from privcore.threads import one_thread

_DATA = "cancer,earthquake,survey,asia,sachs"
_DELTA = 1e-6
_SITES = (2, 4, 16)
_LOST = (0, 1, 4, 8)


@dataclass(frozen=True)
class Drawn:
    """Rows of a network, and the seed of their noise."""

    data: Dataset
    truth: PDAG
    seed: int

    def noise(self, *more: int) -> SimulatedNoise:
        return SimulatedNoise(np.random.SeedSequence([self.seed, *more]))

    def sites(self, many: int) -> list[Counts]:
        return [site_counts(part) for part in split_rows(self.data, many, self.noise(0, many))]

    def plan(self, epsilon: float, sites: int, adding: int | None = None) -> SumPlan:
        return plan_of(self.data.n, self.data.levels, rho_for(epsilon, _DELTA), sites, adding)

    def graph(self, counts: Counts, variance: float, n: int | None = None) -> PDAG:
        levels = self.data.levels
        tables = in_tables(counts, levels)
        return graph_from(tables, n or self.data.n, self.data.names, levels, variance)

    def f1(self, graph: PDAG) -> float:
        return skeleton_metrics(graph, self.truth).f1


def drawn(name: str, rows: int, seeds: int) -> list[Drawn]:
    made = []
    for seed in range(seeds):
        data = load_network(name).sample(rows, 1000 + seed)
        made.append(Drawn(data, cpdag_of_names(data.names, data.true_edges or ()), 500 + seed))
    return made


def as_it_is(sample: Drawn, epsilon: float) -> PDAG:
    asked = {"epsilon": epsilon, "delta": _DELTA}
    source = count(sample.data)
    return discover(source, "moment-search", asked, seed=sample.seed, keep_trace=False).graph


def central(sample: Drawn, epsilon: float) -> PDAG:
    """(a): one holder of all rows."""
    plan = sample.plan(epsilon, 1)
    sigma = central_sigma(plan.rho, plan.sensitivity[0])
    noisy = sample.noise(1).discrete_gaussian_array(site_counts(sample.data), sigma)
    return sample.graph(noisy, sigma**2)


def summed(sample: Drawn, epsilon: float, sites: int) -> PDAG:
    """(b): noise once."""
    plan = sample.plan(epsilon, sites)
    total = secure_sum(sample.sites(sites), plan, sample.noise(2, sites))
    return sample.graph(total, plan.variance(sites))


def pooled(sample: Drawn, epsilon: float, sites: int) -> PDAG:
    """(c): each site adds what one holder of all rows would."""
    plan = sample.plan(epsilon, 1)
    sigma = central_sigma(plan.rho, plan.sensitivity[0])
    noise = sample.noise(3, sites)
    noisy = [noise.discrete_gaussian_array(own, sigma) for own in sample.sites(sites)]
    return sample.graph(np.sum(noisy, axis=0), sites * sigma**2)


def compared(name: str, samples: Sequence[Drawn], epsilons: Sequence[float]) -> Iterator[str]:
    ways: dict[str, Callable[[Drawn, float], PDAG]] = {
        "one holder, moment search as it is": as_it_is,
        "(a) one holder, at ρ": central,
    }
    for sites in _SITES:
        ways[f"(b) {sites} sites, secure sum"] = lambda s, e, k=sites: summed(s, e, k)
    for sites in _SITES:
        ways[f"(c) {sites} sites, noise at each"] = lambda s, e, k=sites: pooled(s, e, k)
    for way, graph in ways.items():
        cells = [mean(s.f1(graph(s, epsilon)) for s in samples) for epsilon in epsilons]
        yield f"| {name} | {way} | {' | '.join(f'{cell:.3f}' for cell in cells)} |"


def after_losses(name: str, samples: Sequence[Drawn], epsilon: float) -> Iterator[str]:
    for lost in _LOST:
        stay = 16 - lost
        short = samples[0].plan(epsilon, 16)
        left = short.rho_left(stay)
        scores: list[list[float]] = [[], []]
        for sample in samples:
            sites = sample.sites(16)
            n = int(sum(sites[k].sum() for k in range(lost, 16))) // short.tables
            for at, adding in enumerate((16, stay)):
                plan = sample.plan(epsilon, 16, adding)
                noise = sample.noise(4, lost, adding)
                total = secure_sum(sites, plan, noise, range(lost))
                scores[at].append(sample.f1(sample.graph(total, plan.variance(stay), n)))
        yield (
            f"| {name} | {lost} of 16 | {left / short.rho:.3f} | {zcdp(left, _DELTA):.3f} | "
            f"{mean(scores[0]):.3f} | {epsilon:.3f} | {mean(scores[1]):.3f} |"
        )


def after_a_lie(name: str, samples: Sequence[Drawn], epsilon: float) -> Iterator[str]:
    lies: dict[str, Callable[[Drawn, Counts, Counts], Counts]] = {
        "none": lambda s, own, wanted: own,
        "all its rows in one cell": lambda s, own, wanted: all_in_one_cell(own, s.data.levels),
        "10 n rows more in one cell": lambda s, own, wanted: (
            own + 10 * all_in_one_cell(site_counts(s.data), s.data.levels)
        ),
        "its rows as it wants them": lambda s, own, wanted: of_graph(own, wanted),
        "all rows as it wants them": lambda s, own, wanted: in_place_of_all(own, wanted, 4),
    }
    for words, lie in lies.items():
        true, liked, excess = [], [], []
        for sample in samples:
            plan, sites = sample.plan(epsilon, 4), sample.sites(4)
            other, wished = turned(sample)
            sites[0] = lie(sample, sites[0], site_counts(other))
            # A liar may overflow the sum, too; here the sum has room for its lie.
            room = plan_of(
                max(sample.data.n, int(sum(own.sum() for own in sites))),
                sample.data.levels,
                plan.rho,
                4,
            )
            total = secure_sum(sites, room, sample.noise(5), lying=[0])
            graph = sample.graph(total, room.variance(4))
            true.append(sample.f1(graph))
            liked.append(skeleton_metrics(graph, wished).f1)
            shown = total.sum() - plan.tables * sample.data.n
            excess.append(abs(shown) / (room.cells * room.variance(4)) ** 0.5)
        yield (f"| {name} | {words} | {mean(true):.3f} | {mean(liked):.3f} | {mean(excess):,.1f} |")


def turned(sample: Drawn) -> tuple[Dataset, PDAG]:
    """Rows of another graph over the same columns, and that graph: the true one, turned.

    Each column has the values of the next one with as many levels, so that all levels fit.
    """
    data = sample.data
    place = list(range(data.p))
    for levels in set(data.levels):
        alike = [c for c in place if data.levels[c] == levels]
        for c, source in zip(alike, [*alike[1:], alike[0]], strict=True):
            place[c] = source
    other = Dataset(data.name, data.columns, tuple(data.values[c].copy() for c in place))
    where = {data.names[source]: data.names[c] for c, source in enumerate(place)}
    edges = [(where[cause], where[effect]) for cause, effect in data.true_edges or ()]
    return other, cpdag_of_names(data.names, edges)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--part", default="f1,lost,lie")
    parser.add_argument("--data", default=_DATA)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--epsilons", default="0.1,0.3,1", help="lost and lie: the last one")
    options = parser.parse_args()
    epsilons = [float(word) for word in options.epsilons.split(",")]
    heads = {
        "f1": f"| network | sites | {' | '.join(f'ε = {e:g}' for e in epsilons)} |",
        "lost": "| network | lost | ρ left / planned | ε left | F1 | ε planned for those that stay "
        "| F1 |",
        "lie": "| network | lie | F1 to the truth | F1 to the liar's graph | rows too many, in σ |",
    }
    for part in options.part.split(","):
        head = heads[part]
        print(f"\n{head}\n|{'---|' * (head.count('|') - 1)}", flush=True)
        for name in options.data.split(","):
            with one_thread():
                samples = drawn(name, options.rows, options.seeds)
                if part == "f1":
                    lines = compared(name, samples, epsilons)
                elif part == "lost":
                    lines = after_losses(name, samples, epsilons[-1])
                else:
                    lines = after_a_lie(name, samples, epsilons[-1])
                for line in lines:
                    print(line, flush=True)


if __name__ == "__main__":
    main()
