"""Errors of sieve-and-examine: exact, as printed in Theorem 2, and simulated."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from privcore.algorithms.search.common import checked_rows
from privcore.arrays import Vector
from privcore.extras.teaching.panel import (
    Panel,
    by_name,
    choice,
    epsilon_parameter,
    number,
    rows_parameter,
    seed_parameter,
)
from privcore.independence import SCORES
from privcore.privacy.mechanisms import SieveAndExamine, SieveScales, SimulatedNoise
from privcore.privacy.mechanisms.sparse_vector import (
    ErrorProbabilities,
    amplified,
    before_amplification,
    error_probabilities,
)

AXES = ("epsilon", "tweak", "rate")
_GRIDS: dict[str, Vector] = {
    "epsilon": np.array([0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0]),
    "tweak": np.linspace(0.0, 6.0, 7),
    "rate": np.array([0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0]),
}
_FINE: dict[str, Vector] = {
    "epsilon": np.geomspace(0.05, 5.0, 60),
    "tweak": np.linspace(0.0, 6.0, 60),
    "rate": np.linspace(0.05, 1.0, 60),
}


class PrintedCost(NamedTuple):
    """The cost of one printed line of an algorithm.

    where: the line. slip: the error in this line. claimed: ε that the paper charges. actual: ε that
    the line costs.
    """

    where: str
    slip: str
    claimed: float
    actual: float


@dataclass(frozen=True)
class SieveErrors:
    """Error probabilities as a function of ε, tweak or rate.

    x: values of the setting. type_one, type_two: exact probabilities. printed_one, printed_two:
        bounds of Theorem 2, NaN where the theorem does not apply; all (k,).
    simulated_x: values of the setting, (s,). simulated_one, simulated_two: shares of errors in
        `runs` runs of the mechanism, (s,).
    costs: costs of the printed algorithms at the chosen ε and rate.
    """

    x: Vector
    type_one: Vector
    type_two: Vector
    printed_one: Vector
    printed_two: Vector
    simulated_x: Vector
    simulated_one: Vector
    simulated_two: Vector
    runs: int
    costs: tuple[PrintedCost, ...]


def round_scales(n: int, epsilon: float, rate: float) -> SieveScales:
    """The proven noise scales of a round on the score Z*, with half of ε for the sieve."""
    rows = checked_rows(n, rate)
    score = SCORES["z-star"]
    return SieveScales.proven(
        sieve_epsilon=epsilon / 2,
        examine_epsilon=epsilon / 2,
        rate=rows / n,
        sieve_sensitivity=score.sensitivity(rows, "proven"),
        examine_sensitivity=score.sensitivity(n, "proven"),
    )


def printed_bounds(scales: SieveScales, tweak: float, distance: float) -> ErrorProbabilities:
    """The bounds of Theorem 2 in Wang, Pang & Song 2020, as printed.

    The bound for type II errors is NaN for a distance below the tweak.
    """
    both = scales.first.threshold + scales.first.query
    x, y = (distance + tweak) / both, (distance - tweak) / both
    one = math.exp(-x) - math.exp(-2 * x) / 4
    if y < 0:
        return ErrorProbabilities(one, math.nan)
    # 12εα/(6Δ) of the theorem is four times α over the examination's scale 2Δ/ε.
    looked = math.exp(-4 * distance / scales.examine)
    return ErrorProbabilities(one, looked * (math.exp(-y) - math.exp(-2 * y) / 4))


def printed_costs(epsilon: float, rate: float) -> tuple[PrintedCost, ...]:
    """The actual costs of the sieves printed in Algorithms 1 and 2, which the paper charges ε/2."""
    inner = before_amplification(epsilon / 2, rate)
    # Half of the inner ε is for the threshold, half for the queries.
    first = amplified((epsilon + inner) / 2, rate)
    refreshed = amplified((1 / math.sqrt(rate) + 1) / 2 * inner, rate)
    return (
        PrintedCost(
            "Algorithm 1, line 4", "threshold noise for ε where ε′ is meant", epsilon / 2, first
        ),
        PrintedCost(
            "Algorithm 2, line 15", "refreshed threshold without √(n/m)", epsilon / 2, refreshed
        ),
        PrintedCost("as proven here", "none", epsilon / 2, amplified(inner, rate)),
    )


def sieve_errors(
    against: str,
    n: int,
    epsilon: float,
    tweak: float,
    rate: float,
    distance: float,
    runs: int,
    seed: int,
) -> SieveErrors:
    """Error probabilities for scores at `distance` from the threshold, as one parameter varies.

    against: the name of that parameter.
    """
    fixed = {"epsilon": epsilon, "tweak": tweak, "rate": rate}

    def at(x: float) -> tuple[SieveScales, float]:
        now = {**fixed, against: x}
        return round_scales(n, now["epsilon"], now["rate"]), now["tweak"]

    fine, coarse = _FINE[against], _GRIDS[against]
    exact = np.array([error_probabilities(*at(x), distance) for x in fine])
    printed = np.array([printed_bounds(*at(x), distance) for x in fine])
    noise = SimulatedNoise(seed)
    seen = np.array([_simulated(*at(x), distance, runs, noise) for x in coarse])
    return SieveErrors(
        x=fine,
        type_one=exact[:, 0],
        type_two=exact[:, 1],
        printed_one=printed[:, 0],
        printed_two=printed[:, 1],
        simulated_x=coarse,
        simulated_one=seen[:, 0],
        simulated_two=seen[:, 1],
        runs=runs,
        costs=printed_costs(epsilon, rate),
    )


def _simulated(
    scales: SieveScales, tweak: float, distance: float, runs: int, noise: SimulatedNoise
) -> tuple[float, float]:
    """Shares of wrong decisions of the mechanism itself, on the first question of a round."""

    def deleted(score: float) -> bool:
        mechanism = SieveAndExamine(0.0, tweak, scales, noise)
        mechanism.open_round()
        return mechanism.sieve(score).above and mechanism.examine(score).above

    kept = sum(not deleted(distance) for _ in range(runs))
    gone = sum(deleted(-distance) for _ in range(runs))
    return kept / runs, gone / runs


def _code(values: Mapping[str, Any]) -> str:
    v = values
    settings = {name: repr(v[name]) for name in AXES} | {v["against"]: "x"}
    return f"""import numpy as np

from privcore.extras.teaching.sieve import round_scales
from privcore.privacy.mechanisms.sparse_vector import error_probabilities

x = np.array({[float(x) for x in _FINE[v["against"]]]!r})
errors = [
    error_probabilities(
        round_scales({v["n"]}, epsilon={settings["epsilon"]}, rate={settings["rate"]}),
        tweak={settings["tweak"]}, distance={v["distance"]!r},
    )
    for x in x
]
type_one, type_two = np.transpose(errors)
print(type_one.min(), type_two.max())
"""


_SOURCE = "Wang, Pang & Song 2020, Theorem 2"

SIEVE = Panel(
    name="sieve-and-examine",
    title="Sieve-and-examine",
    question="How often does a coarse test, followed by an accurate test, give a wrong result?",
    formula=r"\Pr[\text{deleted wrongly}] = S(\alpha - t)\,\tfrac12 e^{-\alpha/c},\qquad "
    r"S(x) = \frac{b^2 e^{-x/b} - a^2 e^{-x/a}}{2(b^2 - a^2)},\; x \ge 0",
    sentence="With the tweak t, more truly independent pairs pass the coarse sieve, so there are "
    "fewer type I errors. The examination rejects most dependent pairs that pass too, so there are "
    "few additional type II errors. The paper's bound on type II errors is too small.",
    source=f"{_SOURCE}, corrected in docs/proofs/sieve_errors.md",
    parameters=(
        choice(
            "against",
            "Horizontal axis",
            "epsilon",
            AXES,
            "The setting that varies.",
            _SOURCE,
            labels=(("epsilon", "Privacy budget ε"), ("rate", "Sub-sampling rate")),
        ),
        rows_parameter(
            10_000, (100, 1_000_000), "The sensitivity of Z* is 6/√n.", "docs/proofs/z_star.md"
        ),
        epsilon_parameter(0.2, "Budget of one round, half of it for the sieve.", _SOURCE),
        number(
            "tweak",
            "Tweak",
            "t",
            1.0,
            (0.0, 6.0),
            "Shift of the sieve's threshold, so that more independent pairs pass.",
            _SOURCE,
        ),
        number(
            "rate",
            "Sub-sampling rate",
            "m/n",
            1.0,
            (0.05, 1.0),
            "Share of the rows that the sieve uses. The score on these rows is assumed to equal "
            "the score on all rows; the panel on sub-sampling shows the signal that is lost.",
            _SOURCE,
        ),
        number(
            "distance",
            "Distance from the threshold",
            "α",
            1.5,
            (0.0, 6.0),
            "Distance of the score from the threshold, on the correct side.",
            _SOURCE,
        ),
        number(
            "runs",
            "Simulated runs",
            "runs",
            300,
            (50, 1_000),
            "Number of runs at each of seven points.",
            _SOURCE,
            kind="int",
        ),
        seed_parameter(),
    ),
    compute=by_name(sieve_errors),
    code=_code,
    reproduces=("type_one", "type_two"),
)
