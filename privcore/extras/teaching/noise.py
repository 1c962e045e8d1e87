"""Noise on one number: densities around two neighbouring values, their ratio, and draws."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from privcore.arrays import Vector
from privcore.extras.teaching.panel import (
    Panel,
    by_name,
    choice,
    epsilon_parameter,
    number,
    seed_parameter,
)
from privcore.privacy.mechanisms import SimulatedNoise
from privcore.privacy.mechanisms.gaussian import analytic_sigma

KINDS = ("laplace", "gaussian", "discrete laplace")
_POINTS = 601


@dataclass(frozen=True)
class NoisePicture:
    """Noise of the same scale on two values.

    scale: b of the Laplace distributions, σ of the normal distribution.
    x: points at which the densities (for whole numbers, probabilities) are computed, (k,).
    density, other_density: density of the noisy value and of its noisy neighbour, (k,).
    loss: ln(density/other_density), (k,), to be compared with ±ε.
    draws, other_draws: simulated draws of the noisy value and of its noisy neighbour, (draws,).
    exceeded: the probability that the noisy value has a loss above ε.
    delta: the smallest δ at ε for these two values, by integration over x.
    """

    scale: float
    x: Vector
    density: Vector
    other_density: Vector
    loss: Vector
    draws: Vector
    other_draws: Vector
    exceeded: float
    delta: float


def noise_panel(
    mechanism: str,
    epsilon: float,
    delta: float,
    value: float,
    neighbour: float,
    draws: int,
    seed: int,
) -> NoisePicture:
    """Add noise calibrated to a sensitivity of 1 to `value` and to `neighbour`.

    If the values differ by more than 1, they are not neighbours, and the ratio of the densities
    exceeds e^ε. Discrete noise uses the nearest whole numbers.  Raises ParameterError for Gaussian
    noise with δ = 0.
    """
    scale = analytic_sigma(1.0, epsilon, delta) if mechanism == "gaussian" else 1 / epsilon
    if mechanism == "discrete laplace":
        value, neighbour = float(round(value)), float(round(neighbour))
    low, high = min(value, neighbour), max(value, neighbour)
    reach = (4.5 if mechanism == "gaussian" else 7.0) * scale
    if mechanism == "discrete laplace":
        # A whole number of scales on either side; tails beyond hold less than e⁻⁷ each.
        x = np.arange(np.floor(low - reach), np.ceil(high + reach) + 1)
    else:
        # Both kinks lie on the grid.
        x = np.union1d(np.linspace(low - reach, high + reach, _POINTS), [value, neighbour])
    one, other = (log_density(mechanism, x - centre, scale) for centre in (value, neighbour))
    loss = one - other
    # Whole steps for probabilities, trapezoids for densities.
    weights = np.ones(x.size) if mechanism == "discrete laplace" else np.gradient(x)
    above = loss > epsilon + 1e-9
    left_over = np.where(above, np.exp(one) - np.exp(epsilon + other), 0.0)
    noise = SimulatedNoise(seed)
    drawn = [_draw(noise, mechanism, centre, scale, draws) for centre in (value, neighbour)]
    return NoisePicture(
        scale=scale,
        x=x,
        density=np.exp(one),
        other_density=np.exp(other),
        loss=loss,
        draws=drawn[0],
        other_draws=drawn[1],
        exceeded=float((np.exp(one) * weights)[above].sum()),
        delta=float((left_over * weights).sum()),
    )


def log_density(mechanism: str, away: Vector, scale: float) -> Vector:
    """Log density (for whole numbers, log probability) at distance `away` from the centre."""
    if mechanism == "gaussian":
        return np.asarray(-((away / scale) ** 2) / 2 - np.log(scale * np.sqrt(2 * np.pi)))
    if mechanism == "laplace":
        return np.asarray(-np.abs(away) / scale - np.log(2 * scale))
    return np.asarray(-np.abs(away) / scale + np.log(np.tanh(0.5 / scale)))


def _draw(noise: SimulatedNoise, mechanism: str, value: float, scale: float, count: int) -> Vector:
    exact = np.full(count, value)
    if mechanism == "laplace":
        return noise.laplace_array(exact, scale)
    if mechanism == "gaussian":
        return noise.gaussian_array(exact, scale)
    whole = noise.discrete_laplace_array(exact.astype(np.int64), scale)
    return whole.astype(np.float64)


def _code(values: Mapping[str, Any]) -> str:
    v = dict(values)
    if v["mechanism"] == "discrete laplace":
        v["value"], v["neighbour"] = round(v["value"]), round(v["neighbour"])
    kind = "int" if v["mechanism"] == "discrete laplace" else "float"
    method = v["mechanism"].replace(" ", "_") + "_array"
    imports, scale = "", f"1 / {v['epsilon']!r}"
    if v["mechanism"] == "gaussian":
        imports = "from privcore.privacy.mechanisms.gaussian import analytic_sigma\n"
        scale = f"analytic_sigma(1.0, {v['epsilon']!r}, {v['delta']!r})"
    return f"""import numpy as np

from privcore.privacy.mechanisms import SimulatedNoise
{imports}
scale = {scale}  # for numbers that one record moves by at most 1
noise = SimulatedNoise({v["seed"]})
draws = noise.{method}(np.full({v["draws"]}, {v["value"]!r}, dtype={kind}), scale)
other_draws = noise.{method}(np.full({v["draws"]}, {v["neighbour"]!r}, dtype={kind}), scale)
print(draws.mean(), other_draws.mean())
"""


_SOURCE = "Dwork & Roth 2014, Definition 3.3 and Theorem 3.6"

NOISE = Panel(
    name="noise",
    title="Noise on one number",
    question="How can you publish a number without revealing which of two data sets it is from?",
    formula=r"\Pr[M(D) \in S] \le e^{\varepsilon} \Pr[M(D') \in S] + \delta \quad\text{for all } S,"
    r"\qquad M(D) = f(D) + \mathrm{Lap}(\Delta/\varepsilon) \;\text{ has } \delta = 0",
    sentence="The two curves are as similar as ε demands: Laplace noise keeps their ratio at or "
    "below e^ε everywhere. With Gaussian noise the ratio may be larger on rare results, which δ "
    "covers.",
    source="Dwork & Roth 2014, Theorem 3.6; Balle & Wang 2018, Theorem 8; Ghosh, Roughgarden & "
    "Sundararajan 2009; docs/proofs/laplace.md",
    parameters=(
        choice(
            "mechanism",
            "Noise",
            "laplace",
            KINDS,
            "The distribution of the noise.",
            _SOURCE,
            labels=(("discrete laplace", "Discrete Laplace"),),
        ),
        epsilon_parameter(
            1.0,
            "The noise is scaled so that the densities around two values that differ by 1 have "
            "a ratio of at most e^ε.",
            _SOURCE,
        ),
        number(
            "delta",
            "Failure probability",
            "δ",
            1e-2,
            (1e-9, 0.1),
            "With Gaussian noise the ratio exceeds e^ε on rare results; δ bounds the excess.",
            "Balle & Wang 2018, Theorem 8",
            log=True,
            only_with=("mechanism", ("gaussian",)),
        ),
        number(
            "value",
            "Value on D",
            "f(D)",
            0.0,
            (-5.0, 5.0),
            "The exact number on one data set.",
            _SOURCE,
        ),
        number(
            "neighbour",
            "Value on D′",
            "f(D′)",
            1.0,
            (-5.0, 5.0),
            "The exact number after one record is replaced. The noise is scaled for a difference "
            "of at most 1; choose a larger difference and watch the ratio exceed its bounds.",
            _SOURCE,
        ),
        number(
            "draws",
            "Draws",
            "draws",
            500,
            (50, 5_000),
            "Number of times that each value is published.",
            _SOURCE,
            kind="int",
        ),
        seed_parameter(),
    ),
    compute=by_name(noise_panel),
    code=_code,
    reproduces=("scale", "draws", "other_draws"),
)
