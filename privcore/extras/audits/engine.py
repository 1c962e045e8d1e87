"""The audit function, called by the page, the command line and the tests."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from privcore.extras.audits.case import AuditCase
from privcore.extras.audits.events import find_events
from privcore.extras.audits.result import AuditResult
from privcore.extras.audits.settings import (
    CONFIDENCE,
    DELTA,
    EPSILON,
    PROCESSES,
    RUNS,
    SEED,
)
from privcore.extras.audits.simulate import simulate


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
