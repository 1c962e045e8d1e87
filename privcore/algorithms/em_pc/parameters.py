"""Parameters of EM-PC."""

from __future__ import annotations

from dataclasses import dataclass, replace

from privcore.algorithms.search import parameters
from privcore.parameter import Parameter
from privcore.privacy.mechanisms.selection import Selection

SOURCE = "Xu, Yuan & Wu 2017, Algorithms 2 and 3"

SELECTION = Parameter(
    name="selection",
    advanced=True,
    title="Selection mechanism",
    symbol="selection",
    kind="choice",
    default="exponential",
    choices=("exponential", "permute-and-flip"),
    labels=(("exponential", "Exponential mechanism"), ("permute-and-flip", "Permute and flip")),
    help="How a candidate is chosen. Permute-and-flip has a smaller error at the same ε, but "
    "if many selections are composed with δ above 0, the exponential mechanism costs only a "
    "quarter as much.",
    source="McSherry & Talwar 2007; McKenna & Sheldon 2020",
    calibrations=("proven",),
)
NUMBER_SHARE = Parameter(
    name="number_share",
    advanced=True,
    title="Budget share for the number of edges",
    symbol="ε₂/(ε₁+ε₂)",
    kind="float",
    default=0.5,
    low=0.0,
    open_low=True,
    high=1.0,
    open_high=True,
    slider=(0.1, 0.9),
    help="Share of a round's budget for choosing how many neighbours to remove; the rest is for "
    "choosing which ones. The paper uses a half.",
    source=SOURCE,
    calibrations=("proven",),
)
DIRECTION_SHARE = Parameter(
    name="direction_share",
    advanced=True,
    title="Budget share for directions",
    symbol="ε₃/ε",
    kind="float",
    default=0.2,
    low=0.0,
    high=1.0,
    open_high=True,
    slider=(0.0, 0.9),
    help="Share of the budget reserved for choosing the separating sets, which determine "
    "directions. The paper uses the exact sets without paying for them. At 0, directions "
    "come only from marginally independent pairs and from separating sets chosen with budget "
    "left over from the rounds.",
    source="docs/proofs/em_pc.md",
    calibrations=("proven",),
)
SCORE = replace(
    parameters.STREAM_SCORE.offering(dict(parameters.STREAM_SCORE.limited)["proven"]),
    default=None,
    auto_help="z-star",
    help="The measure of dependence; every choice has a proven sensitivity. The published form "
    "always uses the paper's own distance for G².",
    calibrations=("proven",),
)
MAX_ORDER = replace(
    parameters.MAX_ORDER,
    default=2,
    help="Tests condition on at most this many columns. Every order takes one round per column, "
    "so a higher maximum leaves less budget per round.",
)


@dataclass(frozen=True, kw_only=True)
class EMPCParameters(parameters.ScoreParameters):
    """Parameters of EM-PC."""

    score: str | None = SCORE.field()
    selection: Selection = SELECTION.field()
    number_share: float = NUMBER_SHARE.field()
    direction_share: float = DIRECTION_SHARE.field()
    max_order: int | None = MAX_ORDER.field()
