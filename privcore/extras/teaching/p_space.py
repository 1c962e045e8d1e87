"""Noise on Z compared with noise on its p-value, and the effect of ties on the test."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp, sqrt
from typing import Any

import numpy as np
from scipy.special import erfc
from scipy.stats import norm

from privcore.arrays import Vector
from privcore.extras.teaching.panel import Panel, by_name, epsilon_parameter, number, rows_parameter
from privcore.independence import SCORES, ScoreMeasure

_Z = np.linspace(0.0, 10.0, 201)
_SIGNED = np.linspace(-5.0, 8.0, 261)
_EFFECTS = np.linspace(0.0, 0.1, 101)


@dataclass(frozen=True)
class PAgainstZ:
    """A private test of Z* at level α, on |Z| or on its p-value, and the effect of ties.

    z, p: values of |Z| and their two-sided p-values, (k,). in_z, in_p: probability that a pair with
        this |Z| is called independent, with noise on |Z| and with noise on p, (k,).
    threshold: threshold of |Z|. delta_z, delta_p: sensitivities. noise_ratio: noise on p divided by
        noise on Z, both in units of Z at the threshold.
    signed: values of Z, (s,). untied_density, tied_density: densities of Z* for two independent
        columns without ties, and for two independent binary columns, (s,).
    tied_sd: standard deviation of Z* for independent binary columns. size: size of the test on
        these columns. corrected: the threshold that takes ties into account.
    effects: φ of the binary columns, (f,). power, corrected_power: power of the test without noise
        at each of the two thresholds, (f,).
    """

    z: Vector
    p: Vector
    in_z: Vector
    in_p: Vector
    threshold: float
    delta_z: float
    delta_p: float
    noise_ratio: float
    signed: Vector
    untied_density: Vector
    tied_density: Vector
    tied_sd: float
    size: float
    corrected: float
    effects: Vector
    power: Vector
    corrected_power: Vector


def laplace_above(x: Vector, scale: float) -> Vector:
    """Return P(Lap(scale) ≥ x) for each x."""
    tail = np.exp(-np.abs(x) / scale) / 2
    return np.where(x >= 0, tail, 1 - tail)


def p_against_z(n: int, epsilon: float, level: float, share_x: float, share_y: float) -> PAgainstZ:
    """Compare noise on p and on Z; share_x, share_y: shares of ones in two binary columns."""
    z_measure, p_measure = (
        ScoreMeasure(SCORES["z-star"], "proven", space, level) for space in ("z", "p")
    )
    threshold, delta_z = z_measure.threshold(0, 1), z_measure.sensitivity(n)
    delta_p = p_measure.sensitivity(n)
    p = erfc(_Z / sqrt(2))
    # Var S of two binary columns is n³ x(1−x) y(1−y), and Z* is close to 3S/n^{3/2}.
    tied_sd = 3 * sqrt(share_x * (1 - share_x) * share_y * (1 - share_y))
    mean = tied_sd * _EFFECTS * sqrt(n)
    return PAgainstZ(
        z=_Z,
        p=p,
        in_z=laplace_above(_Z - threshold, delta_z / epsilon),
        in_p=laplace_above(level - p, delta_p / epsilon),
        threshold=threshold,
        delta_z=delta_z,
        delta_p=delta_p,
        noise_ratio=exp(threshold**2 / 2),
        signed=_SIGNED,
        untied_density=norm.pdf(_SIGNED),
        tied_density=norm.pdf(_SIGNED, scale=tied_sd),
        tied_sd=tied_sd,
        size=float(2 * norm.sf(threshold, scale=tied_sd)),
        corrected=threshold * tied_sd,
        effects=_EFFECTS,
        power=_power(mean, tied_sd, threshold),
        corrected_power=_power(mean, tied_sd, threshold * tied_sd),
    )


def _power(mean: Vector, sd: float, threshold: float) -> Vector:
    return np.asarray(norm.sf(threshold, mean, sd) + norm.cdf(-threshold, mean, sd))


def _code(values: Mapping[str, Any]) -> str:
    v = values
    return f"""from math import sqrt

from scipy.stats import norm

from privcore.independence import SCORES, ScoreMeasure

n, level = {v["n"]}, {v["level"]!r}
z = ScoreMeasure(SCORES["z-star"], "proven", "z", level)
p = ScoreMeasure(SCORES["z-star"], "proven", "p", level)
threshold, delta_z, delta_p = z.threshold(0, 1), z.sensitivity(n), p.sensitivity(n)
# The noise needed at the same epsilon, in units of Z at the threshold: the slope of p is
# sqrt(2/pi) at Z = 0, where p is most sensitive, and 2 norm.pdf(threshold) at the threshold.
noise_ratio = norm.pdf(0) / norm.pdf(threshold)
x, y = {v["share_x"]!r}, {v["share_y"]!r}
tied_sd = 3 * sqrt(x * (1 - x) * y * (1 - y))
size = 2 * norm.sf(threshold / tied_sd)
print(delta_z / {v["epsilon"]!r}, delta_p / {v["epsilon"]!r}, noise_ratio, size)
"""


_SOURCE = "docs/proofs/p_space.md"

P_SPACE = Panel(
    name="p-values",
    title="p-values or Z",
    question="Should noise be added to the score or to its p-value? And what do ties change?",
    formula=r"\Delta_p = 2\Phi(\Delta_Z) - 1,\qquad "
    r"\frac{\text{noise in } p}{\text{noise in } Z} = \frac{\varphi(0)}{\varphi(z_\alpha)} = "
    r"e^{z_\alpha^2/2}",
    sentence="A p-value is most sensitive at Z = 0, far from the threshold, and nearly flat at the "
    "threshold, so noise on p does more harm there. With ties, a rank score varies less than its "
    "threshold assumes, so dependence is overlooked.",
    source=f"{_SOURCE}; docs/proofs/one_way_marginals.md; Wang, Pang & Song 2020 (code)",
    parameters=(
        rows_parameter(
            2_000, (100, 1_000_000), "The sensitivity of Z* is 6/√n.", "docs/proofs/z_star.md"
        ),
        epsilon_parameter(0.5, "Budget of this one test.", _SOURCE),
        number(
            "level",
            "Significance level",
            "α",
            0.05,
            (1e-6, 0.5),
            "A pair is called independent if its p-value is at least α.",
            _SOURCE,
            log=True,
        ),
        number(
            "share_x",
            "Ones in x",
            "P(x = 1)",
            0.1,
            (0.01, 0.5),
            "Share of ones in a binary column; a smaller share means more ties.",
            _SOURCE,
        ),
        number(
            "share_y",
            "Ones in y",
            "P(y = 1)",
            0.2,
            (0.01, 0.5),
            "Share of ones in the other binary column.",
            _SOURCE,
        ),
    ),
    compute=by_name(p_against_z),
    code=_code,
    reproduces=("threshold", "delta_z", "delta_p", "noise_ratio", "tied_sd", "size"),
)
