"""Recommend an algorithm and estimate its quality from public facts alone.

Every private algorithm that can run on such columns runs once on each of a few surrogates: random
data sets of the same shape (see `surrogate`). No row of the data is used, so the advice costs no
budget.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from privcore.algorithms import ALGORITHMS
from privcore.algorithms.search.model import Algorithm, Hooks, NoHooks, Progress
from privcore.errors import ParameterError
from privcore.extras.lab.planning.quality_target import epsilon_for_quality
from privcore.extras.lab.planning.surrogate import Quality, Shape, Spread, Surrogates
from privcore.extras.lab.planning.targets import Reached
from privcore.text import short

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
