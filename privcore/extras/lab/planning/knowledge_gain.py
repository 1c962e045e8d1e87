"""The value of background knowledge, expressed in ε and estimated on public surrogates."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from privcore.algorithms.search.model import Hooks, NoHooks
from privcore.extras.lab.planning.adviser import epsilon_for_quality, most_runs
from privcore.extras.lab.planning.surrogate import Quality, Surrogates

Kind = Literal["skeleton", "cpdag"]

# Search up to this many times the ε of the run.
_RANGE = 8.0
_POINTS = 5


@dataclass(frozen=True)
class Saved:
    """Mean F1 with and without background knowledge at the same ε.

    with_it, without: mean F1 with and without the knowledge. alike: the ε that reaches `with_it`
    without the knowledge; None if even 8 times the ε of the run is too small.
    """

    with_it: float
    without: float
    alike: float | None

    def words(self, epsilon: float) -> str:
        """A predicate such as "helps as much as raising ε from 0.3 to 0.42"."""
        if self.with_it <= self.without:
            return f"does not help at ε = {epsilon:g}"
        if self.alike is None:
            return f"helps more than raising ε from {epsilon:g} to {_RANGE * epsilon:g}"
        return f"helps as much as raising ε from {epsilon:g} to {self.alike:.2g}"


@dataclass(frozen=True)
class KnowledgeGain:
    """The value of background knowledge for a run.

    epsilon: ε of the run. edges, directions: the value for the skeleton F1 and for the CPDAG F1.
    runs: number of successful runs with knowledge. Runs with knowledge are compared with the true
    CPDAG to which the knowledge has been applied. Runs without knowledge are compared with the true
    CPDAG.
    """

    epsilon: float
    edges: Saved
    directions: Saved
    runs: int

    @property
    def sentence(self) -> str:
        """The value in words: "Background knowledge helps as much as raising ε from 0.3 to …"."""
        both = self.directions
        return (
            f"Background knowledge {both.words(self.epsilon)}: the CPDAG F1 is "
            f"{both.with_it:.2f} with the knowledge and {both.without:.2f} without. For edges "
            f"without directions, the knowledge {self.edges.words(self.epsilon)} (mean over "
            f"{self.runs} random models that obey the knowledge)."
        )


def knowledge_gain(
    surrogates: Surrogates,
    algorithm: str,
    parameters: Mapping[str, Any],
    watch: Callable[[int], Hooks] = lambda done: NoHooks(),
) -> KnowledgeGain:
    """Estimate the value of the surrogates' knowledge from runs with and without the knowledge.

    parameters: the run's parameters, including epsilon. watch: see `Surrogates.quality`; its
    argument is the number of finished runs, of at most `most_gain_runs`. Raises ParameterError for
    an unknown algorithm or a bad parameter.
    """
    epsilon, many = float(parameters["epsilon"]), len(surrogates.seeds)
    plain = {**parameters, "knowledge": ""}
    informed = {**parameters, "knowledge": surrogates.knowledge}
    with_it = surrogates.quality(algorithm, informed, watch)
    without = surrogates.quality(algorithm, plain, lambda done: watch(many + done))

    def saved(kind: Kind, before: int) -> Saved:
        means = _mean(with_it, kind), _mean(without, kind)
        if means[0] <= means[1]:
            return Saved(*means, epsilon)
        reached = epsilon_for_quality(
            surrogates,
            algorithm,
            plain,
            means[0],
            low=epsilon,
            high=_RANGE * epsilon,
            points=_POINTS,
            kind=kind,
            watch=lambda done: watch(before + done),
        )
        return Saved(*means, reached.epsilon)

    directions = saved("cpdag", 2 * many)
    edges = saved("skeleton", 2 * many + most_runs(surrogates, _POINTS))
    return KnowledgeGain(epsilon, edges, directions, with_it.runs)


def most_gain_runs(surrogates: Surrogates) -> int:
    """Maximum number of runs that `knowledge_gain` makes."""
    return 2 * len(surrogates.seeds) + 2 * most_runs(surrogates, _POINTS)


def _mean(quality: Quality, kind: Kind) -> float:
    mean = quality.f1["truth"][kind].mean
    return 0.0 if math.isnan(mean) else mean
