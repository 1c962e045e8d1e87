"""How sub-sampling reduces both the noise and the signal of a sieve."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from privcore.algorithms.priv_pc import optimal_rate
from privcore.arrays import Vector
from privcore.extras.teaching.panel import Panel, by_name, epsilon_parameter, rows_parameter
from privcore.privacy.mechanisms.sparse_vector import before_amplification

_RATES = np.linspace(0.05, 1.0, 96)


@dataclass(frozen=True)
class SubsamplingCurves:
    """Noise and signal of a sieve at each sub-sampling rate, relative to all rows (rate 1).

    rates: sub-sampling rates, (k,). noise: noise of the sieve, (k,). signal: score on the
        sub-sample, (k,). ratio: signal divided by noise, (k,).
    inner_epsilon: ε of the mechanism on the sub-sample, (k,). threshold_scale: scale of the noise
        on the sieve's threshold, in units of Z, (k,).
    paper_rate: the paper's optimal rate, which minimises the noise. paper_ratio: the relative
        signal-to-noise ratio at this rate.
    """

    rates: Vector
    noise: Vector
    signal: Vector
    ratio: Vector
    inner_epsilon: Vector
    threshold_scale: Vector
    paper_rate: float
    paper_ratio: float


def subsampling_curves(epsilon: float, n: int) -> SubsamplingCurves:
    """The curves for a round of ε on n rows with the score Z*, with half of ε for the sieve."""
    inner = np.array([before_amplification(epsilon / 2, float(rate)) for rate in _RATES])
    # The sensitivity on m = gn rows is 6/√m, and the threshold's noise 2·6/(√m ε′).
    scale = 12 / (np.sqrt(_RATES * n) * inner)
    noise = scale / scale[-1]
    signal = np.sqrt(_RATES)
    best = optimal_rate(epsilon)
    at_best = best * before_amplification(epsilon / 2, best) / (epsilon / 2)
    return SubsamplingCurves(
        rates=_RATES,
        noise=noise,
        signal=signal,
        ratio=signal / noise,
        inner_epsilon=inner,
        threshold_scale=scale,
        paper_rate=best,
        paper_ratio=at_best,
    )


def _code(values: Mapping[str, Any]) -> str:
    return f"""import numpy as np

from privcore.algorithms.priv_pc import optimal_rate
from privcore.privacy.mechanisms.sparse_vector import before_amplification

epsilon = {values["epsilon"]!r}
rates = np.linspace(0.05, 1.0, 96)
inner_epsilon = np.array([before_amplification(epsilon / 2, g) for g in rates])
threshold_scale = 12 / (np.sqrt(rates * {values["n"]}) * inner_epsilon)
ratio = np.sqrt(rates) / (threshold_scale / threshold_scale[-1])
paper_rate = optimal_rate(epsilon)
print(paper_rate, rates[ratio.argmax()])
"""


_SOURCE = "Wang, Pang & Song 2020, Section 3.2"

SUBSAMPLING = Panel(
    name="sub-sampling",
    title="Sub-sampling",
    question="Does the use of fewer rows help privacy more than it hurts the test?",
    formula=r"\text{noise} \propto \frac{1}{\sqrt g\,\varepsilon'},\quad "
    r"\varepsilon' = \ln\!\bigl(1 + (e^{\varepsilon/2} - 1)/g\bigr),\qquad "
    r"\frac{\text{signal}}{\text{noise}} \propto g\,\varepsilon'",
    sentence="The paper's optimal rate minimises the noise, but the signal shrinks as well: the "
    "signal-to-noise ratio is largest when all rows are used.",
    source=f"{_SOURCE}; Balle, Barthe & Gaboardi 2018, Theorem 9; docs/proofs/sieve_and_examine.md",
    parameters=(
        epsilon_parameter(1.0, "Budget of one round, half of it for the sieve.", _SOURCE),
        rows_parameter(10_000, (100, 1_000_000), "Determines the noise on Z.", _SOURCE),
    ),
    compute=by_name(subsampling_curves),
    code=_code,
    reproduces=("inner_epsilon", "threshold_scale", "ratio", "paper_rate"),
)
