"""What a user may set in score-based CURATE: how the budget changes over the gradients."""

from __future__ import annotations

from privcore.algorithms.gradients.noisy_parameters import BHATTACHARJEE
from privcore.algorithms.gradients.schedules import SCHEDULES
from privcore.parameter import Parameter

SCHEDULE = Parameter(
    name="schedule",
    title="Budget per gradient",
    symbol="schedule",
    kind="choice",
    default="multiplicative",
    choices=SCHEDULES,
    help="How the budget changes from one gradient to the next: additive, from 1 to 2 times the "
    "first; exponential, from 1 to e times; multiplicative, by a constant factor.",
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
    help="Last budget over the first.",
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
    help="Budget of the first gradient; with the total it says how many gradients the schedule "
    "allows.",
    source=f"{BHATTACHARJEE}, Lemma 2",
    calibrations=("published",),
)
