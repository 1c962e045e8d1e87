"""NOLEAKS (Ma, Ji, Pang & Wang 2022): NOTEARS with noisy clipped gradients.

In the proven form, gradients are clipped record by record, their number is fixed before the run,
and their composition is exact; see `noisy_gradients`. In the published form, entries of the mean
gradient are clipped, the authors' sensitivity and line search are used, and the total is computed
after the run; see `published_gradients`.
"""

from __future__ import annotations

from privcore.algorithms.gradients.common import prepared, reference
from privcore.algorithms.gradients.noisy_gradients import planned_gradients, run_proven
from privcore.algorithms.gradients.parameters import MA, DescentParameters
from privcore.algorithms.gradients.published_gradients import FLAW, SEARCH_FLAW, run_published
from privcore.algorithms.search.model import Algorithm, Outcome, Run
from privcore.privacy.accounting.composition import Event


def fit(run: Run[DescentParameters]) -> Outcome:
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


def _planned(run: Run[DescentParameters]) -> tuple[Event, ...]:
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
    run=fit,
    output="dag",
    reference=reference,
    reference_algorithm="notears",
    needs="moments",
    planned=_planned,
    published_flaw=f"Not proven: {FLAW}; {SEARCH_FLAW}.",
    published_epsilon="round",
)
