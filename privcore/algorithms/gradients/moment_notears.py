"""NOTEARS on second moments to which noise is added once (our own method).

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
    check_finite,
    in_units,
    prepared,
    reference,
    wrap_up,
)
from privcore.algorithms.gradients.notears import optimise
from privcore.algorithms.gradients.parameters import DELTA, RADIUS, NotearsParameters
from privcore.algorithms.search import common
from privcore.algorithms.search.model import Algorithm, Outcome, Run
from privcore.algorithms.search.parameters import ProvenParameters
from privcore.algorithms.search.result import Spent, Step
from privcore.errors import ParameterError
from privcore.privacy.accounting.composition import Event
from privcore.privacy.mechanisms.gaussian import planned_mu
from privcore.privacy.mechanisms.moments import release_moments

PROOF = "docs/proofs/weighted_moments.md"


@dataclass(frozen=True, kw_only=True)
class MomentNotearsParameters(NotearsParameters, ProvenParameters):
    """Parameters of Moment-NOTEARS."""

    delta: float = DELTA.field()
    radius: float = RADIUS.field()


def fit(run: Run[MomentNotearsParameters]) -> Outcome:
    """Find the weights and the graph from one noisy covariance matrix."""
    run = prepared(run)
    parameters, n, p = run.parameters, run.source.n, len(run.source.names)
    radius = parameters.radius * math.sqrt(p)
    moments = run.source.moments(radius)
    check_finite(moments)
    released = release_moments(moments, n, radius, parameters.epsilon, parameters.delta, run.noise)
    if released.scale > radius * radius:
        raise ParameterError(
            f"epsilon is {parameters.epsilon:g}, too small for {n:,} rows: the noise would exceed "
            "the largest second moment; raise epsilon."
        )
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
    run=fit,
    output="dag",
    reference=reference,
    reference_algorithm="notears",
    needs="moments",
    planned=_planned,
)
