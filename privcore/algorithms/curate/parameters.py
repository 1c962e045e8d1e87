"""What a user may set in CURATE."""

from __future__ import annotations

from dataclasses import dataclass, replace

from privcore.algorithms.search import parameters
from privcore.parameter import Parameter

SOURCE = "Bhattacharjee & Tandon 2024, Algorithm 1"

BETA_KEEP = Parameter(
    name="beta_keep",
    advanced=True,
    title="Margin to keep",
    symbol="β₁",
    kind="float",
    default=0.1,
    low=0.0,
    high=0.99,
    slider=(0.0, 0.9),
    help="A noisy value beyond the threshold by this share of it, on the dependent side, keeps the "
    "edge; between the two margins a coin decides.",
    source=SOURCE,
)
BETA_DELETE = replace(
    BETA_KEEP,
    name="beta_delete",
    title="Margin to delete",
    symbol="β₂",
    help="A noisy value beyond the threshold by this share of it, on the independent side, deletes "
    "the edge.",
)
SLACK = Parameter(
    name="slack",
    advanced=True,
    title="Coin constant",
    symbol="c₁, c₂",
    kind="float",
    default=0.1,
    low=0.0,
    high=1.0,
    slider=(0.0, 1.0),
    help="Stands for the probability that a noisy value falls between the margins, in the bound on "
    "errors that the allocation minimises. The paper leaves it open.",
    source="Bhattacharjee & Tandon 2024, Lemma 1",
)
NOISE_LIMIT = Parameter(
    name="noise_limit",
    advanced=True,
    title="Noise limit",
    symbol="κ",
    kind="float",
    default=10.0,
    low=0.0,
    open_low=True,
    high=1e9,
    scale="log",
    slider=(0.5, 100.0),
    help="An order is left out if its noise would be more than this many times the threshold: its "
    "answers would be coin tosses that delete edges. The paper has no such limit; a very large one "
    "gives its form.",
    source="docs/proofs/curate.md",
    calibrations=("proven",),
)
SAMPLE_RATE = replace(
    parameters.RATE,
    help="The whole run sees one sub-sample of this fraction of the rows, drawn once. Signal over "
    "noise is best at rate 1.",
    source=SOURCE,
)


@dataclass(frozen=True, kw_only=True)
class CurateParameters(parameters.PerTestParameters):
    """Parameters of CURATE."""

    beta_keep: float = BETA_KEEP.field()
    beta_delete: float = BETA_DELETE.field()
    slack: float = SLACK.field()
    noise_limit: float = NOISE_LIMIT.field()
    rate: float = SAMPLE_RATE.field()
