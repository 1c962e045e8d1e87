"""Shared parts of the score-based algorithms: units of the columns, checks, and the result."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, TypeVar

import networkx as nx
import numpy as np

from privcore.algorithms.gradients.optimiser import (
    Search,
    Settings,
    Solution,
    noisy_steps,
    solve,
)
from privcore.algorithms.gradients.parameters import DescentParameters, WeightParameters
from privcore.algorithms.search.common import Recorder
from privcore.algorithms.search.model import Outcome, Progress, Run
from privcore.algorithms.search.parameters import GraphParameters, PrivateParameters
from privcore.algorithms.search.result import Spent
from privcore.arrays import Matrix, Vector
from privcore.counts import has_numbers
from privcore.errors import Cancelled, DataError, ParameterError
from privcore.graphs import PDAG
from privcore.graphs.constraints import Constraints
from privcore.graphs.pdag import ordered
from privcore.privacy.accounting import Guarantee
from privcore.text import short

Edge = tuple[int, int]


def strong_edges(
    weights: Matrix, threshold: float, known: Constraints | None = None
) -> frozenset[Edge]:
    """Edges i → j with |W[i, j]| above the threshold, without the weakest edge of each cycle.

    Edges are visited in order of increasing |W|. An edge that still lies on a cycle is the weakest
    edge of that cycle and is dropped; an edge that was kept cannot lie on a cycle later. known:
    background knowledge; required edges stay whatever their weight, and no other edge closes a
    cycle with required edges.
    """
    known = known or Constraints.none(len(weights))
    size = np.abs(weights) * known.allowed
    chosen = [(int(i), int(j)) for i, j in np.argwhere(size > threshold) if i != j]
    required = known.directed(size)
    if required:
        pairs = {ordered(*edge) for edge in required}
        chosen = [*required, *(edge for edge in chosen if ordered(*edge) not in pairs)]
    graph = nx.DiGraph(chosen)
    for i, j in sorted(set(chosen) - required, key=lambda edge: (size[edge], edge)):
        if nx.has_path(graph, j, i):
            graph.remove_edge(i, j)
    return frozenset(graph.edges)


def weight_limits(run: Run[WeightParameters], limit: float) -> Matrix:
    """Bound on each |W[i, j]|, shape (p, p): 0 for arrows that background knowledge rules out."""
    return np.where(run.known.allowed, limit, 0.0)


# Bound on the smallest eigenvalue of the correlations, below which a column counts as determined.
_COLLINEAR = 1e-10

# A variance of columns in −1 … 1 that is due to rounding alone.
_CONSTANT = 1e-24


W = TypeVar("W", bound=WeightParameters)


def prepared(run: Run[W]) -> Run[W]:
    """The run with its automatic parameters filled in; raises DataError for too few rows."""
    check_rows(run)
    return replace(run, parameters=run.parameters.settled(numeric=has_numbers(run.source)))


def half_widths(run: Run[WeightParameters]) -> Vector:
    """Half the range of each column in the chosen units, shape (p,); 1 for columns with levels.

    The values are divided by their root mean square, since a common factor changes no weight.
    """
    if not has_numbers(run.source) or run.parameters.units != "original":
        return np.ones(len(run.source.names))
    widths = np.array([(high - low) / 2 for low, high in run.source.bounds])
    # Divided first, so that squares of very large ranges do not overflow.
    widths = widths / widths.max()
    return np.asarray(widths / math.sqrt(float(widths @ widths) / widths.size))


def in_units(run: Run[WeightParameters], sigma: Matrix) -> Matrix:
    """Convert covariances of columns in −1 … 1 to the chosen units, with mean variance 1."""
    if run.parameters.units == "unit variance":
        variances = np.diag(sigma)
        widths = np.where(variances > _CONSTANT, 1 / np.sqrt(np.maximum(variances, _CONSTANT)), 0.0)
    else:
        widths = half_widths(run)
    scaled = sigma * np.outer(widths, widths)
    return np.asarray(scaled / max(float(np.trace(scaled)), _CONSTANT) * len(scaled))


def check_rows(run: Run[GraphParameters]) -> None:
    """Raise DataError if there are fewer rows than columns; both numbers are public."""
    n, p = run.source.n, len(run.source.names)
    if n < p:
        raise DataError("too-few-rows", rows=n, columns=p)


def check_finite(numbers: Matrix) -> None:
    """Raise DataError if a moment or a row is not finite; this never happens with data read from
    files.
    """
    if not np.isfinite(numbers).all():
        raise DataError("values-not-finite")


def check_columns(names: tuple[str, ...], sigma: Matrix) -> None:
    """Raise DataError for constant or collinear columns. The check uses the exact data."""
    variances = np.diag(sigma)
    for name, variance in zip(names, variances, strict=True):
        if variance <= _CONSTANT:
            raise DataError("column-constant", constant=short(name))
    deviations = np.sqrt(variances)
    values, vectors = np.linalg.eigh(sigma / np.outer(deviations, deviations))
    if values[0] < _COLLINEAR:
        worst = names[int(np.argmax(np.abs(vectors[:, 0])))]
        raise DataError("collinear-column", worst=short(worst))


class Watching:
    """Reports progress to the run's hooks after every step, so that they can cancel the run."""

    def __init__(
        self, run: Run[GraphParameters], noun: Literal["iteration", "gradient"], planned: int
    ) -> None:
        self._run, self._noun, self._planned = run, noun, planned
        self._done = self._steps = 0

    def advance(self, *_: object) -> None:
        """Count one of the planned steps as done."""
        self._done += 1
        self.step()

    def step(self, *_: object) -> None:
        """Report one step of the optimiser; raises Cancelled if `hooks.cancelled` returns True."""
        self._steps += 1
        progress = Progress(0, self._done, self._planned, self._steps, self._noun)
        self._run.hooks.progress(progress)
        if self._run.hooks.cancelled():
            raise Cancelled


def descend(
    run: Run[DescentParameters],
    gradient: Callable[[Matrix], Matrix],
    total: int,
    steps: Sequence[float],
    search: Search | None = None,
) -> Solution:
    """Run the augmented Lagrangian with `total` noisy gradients, in stages of equal length.

    steps, search: see `noisy_steps`.
    """
    parameters = run.parameters
    count = math.ceil(total / parameters.stages)
    stages = math.ceil(total / count)
    watching = Watching(run, "gradient", total)

    def watched(weights: Matrix) -> Matrix:
        watching.advance()
        return gradient(weights)

    return solve(
        noisy_steps(
            watched, steps, count, total, weight_limits(run, parameters.weight_limit), search
        ),
        len(run.source.names),
        Settings(parameters.sparsity, iterations=stages, tolerance=-1.0),
    )


def too_small(run: Run[PrivateParameters]) -> ParameterError:
    """The error for an ε so small that the noise would exceed even a single gradient."""
    return ParameterError(
        "epsilon-too-small-even-one-step", epsilon=run.parameters.epsilon, n=run.source.n
    )


def wrap_up(
    run: Run[WeightParameters],
    solution: Solution,
    recorder: Recorder,
    guarantee: Guarantee,
    spent: Spent,
    gradients: int = 0,
) -> Outcome:
    """The outcome of a run, with a graph of the edges whose weights exceed the threshold.

    gradients: number of noisy gradients, reported in place of tests.
    """
    edges = strong_edges(solution.weights, run.parameters.weight_threshold, run.known)
    return Outcome(
        graph=PDAG(run.source.names, directed=edges),
        separating_sets={},
        guarantee=guarantee,
        spent=spent,
        tests_run=gradients,
        orders_run=len(solution.convergence),
        stopped=None,
        trace=tuple(recorder.steps),
        unit="|W|",
        weights=solution.weights,
        weight_threshold=run.parameters.weight_threshold,
        convergence=solution.convergence,
    )


def reference(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters of the reference: NOTEARS with the run's penalty, threshold and units."""
    same = {name: parameters[name] for name in ("sparsity", "weight_threshold", "units")}
    return {**same, "degenerate": "keep"}
