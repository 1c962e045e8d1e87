"""Inverse calibration: the smallest ε at which the noise is small enough.

The calculation uses public facts only, so it costs no budget.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from privcore.algorithms import get_algorithm
from privcore.algorithms.engine import planned_events
from privcore.algorithms.search.common import checked_rows
from privcore.algorithms.search.parameters import PerTestParameters
from privcore.algorithms.search.per_test import measure_of
from privcore.algorithms.sg_pc import SGPCParameters
from privcore.counts import PublicColumns
from privcore.errors import ParameterError
from privcore.extras.lab.planning.surrogate import Shape
from privcore.privacy.mechanisms import SparseVectorScales

LOW, HIGH = 0.01, 1000.0
_NOISY = ("laplace-pc", "svt-pc", "priv-pc", "sg-pc")


@dataclass(frozen=True)
class Reached:
    """The result of a search for the smallest ε that meets a criterion.

    epsilon: the smallest ε found; None if no ε within the range is enough. tried: pairs (ε, value
    reached), increasing in ε. note: a sentence that states the criterion.
    """

    epsilon: float | None
    tried: tuple[tuple[float, float], ...]
    note: str


def noise_against_threshold(
    shape: Shape, algorithm: str, parameters: Mapping[str, Any]
) -> tuple[float, float]:
    """Standard deviation of a test's noise, and the test's threshold, in units of the tested value.

    The tests of the algorithm must all have the same noise, which is fixed before the run. For
    Priv-PC, the result is the noise of the examination.  Raises ParameterError for other
    algorithms.
    """
    if algorithm not in _NOISY:
        raise ParameterError(
            "not-same-noise-on-every-test",
            name=get_algorithm(algorithm).name,
            choices=", ".join(_NOISY),
        )
    checked = _proven(algorithm, parameters)
    measure = measure_of(checked)
    source = PublicColumns(shape.names, shape.n, shape.levels)
    planned = planned_events(algorithm, parameters, source)
    sampled = checked if isinstance(checked, SGPCParameters) else None
    rows = checked_rows(shape.n, sampled.rate) if sampled else shape.n
    sensitivity = measure.sensitivity(rows)
    if sampled:
        deviation = planned[0].value * sensitivity
    elif algorithm == "svt-pc":
        scales = SparseVectorScales.proven(sensitivity, planned[0].value)
        deviation = math.sqrt(2) * math.hypot(scales.threshold, scales.query)
    else:
        step = planned[1] if algorithm == "priv-pc" else planned[0]
        deviation = math.sqrt(2) * sensitivity / step.value
    return deviation, measure.threshold(0, 1)


def epsilon_for_noise(
    shape: Shape, algorithm: str, parameters: Mapping[str, Any], share: float
) -> Reached:
    """The smallest ε at which the noise's standard deviation is at most `share` of the threshold.

    An "epsilon" in the parameters is ignored. Raises ParameterError unless share > 0, and as
    `noise_against_threshold` does.
    """
    if not share > 0:
        raise ParameterError("share-out-of-range", share=share)

    def relative(epsilon: float) -> float:
        wanted = {**parameters, "epsilon": epsilon}
        deviation, threshold = noise_against_threshold(shape, algorithm, wanted)
        return deviation / threshold

    return _smallest(
        lambda epsilon: (relative(epsilon), relative(epsilon) <= share),
        f"Target: a standard deviation of the noise of at most {share:g} times the threshold.",
    )


def _proven(algorithm: str, parameters: Mapping[str, Any]) -> PerTestParameters:
    checked = get_algorithm(algorithm).takes.checked(parameters, algorithm)
    assert isinstance(checked, PerTestParameters)
    if checked.calibration != "proven":
        raise ParameterError("target-needs-proven-calibration")
    return checked


def _smallest(tried: Callable[[float], tuple[float, bool]], what: str) -> Reached:
    """Find by bisection in ln ε where a condition that holds for all large ε begins to hold."""
    seen: dict[float, float] = {}

    def enough(epsilon: float) -> bool:
        seen[epsilon], answer = tried(epsilon)
        return answer

    smallest: float | None = None
    if enough(LOW):
        smallest = LOW
    elif enough(HIGH):
        low, high = LOW, HIGH
        while high / low > 1 + 1e-6:
            middle = math.sqrt(low * high)
            low, high = (low, middle) if enough(middle) else (middle, high)
        smallest = high
    return Reached(smallest, tuple(sorted(seen.items())), what)
