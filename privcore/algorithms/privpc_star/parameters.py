"""What a user may set in PrivPC*."""

from __future__ import annotations

from dataclasses import dataclass, replace

from privcore.algorithms.search import parameters
from privcore.parameter import Parameter

SOURCE = "Xu, Yuan & Wu 2017, Section V"

DELTA = replace(
    parameters.DELTA,
    only_with=("mechanism", ("gaussian",)),
    calibrations=("proven",),
)
MECHANISM = Parameter(
    name="mechanism",
    title="Noise",
    symbol="noise",
    kind="choice",
    default="gaussian",
    choices=("gaussian", "laplace"),
    help="gaussian: for a small failure probability δ, noise by the Euclidean change of the "
    "matrix, far smaller for many columns. laplace: δ = 0, noise by the sum of all changes, as in "
    "the paper.",
    source=f"Balle & Wang 2018; {SOURCE}",
    calibrations=("proven",),
)
RADIUS = Parameter(
    name="radius",
    advanced=True,
    title="Largest row",
    symbol="R",
    kind="float",
    default=0.5,
    low=0.0,
    open_low=True,
    high=1.0,
    slider=(0.05, 1.0),
    help="Rows longer than R times √p, with columns scaled to −1 … 1, are shortened to it: the "
    "shorter, the less Gaussian noise, but the more is cut off. A public choice, made without "
    "looking at the rows; 1 cuts nothing off.",
    source="docs/proofs/second_moments.md",
    calibrations=("proven",),
    only_with=("mechanism", ("gaussian",)),
)
CENTRING = Parameter(
    name="centring",
    advanced=True,
    title="Means",
    symbol="μ",
    kind="choice",
    default="released",
    choices=("released", "middle"),
    help="released: the means get noise too, and covariances are centred with them. middle: the "
    "middle of the bounds is taken as the mean, with a little less noise, but wrong where it is "
    "not.",
    source="docs/proofs/second_moments.md",
    calibrations=("proven",),
)
NULL = Parameter(
    name="null",
    advanced=True,
    title="Variance under independence",
    symbol="null",
    kind="choice",
    default=None,
    choices=("sampling", "sampling and noise"),
    optional=True,
    auto_help="sampling and noise when proven, sampling when published",
    help="Whether the threshold reckons with the variance of the noise beside that of sampling. "
    "With sampling alone, as in the paper, noise looks like dependence and edges are kept.",
    source=f"{SOURCE}; docs/proofs/second_moments.md",
)


@dataclass(frozen=True, kw_only=True)
class PrivPCStarParameters(parameters.OrientedParameters, parameters.PrivateParameters):
    """Parameters of PrivPC*."""

    mechanism: str = MECHANISM.field()
    delta: float = DELTA.field()
    threshold: float = parameters.THRESHOLD.field()
    radius: float = RADIUS.field()
    centring: str = CENTRING.field()
    null: str | None = NULL.field()
