"""Audits of the protection of a person whose rows are all replaced, or added or removed.

The person's rows are equal, and each row attains the sensitivity for one row. Together these rows
change the release as much as any `ROWS` rows can.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from privcore.extras.audits.algorithms import GAUSSIAN_DELTA, OfAlgorithm, significance
from privcore.extras.audits.case import AuditCase, Trial, by_name
from privcore.extras.audits.neighbours import TablePair, turned
from privcore.extras.audits.release_trial import ReleaseTrial
from privcore.extras.audits.unit_trial import AddedTrial
from privcore.unit import ADDED, REPLACED, Relation, Unit

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
