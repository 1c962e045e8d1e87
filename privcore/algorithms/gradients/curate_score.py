"""Score-based CURATE (Bhattacharjee & Tandon 2024, Section III-B and Algorithm 2).

This is NOLEAKS with a budget that changes from one gradient to the next. In the proven form, the
number of gradients is fixed before the run, μ_k is proportional to the schedule, and Σ μ_k² = μ²
exactly. In the published form, ε_k follows the schedule from ε₀, and Lemma 2 gives the number of
gradients; each gradient has its own δ, and all costs are added up after the run.
"""

from __future__ import annotations

from dataclasses import dataclass

from privcore.algorithms.gradients.common import prepared, reference
from privcore.algorithms.gradients.noisy_gradients import planned_gradients, run_proven
from privcore.algorithms.gradients.parameters import BHATTACHARJEE, DescentParameters
from privcore.algorithms.gradients.published_gradients import FLAW, SEARCH_FLAW, run_published
from privcore.algorithms.gradients.schedules import (
    SCHEDULES,
    Schedule,
    budgets,
    growing_shares,
    lemma_count,
)
from privcore.algorithms.search.model import Algorithm, Outcome, Run
from privcore.errors import ParameterError
from privcore.parameter import Parameter
from privcore.privacy.accounting.composition import Event

# More gradients than this would take hours, and each would be drowned in noise.
_MOST = 100_000

SCHEDULE = Parameter(
    name="schedule",
    title="Budget per gradient",
    symbol="schedule",
    kind="choice",
    default="multiplicative",
    choices=SCHEDULES,
    help="How the budget changes from one gradient to the next. additive: it grows linearly to "
    "twice the first budget. exponential: it grows to e times the first budget. multiplicative: it "
    "changes by a constant factor.",
    source=f"{BHATTACHARJEE}, Section III-B",
)
GROWTH = Parameter(
    name="growth",
    advanced=True,
    title="Growth",
    symbol="G",
    kind="float",
    default=4.0,
    low=1.0,
    high=1e6,
    scale="log",
    slider=(1.0, 100.0),
    help="Ratio of the last budget to the first.",
    source="choice made here",
    calibrations=("proven",),
    only_with=("schedule", ("multiplicative",)),
)
FIRST_EPSILON = Parameter(
    name="first_epsilon",
    title="First budget",
    symbol="ε₀",
    kind="float",
    default=0.05,
    low=0.0,
    open_low=True,
    high=1e6,
    scale="log",
    slider=(0.001, 2.0),
    help="Budget of the first gradient; with the total, it determines how many gradients the "
    "schedule allows.",
    source=f"{BHATTACHARJEE}, Lemma 2",
    calibrations=("published",),
)


@dataclass(frozen=True, kw_only=True)
class CurateScoreParameters(DescentParameters):
    """Parameters of score-based CURATE."""

    schedule: Schedule = SCHEDULE.field()
    first_epsilon: float = FIRST_EPSILON.field()
    growth: float = GROWTH.field()


def fit(run: Run[CurateScoreParameters]) -> Outcome:
    """Find the weights and the graph from noisy gradients whose budgets follow a schedule."""
    run = prepared(run)
    parameters = run.parameters
    if parameters.calibration == "proven":
        return run_proven(run, _shares(run))
    return run_published(run, _published_budgets(run), parameters.epsilon)


def _shares(run: Run[CurateScoreParameters]) -> list[float]:
    """Each gradient's share of μ² in the schedule."""
    parameters = run.parameters
    shares = growing_shares(parameters.schedule, parameters.growth, parameters.gradients)
    return [float(share * share) for share in shares]


def _planned(run: Run[CurateScoreParameters]) -> tuple[Event, ...]:
    run = prepared(run)
    return planned_gradients(run, _shares(run))


def _published_budgets(run: Run[CurateScoreParameters]) -> list[float]:
    """ε of each gradient that Lemma 2 allows; raises ParameterError for none or too many."""
    parameters = run.parameters
    epsilon, first = parameters.epsilon, parameters.first_epsilon
    total = lemma_count(parameters.schedule, epsilon, first)
    if not 1 <= total <= _MOST:
        what = "less than one gradient" if total < 1 else f"more than {_MOST:,} gradients"
        change = "raise epsilon or lower" if total < 1 else "lower epsilon or raise"
        raise ParameterError(
            f"epsilon {epsilon:g} pays for {what} if the {parameters.schedule} schedule starts at "
            f"{first:g}; {change} first-epsilon."
        )
    return [float(charge) for charge in budgets(parameters.schedule, first, total)]


CURATE_SCORE = Algorithm(
    name="curate-score",
    title="CURATE, score-based",
    citation=BHATTACHARJEE,
    line="noisy gradients with growing budgets",
    summary="NOLEAKS with budgets that grow from one gradient to the next, since the last steps "
    "determine the graph. Levels are coded −1 … 1 in their order.",
    takes=CurateScoreParameters,
    calibrations=("proven", "published"),
    run=fit,
    output="dag",
    reference=reference,
    reference_algorithm="notears",
    needs="moments",
    planned=_planned,
    published_flaw=f"Not proven: {FLAW}; {SEARCH_FLAW}.",
    published_epsilon="split",
)
