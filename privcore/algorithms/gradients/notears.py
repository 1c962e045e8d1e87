"""NOTEARS, and NOLEAKS, which makes it private.

NOTEARS (Zheng, Aragam, Ravikumar & Xing 2018): acyclic least squares, not private.

NOLEAKS (Ma, Ji, Pang & Wang 2022): NOTEARS with noisy clipped gradients.

In the proven form, gradients are clipped record by record, their number is fixed before the run,
and their composition is exact; see `noisy_gradients`. In the published form, entries of the mean
gradient are clipped, the authors' sensitivity and line search are used, and the total is computed
after the run; see `published_gradients`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from privcore.algorithms.gradients.common import (
    Watching,
    check_columns,
    check_finite,
    in_units,
    prepared,
    reference,
    weight_limits,
    wrap_up,
)
from privcore.algorithms.gradients.noisy_gradients import planned_gradients, run_proven
from privcore.algorithms.gradients.optimiser import (
    Settings,
    Solution,
    exact_steps,
    least_squares,
    solve,
)
from privcore.algorithms.gradients.parameters import (
    DEGENERATE,
    ITERATIONS,
    MA,
    MOMENT_UNITS,
    ZHENG,
    DescentParameters,
    WeightParameters,
)
from privcore.algorithms.gradients.published_gradients import FLAW, SEARCH_FLAW, run_published
from privcore.algorithms.search.common import Recorder
from privcore.algorithms.search.model import Algorithm, Outcome, Run
from privcore.algorithms.search.result import Spent
from privcore.arrays import Matrix
from privcore.independence.linear_scores import covariance
from privcore.privacy.accounting import Guarantee
from privcore.privacy.accounting.composition import Event


@dataclass(frozen=True, kw_only=True)
class _Parameters(WeightParameters):
    """Parameters of NOTEARS."""

    units: str = MOMENT_UNITS.field()
    iterations: int = ITERATIONS.field()
    degenerate: str = DEGENERATE.field()


def optimise(run: Run[_Parameters], sigma: Matrix) -> Solution:
    """Run NOTEARS on a covariance matrix in the run's units."""
    parameters = run.parameters
    sparsity = parameters.sparsity
    watching = Watching(run, "iteration", parameters.iterations)

    def smooth(weights: Matrix) -> tuple[float, Matrix]:
        watching.step()
        return least_squares(sigma, weights)

    return solve(
        exact_steps(smooth, weight_limits(run, math.inf)),
        len(sigma),
        Settings(sparsity, iterations=parameters.iterations),
        objective=lambda w: least_squares(sigma, w)[0] + sparsity * float(abs(w).sum()),
        watch=watching.advance,
    )


def fit(run: Run[_Parameters]) -> Outcome:
    """Find the weights and the graph from the exact covariances.

    Raises DataError for constant or collinear columns if the parameter `degenerate` is "refuse".
    """
    run = prepared(run)
    moments = run.source.moments()
    check_finite(moments)
    sigma = covariance(moments)
    if run.parameters.degenerate == "refuse":
        check_columns(run.source.names, sigma)
    solution = optimise(run, in_units(run, sigma))
    return wrap_up(run, solution, Recorder(False), Guarantee.none(), Spent("none", 0.0, 0.0))


NOTEARS = Algorithm(
    name="notears",
    title="NOTEARS (not private)",
    citation=ZHENG,
    line="linear weights, without noise",
    summary="Finds the linear weights that predict each column from the others with the least "
    "squared error, under a smooth constraint that forbids cycles. Levels are coded −1 … "
    "1 in their order, which assumes that effects are linear in the codes.",
    takes=_Parameters,
    calibrations=("none",),
    run=fit,
    output="dag",
    needs="moments",
)


def fit_noleaks(run: Run[DescentParameters]) -> Outcome:
    """Find the weights and the graph from T noisy gradients with equal budgets."""
    run = prepared(run)
    total = run.parameters.gradients
    if run.parameters.calibration == "proven":
        return run_proven(run, _shares(run))
    epsilon = run.parameters.epsilon
    return run_published(run, [epsilon] * total, total * epsilon)


def _shares(run: Run[DescentParameters]) -> list[float]:
    """Each gradient's share of μ²."""
    total = run.parameters.gradients
    return [1 / total] * total


def _planned_noleaks(run: Run[DescentParameters]) -> tuple[Event, ...]:
    run = prepared(run)
    return planned_gradients(run, _shares(run))


NOLEAKS = Algorithm(
    name="noleaks",
    title="NOLEAKS",
    citation=MA,
    line="NOTEARS with noisy gradients",
    summary="NOTEARS that uses the data only through clipped gradients with Gaussian noise. Levels "
    "are coded −1 … 1 in their order.",
    takes=DescentParameters,
    calibrations=("proven", "published"),
    run=fit_noleaks,
    output="dag",
    reference=reference,
    reference_algorithm="notears",
    needs="moments",
    planned=_planned_noleaks,
    published_flaw=f"Not proven: {FLAW}; {SEARCH_FLAW}.",
    published_epsilon="round",
)
