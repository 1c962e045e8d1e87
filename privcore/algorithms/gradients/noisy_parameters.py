"""What a user may set in the algorithms that follow noisy gradients."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from privcore.algorithms.gradients.parameters import DELTA, WeightParameters, auto_help
from privcore.algorithms.search.parameters import PrivateParameters
from privcore.parameter import Parameter

MA = "Ma, Ji, Pang & Wang 2022"
BHATTACHARJEE = "Bhattacharjee & Tandon 2024"
_OURS = "choice made here"

GRADIENTS = Parameter(
    name="gradients",
    title="Gradients",
    symbol="T",
    kind="int",
    default=100,
    low=1,
    high=100_000,
    scale="log",
    slider=(10, 1000),
    help="How many noisy gradients the run may ask for, fixed before it. More let it get nearer to "
    "its aim, but each gets more noise.",
    source="docs/proofs/clipped_gradients.md",
)
STAGES = Parameter(
    name="stages",
    advanced=True,
    title="Stages",
    symbol="K",
    kind="int",
    default=10,
    low=1,
    high=1000,
    slider=(1, 50),
    help="After every T/K gradients the penalty on cycles grows.",
    source=_OURS,
)
STEP = Parameter(
    name="step",
    advanced=True,
    title="Step size",
    symbol="η",
    kind="float",
    default=0.1,
    low=0.0,
    open_low=True,
    high=10.0,
    scale="log",
    slider=(0.01, 1.0),
    help="How far each noisy gradient is followed where the step is fixed. Smaller steps average "
    "the noise out, but need more gradients.",
    source=_OURS,
    only_with=("step_rule", (None, "fixed")),
)
STEP_RULE = Parameter(
    name="step_rule",
    advanced=True,
    title="Step",
    symbol="step",
    kind="choice",
    default=None,
    choices=("fixed", "line search"),
    optional=True,
    auto_help="fixed when proven, line search when published",
    help="line search: noisy values of the loss at three steps choose among them, for a quarter of "
    "the budget of each gradient. At equal budgets it does worse than the fixed step where ε is "
    "small, and no better than a larger fixed step where it is large. Published: the authors' line "
    "search, on 1,000 of the rows without noise.",
    source=f"{MA}; docs/proofs/clipped_gradients.md",
)
CENTRING = Parameter(
    name="centring",
    advanced=True,
    title="Means",
    symbol="μ",
    kind="choice",
    default="released",
    choices=("released", "middle"),
    help="released: a tenth of the budget goes to noisy means and mean squares, by which columns "
    "are centred and scaled. middle: the middle of the bounds is taken as the mean, with a little "
    "less noise, but wrong where it is not, as for levels of which one is rare.",
    source="docs/proofs/clipped_gradients.md",
    calibrations=("proven",),
)
CLIP = Parameter(
    name="clip",
    advanced=True,
    title="Largest gradient",
    symbol="C",
    kind="float",
    default=None,
    low=0.0,
    open_low=True,
    high=1000.0,
    optional=True,
    auto_help=auto_help("clip"),
    scale="log",
    slider=(0.1, 10.0),
    help="A longer gradient of a single record is shortened to C times the number of columns, in "
    "units of the columns' variance, as released or supposed. Less lets in less noise, but bends "
    "the mean, most of all for rare levels.",
    source="Abadi et al. 2016; docs/proofs/clipped_gradients.md",
    calibrations=("proven",),
)
ENTRY_CLIP = Parameter(
    name="entry_clip",
    advanced=True,
    title="Largest entry",
    symbol="s",
    kind="float",
    default=1.0,
    low=0.0,
    open_low=True,
    high=1000.0,
    scale="log",
    slider=(0.1, 10.0),
    help="Entries of the mean gradient beyond ±s are cut to it, in units of the columns' supposed "
    "variance.",
    source=f"{MA}; {BHATTACHARJEE}, Section II",
    calibrations=("published",),
)
REACH = Parameter(
    name="reach",
    advanced=True,
    title="Reach of the bounds",
    symbol="B",
    kind="float",
    default=None,
    low=0.1,
    high=1000.0,
    optional=True,
    auto_help=auto_help("reach"),
    scale="log",
    slider=(1.0, 20.0),
    unit="standard deviations",
    help="How many standard deviations the public bounds are supposed to reach from the middle. "
    "λ, C and the step size are in units of the variance that follows, so that no variance has to "
    "be read from the data.",
    source=_OURS,
    calibrations=("proven",),
    only_with=("centring", ("middle",)),
)
WEIGHT_LIMIT = Parameter(
    name="weight_limit",
    advanced=True,
    title="Largest weight",
    symbol="w-max",
    kind="float",
    default=2.0,
    low=0.0,
    open_low=True,
    high=10.0,
    slider=(0.5, 5.0),
    help="Weights stay within ±w-max, so that noise cannot carry them away.",
    source=_OURS,
)


@dataclass(frozen=True, kw_only=True)
class DescentParameters(WeightParameters, PrivateParameters):
    """Parameters of every algorithm that follows noisy gradients."""

    delta: float = DELTA.field()
    gradients: int = GRADIENTS.field()
    clip: float = CLIP.field()
    entry_clip: float = ENTRY_CLIP.field()
    step_rule: str = STEP_RULE.field()
    step: float = STEP.field()
    stages: int = STAGES.field()
    centring: str = CENTRING.field()
    reach: float = REACH.field()
    weight_limit: float = WEIGHT_LIMIT.field()

    def settled(self, *, numeric: bool) -> Self:
        """And with the step rule of the calibration, where none was chosen."""
        rule = "fixed" if self.calibration == "proven" else "line search"
        filled = super().settled(numeric=numeric)
        return replace(filled, step_rule=filled.step_rule or rule)
