"""Trials of `discover` in which a person is added or removed and the number of rows is private.

The number of rows is released first, and each run draws its rows anew.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
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
from privcore.privacy.mechanisms import NoiseSource


class _AllReleased(Exception):
    """Raised after the last release, since the rest of a run is post-processing."""


class _Until(Listening):
    """A listener that ends the run after `releases` releases."""

    def __init__(self, noise: NoiseSource, releases: int) -> None:
        super().__init__(noise)
        self._releases = releases

    def _keep(self, name: str, method: Any, values: Any, scale: float) -> Any:
        noisy = super()._keep(name, method, values, scale)
        if len(self.released) == self._releases:
            raise _AllReleased
        return noisy


@dataclass(frozen=True)
class AddedTrial:
    """Runs of an algorithm on tables with and without a person; the number of rows is private.

    The output of a run is the likelihood ratio of its releases: the number of rows and, if
    `releases` is 2, the counts of all combinations of levels. The ratio is computed from the
    released numbers and the two data sets, so it is post-processing. parameters: as for `discover`.
    pair: two data sets with equal shared rows; D′ has no rows of the person. The constructor raises
    ParameterError for parameters that the algorithm rejects.
    """

    algorithm: str
    parameters: Mapping[str, Any]
    pair: TablePair
    releases: int = 2
    batch: int = 500

    def __post_init__(self) -> None:
        checked_parameters(self.algorithm, self.parameters)

    def __call__(self, side: Side, runs: int, noise: NoiseSource) -> Outputs:
        source = self.pair.source(side)
        ratios = [self._ratio(self._released(source, noise)) for _ in range(runs)]
        return Outputs.of_numbers([RATIO], np.round(ratios, 9)[:, None])

    def _released(self, source: CountSource, noise: NoiseSource) -> list[Released]:
        listening = _Until(noise, self.releases)
        with contextlib.suppress(_AllReleased):
            discover(
                source,
                self.algorithm,
                self.parameters,
                noise=cast(NoiseSource, listening),
                keep_trace=False,
            )
        return listening.released

    def _ratio(self, released: list[Released]) -> float:
        pair, number = self.pair, released[0]
        without, person = pair.n - pair.rows, pair.rows
        noisy, scale = float(number.noisy[0]), number.scale
        ratio = (abs(noisy - without) - abs(noisy - pair.n)) / scale
        if len(released) == 1:
            return ratio
        counts, cells = released[1], np.ravel_multi_index
        alike, own = cells(pair.shared[0][0], pair.levels), cells(pair.one, pair.levels)
        # The number of rows in the run follows from the noisy number of rows.
        rows = int(counts.exact.sum())
        drawn = np.arange(person + 1)
        chances = hypergeom.logpmf(drawn, pair.n, person, min(rows, pair.n))
        losses = np.abs(counts.noisy[alike] - (rows - drawn)) + np.abs(counts.noisy[own] - drawn)
        log_densities = -losses / counts.scale
        return float(ratio + logsumexp(chances + log_densities) - log_densities[0])
