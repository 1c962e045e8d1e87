"""What the score-based algorithms share: units of the columns, checks, and wrapping up."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privcore.accounting import Guarantee
from privcore.discovery.common import Recorder
from privcore.discovery.model import Outcome, Progress, Run, Spent
from privcore.errors import Cancelled, DataError
from privcore.graphs import PDAG
from privcore.score_based.augmented_lagrangian import Iteration, Solution, Watch
from privcore.score_based.thresholding import strong_edges
from privcore.text import short

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]

# Of the smallest eigenvalue of the correlations: below it, a column is called determined.
_COLLINEAR = 1e-10


def half_widths(run: Run) -> Vector:
    """Half the range of each column in the units asked for, shape (p,); 1 where levels are coded.

    Divided by their root mean square, as a common factor changes no weight.
    """
    bounds = getattr(run.source, "bounds", None)
    if bounds is None or run.parameters["units"] != "original":
        return np.ones(len(run.source.names))
    widths = np.array([(high - low) / 2 for low, high in bounds])
    # Divided first, so that squares of very large ranges do not overflow.
    widths = widths / widths.max()
    return np.asarray(widths / math.sqrt(float(widths @ widths) / widths.size))


def in_units(run: Run, sigma: Matrix) -> Matrix:
    """A covariance matrix of columns in −1 … 1, in the units asked for, with mean variance 1."""
    if run.parameters["units"] == "unit variance":
        widths = 1 / np.sqrt(np.diag(sigma))
    else:
        widths = half_widths(run)
    scaled = sigma * np.outer(widths, widths)
    return np.asarray(scaled / np.trace(scaled) * len(scaled))


def check_rows(run: Run) -> None:
    """Raises DataError if there are fewer rows than columns; n is public."""
    n, p = run.source.n, len(run.source.names)
    if n < p:
        raise DataError(
            f"There are {n:,} rows for {p} columns, too few for least squares; take at least as "
            "many rows as columns."
        )


def check_finite(numbers: Matrix) -> None:
    """Raises DataError for moments or rows that are not finite, which no data set read here has."""
    if not np.isfinite(numbers).all():
        raise DataError(
            "Some values are infinite or not numbers; leave their rows out, or fill them in."
        )


def check_columns(names: tuple[str, ...], sigma: Matrix) -> None:
    """Raises DataError for constant or collinear columns; it looks at the data."""
    variances = np.diag(sigma)
    for name, variance in zip(names, variances, strict=True):
        if variance <= 1e-24:
            raise DataError(
                f"Column {short(name)!r} has the same value in every row; leave it out."
            )
    deviations = np.sqrt(variances)
    values, vectors = np.linalg.eigh(sigma / np.outer(deviations, deviations))
    if values[0] < _COLLINEAR:
        worst = names[int(np.argmax(np.abs(vectors[:, 0])))]
        raise DataError(
            f"Column {short(worst)!r} is a linear combination of others, so that weights are not "
            "unique; leave it out."
        )


def watching(run: Run, planned: int) -> Watch:
    """Tells the run's hooks after each outer iteration, of `planned` at most, and may cancel."""

    def watch(number: int, _: Iteration) -> None:
        run.hooks.progress(Progress(0, number, planned, number))
        if run.hooks.cancelled():
            raise Cancelled

    return watch


def wrap_up(
    run: Run,
    solution: Solution,
    recorder: Recorder,
    guarantee: Guarantee,
    spent: Spent,
    gradients: int = 0,
) -> Outcome:
    """The graph of the weights above the threshold, and all else of an outcome.

    gradients: noisy ones that were asked for, in place of tests.
    """
    edges = strong_edges(solution.weights, run.parameters["weight_threshold"])
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
        convergence=solution.convergence,
    )


def reference(given: Mapping[str, Any]) -> dict[str, Any]:
    """NOTEARS with the run's penalty, threshold and units."""
    return {name: given[name] for name in ("sparsity", "weight_threshold", "units")}
