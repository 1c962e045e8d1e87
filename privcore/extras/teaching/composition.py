"""The total ε after k rounds, according to each accountant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

import numpy as np

from privcore.extras.teaching.panel import Panel, by_name, choice, number
from privcore.parameter import Parameter
from privcore.privacy.accounting.accountants import NAMES, Curve, by_rounds
from privcore.privacy.accounting.composition import Event, Kind

STEPS: tuple[Kind, ...] = ("pure", "laplace", "gaussian", "exponential")
SLOW = "privacy-loss distribution"


@dataclass(frozen=True)
class CompositionCurves:
    """The total ε as a function of the number of rounds, one curve per accountant.

    final: ε after the last round by each accountant, (a,). best: accountant with the smallest ε.
    """

    curves: tuple[Curve, ...]
    final: tuple[float, ...]
    best: str


def composition_curves(
    kind: str, epsilon: float, sigma: float, rounds: int, delta: float, distributions: bool
) -> CompositionCurves:
    """The total ε of 1 to `rounds` equal steps, of `epsilon` each or with Gaussian noise.

    sigma: standard deviation of the Gaussian noise, in units of the sensitivity.
    distributions: whether to compute privacy-loss distributions too, which takes up to a second.
    """
    return _curves(kind, sigma if kind == "gaussian" else epsilon, rounds, delta, distributions)


# A lesson and its panel compute the same curves, as does a slider that returns to a value.
@lru_cache(maxsize=256)
def _curves(
    kind: str, value: float, rounds: int, delta: float, distributions: bool
) -> CompositionCurves:
    curves = by_rounds(
        Event(cast(Kind, kind), value),
        round_counts(rounds),
        delta,
        [name for name in NAMES if distributions or name != SLOW],
    )
    final = tuple(float(curve.epsilons[-1]) for curve in curves)
    return CompositionCurves(tuple(curves), final, curves[int(np.argmin(final))].name)


def round_counts(rounds: int) -> list[int]:
    """About 25 numbers from 1 to `rounds`, evenly spaced on a logarithmic axis."""
    return [int(k) for k in np.unique(np.geomspace(1, rounds, 25).round())]


def _code(values: Mapping[str, Any]) -> str:
    v = values
    value = v["sigma"] if v["kind"] == "gaussian" else v["epsilon"]
    names = "" if v["distributions"] else f'\nnames = [name for name in NAMES if name != "{SLOW}"]'
    listed = "" if v["distributions"] else ", names"
    return f"""from privcore.privacy.accounting.accountants import NAMES, by_rounds
from privcore.privacy.accounting.composition import Event
{names}
counts = {round_counts(v["rounds"])!r}
curves = by_rounds(Event({v["kind"]!r}, {value!r}), counts, {v["delta"]!r}{listed})
final = [curve.epsilons[-1] for curve in curves]
for curve, epsilon in zip(curves, final):
    print(curve.name, epsilon)
"""


_SOURCE = "Dwork & Roth 2014, Section 3.5"
_NOT_GAUSSIAN = tuple(kind for kind in STEPS if kind != "gaussian")

COMPOSITION = Panel(
    name="composition",
    title="Composition",
    question="What do k rounds cost together?",
    formula=r"\varepsilon_{\text{basic}} = k\varepsilon,\qquad \varepsilon_{\text{advanced}} = "
    r"\sqrt{2k\ln(1/\delta)}\,\varepsilon + k\varepsilon\tanh(\varepsilon/2)",
    sentence="For many small steps ε grows with √k, not with k; for few or large steps plain "
    "addition is best. The number of steps must be fixed before the run.",
    source="Dwork & Roth 2014, Theorems 3.14 and 3.20; Kairouz, Oh & Viswanath 2015; Canonne, "
    "Kamath & Steinke 2020",
    parameters=(
        choice(
            "kind",
            "Steps",
            "pure",
            STEPS,
            "Whether only the ε of a step is known, or also the distribution of the noise.",
            _SOURCE,
            labels=(
                ("pure", "Only its ε"),
                ("laplace", "Laplace noise"),
                ("gaussian", "Gaussian noise"),
                ("exponential", "Exponential mechanism"),
            ),
        ),
        number(
            "epsilon",
            "Budget of a step",
            "ε",
            0.1,
            (0.001, 5.0),
            "The privacy loss of a single step.",
            _SOURCE,
            log=True,
            only_with=("kind", _NOT_GAUSSIAN),
        ),
        number(
            "sigma",
            "Noise of a step",
            "σ/Δ",
            10.0,
            (0.5, 200.0),
            "Standard deviation of the noise, divided by the sensitivity.",
            "Balle & Wang 2018, Theorem 8",
            log=True,
            only_with=("kind", ("gaussian",)),
        ),
        number(
            "rounds",
            "Rounds",
            "k",
            100,
            (1, 10_000),
            "The largest number of steps shown.",
            _SOURCE,
            kind="int",
            log=True,
        ),
        number(
            "delta",
            "Failure probability",
            "δ",
            1e-6,
            (1e-9, 1e-2),
            "Failure probability of the composition; every accountant except basic composition "
            "needs δ.",
            _SOURCE,
            log=True,
        ),
        Parameter(
            name="distributions",
            title="Privacy-loss distributions",
            symbol="distributions",
            kind="bool",
            default=False,
            help="Adds the tightest known accountant, which takes up to a second.",
            source="Zhu, Dong & Wang 2022, Theorem 10",
        ),
    ),
    compute=by_name(composition_curves),
    code=_code,
    reproduces=("final",),
)
