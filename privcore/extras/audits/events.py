"""Choose events on one half of the runs, and test them on the other half.

The first quarter of the runs is used to fit statistics, and the second quarter to choose thresholds
and the few events to test. These events are fixed before the second half is used, so that exact
bounds on their probabilities hold.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from privcore.extras.audits.case import Outputs
from privcore.extras.audits.statistics import (
    Family,
    Statistic,
    clopper_pearson_high,
    clopper_pearson_low,
    epsilon_shown,
    learned,
    rough_epsilon,
)

Favours = Literal["D", "D′"]

# Most events tested, one per family, so that few share the error probability.
MOST_EVENTS = 3
_MOST_BOUNDS = 200


@dataclass(frozen=True)
class Event:
    """The event that a statistic is at least `bound` if `above`, and below `bound` otherwise."""

    statistic: Statistic
    bound: float
    above: bool
    favours: Favours

    def hits(self, outputs: Outputs) -> int:
        """Number of runs in which the event occurred."""
        return int(((self.statistic.values(outputs) >= self.bound) == self.above).sum())

    @property
    def words(self) -> str:
        return self.statistic.words(self.bound, self.above)

    @property
    def plainly(self) -> str:
        return self.statistic.plainly(self.bound, self.above)


@dataclass(frozen=True)
class TestedEvent:
    """An event and its test on the second half of the runs.

    words: the event with the internal names of features. plainly: the event as a sentence without
        its full stop.
    favours: the data set on which the event is likelier. hits, other_hits: numbers of occurrences
        in `runs` runs on that data set and in `runs` runs on the other data set.
    low: lower bound on the probability of the event on the favoured data set. high: upper bound on
        the probability on the other data set. All bounds of an audit hold simultaneously with the
        confidence of the audit.
    """

    __test__ = False

    words: str
    plainly: str
    family: Family
    favours: Favours
    hits: int
    other_hits: int
    runs: int
    low: float
    high: float
    epsilon_lower: float

    def as_dict(self) -> dict[str, Any]:
        return dict(vars(self))


def find_events(
    one: Outputs, other: Outputs, delta: float, confidence: float
) -> tuple[TestedEvent, ...]:
    """Choose and test at most MOST_EVENTS events; the event with the largest ε comes first.

    one, other: outputs of the same number of runs, at least 8, on D and on D′.
    """
    runs = one.runs
    quarter, half = runs // 4, runs // 2
    fitted = learned(one.part(0, quarter), other.part(0, quarter))
    alpha = (1 - confidence) / (2 * MOST_EVENTS)
    chosen = _chosen(fitted, one.part(quarter, half), other.part(quarter, half), delta, alpha)
    # Two bounds for each tested event; by the union bound all hold simultaneously.
    alpha = (1 - confidence) / (2 * max(len(chosen), 1))
    rest = one.part(half, runs), other.part(half, runs)
    events = [_tested(event, *rest, delta, alpha) for event in chosen]
    return tuple(sorted(events, key=lambda event: -event.epsilon_lower))


def _tested(event: Event, one: Outputs, other: Outputs, delta: float, alpha: float) -> TestedEvent:
    likely, rare = (one, other) if event.favours == "D" else (other, one)
    hits, other_hits = event.hits(likely), event.hits(rare)
    low = clopper_pearson_low(hits, likely.runs, alpha)
    high = clopper_pearson_high(other_hits, rare.runs, alpha)
    return TestedEvent(
        words=event.words,
        plainly=event.plainly,
        family=event.statistic.family,
        favours=event.favours,
        hits=hits,
        other_hits=other_hits,
        runs=likely.runs,
        low=low,
        high=high,
        epsilon_lower=epsilon_shown(low, high, delta),
    )


def _chosen(
    statistics: list[Statistic], one: Outputs, other: Outputs, delta: float, alpha: float
) -> list[Event]:
    """The MOST_EVENTS most promising events, at most one from each family."""
    best: dict[str, tuple[float, Event]] = {}
    for statistic in statistics:
        bound = _best_bound(statistic, one, other, delta, alpha)
        if bound is not None and bound[0] > best.get(statistic.family, (-np.inf,))[0]:
            best[statistic.family] = bound
    ranked = sorted(best.values(), key=lambda pair: -pair[0])
    return [event for _, event in ranked[:MOST_EVENTS]]


def _best_bound(
    statistic: Statistic, one: Outputs, other: Outputs, delta: float, alpha: float
) -> tuple[float, Event] | None:
    """Approximate ε and most promising event of a statistic; None if the statistic is constant."""
    values, there = np.sort(statistic.values(one)), np.sort(statistic.values(other))
    bounds = np.unique(np.concatenate((values, there)))[1:]
    if bounds.size == 0:
        return None
    if bounds.size > _MOST_BOUNDS:
        kept = np.linspace(0, bounds.size - 1, _MOST_BOUNDS).astype(np.int64)
        bounds = bounds[kept]
    above = values.size - np.searchsorted(values, bounds)
    above_there = there.size - np.searchsorted(there, bounds)
    runs = values.size
    shown = np.stack(
        [
            rough_epsilon(above, above_there, runs, delta, alpha),
            rough_epsilon(above_there, above, runs, delta, alpha),
            rough_epsilon(runs - above, runs - above_there, runs, delta, alpha),
            rough_epsilon(runs - above_there, runs - above, runs, delta, alpha),
        ]
    )
    way, position = divmod(int(np.argmax(shown)), bounds.size)
    favours: Favours = "D" if way in (0, 2) else "D′"
    event = Event(statistic, float(bounds[position]), way < 2, favours)
    return float(shown[way, position]), event
