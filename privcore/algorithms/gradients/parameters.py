"""Parameters of the algorithms that optimise a score by gradients."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

from privcore.algorithms.search import parameters
from privcore.algorithms.search.parameters import GraphParameters, PrivateParameters
from privcore.parameter import Parameter

ZHENG = "Zheng, Aragam, Ravikumar & Xing 2018"
_OURS = "choice made here"

# Values of "auto" for numeric columns and for columns with levels. The latter were chosen on random
# tables, not on the networks: effects of level codes are weaker, and rare levels give longer rows.
_AUTOMATIC: dict[str, tuple[float, float]] = {
    "sparsity": (0.05, 0.02),
    "weight_threshold": (0.3, 0.05),
    "radius": (0.2, 0.7),
    "clip": (1.0, 4.0),
    "reach": (4.0, 1.5),
}


def auto_help(name: str) -> str:
    """Help text for "auto" in a parameter whose default depends on the kind of columns."""
    numbers, levels = _AUTOMATIC[name]
    return f"{numbers:g} for numbers, {levels:g} for levels"


DELTA = replace(
    parameters.DELTA,
    range="(0, 1)",
    help="Probability with which the bound ε may fail; Gaussian noise needs a value above 0. Keep "
    "it well below 1/n. If the total is computed after the run, this is the δ of one gradient.",
)
SPARSITY = Parameter(
    name="sparsity",
    title="Sparsity penalty",
    symbol="λ",
    kind="float",
    default=None,
    range="[0, 10]",
    optional=True,
    auto_help=auto_help("sparsity"),
    slider=(0.0, 0.5),
    help="Weight of the penalty on the sum of all |W|, in units of the columns' mean variance. "
    "Larger values give fewer edges and smaller weights.",
    source=f"{ZHENG}, Equation 3",
)
WEIGHT_THRESHOLD = Parameter(
    name="weight_threshold",
    title="Weight threshold",
    symbol="w",
    kind="float",
    default=None,
    range="[0, 100]",
    optional=True,
    auto_help=auto_help("weight_threshold"),
    slider=(0.0, 1.0),
    help="Edges with an absolute weight below this threshold are left out. The threshold is "
    "public; choose it without looking at the true graph. Changing it afterwards costs no "
    "privacy. Columns with levels have weaker linear effects than numeric columns.",
    source=f"{ZHENG}, Section 4.2",
)
UNITS = Parameter(
    name="units",
    advanced=True,
    title="Units of the columns",
    symbol="units",
    kind="choice",
    default="original",
    choices=("original", "bounds"),
    labels=(("original", "As they are"), ("bounds", "Scaled by their bounds")),
    help="original: columns are centred but not scaled; weights are in units of the effect per "
    "unit of the cause. bounds: each column is scaled to −1 … 1 by its public bounds. Least "
    "squares orients edges by the columns' variances, so the choice matters. Levels are coded "
    "−1 … 1 in their order.",
    source="Reisach, Seiler & Weichwald 2021",
)
MOMENT_UNITS = replace(
    UNITS,
    choices=("original", "bounds", "unit variance"),
    help=f"{UNITS.help} unit variance: each column is divided by its standard deviation, which "
    "removes the information on directions.",
)
DEGENERATE = Parameter(
    name="degenerate",
    advanced=True,
    title="Constant or collinear columns",
    symbol="degenerate",
    kind="choice",
    default="refuse",
    choices=("refuse", "keep"),
    labels=(("refuse", "End the run"), ("keep", "Let the penalty decide")),
    help="refuse: the run ends with an error that names the column, because weights are not "
    "unique. keep: the penalty chooses among weights that explain the columns equally well. The "
    "reference for private runs uses keep, because private runs cannot check for such columns.",
    source=_OURS,
)
RADIUS = Parameter(
    name="radius",
    advanced=True,
    title="Largest row",
    symbol="R",
    kind="float",
    default=None,
    range="(0, 1]",
    optional=True,
    auto_help=auto_help("radius"),
    slider=(0.05, 1.0),
    help="The p columns are scaled to −1 … 1, and rows longer than R times √p are shortened "
    "to that length; R = 1 shortens none. A smaller R needs less noise. Shortened rows keep their "
    "direction, which matters more here than their length. R is public, so choose it without "
    "looking at the rows.",
    source="docs/proofs/weighted_moments.md",
)
ITERATIONS = Parameter(
    name="iterations",
    advanced=True,
    title="Maximum number of iterations",
    symbol="I",
    kind="int",
    default=100,
    range="[1, 1000]",
    slider=(1, 200),
    help="Maximum number of times that the penalty on cycles grows; the search ends earlier once "
    "the graph has no cycle.",
    source=f"{ZHENG}, Algorithm 1",
)


@dataclass(frozen=True, kw_only=True)
class WeightParameters(GraphParameters):
    """Parameters of every algorithm that thresholds a weight matrix.

    Values that depend on the kind of columns are None until `settled` fills them in.
    """

    sparsity: float = SPARSITY.field()
    weight_threshold: float = WEIGHT_THRESHOLD.field()
    units: str = UNITS.field()

    def settled(self, *, numeric: bool) -> Self:
        """The parameters with the defaults for this kind of columns filled in."""
        chosen: dict[str, Any] = {
            name: numbers if numeric else levels
            for name, (numbers, levels) in _AUTOMATIC.items()
            if getattr(self, name, 0.0) is None
        }
        return replace(self, **chosen)


@dataclass(frozen=True, kw_only=True)
class NotearsParameters(WeightParameters):
    """Parameters of NOTEARS on second moments, exact or noisy."""

    units: str = MOMENT_UNITS.field()
    iterations: int = ITERATIONS.field()


MA = "Ma, Ji, Pang & Wang 2022"
BHATTACHARJEE = "Bhattacharjee & Tandon 2024"

GRADIENTS = Parameter(
    name="gradients",
    title="Gradients",
    symbol="T",
    kind="int",
    default=100,
    range="[1, 100000]",
    scale="log",
    slider=(10, 1000),
    help="Number of noisy gradients, fixed before the run. With more gradients, the search comes "
    "closer to the optimum, but each gradient gets more noise.",
    source="docs/proofs/clipped_gradients.md",
)
STAGES = Parameter(
    name="stages",
    advanced=True,
    title="Stages",
    symbol="K",
    kind="int",
    default=10,
    range="[1, 1000]",
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
    range="(0, 10]",
    scale="log",
    slider=(0.01, 1.0),
    help="How far each noisy gradient is followed if the step is fixed. Smaller steps average out "
    "the noise but need more gradients.",
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
    help="line search: the loss is evaluated at three step sizes, with noise, for a quarter of "
    "each gradient's budget. At equal budgets a line search does worse than a fixed step if "
    "ε is small, and no better than a larger fixed step if ε is large. In the published "
    "calibration: the authors' line search, on 1,000 rows and without noise.",
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
    labels=(("released", "Noisy means"), ("middle", "Middle of the bounds")),
    help="released: a tenth of the budget goes to noisy means and mean squares, which are used to "
    "centre and scale the columns. middle: the middle of the bounds is taken as the mean. This "
    "needs a little less noise but is biased if the true mean lies elsewhere, for example because "
    "one level is rare.",
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
    range="(0, 1000]",
    optional=True,
    auto_help=auto_help("clip"),
    scale="log",
    slider=(0.1, 10.0),
    help="The gradient of a single record is clipped to the norm C times the number of columns, in "
    "units of the columns' released or assumed variance. A smaller C needs less noise but biases "
    "the mean gradient, above all for rare levels.",
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
    range="(0, 1000]",
    scale="log",
    slider=(0.1, 10.0),
    help="Entries of the mean gradient are clipped to ±s, in units of the columns' assumed "
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
    range="[0.1, 1000]",
    optional=True,
    auto_help=auto_help("reach"),
    scale="log",
    slider=(1.0, 20.0),
    unit="standard deviations",
    help="Assumed distance from the middle of a column's public bounds to either bound, in "
    "standard deviations. λ, C and the step size are in units of the variance that this assumption "
    "implies, so no variance has to be estimated from the data.",
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
    range="(0, 10]",
    slider=(0.5, 5.0),
    help="Weights stay within ±w-max, so that noise cannot make them arbitrarily large.",
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
        """The parameters with the defaults filled in, including the calibration's step rule."""
        rule = "fixed" if self.calibration == "proven" else "line search"
        filled = super().settled(numeric=numeric)
        return replace(filled, step_rule=filled.step_rule or rule)
