"""Find the smallest ε that reaches a given F1, by simulation on public surrogates."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Literal

import numpy as np
from scipy.optimize import isotonic_regression

from privcore.algorithms.search.model import Hooks, NoHooks
from privcore.errors import ParameterError
from privcore.extras.lab.planning.surrogate import Surrogates
from privcore.extras.lab.planning.targets import Reached

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
