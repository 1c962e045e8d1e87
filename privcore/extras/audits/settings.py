"""The parameters of an audit."""

from __future__ import annotations

from dataclasses import replace

from privcore.algorithms.search import parameters
from privcore.parameter import Parameter

EPSILON = replace(
    parameters.EPSILON,
    title="Claimed ε",
    help="The claim to test, to which the noise is calibrated. Audits are informative for ε from "
    "about 0.3 to 3: sampling error hides a smaller ε, and events that show a larger ε are too "
    "rare to count.",
    slider=(0.1, 5.0),
)
DELTA = replace(
    parameters.DELTA,
    title="Claimed δ",
    default=0.0,
    slider=(1e-6, 0.1),
    help="The δ of the claim, which is subtracted from the probability of the event. Gaussian "
    "noise needs a δ above 0; failures covered by a small δ are too rare for any audit to detect.",
)
RUNS = Parameter(
    name="runs",
    title="Runs on each data set",
    symbol="N",
    kind="int",
    default=100_000,
    range="[40, 1e7]",
    scale="log",
    slider=(1000, 1_000_000),
    help="One half of the runs is used to choose the events, and the other half to test them. The "
    "gap between the lower bound and the true ε shrinks at a rate of about 1/√N.",
    source="docs/auditing.md",
)
SEED = Parameter(
    name="seed",
    title="Seed",
    symbol="seed",
    kind="int",
    default=1,
    range="[0, 9007199254740992]",
    help="All noise of the audit is derived from this seed.",
    source="docs/auditing.md",
)
CONFIDENCE = Parameter(
    name="confidence",
    title="Confidence",
    symbol="1 − α",
    kind="float",
    default=0.95,
    range="(0, 1)",
    slider=(0.9, 0.9999),
    help="Probability with which the lower bound is at most the true ε. A true claim is called "
    "violated with probability at most 1 minus the confidence.",
    source="Clopper & Pearson 1934",
)
PROCESSES = Parameter(
    name="processes",
    advanced=True,
    title="Processes",
    symbol="processes",
    kind="int",
    default=1,
    range="[1, 64]",
    help="Number of processes that share the runs; the result does not depend on this number.",
    source="docs/auditing.md",
)

SETTINGS = (EPSILON, DELTA, RUNS, SEED, CONFIDENCE, PROCESSES)
