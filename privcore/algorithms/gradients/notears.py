"""NOTEARS (Zheng, Aragam, Ravikumar & Xing 2018): acyclic least squares, not private."""

from __future__ import annotations

import math
from dataclasses import dataclass

from privcore.algorithms.gradients.augmented_lagrangian import (
    Settings,
    Solution,
    exact_steps,
    solve,
)
from privcore.algorithms.gradients.common import (
    Watching,
    check_columns,
    check_finite,
    in_units,
    prepared,
    weight_limits,
    wrap_up,
)
from privcore.algorithms.gradients.least_squares import least_squares
from privcore.algorithms.gradients.parameters import DEGENERATE, ZHENG, NotearsParameters
from privcore.algorithms.search.common import Recorder
from privcore.algorithms.search.model import Algorithm, Outcome, Run
from privcore.algorithms.search.result import Spent
from privcore.arrays import Matrix
from privcore.independence.fisher import covariance
from privcore.privacy.accounting import Guarantee


@dataclass(frozen=True, kw_only=True)
class _Parameters(NotearsParameters):
    """Parameters of NOTEARS."""

    degenerate: str = DEGENERATE.field()


def optimise(run: Run[NotearsParameters], sigma: Matrix) -> Solution:
    """Run NOTEARS on a covariance matrix in the run's units; the matrix may be exact or noisy."""
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
