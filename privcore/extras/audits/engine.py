"""An audit: many runs on two neighbours, the most telling event, and what it shows.

The parameters of an audit.

Make many runs on both data sets, in this process or in several.

A random search for neighbouring data sets that are easy to distinguish.

The result of an audit.

The audit function, called by the page, the command line and the tests.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np

from privcore.algorithms.search import parameters
from privcore.counts import CountSource
from privcore.errors import Cancelled
from privcore.extras.audits.case import AuditCase, Outputs, Record, Side, TablePair, Trial, joined
from privcore.extras.audits.events import TestedEvent, find_events
from privcore.extras.worker import Crew, Pool
from privcore.parameter import Parameter
from privcore.privacy.mechanisms import SimulatedNoise

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


class Batch(NamedTuple):
    """A batch of `runs` runs on one data set, with the noise source of batch `number`."""

    side: Side
    number: int
    runs: int


def batches(runs: int, size: int) -> list[Batch]:
    """Batches of `size` runs, alternating between D and D′; the last batches may be smaller."""
    planned = []
    for number, begin in enumerate(range(0, runs, size)):
        sides: tuple[Side, Side] = (0, 1)
        planned += [Batch(side, number, min(size, runs - begin)) for side in sides]
    return planned


def perform(trial: Trial, seed: int, batch: Batch) -> Outputs:
    """The outputs of one batch; the noise depends only on seed, `batch.side` and `batch.number`."""
    noise = SimulatedNoise(np.random.SeedSequence(seed, spawn_key=(batch.side, batch.number)))
    return trial(batch.side, batch.runs, noise)


# With fewer runs, a process takes longer to start than to run.
_BATCHES_EACH = 8
# Seconds between checks whether to continue.
_WAIT_SECONDS = 0.1


def simulate(
    trial: Trial,
    runs: int,
    seed: int,
    processes: int = 1,
    progress: Callable[[int, int], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> tuple[Outputs, Outputs]:
    """Make `runs` runs on D and `runs` runs on D′; the outputs do not depend on `processes`.

    progress: called with the number of finished runs and the number of all runs.  Raises Cancelled
    between batches once `cancelled` returns True, Lost if a process ends unexpectedly, and any
    error raised in a run.
    """
    plan = batches(runs, trial.batch)
    worthwhile = min(processes, len(plan) // _BATCHES_EACH)
    serve, left = partial(perform, trial, seed), iter(plan)
    by_batch: dict[Batch, Outputs] = {}
    with closing(Pool(serve, worthwhile) if worthwhile > 1 else Crew(serve)) as crew:
        for done in crew.done(lambda: next(left, None), _WAIT_SECONDS):
            by_batch |= {batch: future.result() for batch, future in done}
            if done and progress is not None:
                progress(sum(b.runs for b in by_batch), 2 * runs)
            if cancelled is not None and cancelled():
                raise Cancelled
    one, other = ([by_batch[b] for b in plan if b.side == side] for side in (0, 1))
    return joined(one), joined(other)


PairScore = Callable[[TablePair], float]


def find_pair(
    levels: tuple[int, ...], n: int, score: PairScore, *, tries: int = 200, seed: int = 1
) -> TablePair:
    """Search for a pair of data sets of n ≥ 2 records with a high score, by `tries` random changes.

    levels: number of levels per column. score: function that measures how easily the two data sets
    are distinguished, such as the results of `score_change` and `shown_by`. About half of the
    changes are to a shared record, the others to the replaced record or its replacement. A change
    that lowers the score is undone.
    """
    generator = np.random.default_rng(seed)

    def drawn() -> Record:
        return tuple(int(generator.integers(k)) for k in levels)

    shared, one, other = [drawn() for _ in range(n - 1)], drawn(), drawn()
    best = _pair(levels, shared, one, other, seed, tries)
    highest = score(best)
    for _ in range(tries):
        rows, ends = list(shared), [one, other]
        if generator.random() < 0.5:
            rows[int(generator.integers(n - 1))] = drawn()
        else:
            ends[int(generator.integers(2))] = drawn()
        pair = _pair(levels, rows, ends[0], ends[1], seed, tries)
        found = score(pair)
        if found >= highest:
            shared, (one, other), best, highest = rows, ends, pair, found
    return best


def score_change(value: Callable[[CountSource], float]) -> PairScore:
    """A score for `find_pair`: the absolute change in a number computed from the records."""

    def score(pair: TablePair) -> float:
        return abs(value(pair.source(0)) - value(pair.source(1)))

    return score


def shown_by(
    trial: Callable[[TablePair], Trial], delta: float, runs: int, seed: int = 1
) -> PairScore:
    """A score for `find_pair`: the ε that a short audit with one seed shows at confidence 0.5."""

    def score(pair: TablePair) -> float:
        events = find_events(*simulate(trial(pair), runs, seed), delta, 0.5)
        return max((event.epsilon_lower for event in events), default=0.0)

    return score


def _pair(
    levels: tuple[int, ...], shared: list[Record], one: Record, other: Record, seed: int, tries: int
) -> TablePair:
    counts = {record: shared.count(record) for record in shared}
    words = f"{len(shared) + 1} records found by a search of {tries} steps (seed {seed})"
    return TablePair(words, levels, tuple(counts.items()), one, other)


Verdict = Literal["violated", "not violated"]


@dataclass(frozen=True)
class AuditResult:
    """A claimed (ε, δ), and the largest ε at this δ shown by runs on two neighbouring data sets.

    runs: number of runs on each data set; one half was used to choose the events, and the other
        half to test them.
    confidence: `epsilon_lower` is at most the true ε at δ with at least this probability.
    events: the tested events in decreasing order of ε; empty if all outputs were the same.
    seconds: time of the whole audit.
    """

    case: AuditCase
    epsilon: float
    delta: float
    runs: int
    seed: int
    confidence: float
    events: tuple[TestedEvent, ...]
    seconds: float

    @property
    def epsilon_lower(self) -> float:
        """Lower bound on ε at the claimed δ; 0 if no event gives a positive bound."""
        return max((event.epsilon_lower for event in self.events), default=0.0)

    @property
    def event(self) -> str:
        """The event with the largest ε, in words."""
        return self.events[0].words if self.events else "none: all outputs were the same"

    @property
    def verdict(self) -> Verdict:
        """Whether the claim is refuted at the stated confidence."""
        return "violated" if self.epsilon_lower > self.epsilon else "not violated"

    @property
    def ratio(self) -> float:
        """The lower bound on ε divided by the claimed ε."""
        return self.epsilon_lower / self.epsilon

    @property
    def most_visible(self) -> float:
        """Approximately the largest ε that this number of runs can show for any mechanism.

        This is the bound for an event that always occurs on one data set and never on the other.
        """
        tested = self.runs - self.runs // 2
        return math.log(tested / math.log(2 / (1 - self.confidence)))

    def as_dict(self) -> dict[str, Any]:
        """The result as a JSON-ready dictionary."""
        case = self.case
        return {
            "name": case.name,
            "title": case.title,
            "kind": case.kind,
            "neighbours": case.neighbours,
            "flaw": case.flaw,
            **({"protects": case.protects} if case.protects else {}),
            "claim": {"epsilon": self.epsilon, "delta": self.delta},
            "epsilon_lower": self.epsilon_lower,
            "ratio": self.ratio,
            "verdict": self.verdict,
            "confidence": self.confidence,
            "runs": self.runs,
            "seed": self.seed,
            "event": self.event,
            "events": [event.as_dict() for event in self.events],
            "most_visible": self.most_visible,
            "seconds": self.seconds,
        }


def audit(
    case: AuditCase,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    runs: int | None = None,
    seed: int = 1,
    confidence: float = 0.95,
    processes: int = 1,
    progress: Callable[[int, int], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> AuditResult:
    """Test the claim that the mechanism of a case is (ε, δ)-DP, on the case's two data sets.

    epsilon, delta: the claim; by default the claim of the case.
    runs: number of runs on each data set; by default the number of the case.
    confidence: the probability with which the lower bound holds. A true claim is called violated
        with probability at most 1 − confidence, over the noise of the audit.
    processes: number of processes, which does not change the result.
    progress: called with the number of finished runs and the number of all runs.

    Raises ParameterError for values out of range, and Cancelled once `cancelled` returns True.
    """
    claim = (
        EPSILON.parse(case.epsilon if epsilon is None else epsilon),
        DELTA.parse(case.delta if delta is None else delta),
    )
    count = RUNS.parse(case.runs if runs is None else runs)
    level, number = CONFIDENCE.parse(confidence), SEED.parse(seed)
    start = time.perf_counter()
    trial = case.make(*claim)
    one, other = simulate(trial, count, number, PROCESSES.parse(processes), progress, cancelled)
    events = find_events(one, other, claim[1], level)
    seconds = time.perf_counter() - start
    return AuditResult(case, *claim, count, number, level, events, seconds)


def runs_to_catch(
    case: AuditCase,
    *,
    seed: int = 1,
    confidence: float = 0.95,
    first: int = 250,
    most: int = 256_000,
    processes: int = 1,
) -> AuditResult:
    """Repeat an audit, each time with twice as many runs, until the claim is called violated.

    Returns the last audit; its verdict is "not violated" if even `most` runs were not enough.
    seed: seed of the first audit; each later audit has a new seed. confidence: confidence of all
    audits together; each single audit has a higher confidence.
    """
    audits = 1 + int(math.log2(most / first))
    level = 1 - (1 - confidence) / audits
    for k in range(audits):
        result = audit(case, runs=first << k, seed=seed + k, confidence=level, processes=processes)
        if result.verdict == "violated":
            break
    return result
