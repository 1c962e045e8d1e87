"""Simpson's paradox: a difference that reverses within groups, and a graph that explains why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from privcore.algorithms import discover
from privcore.arrays import Matrix, Vector
from privcore.counts import InMemoryCounts
from privcore.data import BayesianNetwork, Column
from privcore.data.network import Variable
from privcore.extras.teaching.panel import (
    Panel,
    by_name,
    epsilon_parameter,
    number,
    rows_parameter,
    seed_parameter,
)
from privcore.graphs.pdag import Edge
from privcore.privacy.mechanisms import SimulatedNoise
from privcore.rounding import up

NAMES = ("severity", "treatment", "recovery")
PAIRS: tuple[Edge, ...] = ((0, 1), (0, 2), (1, 2))
# Probability of recovery with the old treatment, for mild and for severe cases.
RECOVERY = (0.8, 0.4)
RUNS = 100
# Level of every test, with and without privacy: at 0.05 one in twenty independent pairs gets an
# edge.
LEVEL = 0.01
# Seed of the sample. From 1,000 rows on, PC finds the model's graph at the lessons' values.
SAMPLE = 2


@dataclass(frozen=True)
class Simpson:
    """The effect of a treatment in a table of patients, and the graphs found from this table.

    shares: shares of recovered patients, (3, 2): all, mild and severe cases (rows) under the old
        and the new treatment (columns). noisy_shares: these shares from the noisy counts of the
        first private graph.
    overall: share with the new minus share with the old treatment, over all patients. within: mean
        of this difference within severities, weighted by their frequency. noisy_overall,
        noisy_within: the same differences from the noisy counts.
    first: whether the first private graph has an edge between each of the `PAIRS`, (3,). kept:
        share of `RUNS` private graphs, each with fresh noise, that have the edge, (3,). exact:
        whether PC without noise finds the edge, (3,). true: whether the model has the edge, (3,).
    """

    shares: Matrix
    noisy_shares: Matrix
    overall: float
    within: float
    noisy_overall: float
    noisy_within: float
    first: tuple[bool, ...]
    kept: Vector
    exact: tuple[bool, ...]
    true: tuple[bool, ...]


def simpson_model(effect: float, imbalance: float) -> BayesianNetwork:
    """A model of patients in which severity affects both treatment and recovery.

    Half of the cases are severe. Severe cases get the new treatment with probability 1/2 +
    `imbalance`, mild cases with probability 1/2 − `imbalance`. The new treatment adds `effect` to
    the probability of recovery.
    """
    severity, treatment, recovery = (
        Column(name, "nominal", levels, declared=True)
        for name, levels in zip(
            NAMES, (("mild", "severe"), ("old", "new"), ("no", "yes")), strict=True
        )
    )
    # A parent without effect is left out.
    new = np.array([0.5 - imbalance, 0.5 + imbalance] if imbalance else [0.5])
    well = np.array(
        [base + more for base in RECOVERY for more in ((0.0, effect) if effect else (0.0,))]
    )
    return BayesianNetwork(
        "simpson",
        "Simpson's paradox",
        "made here",
        "",
        (
            Variable(severity, (), np.array([[0.5, 0.5]])),
            Variable(treatment, (0,) if imbalance else (), np.column_stack([1 - new, new])),
            Variable(recovery, (0, 1) if effect else (0,), np.column_stack([1 - well, well])),
        ),
    )


def recovered(counts: Matrix) -> tuple[Matrix, float, float]:
    """Shares of recovered patients, (3, 2), and the differences overall and within severities.

    counts: number of patients by severity, treatment and recovery, (2, 2, 2); counts below 1/2 are
    set to 1/2, so that noisy counts can be denominators.
    """
    filled = np.maximum(counts, 0.5)
    groups = np.stack([filled.sum(axis=0), *filled])
    shares = groups[:, :, 1] / groups.sum(axis=2)
    differences = shares[:, 1] - shares[:, 0]
    weights = filled.sum(axis=(1, 2)) / filled.sum()
    return shares, float(differences[0]), float(weights @ differences[1:])


@lru_cache(maxsize=16)
def _sampled(effect: float, imbalance: float, n: int) -> tuple[InMemoryCounts, Matrix]:
    data = simpson_model(effect, imbalance).sample(n, SAMPLE)
    counts = np.zeros((2, 2, 2))
    np.add.at(counts, tuple(values.astype(np.intp) for values in data.values), 1)
    return InMemoryCounts.from_dataset(data), counts


def simpson(effect: float, imbalance: float, n: int, epsilon: float, seed: int) -> Simpson:
    """Draw one table of n patients, and find `RUNS` private graphs of this table with LapMech.

    LapMech releases all eight counts with noise once and computes the graph from the noisy counts,
    so that the noisy shares cost no additional ε.
    """
    source, counts = _sampled(effect, imbalance, n)
    shares, overall, within = recovered(counts)
    start = RUNS * (seed - 1) + 1
    # The same draw that LapMech makes with this seed; one record changes two counts by 1.
    noisy = SimulatedNoise(start).discrete_laplace_array(
        counts.astype(np.int64).reshape(-1), up(2 / epsilon)
    )
    noisy_shares, noisy_overall, noisy_within = recovered(
        noisy.reshape(counts.shape).astype(np.float64)
    )

    def adjacent(algorithm: str, parameters: Mapping[str, Any], seed: int) -> tuple[bool, ...]:
        graph = discover(source, algorithm, parameters, seed=seed, keep_trace=False).graph
        return tuple(pair in graph.skeleton for pair in PAIRS)

    private = {"epsilon": epsilon, "threshold": LEVEL}
    runs = [adjacent("lapmech", private, start + k) for k in range(RUNS)]
    return Simpson(
        shares,
        noisy_shares,
        overall,
        within,
        noisy_overall,
        noisy_within,
        first=runs[0],
        kept=np.mean(runs, axis=0),
        exact=adjacent("pc", {"threshold": LEVEL}, 1),
        true=(imbalance > 0, True, effect > 0),
    )


def _code(values: Mapping[str, Any]) -> str:
    v = values
    return f"""import numpy as np

from privcore.algorithms import count, discover
from privcore.privacy.mechanisms import SimulatedNoise
from privcore.rounding import up
from privcore.extras.teaching.simpson import LEVEL, PAIRS, RUNS, SAMPLE, recovered, simpson_model

data = simpson_model({v["effect"]!r}, {v["imbalance"]!r}).sample({v["n"]}, SAMPLE)
counts = np.zeros((2, 2, 2), dtype=np.int64)
np.add.at(counts, tuple(values.astype(int) for values in data.values), 1)
shares, overall, within = recovered(counts)

table, first = count(data), RUNS * ({v["seed"]} - 1) + 1
private = {{"epsilon": {v["epsilon"]!r}, "threshold": LEVEL}}
graphs = [discover(table, "lapmech", private, seed=first + k).graph for k in range(RUNS)]
kept = [np.mean([pair in graph.skeleton for graph in graphs]) for pair in PAIRS]

# The noisy counts from which the first of these graphs is computed.
noise = SimulatedNoise(first)
noisy = noise.discrete_laplace_array(counts.reshape(-1), 2 / {v["epsilon"]!r}).reshape(2, 2, 2)
noisy_shares, noisy_overall, noisy_within = recovered(noisy)
print(overall, within, noisy_within, kept)
"""


_SOURCE = "Simpson 1951; Pearl 2014"
_MODEL = "model made here"

SIMPSON = Panel(
    name="simpson",
    title="Simpson’s paradox",
    question="Can a treatment look harmful although it helps everyone?",
    formula=r"\Pr[\text{recovery} \mid \mathrm{do}(t)] = \sum_s \Pr[s]\,"
    r"\Pr[\text{recovery} \mid t, s]",
    sentence="Severe cases get the new treatment more often and recover less often, so the "
    "difference over all patients has the opposite sign of the difference in each group. The "
    "graph shows why: severity affects both treatment and recovery. LapMech releases all eight "
    "counts with noise at a cost of ε and computes the graph from the noisy counts.",
    source=f"{_SOURCE}; a model with stated probabilities, in privcore/extras/teaching/simpson.py",
    parameters=(
        epsilon_parameter(
            1.0,
            "ε of the private graph and its noisy counts.",
            "docs/guarantees.md",
        ),
        number(
            "effect",
            "What the treatment adds",
            "effect",
            0.1,
            (0.0, 0.2),
            "Increase in the probability of recovery, the same for mild and severe cases.",
            _MODEL,
        ),
        number(
            "imbalance",
            "Imbalance of the treatment",
            "imbalance",
            0.25,
            (0.0, 0.4),
            "Severe cases get the new treatment with probability 1/2 plus the imbalance, mild "
            "cases with probability 1/2 minus the imbalance. 0 gives a randomised trial.",
            _MODEL,
        ),
        rows_parameter(5_000, (200, 100_000), "Number of patients drawn.", _MODEL),
        seed_parameter(),
    ),
    compute=by_name(simpson),
    code=_code,
    reproduces=("overall", "within", "noisy_within", "kept"),
)
