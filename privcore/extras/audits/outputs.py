"""The outputs of many runs on one data set, in a form on which events can be evaluated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privcore.arrays import Matrix, Vector

Codes = NDArray[np.int64]


class Outcome(NamedTuple):
    """One possible output, such as a graph.

    words: the whole output as text; two outputs with the same words count as equal.
    facts: features of the output by name, such as the number of edges; unlisted features are 0.
    """

    words: str
    facts: tuple[tuple[str, float], ...] = ()


NOTHING = Outcome("")


@dataclass(frozen=True)
class Outputs:
    """The outputs of many runs: k released numbers and an outcome per run.

    names: names of the k numbers; k is 0 if the runs release no numbers.  numbers: shape (runs, k).
    outcomes: all different outcomes; only NOTHING if the runs have no outcomes.  codes: position of
    each run's outcome in `outcomes`, shape (runs,).
    """

    names: tuple[str, ...]
    numbers: Matrix
    outcomes: tuple[Outcome, ...]
    codes: Codes

    @classmethod
    def of_numbers(cls, names: Sequence[str], numbers: Matrix) -> Outputs:
        """The outputs of runs that release only numbers, shape (runs, k)."""
        return cls(tuple(names), numbers, (NOTHING,), np.zeros(len(numbers), dtype=np.int64))

    @classmethod
    def of_outcomes(
        cls,
        outcomes: Sequence[Outcome],
        codes: Codes,
        names: Sequence[str] = (),
        numbers: Matrix | None = None,
    ) -> Outputs:
        """The outputs of runs with outcomes, and with released numbers if `numbers` is given."""
        none = np.empty((codes.size, 0))
        return cls(tuple(names), none if numbers is None else numbers, tuple(outcomes), codes)

    @property
    def runs(self) -> int:
        return int(self.codes.size)

    @cached_property
    def features(self) -> dict[str, Vector]:
        """Every number and feature by name, each of shape (runs,)."""
        features = {name: self.numbers[:, k] for k, name in enumerate(self.names)}
        names = dict.fromkeys(name for outcome in self.outcomes for name, _ in outcome.facts)
        listed = [dict(outcome.facts) for outcome in self.outcomes]
        for name in names:
            values = np.array([facts.get(name, 0.0) for facts in listed])
            features[name] = values[self.codes]
        return features

    def feature(self, name: str) -> Vector:
        """The values of the number or feature called `name`, one per run, shape (runs,).

        All are 0 if there is no number of this name and no outcome has the feature.
        """
        return self.features.get(name, np.zeros(self.runs))

    def part(self, start: int, stop: int) -> Outputs:
        """The runs from `start` up to, but not including, `stop`."""
        return Outputs(self.names, self.numbers[start:stop], self.outcomes, self.codes[start:stop])


def joined(parts: Sequence[Outputs]) -> Outputs:
    """All runs of the parts in order, with outcomes merged and sorted by their words."""
    known = {outcome.words: outcome for part in parts for outcome in part.outcomes}
    outcomes = tuple(known[words] for words in sorted(known))
    position = {outcome.words: k for k, outcome in enumerate(outcomes)}
    codes = [
        np.array([position[o.words] for o in part.outcomes], dtype=np.int64)[part.codes]
        for part in parts
    ]
    numbers = np.concatenate([part.numbers for part in parts])
    return Outputs(parts[0].names, numbers, outcomes, np.concatenate(codes))
