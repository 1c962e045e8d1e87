"""Who is in the data: the measured success of an attack on a graph, with and without privacy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import floor, sqrt
from typing import Any

import numpy as np

from privcore.algorithms import Discovery, discover
from privcore.arrays import Matrix, Vector
from privcore.errors import ParameterError
from privcore.extras.audits.algorithms import AlgorithmTrial
from privcore.extras.audits.case import Side, TablePair, turned
from privcore.extras.audits.engine import simulate
from privcore.extras.audits.statistics import OutcomeRatio
from privcore.extras.teaching.averaging import interval
from privcore.extras.teaching.panel import (
    Panel,
    by_name,
    choice,
    epsilon_parameter,
    number,
    rows_parameter,
    seed_parameter,
)
from privcore.independence import z_threshold
from privcore.privacy.accounting.guarantee import guessing_bound

LEVEL = 0.05
SIDES: tuple[Side, Side] = (0, 1)
# The algorithms, with settings that spend all of ε on the single test.
ALGORITHMS: dict[str, Mapping[str, Any]] = {
    "laplace-pc": {"max_tests": 1, "max_order": 0},
    "priv-pc": {"max_rounds": 1, "max_order": 0},
}
EPSILONS = (0.2, 0.5, 1.0, 2.0, 5.0)
# Number of games on each table at each of these ε.
CURVE_RUNS = 150


@dataclass(frozen=True)
class Membership:
    """Results of a game: a coin picks D (with the target's record) or D′; an attacker guesses.

    exact: share of right guesses from the graph of PC without privacy.
    guessed, interval: share of right guesses from the private graph at the chosen ε, with a 95 %
        interval. bound: the largest possible share at this ε.
    epsilons: values of ε, (e,). measured: share of right guesses at each ε, (e,).
        measured_intervals: 95 % intervals for these shares, (e, 2).
    edge: how often the private graph has an edge on D and on D′. n: number of rows.
    """

    exact: float
    guessed: float
    interval: tuple[float, float]
    bound: float
    epsilons: Vector
    measured: Vector
    measured_intervals: Matrix
    edge: tuple[float, float]
    n: int


@lru_cache(maxsize=32)
def target_pair(n: int) -> TablePair:
    """Two tables of n records; only the target's record differs, and decides a test at level 0.05.

    The scores Z* of the tables differ by nearly the sensitivity, 6/√n. The threshold of 1.96 is
    about in the middle, so PC finds an edge on D and none on D′. Raises ParameterError for fewer
    than 50 records.
    """
    if n < 50:
        raise ParameterError("records-target-record-not-decide-test", n=n)
    # Each extra record adds about 3/√n, and the target's up to 6/√n on D.
    start = max(0, floor((z_threshold(LEVEL) * sqrt(n) - 6) / 3))
    pairs = [turned((False,), n, extra=(start + k,)) for k in range(10)]
    return max(pairs, key=_room)


def _room(pair: TablePair) -> float:
    """Distance from the threshold to the nearer score of D and D′; negative if not in between."""
    one, other = (_found(pair, side).trace[0].score for side in SIDES)
    return min(one - z_threshold(LEVEL), z_threshold(LEVEL) - other)


def _found(pair: TablePair, side: Side) -> Discovery:
    return discover(pair.source(side), "pc", {"score": "z-star", "threshold": LEVEL})


def exact_edges(pair: TablePair) -> tuple[bool, bool]:
    """Whether PC without privacy, with the score Z*, finds an edge on D and on D′."""
    one, other = ((0, 1) in _found(pair, side).graph.skeleton for side in SIDES)
    return one, other


def exact_success(n: int) -> float:
    """Share of right guesses from PC's graph: an edge implies D; equal graphs are uninformative."""
    with_target, without = exact_edges(target_pair(n))
    return (1 + float(with_target) - float(without)) / 2


def guesses(
    algorithm: str, n: int, epsilon: float, runs: int, seed: int
) -> tuple[int, tuple[float, float]]:
    """Play `runs` games on each table.

    Returns the number of right guesses, and how often each table's graph has an edge. The attacker
    knows both tables and the algorithm, estimates the likelihood ratio of the algorithm's outputs
    from `runs` separate runs on each table, and guesses the likelier table.
    """
    parameters = {**ALGORITHMS[algorithm], "epsilon": epsilon, "threshold": LEVEL}
    trial = AlgorithmTrial(algorithm, parameters, target_pair(n))
    ratio = OutcomeRatio.learned(*simulate(trial, runs, 2 * seed))
    one, other = simulate(trial, runs, 2 * seed + 1)
    right = int((ratio.values(one) >= 0).sum() + (ratio.values(other) < 0).sum())
    edges = [float(outputs.feature("number of edges").mean()) for outputs in (one, other)]
    return right, (edges[0], edges[1])


def membership(algorithm: str, n: int, epsilon: float, runs: int, seed: int) -> Membership:
    """Attack PC, and attack the private algorithm at `epsilon` and at each of `EPSILONS`."""
    right, edge = guesses(algorithm, n, epsilon, runs, seed)
    hits = _curve(algorithm, n, seed)
    return Membership(
        exact=exact_success(n),
        guessed=right / (2 * runs),
        interval=interval(right, 2 * runs),
        bound=guessing_bound(epsilon, 0.0),
        epsilons=np.array(EPSILONS),
        measured=hits / (2 * CURVE_RUNS),
        measured_intervals=np.array([interval(int(k), 2 * CURVE_RUNS) for k in hits]),
        edge=edge,
        n=n,
    )


# The curve does not depend on the chosen ε, which changes most often.
@lru_cache(maxsize=64)
def _curve(algorithm: str, n: int, seed: int) -> Vector:
    """Number of right guesses in 2·`CURVE_RUNS` games at each of `EPSILONS`."""
    return np.array([guesses(algorithm, n, e, CURVE_RUNS, seed)[0] for e in EPSILONS])


def _code(values: Mapping[str, Any]) -> str:
    v = values
    return f"""from privcore.privacy.accounting.guarantee import guessing_bound
from privcore.extras.teaching.membership import exact_edges, guesses, target_pair

print("PC, with and without the target:", exact_edges(target_pair({v["n"]})))
right, edge = guesses({v["algorithm"]!r}, {v["n"]}, {v["epsilon"]!r}, {v["runs"]}, {v["seed"]})
guessed = right / (2 * {v["runs"]})
bound = guessing_bound({v["epsilon"]!r}, 0.0)
print("right guesses:", guessed, "of at most", bound)
"""


_SOURCE = "Kairouz, Oh & Viswanath 2015, Theorem 2.1"

MEMBERSHIP = Panel(
    name="membership",
    title="Who is in the data",
    question="Does a published graph reveal whether a certain person is in the data?",
    formula=r"\Pr[\text{right guess}] \;\le\; \frac{e^\varepsilon}{1 + e^\varepsilon}",
    sentence="Here one record decides whether there is an edge, so without privacy the graph "
    "reveals this record, whatever the number of rows. With noise, either table can give "
    "either graph.",
    source=f"{_SOURCE}; Wasserman & Zhou 2010; docs/auditing.md",
    parameters=(
        epsilon_parameter(1.0, "ε of the private graph.", _SOURCE),
        rows_parameter(
            1_500,
            (100, 100_000),
            "Number of records in each table. One record changes the score by at most 6/√n.",
            "docs/proofs/z_star.md",
        ),
        choice(
            "algorithm",
            "Algorithm",
            "laplace-pc",
            tuple(ALGORITHMS),
            "The algorithm for the private graph.",
            "Wang, Pang & Song 2020",
            labels=(
                ("laplace-pc", "Laplace-PC, with noise on every test"),
                ("priv-pc", "Priv-PC, with a sieve before each test"),
            ),
        ),
        number(
            "runs",
            "Games on each table",
            "runs",
            400,
            (50, 1_000),
            "Number of games on each table. The attacker estimates probabilities from the same "
            "number of separate runs.",
            "docs/auditing.md",
            kind="int",
        ),
        seed_parameter(),
    ),
    compute=by_name(membership),
    code=_code,
    reproduces=("guessed", "bound", "edge"),
)
