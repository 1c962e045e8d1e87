"""Audits of units with several rows.

Trials of `discover` in which a person is added or removed and the number of rows is private.

The number of rows is released first, and each run draws its rows anew.

Audits of the protection of a person whose rows are all replaced, or added or removed.

The person's rows are equal, and each row attains the sensitivity for one row. Together these rows
change the release as much as any `ROWS` rows can.
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
from privcore.extras.audits.algorithms import GAUSSIAN_DELTA, OfAlgorithm, significance
from privcore.extras.audits.case import AuditCase, Outputs, Side, TablePair, Trial, by_name, turned
from privcore.extras.audits.release_trial import RATIO, Listening, Released, ReleaseTrial
from privcore.privacy.mechanisms import NoiseSource, SimulatedNoise
from privcore.unit import ADDED, REPLACED, Relation, Unit

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


ROWS = 5
# Share of ε for the number of rows.
_COUNT_SHARE = 0.05


@dataclass(frozen=True)
class OfAdded:
    """Makes runs of an algorithm under a claimed (ε, δ) for a person who is added or removed.

    releases: 1 to audit only the number of rows, whose release uses a twentieth of ε; 2 to audit
    the table as well.
    """

    algorithm: str
    pair: TablePair
    releases: int = 2

    def __call__(self, epsilon: float, delta: float) -> Trial:
        wanted = {
            "epsilon": epsilon / _COUNT_SHARE if self.releases == 1 else epsilon,
            "rows_per_unit": self.pair.rows,
            "neighbours": ADDED,
        }
        return AddedTrial(self.algorithm, wanted, self.pair, self.releases)


def of_person(
    algorithm: str, pair: TablePair, parameters: Mapping[str, Any] | None = None
) -> OfAlgorithm:
    """Define audited releases of an algorithm for a person whose `ROWS` rows are replaced."""
    return OfAlgorithm(algorithm, pair, parameters or {}, ReleaseTrial, ROWS)


def of_two_columns(rows: int) -> TablePair:
    """A pair in which a person with `rows` rows changes one- and two-way counts the most."""
    return TablePair(
        f"{12 + rows} records of two columns with two levels each: three of each combination, and "
        f"{rows} of one person, which all change from (0, 0) to (1, 1). This is the largest change "
        "in the one- and two-way counts",
        (2, 2),
        tuple(((a, b), 3) for a in (0, 1) for b in (0, 1)),
        (0, 0),
        (1, 1),
        rows,
    )


_FALLING = turned((False, False, False), 1500, rows=ROWS)
_ADDED = TablePair(
    f"6,000 records (0, 0) of two columns with two levels each, and {ROWS} records (1, 1) of a "
    "person who is only in D",
    (2, 2),
    (((0, 0), 6000),),
    (1, 1),
    None,
    ROWS,
)


def _case(
    name: str, title: str, make: OfAlgorithm | OfAdded, relation: Relation, **settings: Any
) -> AuditCase:
    return AuditCase(
        name,
        title,
        "unit",
        make.pair.words,
        make,
        protects=Unit("person", ROWS).sentence(relation),
        rows=ROWS,
        **settings,
    )


_ALL = (
    _case(
        "lapmech-person",
        "LapMech: the table, for a person with 5 rows",
        of_person("lapmech", of_two_columns(ROWS)),
        REPLACED,
        ci_runs=40_000,
    ),
    _case(
        "moment-search-person",
        "Moment search: the full contingency table, for a person with 5 rows",
        of_person("moment-search", of_two_columns(ROWS), {"measured": "levels"}),
        REPLACED,
        ci_runs=40_000,
    ),
    _case(
        "moment-search-pairs-person",
        "Moment search: counts of pairs, for a person with 5 rows",
        of_person("moment-search", of_two_columns(ROWS), {"whole_table": 0, "measured": "levels"}),
        REPLACED,
        delta=GAUSSIAN_DELTA,
        ci_runs=40_000,
    ),
    _case(
        "laplace-pc-person",
        "Laplace-PC, for a person with 5 rows",
        OfAlgorithm(
            "laplace-pc",
            _FALLING,
            {"threshold": significance(1e-3, _FALLING.n), "max_tests": 3, "max_order": 0},
            rows=ROWS,
        ),
        REPLACED,
    ),
    _case(
        "number-of-rows",
        "The number of rows, when a person with 5 rows is added",
        OfAdded("lapmech", _ADDED, releases=1),
        ADDED,
        runs=20_000,
        ci_runs=2000,
    ),
    _case(
        "lapmech-added",
        "LapMech: number of rows and table, when a person with 5 rows is added",
        OfAdded("lapmech", _ADDED),
        ADDED,
        runs=20_000,
        ci_runs=1200,
    ),
    _case(
        "moment-search-added",
        "Moment search: number of rows and table, when a person with 5 rows is added",
        OfAdded("moment-search", _ADDED),
        ADDED,
        runs=20_000,
        ci_runs=1200,
    ),
)

UNITS: dict[str, AuditCase] = by_name(_ALL)
