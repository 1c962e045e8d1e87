"""NOTEARS, and two ways to make it private.

NOTEARS (Zheng, Aragam, Ravikumar & Xing 2018): acyclic least squares, not private.

NOLEAKS (Ma, Ji, Pang & Wang 2022): NOTEARS with noisy clipped gradients.

In the proven form, gradients are clipped record by record, their number is fixed before the run,
and their composition is exact; see `noisy_gradients`. In the published form, entries of the mean
gradient are clipped, the authors' sensitivity and line search are used, and the total is computed
after the run; see `published_gradients`.

NOTEARS on second moments to which noise is added once (our own method).

The least-squares loss depends on the rows through their second moments only, so one noisy release
of the moments is enough for any number of iterations, line searches and evaluations of the
objective.
Sensitivity and proof: docs/proofs/weighted_moments.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from math import nan

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
    DELTA,
    MA,
    RADIUS,
    ZHENG,
    DescentParameters,
    NotearsParameters,
)
from privcore.algorithms.gradients.published_gradients import FLAW, SEARCH_FLAW, run_published
from privcore.algorithms.search import common
from privcore.algorithms.search.common import Recorder
from privcore.algorithms.search.model import Algorithm, Outcome, Run
from privcore.algorithms.search.parameters import ProvenParameters
from privcore.algorithms.search.result import Spent, Step
from privcore.arrays import Matrix
from privcore.errors import ParameterError
from privcore.independence.linear_scores import covariance
from privcore.privacy.accounting import Guarantee
from privcore.privacy.accounting.composition import Event
from privcore.privacy.mechanisms.gaussian import planned_mu
from privcore.privacy.mechanisms.moments import release_moments


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


PROOF = "docs/proofs/weighted_moments.md"


@dataclass(frozen=True, kw_only=True)
class MomentNotearsParameters(NotearsParameters, ProvenParameters):
    """Parameters of Moment-NOTEARS."""

    delta: float = DELTA.field()
    radius: float = RADIUS.field()


def fit_on_moments(run: Run[MomentNotearsParameters]) -> Outcome:
    """Find the weights and the graph from one noisy covariance matrix."""
    run = prepared(run)
    parameters, n, p = run.parameters, run.source.n, len(run.source.names)
    radius = parameters.radius * math.sqrt(p)
    moments = run.source.moments(radius)
    check_finite(moments)
    released = release_moments(moments, n, radius, parameters.epsilon, parameters.delta, run.noise)
    if released.scale > radius * radius:
        raise ParameterError("epsilon-too-small-rows", epsilon=parameters.epsilon, n=n)
    recorder = common.Recorder(run.keep_trace)
    recorder.add(
        Step(0, -1, -1, (), "release", nan, released.scale, nan, nan, False, parameters.epsilon, 1)
    )
    solution = optimise(run, in_units(run, released.sigma))
    guarantee = common.proven_guarantee(run, "one release", (PROOF,), parameters.delta)
    spent = Spent("epsilon", parameters.epsilon, parameters.epsilon, 1, 1, "releases")
    return wrap_up(run, solution, recorder, guarantee, spent)


def _planned(run: Run[MomentNotearsParameters]) -> tuple[Event, ...]:
    return (Event("gaussian", 1 / planned_mu(run.parameters.epsilon, run.parameters.delta)),)


MOMENT_NOTEARS = Algorithm(
    name="moment-notears",
    title="Moment-NOTEARS",
    citation="ours",
    line="noise on the second moments, then NOTEARS",
    summary="Noise is added once to the second moments of the columns; NOTEARS then uses the noisy "
    "matrix at no further cost. Levels are coded −1 … 1 in their order.",
    takes=MomentNotearsParameters,
    calibrations=("proven",),
    run=fit_on_moments,
    output="dag",
    reference=reference,
    reference_algorithm="notears",
    needs="moments",
    planned=_planned,
)
