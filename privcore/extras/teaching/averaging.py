"""One number, released again and again: averaging removes the noise, and the costs add up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np

from privcore.arrays import Vector
from privcore.extras.audits.statistics import clopper_pearson_high, clopper_pearson_low
from privcore.extras.teaching.composition import composition_curves, round_counts
from privcore.extras.teaching.panel import Panel, by_name, epsilon_parameter, number, seed_parameter
from privcore.privacy.accounting.guarantee import guessing_bound
from privcore.privacy.mechanisms import SimulatedNoise

VALUE = 40.0
TRIALS = 500
DELTA = 1e-6
ACCOUNTANTS = ("basic", "advanced, exact form", "zCDP, optimal conversion")


@dataclass(frozen=True)
class Averaging:
    """`TRIALS` repetitions of k releases of a count of 40, each with Laplace noise of scale 1/ε.

    means: means of the first 1 … k releases in one repetition, (k,).
    counts: selected numbers of releases, (c,). rms, expected: root mean square error of the mean
        for each of these numbers, as measured and by the formula √2/(ε√k), (c,) each.
    costs: total ε of k releases by accountant, at δ = 10⁻⁶ (δ = 0 for basic composition).
    guessed, interval: how often the best guess between 40 and 39 is right after k releases, with a
        95 % interval. guess_bound: the smallest bound on `guessed` from the accountants.
    """

    means: Vector
    counts: Vector
    rms: Vector
    expected: Vector
    costs: dict[str, float]
    guessed: float
    interval: tuple[float, float]
    guess_bound: float


def interval(hits: int, trials: int) -> tuple[float, float]:
    """Clopper and Pearson's 95 % confidence interval for a probability, from `hits` in `trials`."""
    return clopper_pearson_low(hits, trials, 0.025), clopper_pearson_high(hits, trials, 0.025)


def averaging(epsilon: float, releases: int, seed: int) -> Averaging:
    """Release a count `releases` times at ε each, and average the releases."""
    noise = SimulatedNoise(seed)
    with_person = noise.laplace_array(np.full((TRIALS, releases), VALUE), 1 / epsilon)
    without = noise.laplace_array(np.full((TRIALS, releases), VALUE - 1), 1 / epsilon)
    counts = np.array(round_counts(releases))
    means = np.cumsum(with_person, axis=1)[:, counts - 1] / counts
    hits = sum(
        int((_in_favour(seen) * sign > 0).sum()) for seen, sign in ((with_person, 1), (without, -1))
    )
    _, lines = costs_by_release(epsilon, releases)
    costs = {name: float(line[-1]) for name, line in lines.items()}
    return Averaging(
        means=np.cumsum(with_person[0]) / np.arange(1, releases + 1),
        counts=counts,
        rms=np.sqrt(((means - VALUE) ** 2).mean(axis=0)),
        expected=sqrt(2) / (epsilon * np.sqrt(counts)),
        costs=costs,
        guessed=hits / (2 * TRIALS),
        interval=interval(hits, 2 * TRIALS),
        guess_bound=min(
            guessing_bound(cost, 0.0 if name == "basic" else DELTA) for name, cost in costs.items()
        ),
    )


def costs_by_release(epsilon: float, releases: int) -> tuple[Vector, dict[str, Vector]]:
    """Selected numbers of releases up to `releases`, and the total ε by accountant; (c,) each."""
    composed = composition_curves("pure", epsilon, 1.0, releases, DELTA, False)
    curves = {curve.name: curve for curve in composed.curves}
    chosen = {name: np.asarray(curves[name].epsilons) for name in ACCOUNTANTS}
    return np.asarray(curves[ACCOUNTANTS[0]].counts), chosen


def _in_favour(seen: Vector) -> Vector:
    """The log-likelihood ratio of 40 against 39 for each repetition, times the scale; (trials,)."""
    return np.asarray((np.abs(seen - (VALUE - 1)) - np.abs(seen - VALUE)).sum(axis=1))


def _code(values: Mapping[str, Any]) -> str:
    v = values
    return f"""import numpy as np

from privcore.privacy.accounting.composition import advanced, basic, rho_of_pure, zcdp
from privcore.privacy.mechanisms import SimulatedNoise

epsilon, releases = {v["epsilon"]!r}, {v["releases"]}
seen = SimulatedNoise({v["seed"]}).laplace_array(np.full(({TRIALS}, releases), 40.0), 1 / epsilon)
means = np.cumsum(seen[0]) / np.arange(1, releases + 1)
print("error of the mean:", np.sqrt(((seen.mean(axis=1) - 40) ** 2).mean()))
print("basic:", basic([epsilon] * releases))
print("advanced:", advanced([epsilon] * releases, 1e-6))
print("zCDP:", zcdp(releases * rho_of_pure(epsilon), 1e-6))
"""


AVERAGING = Panel(
    name="averaging",
    title="Averaging releases",
    question="What does it cost to publish the same number again and again?",
    formula=r"\sqrt{\mathrm{E}\bigl[(\bar x_k - x)^2\bigr]} = \frac{\sqrt2}{\varepsilon\sqrt k},"
    r"\qquad \varepsilon_{\text{basic}} = k\varepsilon,\qquad \rho = k\,\frac{\varepsilon^2}{2}",
    sentence="Noise averages out: the error of the mean of k releases is 1/√k times the error of a "
    "single release. Composition gives the total privacy loss, which bounds how often a guess "
    "about one person can be right.",
    source="Dwork & Roth 2014, Theorems 3.14 and 3.20; Canonne, Kamath & Steinke 2020; Kairouz, "
    "Oh & Viswanath 2015, Theorem 2.1",
    parameters=(
        epsilon_parameter(0.1, "ε of one release.", "Dwork & Roth 2014, Section 3.5"),
        number(
            "releases",
            "Releases",
            "k",
            100,
            (1, 1_000),
            "How often the same number is published, with fresh noise each time.",
            "Dwork & Roth 2014, Section 3.5",
            kind="int",
            log=True,
        ),
        seed_parameter(),
    ),
    compute=by_name(averaging),
    code=_code,
    reproduces=("means",),
)
