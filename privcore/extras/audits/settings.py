"""What a user may set in an audit."""

from __future__ import annotations

from dataclasses import replace

from privcore.algorithms.search import parameters
from privcore.parameter import Parameter

EPSILON = replace(
    parameters.EPSILON,
    title="Claimed ε",
    help="The claim that is tested; noise is made for it. Between about 0.3 and 3 the runs can say "
    "something: less drowns in the counting error, more would need events too rare to be counted.",
    slider=(0.1, 5.0),
)
DELTA = replace(
    parameters.DELTA,
    title="Claimed δ",
    default=0.0,
    slider=(1e-6, 0.1),
    help="The δ of the claim, which is taken off the probability of the event. Gaussian noise "
    "needs one above 0; what hides behind a small δ is too rare for any audit to see.",
)
RUNS = Parameter(
    name="runs",
    title="Runs on each data set",
    symbol="N",
    kind="int",
    default=100_000,
    low=40,
    high=10_000_000,
    scale="log",
    slider=(1000, 1_000_000),
    help="Half of them choose the events, half test them. The lower bound comes closer to the true "
    "ε with more runs, about as 1/√N.",
    source="docs/auditing.md",
)
SEED = Parameter(
    name="seed",
    title="Seed",
    symbol="seed",
    kind="int",
    default=1,
    low=0,
    high=2**53,
    help="All noise of the audit is derived from it.",
    source="docs/auditing.md",
)
CONFIDENCE = Parameter(
    name="confidence",
    title="Confidence",
    symbol="1 − α",
    kind="float",
    default=0.95,
    low=0.0,
    open_low=True,
    high=1.0,
    open_high=True,
    slider=(0.9, 0.9999),
    help="With at least this probability the lower bound is not above the true ε, so that a true "
    "claim is called violated with probability at most 1 minus it.",
    source="Clopper & Pearson 1934",
)
PROCESSES = Parameter(
    name="processes",
    advanced=True,
    title="Processes",
    symbol="processes",
    kind="int",
    default=1,
    low=1,
    high=64,
    help="How many processes share the runs; the result is the same.",
    source="docs/auditing.md",
)

SETTINGS = (EPSILON, DELTA, RUNS, SEED, CONFIDENCE, PROCESSES)
