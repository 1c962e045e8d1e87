"""Score-based CURATE (Bhattacharjee & Tandon 2024, Section III-B and Algorithm 2).

This is NOLEAKS with a budget that changes from one gradient to the next. In the proven form, the
number of gradients is fixed before the run, μ_k is proportional to the schedule, and Σ μ_k² = μ²
exactly. In the published form, ε_k follows the schedule from ε₀, and Lemma 2 gives the number of
gradients; each gradient has its own δ, and all costs are added up after the run.

Budgets that change from one iteration to the next (Bhattacharjee & Tandon 2024, Section III-B).

With iterations i = 0 … I − 1 the published budgets are

    additive        ε_i = ε₀(1 + i/I)      sum ε₀(3I − 1)/2
    exponential     ε_i = ε₀ e^{i/I}       sum ε₀(e − 1)/(e^{1/I} − 1)
    multiplicative  ε_i = ε₀^{1 + i/I}     sum ε₀(1 − ε₀)/(1 − ε₀^{1/I})

Errors in the paper:

* I_exp in Lemma 2 bounds the sum by e·I·ε₀.  The sum is about (e − 1)·I·ε₀, so 58 % more
  iterations fit (`largest_count`).  The sum in the proof has an additional term, for i = I, and
  the bound on this sum fails at I = 1, where the bound would imply 1 + e ≤ e.
* "Multiplicative" budgets *shrink* for ε₀ < 1, from ε₀ to nearly ε₀², so the last iterations get
  the smallest budgets, contrary to the paper's aim.  This is why many iterations fit.
* Algorithm 2 uses i/(I − 1) in place of i/I, so its sum exceeds the sum in the lemma whenever
  budgets grow.

I_add and I_mul are exact up to rounding down.  At ε₀ = 1, I_mul is 0/0; its limit there is the
total divided by ε₀.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from privcore.algorithms.gradients.common import prepared, reference
from privcore.algorithms.gradients.noisy_gradients import planned_gradients, run_proven
from privcore.algorithms.gradients.parameters import BHATTACHARJEE, DescentParameters
from privcore.algorithms.gradients.published_gradients import FLAW, SEARCH_FLAW, run_published
from privcore.algorithms.search.model import Algorithm, Outcome, Run
from privcore.errors import ParameterError
from privcore.parameter import Parameter
from privcore.privacy.accounting.composition import Event

Schedule = Literal["additive", "exponential", "multiplicative"]
SCHEDULES: tuple[Schedule, ...] = ("additive", "exponential", "multiplicative")

_MOST_STEPS = 10**7


def budgets(schedule: Schedule, first: float, count: int) -> NDArray[np.float64]:
    """The published budget ε_i of each iteration, shape (count,), with ε₀ = `first`."""
    share = np.arange(count) / count
    if schedule == "additive":
        return np.asarray(first * (1 + share))
    if schedule == "exponential":
        return np.asarray(first * np.exp(share))
    return np.asarray(first ** (1 + share))


def total(schedule: Schedule, first: float, count: int) -> float:
    """Sum of the budgets, in closed form."""
    if schedule == "additive":
        return first * (3 * count - 1) / 2
    if schedule == "exponential":
        return first * math.expm1(1.0) / math.expm1(1 / count)
    if first == 1:
        return float(count)
    return first * (first - 1) / math.expm1(math.log(first) / count)


def lemma_count(schedule: Schedule, epsilon: float, first: float) -> int:
    """The number of iterations I in Lemma 2, rounded down; 0 if `epsilon` does not cover one."""
    if schedule == "additive":
        count = (epsilon + first / 2) / (1.5 * first)
    elif schedule == "exponential":
        count = epsilon / (first * math.e)
    elif first > epsilon:
        # The logarithm of the lemma is then that of a negative number, or the count is below 1.
        return 0
    elif first == 1:
        count = epsilon
    else:
        count = math.log(first) / math.log1p(first * (first - 1) / epsilon)
    # Slightly more, so that rounding does not lose a whole count.
    return math.floor(count * (1 + 1e-12))


def largest_count(schedule: Schedule, epsilon: float, first: float) -> int:
    """The largest number of iterations whose budgets add up to at most `epsilon`, by bisection.

    Raises ParameterError if more than ten million iterations would fit into the budget.
    """

    def fits(count: int) -> bool:
        return total(schedule, first, count) <= epsilon * (1 + 1e-12)

    if not fits(1):
        return 0
    low, high = 1, 2
    while fits(high):
        low, high = high, 2 * high
        if high > _MOST_STEPS:
            raise ParameterError("too-many-iterations")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def published_schedules(epsilon: float, first: float) -> dict[str, NDArray[np.float64]]:
    """The ε of each iteration that Lemma 2 allows for (ε_total, ε₀), by schedule.

    Schedules with no iterations are left out, as are schedules with more than ten thousand
    iterations, which are too long for a figure.
    """
    counts = {name: lemma_count(name, epsilon, first) for name in SCHEDULES}
    return {
        name: budgets(name, first, count) for name, count in counts.items() if 0 < count <= 10_000
    }


def proven_schedules(growth: float, count: int) -> dict[str, NDArray[np.float64]]:
    """The share of μ² for each of `count` iterations, by schedule; the shares add up to 1."""
    return {name: growing_shares(name, growth, count) ** 2 for name in SCHEDULES}


def growing_shares(schedule: Schedule, growth: float, count: int) -> NDArray[np.float64]:
    """The ratio μ_i/μ for each iteration, shape (count,); the squared ratios add up to 1.

    Gaussian noise composes exactly as Σμ_i² = μ², so only the schedule's relative budgets matter.
    growth: ratio of the last to the first budget in the multiplicative schedule, whose budgets grow
    here even if ε₀ < 1.
    """
    if schedule == "multiplicative":
        sizes = growth ** (np.arange(count) / max(count - 1, 1))
    else:
        sizes = budgets(schedule, 1.0, count)
    return np.asarray(sizes / math.sqrt(float(sizes @ sizes)))


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
    range="[1, 1e6]",
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
    range="(0, 1e6]",
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
            "epsilon-pays-if-schedule-starts",
            epsilon=epsilon,
            what=what,
            schedule=parameters.schedule,
            first=first,
            change=change,
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
