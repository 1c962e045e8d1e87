"""Trials of `discover` in which a person is added or removed and the number of rows is private.

The number of rows is released first, and each run draws its rows anew.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
from scipy.special import logsumexp
from scipy.stats import hypergeom

from privcore.algorithms import discover
from privcore.algorithms.engine import checked_parameters
from privcore.counts import CountSource
from privcore.extras.audits.case import Side
from privcore.extras.audits.neighbours import TablePair
from privcore.extras.audits.outputs import Outputs
from privcore.extras.audits.release_trial import RATIO, Listening, Released
from privcore.privacy.mechanisms import NoiseSource, SimulatedNoise

# The log-likelihood ratio of an output that only one of the data sets can have.
_CERTAIN = 1e6


class _AllReleased(Exception):
    """Raised after the last release, since the rest of a run is post-processing."""


class _Until(Listening):
    """A listener that ends the run after `releases` releases."""

    def __init__(
        self, noise: NoiseSource, releases: int, replayed: Sequence[Released] = ()
    ) -> None:
        super().__init__(noise, replayed)
        self._releases = releases

    def _keep(self, name: str, method: Any, values: Any, scale: float) -> Any:
        noisy = super()._keep(name, method, values, scale)
        if len(self.released) == self._releases:
            raise _AllReleased
        return noisy


@dataclass(frozen=True)
class AddedTrial:
    """Runs of an algorithm on tables with and without a person; the number of rows is private.

    The output of a run is the likelihood ratio of its releases: the noisy number of rows, the
    number of rows that later steps use, and, if `releases` is 2, the counts of all combinations of
    levels. The ratio is computed from these numbers and the two data sets, so it is
    post-processing. parameters: as for `discover`. pair: two data sets with equal shared rows; D′
    has no rows of the person. The constructor raises ParameterError for parameters that the
    algorithm rejects.
    """

    algorithm: str
    parameters: Mapping[str, Any]
    pair: TablePair
    releases: int = 2
    batch: int = 500
    _rows: dict[tuple[Side, float], int] = field(
        init=False, default_factory=dict, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        checked_parameters(self.algorithm, self.parameters)

    def __call__(self, side: Side, runs: int, noise: NoiseSource) -> Outputs:
        source = self.pair.source(side)
        made = (self._released(source, noise, self.releases) for _ in range(runs))
        ratios = [self._ratio(side, released) for released in made]
        return Outputs.of_numbers([RATIO], np.round(ratios, 9)[:, None])

    def _released(
        self,
        source: CountSource,
        noise: NoiseSource,
        releases: int,
        replayed: Sequence[Released] = (),
    ) -> list[Released]:
        listening = _Until(noise, releases, replayed)
        with contextlib.suppress(_AllReleased):
            discover(
                source,
                self.algorithm,
                self.parameters,
                noise=cast(NoiseSource, listening),
                keep_trace=False,
            )
        return listening.released

    def _rows_used(self, side: Side, number: Released) -> int:
        """The number of rows that later steps use on D or D′, given the noisy number of rows."""
        key = side, float(number.noisy[0])
        if key not in self._rows:
            source = self.pair.source(side)
            _, counts = self._released(source, SimulatedNoise(0), 2, [number])
            self._rows[key] = int(counts.exact.sum())
        return self._rows[key]

    def _ratio(self, side: Side, released: list[Released]) -> float:
        pair, number = self.pair, released[0]
        without, person = pair.n - pair.rows, pair.rows
        noisy, scale = float(number.noisy[0]), number.scale
        ratio = (abs(noisy - without) - abs(noisy - pair.n)) / scale
        rows, on_other = self._rows_used(0, number), self._rows_used(1, number)
        if rows != on_other:
            # The number of rows that later steps use reveals the data set.
            return -_CERTAIN if side else _CERTAIN
        if len(released) == 1:
            return ratio
        counts, cells = released[1], np.ravel_multi_index
        alike, own = cells(pair.shared[0][0], pair.levels), cells(pair.one, pair.levels)
        drawn = np.arange(person + 1)
        chances = hypergeom.logpmf(drawn, pair.n, person, min(rows, pair.n))
        losses = np.abs(counts.noisy[alike] - (rows - drawn)) + np.abs(counts.noisy[own] - drawn)
        log_densities = -losses / counts.scale
        return float(ratio + logsumexp(chances + log_densities) - log_densities[0])
