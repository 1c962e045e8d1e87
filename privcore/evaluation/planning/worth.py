"""What background knowledge is worth, in ε, by simulation on public surrogates that obey it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from privcore.algorithms.search.model import Hooks, NoHooks
from privcore.evaluation.planning.quality_target import epsilon_for_quality, most_runs
from privcore.evaluation.planning.surrogate import Quality, Surrogates

# Up to so many times the ε of the run is looked for.
_RANGE = 8.0
_POINTS = 5


@dataclass(frozen=True)
class Worth:
    """epsilon: of the run.  alike: the ε that finds as many edges without the knowledge, None where
    not even 8 times as much does.  edges, directions: mean skeleton and CPDAG F1 with it and
    without, at the same ε, the CPDAG's against one reference, that of the run with it.
    """

    epsilon: float
    alike: float | None
    edges: tuple[float, float]
    directions: tuple[float, float]
    runs: int

    @property
    def sentence(self) -> str:
        """Such as "For finding edges, what is known is worth as much as raising ε from 0.3 to
        0.42 …"."""
        here, (with_it, without) = f"{self.epsilon:g}", self.edges
        if with_it <= without:
            said = f"For finding edges, what is known is worth no more ε here (ε = {here})."
        elif self.alike is None:
            said = (
                f"For finding edges, what is known is worth more than raising ε from {here} to "
                f"{_RANGE * self.epsilon:g}."
            )
        else:
            said = (
                f"For finding edges, what is known is worth as much as raising ε from {here} to "
                f"{self.alike:.2g}."
            )
        known, open_ = self.directions
        return (
            f"{said} Edges and directions together: F1 {known:.2f} with it, {open_:.2f} without "
            f"({self.runs} random models that obey it)."
        )


def worth_of(
    surrogates: Surrogates,
    algorithm: str,
    parameters: Mapping[str, Any],
    watch: Callable[[int], Hooks] = lambda done: NoHooks(),
) -> Worth:
    """Runs with and without the surrogates' knowledge; parameters: with an ε.

    watch: as in `Surrogates.quality`, told how many runs of at most `runs_of_worth` are done.
    Raises ParameterError.
    """
    epsilon, many = float(parameters["epsilon"]), len(surrogates.seeds)
    asked = {**parameters, "knowledge": surrogates.knowledge}
    with_it = surrogates.quality(algorithm, asked, watch)
    plain = {**parameters, "knowledge": ""}
    without = surrogates.quality(
        algorithm, plain, lambda done: watch(many + done), compared=surrogates.knowledge
    )
    edges = _means(with_it, without, "skeleton")
    alike = None
    if edges[0] > edges[1]:
        alike = epsilon_for_quality(
            surrogates,
            algorithm,
            plain,
            edges[0],
            low=epsilon,
            high=_RANGE * epsilon,
            points=_POINTS,
            watch=lambda done: watch(2 * many + done),
        ).epsilon
    directions = _means(with_it, without, "cpdag")
    return Worth(epsilon, alike, edges, directions, with_it.runs)


def runs_of_worth(surrogates: Surrogates) -> int:
    """How many runs `worth_of` makes at most."""
    return 2 * len(surrogates.seeds) + most_runs(surrogates, _POINTS)


def _means(with_it: Quality, without: Quality, kind: str) -> tuple[float, float]:
    means = (quality.f1["truth"][kind].mean for quality in (with_it, without))
    first, second = (0.0 if math.isnan(mean) else mean for mean in means)
    return first, second
