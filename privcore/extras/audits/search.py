"""A random search for neighbouring data sets that are easy to distinguish."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from privcore.counts import CountSource
from privcore.extras.audits.case import Trial
from privcore.extras.audits.events import find_events
from privcore.extras.audits.neighbours import Record, TablePair
from privcore.extras.audits.simulate import simulate

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
