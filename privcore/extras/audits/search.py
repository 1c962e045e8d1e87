"""A random search for neighbouring data sets that tell the most, where none are known."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from privcore.counts import CountSource
from privcore.extras.audits.case import Trial
from privcore.extras.audits.events import find_events
from privcore.extras.audits.neighbours import Record, TablePair
from privcore.extras.audits.simulate import simulate

Told = Callable[[TablePair], float]


def find_pair(
    levels: tuple[int, ...], n: int, told: Told, *, tries: int = 200, seed: int = 1
) -> TablePair:
    """The pair of n ≥ 2 records that told the most in `tries` random changes of one of them.

    told: how much a pair tells, such as `score_change` or `shown_by`.  Half of the changes are to
    the shared records, half to the one that is replaced or its replacement; a change that tells
    less is taken back.
    """
    generator = np.random.default_rng(seed)

    def drawn() -> Record:
        return tuple(int(generator.integers(k)) for k in levels)

    shared, one, other = [drawn() for _ in range(n - 1)], drawn(), drawn()
    best = _pair(levels, shared, one, other, seed, tries)
    most = told(best)
    for _ in range(tries):
        rows, ends = list(shared), [one, other]
        if generator.random() < 0.5:
            rows[int(generator.integers(n - 1))] = drawn()
        else:
            ends[int(generator.integers(2))] = drawn()
        pair = _pair(levels, rows, ends[0], ends[1], seed, tries)
        tells = told(pair)
        if tells >= most:
            shared, (one, other), best, most = rows, ends, pair, tells
    return best


def score_change(value: Callable[[CountSource], float]) -> Told:
    """How much a number computed from the records changes."""

    def told(pair: TablePair) -> float:
        return abs(value(pair.source(0)) - value(pair.source(1)))

    return told


def shown_by(trial: Callable[[TablePair], Trial], delta: float, runs: int, seed: int = 1) -> Told:
    """The ε that an audit of so few runs shows, at a low confidence, the same seed for all."""

    def told(pair: TablePair) -> float:
        events = find_events(*simulate(trial(pair), runs, seed), delta, 0.5)
        return max((event.epsilon_lower for event in events), default=0.0)

    return told


def _pair(
    levels: tuple[int, ...], shared: list[Record], one: Record, other: Record, seed: int, tries: int
) -> TablePair:
    counts = {record: shared.count(record) for record in shared}
    words = f"{len(shared) + 1} records found by a search of {tries} steps (seed {seed})"
    return TablePair(words, levels, tuple(counts.items()), one, other)
