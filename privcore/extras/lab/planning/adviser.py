"""Which algorithm and which ε would do, before anything is spent.

Inverse calibration: the smallest ε at which the noise is small enough.

The calculation uses public facts only, so it costs no budget.

Find the smallest ε that reaches a given F1, by simulation on public surrogates.

Recommend an algorithm and estimate its quality from public facts alone.

Every private algorithm that can run on such columns runs once on each of a few surrogates: random
data sets of the same shape (see `surrogate`). No row of the data is used, so the advice costs no
budget.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.optimize import isotonic_regression

from privcore.algorithms import ALGORITHMS, get_algorithm
from privcore.algorithms.engine import planned_events
from privcore.algorithms.search.common import checked_rows
from privcore.algorithms.search.model import Algorithm, Hooks, NoHooks, Progress
from privcore.algorithms.search.parameters import PerTestParameters
from privcore.algorithms.search.per_test import measure_of
from privcore.algorithms.sg_pc import SGPCParameters
from privcore.counts import PublicColumns
from privcore.errors import ParameterError
from privcore.extras.lab.planning.surrogate import Quality, Shape, Spread, Surrogates
from privcore.privacy.mechanisms import SparseVectorScales
from privcore.text import short

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


_HALVINGS = 5
_NAMED = {"skeleton": "skeleton", "cpdag": "CPDAG"}


def epsilon_for_quality(
    surrogates: Surrogates,
    algorithm: str,
    parameters: Mapping[str, Any],
    target: float,
    *,
    low: float = 0.05,
    high: float = 50.0,
    points: int = 9,
    kind: Literal["skeleton", "cpdag"] = "skeleton",
    watch: Callable[[int], Hooks] = lambda done: NoHooks(),
) -> Reached:
    """The smallest ε with a mean F1 of at least `target` against the surrogates' true graphs.

    kind: whether to use the F1 of the skeleton or of the CPDAG. watch: see `Surrogates.quality`;
    its argument is the number of finished runs, of at most `most_runs`.

    Means are computed on a logarithmic grid of `points` values of ε from `low` to `high`, and then
    at values of ε between the two grid points where the mean crosses the target. Since the means
    are noisy, the result uses a non-decreasing least-squares fit to the means. Raises
    ParameterError for a bad range or parameter.
    """
    if not 0 < low < high or points < 2:
        raise ParameterError("range-of-epsilon-positive-increasing-least")
    values: dict[float, float] = {}

    def mean(epsilon: float) -> float:
        before = len(values) * len(surrogates.seeds)
        quality = surrogates.quality(
            algorithm, {**parameters, "epsilon": epsilon}, lambda done: watch(before + done)
        )
        values[epsilon] = quality.f1["truth"][kind].mean if quality.runs else 0.0
        return values[epsilon]

    for epsilon in np.geomspace(low, high, points):
        mean(float(epsilon))
    for _ in range(_HALVINGS):
        grid, fitted = _fitted(values)
        place = int(np.searchsorted(fitted, target))
        if not 0 < place < len(grid):
            break
        mean(math.sqrt(grid[place - 1] * grid[place]))
    grid, fitted = _fitted(values)
    place = int(np.searchsorted(fitted, target))
    seeds = ", ".join(map(str, surrogates.seeds))
    return Reached(
        grid[place] if place < len(grid) else None,
        tuple(sorted(values.items())),
        f"Target: a mean {_NAMED[kind]} F1 of at least {target:g} against the true graphs of "
        f"surrogates with the seeds {seeds}.",
    )


def most_runs(surrogates: Surrogates, points: int = 9) -> int:
    """Maximum number of runs that `epsilon_for_quality` makes."""
    return (points + _HALVINGS) * len(surrogates.seeds)


def _fitted(values: Mapping[float, float]) -> tuple[list[float], np.ndarray[Any, Any]]:
    grid = sorted(values)
    # A small tolerance, so that a mean equal to the target counts.
    return grid, isotonic_regression([values[e] for e in grid]).x + 1e-12


# Default time for all algorithms together.
SECONDS = 20.0


@dataclass(frozen=True)
class Candidate:
    """The F1 of one algorithm with its default parameters.

    skeleton, cpdag: mean and standard deviation of the F1 over the surrogates. refused: why the
    algorithm gave no result, or "".
    """

    algorithm: str
    skeleton: Spread
    cpdag: Spread
    refused: str = ""


@dataclass(frozen=True)
class Advice:
    """A comparison of algorithms.

    candidates: the algorithms' results by decreasing skeleton F1, with refused algorithms last.
    runs: number of runs per algorithm.
    """

    candidates: tuple[Candidate, ...]
    runs: int

    @property
    def close(self) -> tuple[Candidate, ...]:
        """The candidates whose skeleton F1 is within two standard errors of the best."""
        able = [c for c in self.candidates if not c.refused]
        return tuple(
            c
            for c in able
            if able[0].skeleton.mean - c.skeleton.mean <= self._tolerance(able[0], c)
        )

    @property
    def best(self) -> Candidate | None:
        """The candidate in `close` with the largest CPDAG F1, or None if all were refused."""
        return max(self.close, key=lambda c: _known(c.cpdag.mean), default=None)

    def _tolerance(self, one: Candidate, other: Candidate) -> float:
        if one is other:
            return 0.0
        spread = math.hypot(one.skeleton.sd, other.skeleton.sd)
        return 2 * spread / math.sqrt(self.runs) if self.runs > 1 else 0.0


def candidates(shape: Shape) -> list[Algorithm]:
    """The private algorithms that can run on columns of this shape."""
    return [a for a in ALGORITHMS.values() if a.private and (shape.levels or a.needs != "tables")]


def advise(
    surrogates: Surrogates,
    epsilon: float,
    delta: float,
    algorithms: Sequence[str] = (),
    watch: Callable[[int], Hooks] = lambda done: NoHooks(),
    *,
    seconds: float = SECONDS,
    on_result: Callable[[Candidate], None] = lambda candidate: None,
) -> Advice:
    """Compare the algorithms by skeleton and CPDAG F1 against the surrogates' true graphs.

    algorithms: names; if empty, all algorithms that can run on these columns. watch: returns the
    hooks for the next run, given the number of finished runs. seconds: time limit for all
    algorithms. Each algorithm may take half of the remaining time; an algorithm without a result by
    then counts as refused. on_result: called with each result. Raises ParameterError for an
    algorithm that is unknown or cannot run on these columns, and Cancelled if a hook cancels a run.
    """
    end = time.monotonic() + seconds
    fitting = {a.name: a for a in candidates(surrogates.shape)}
    for name in algorithms:
        if name not in fitting:
            raise ParameterError(
                "not-for-such-columns", name=short(name), choices=", ".join(fitting)
            )
    tried = []
    for done, name in enumerate(algorithms or fitting):
        before = done * len(surrogates.seeds)
        parameters = settings(fitting[name], epsilon, delta, surrogates.knowledge)
        now = time.monotonic()
        timed = _timed(_from(watch, before), now + (end - now) / 2)
        tried.append(_candidate(name, surrogates.quality(name, parameters, timed)))
        on_result(tried[-1])
    tried.sort(key=lambda c: (bool(c.refused), -_known(c.skeleton.mean)))
    return Advice(tuple(tried), len(surrogates.seeds))


def settings(
    algorithm: Algorithm, epsilon: float, delta: float, knowledge: str = ""
) -> dict[str, Any]:
    """Parameters for a run of the algorithm: ε, δ if the algorithm uses δ, and the knowledge."""
    parameters: dict[str, Any] = {"epsilon": epsilon, "knowledge": knowledge}
    if any(parameter.name == "delta" for parameter in algorithm.parameters):
        parameters["delta"] = delta
    return parameters


def enough(
    surrogates: Surrogates,
    algorithm: str,
    delta: float,
    target: float,
    watch: Callable[[int], Hooks] = lambda done: NoHooks(),
) -> Reached:
    """The smallest ε that reaches the skeleton F1 `target`; watch: see `epsilon_for_quality`."""
    parameters = settings(ALGORITHMS[algorithm], 1.0, delta, surrogates.knowledge)
    del parameters["epsilon"]
    return epsilon_for_quality(surrogates, algorithm, parameters, target, watch=watch)


def _from(watch: Callable[[int], Hooks], before: int) -> Callable[[int], Hooks]:
    return lambda done: watch(before + done)


class _Timed:
    """Hooks of a run that may last until `end`, by the monotonic clock."""

    def __init__(self, hooks: Hooks, end: float) -> None:
        self._hooks, self._end = hooks, end

    def progress(self, progress: Progress) -> None:
        if time.monotonic() > self._end:
            raise ParameterError("there-no-result-within-time-limit")
        self._hooks.progress(progress)

    def cancelled(self) -> bool:
        return self._hooks.cancelled()


def _timed(watch: Callable[[int], Hooks], end: float) -> Callable[[int], Hooks]:
    return lambda done: _Timed(watch(done), end)


def _candidate(name: str, quality: Quality) -> Candidate:
    truth = quality.f1["truth"]
    refused = quality.failures[0] if quality.failures else ""
    return Candidate(name, truth["skeleton"], truth["cpdag"], refused)


def _known(value: float) -> float:
    return 0.0 if math.isnan(value) else value
