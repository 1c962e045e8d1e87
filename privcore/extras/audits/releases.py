"""Audits of the numbers that algorithms release, before any post-processing.

A graph reveals less than the released numbers from which it is computed. In each pair of data sets
here, the replaced record changes the numbers by their sensitivity, or nearly so. The numbers
therefore show most of the claimed ε.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from math import sqrt
from typing import Any

from privcore.extras.audits.algorithms import (
    GAUSSIAN_DELTA,
    LARGEST_TURNS,
    ONE_FALLS,
    OfAlgorithm,
    corners,
)
from privcore.extras.audits.case import (
    AuditCase,
    NumericPair,
    Pair,
    TablePair,
    Trial,
    by_name,
    turned,
)
from privcore.extras.audits.claims import ROWS_L1
from privcore.extras.audits.release_trial import EffectTrial, ReleaseTrial, SubSampleTrial
from privcore.independence import ScoreMeasure, get_score


def _sub_samples(algorithm: str, parameters: Mapping[str, Any], pair: Pair) -> Trial:
    """Runs of an algorithm's tests on sub-samples, with Z* as the score."""
    return SubSampleTrial(algorithm, parameters, pair, _moved)


def _moved(rows: int) -> float:
    """The sensitivity of Z* on a sub-sample."""
    return ScoreMeasure(get_score("z-star"), "proven", "z", 0.05).sensitivity(rows)


def _diagonal(norm: float, product: float) -> tuple[tuple[float, float], tuple[float, float]]:
    """Rows (a, b) and (−b, −a) with this norm and ab = `product`.

    The second moments of the two rows differ only in the squares, and the inner product of the rows
    is −2ab. Such rows attain the bounds on centred moments.
    """
    plus, minus = sqrt(norm**2 + 2 * product), sqrt(norm**2 - 2 * product)
    a, b = (plus + minus) / 2, (plus - minus) / 2
    return (a, b), (-b, -a)


def _numbers(words: str, shared: float, n: int, rows: tuple[Any, Any]) -> NumericPair:
    return NumericPair(words, corners(shared, n), *rows)


_FOUR = tuple(((a, b), 3) for a in (0, 1) for b in (0, 1))
_TWO_COLUMNS = TablePair(
    "13 records of two columns with two levels each: three of each combination, and one (0, 0), "
    "which becomes (1, 1). This is the largest change in the one- and two-way counts",
    (2, 2),
    _FOUR,
    (0, 0),
    (1, 1),
)
_ALIKE = tuple(
    ((a, b, c), 400 if a == b == c else 20) for a in (0, 1) for b in (0, 1) for c in (0, 1)
)
_THREE_COLUMNS = TablePair(
    "921 records of three columns with two levels each, most of them (0, 0, 0) or (1, 1, 1); one "
    "(0, 0, 0) becomes (1, 1, 0), the largest change in the one- and two-way counts",
    (2, 2, 2),
    _ALIKE,
    (0, 0, 0),
    (1, 1, 0),
)
_RADIUS = 0.2
_SHORT = _numbers(
    "400 rows: 399 rows (±0.1, ±0.1), and a row (a, b) with the largest allowed norm R and "
    "ab = R²/8, which becomes (−b, −a)",
    0.1,
    400,
    _diagonal(_RADIUS * sqrt(2), (_RADIUS * sqrt(2)) ** 2 / 8),
)
_LONG = _numbers(
    "2,000 rows: 1,999 rows (±0.3, ±0.3), and a row (a, b) of norm 1 with ab = 1/8, which becomes "
    "(−b, −a)",
    0.3,
    2000,
    _diagonal(1.0, 1 / 8),
)
_FAR = _numbers(
    "2,000 rows: 1,999 rows (±0.2, ±0.2), and a row (a, b) of norm 1 with ab = 0.045, which "
    "becomes (−b, −a); both are far outside the norm to which rows are clipped",
    0.2,
    2000,
    _diagonal(1.0, 0.045),
)
_HALF = _numbers(
    "400 rows: 399 rows (±0.5, ±0.5), and a row (a, b) of norm 1 with ab = 1/4, which becomes "
    "(−b, −a)",
    0.5,
    400,
    _diagonal(1.0, 1 / 4),
)
_DIAMOND = NumericPair(
    "2,000 rows: 1,999 rows (±0.5, 0) or (0, ±0.5), with no linear dependence, so that numbers are "
    "cut into intervals, and one row (1, 1), which becomes (−1, −1). This is the largest change in "
    "the columns' middles and spreads and in the counts of pairs",
    tuple(((0.5, 0.0), (0.0, 0.5), (-0.5, 0.0), (0.0, -0.5))[k % 4] for k in range(1999)),
    (1.0, 1.0),
    (-1.0, -1.0),
)

_BALANCED = TablePair(
    "1,601 records of two columns with two levels each: 400 of each combination, and one (0, 0), "
    "which becomes (0, 1); these two rows are orthogonal if each column is coded by one number",
    (2, 2),
    tuple(((a, b), 400) for a in (0, 1) for b in (0, 1)),
    (0, 0),
    (0, 1),
)

_SAMPLED = replace(
    turned((False,) * 10, 2000),
    words="2,000 records of eleven columns; the replaced record changes every test as much as one "
    "record can, in every sub-sample that contains the record",
)
_USUALLY_EQUAL = TablePair(
    "412 records of two columns with three levels each: 129 of (0, 0), (1, 1) and (2, 2) each, "
    "four of each other combination, and one (0, 0), which becomes (1, 2). This is the largest "
    "change in the counts of levels, in the distance from independence and in the pair's counts",
    (3, 3),
    tuple(((a, b), 129 if a == b else 4) for a in range(3) for b in range(3)),
    (0, 0),
    (1, 2),
)
_BY_LEVEL = {"measured": "levels"}
_DESCENT = {"clip": 1.0, "step": 0.1, "gradients": 2, "stages": 1, "sparsity": 0.0}


def _case(
    name: str,
    title: str,
    algorithm: str,
    pair: Pair,
    parameters: Mapping[str, Any],
    delta: float = GAUSSIAN_DELTA,
    paths: int = 1,
) -> AuditCase:
    make = OfAlgorithm(algorithm, pair, parameters, partial(ReleaseTrial, paths=paths))
    return AuditCase(name, title, "release", pair.words, make, delta=delta, ci_runs=40_000)


_ALL = (
    _case("lapmech-counts", "LapMech: the table", "lapmech", _TWO_COLUMNS, {}, delta=0.0),
    _case(
        "moment-search-whole-counts",
        "Moment search: the full contingency table",
        "moment-search",
        _TWO_COLUMNS,
        _BY_LEVEL,
        delta=0.0,
    ),
    AuditCase(
        "effect-counts",
        "Moment search and an effect: the full table, then a table for the effect",
        "release",
        _TWO_COLUMNS.words,
        OfAlgorithm("moment-search", _TWO_COLUMNS, _BY_LEVEL, EffectTrial),
        delta=0.0,
        ci_runs=40_000,
    ),
    _case(
        "moment-search-pair-counts",
        "Moment search: counts of pairs",
        "moment-search",
        _TWO_COLUMNS,
        {"whole_table": 0, **_BY_LEVEL},
    ),
    _case(
        "moment-search-table-counts",
        "Moment search: pairs and rounds of tables",
        "moment-search",
        _THREE_COLUMNS,
        {"whole_table": 0, **_BY_LEVEL, "table_share": 0.8, "table_noise_ratio": 10_000.0},
        paths=4,
    ),
    _case(
        "moment-search-lines",
        "Moment search: columns by a few numbers each",
        "moment-search",
        _BALANCED,
        {"measured": "lines"},
        paths=10,
    ),
    _case(
        "moment-search-distances",
        "Moment search: distances of pairs, and counts of the links",
        "moment-search",
        _USUALLY_EQUAL,
        {"measured": "distances"},
        paths=10,
    ),
    _case(
        "moment-search-one-column",
        "Moment search: products of one column, and moments of the linked ones",
        "moment-search",
        _BALANCED,
        {"measured": "target", "target": "a", "longest_row": 0.9},
        paths=10,
    ),
    _case(
        "moment-search-moments",
        "Moment search: moments of numbers",
        "moment-search",
        _LONG,
        {},
        paths=10,
    ),
    AuditCase(
        "effect-moments",
        "Moment search and an effect: moments of numbers, then moments for the effect",
        "release",
        _FAR.words,
        OfAlgorithm("moment-search", _FAR, {}, partial(EffectTrial, paths=10)),
        delta=GAUSSIAN_DELTA,
        ci_runs=40_000,
    ),
    _case(
        "moment-search-shapes",
        "Moment search: numbers in pairs with non-linear dependence",
        "moment-search",
        _DIAMOND,
        {},
        paths=10,
    ),
    _case("privpc-star-moments", "PrivPC*: moments", "privpc-star", _HALF, {"radius": sqrt(0.5)}),
    _case(
        "privpc-star-moments-laplace",
        "PrivPC*: moments with Laplace noise",
        "privpc-star",
        ROWS_L1,
        {"mechanism": "laplace", "centring": "middle"},
        delta=0.0,
    ),
    _case("noleaks-gradients", "NOLEAKS: gradients", "noleaks", LARGEST_TURNS, _DESCENT, paths=10),
    _case(
        "noleaks-line-search",
        "NOLEAKS: gradients and line search",
        "noleaks",
        LARGEST_TURNS,
        {**_DESCENT, "step_rule": "line search"},
        paths=10,
    ),
    _case(
        "curate-gradients",
        "CURATE: gradients",
        "curate-score",
        LARGEST_TURNS,
        {**_DESCENT, "growth": 2.0},
        paths=10,
    ),
    _case(
        "moment-notears-moments",
        "Moment NOTEARS: moments",
        "moment-notears",
        _SHORT,
        {"sparsity": 0.0, "iterations": 1, "radius": _RADIUS},
    ),
    _case(
        "column-counts",
        "Laplace-PC: counts of columns, and a test",
        "laplace-pc",
        ONE_FALLS,
        {"correction": "ties", "max_tests": 1, "max_order": 0},
        delta=0.0,
    ),
    AuditCase(
        "sg-pc-sub-samples",
        "SG-PC: tests on sub-samples",
        "release",
        _SAMPLED.words,
        OfAlgorithm(
            "sg-pc",
            _SAMPLED,
            {"score": "z-star", "rate": 0.02, "max_tests": 10, "max_order": 0},
            _sub_samples,
        ),
        delta=0.001,
        runs=40_000,
        ci_runs=4000,
    ),
)

RELEASES: dict[str, AuditCase] = by_name(_ALL)
