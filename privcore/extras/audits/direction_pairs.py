"""Neighbouring data sets in which a replaced record changes the scores of a direction the most.

If a test record is replaced, all training records are (0, 0). Then both exact regressions are 0,
each residual equals the variable itself, and both directions have the same score. If a training
record is replaced, all other training records are (0, 0), and the test records lie at points where
the replacement changes both regressions.
"""

from __future__ import annotations

import math

from privcore.extras.audits.direction_trials import DirectionPair
from privcore.extras.audits.neighbours import Row

_LOW: Row = (-1.0, -1.0)
_HIGH: Row = (1.0, 1.0)
_CROSS: Row = (-1.0, 1.0)


def _equal(value: float, count: int) -> tuple[Row, ...]:
    return ((value, value),) * count


def concordant(training: int) -> DirectionPair:
    """A pair that attains the sensitivities of Kendall's and Spearman's scores in both directions.

    The sensitivities are 4/m and 6/(m + 1), with m = 12 test records.
    """
    m = 12
    shared = tuple((2 * k / m - 1, 2 * k / m - 1) for k in range(1, m))
    return DirectionPair(
        f"{m} test records in increasing order; the smallest record is replaced by (largest x, "
        "smallest y)",
        "test",
        shared,
        _equal(0.0, training),
        _LOW,
        (1.0, -1.0),
    )


def one_different(training: int) -> DirectionPair:
    """A pair with the largest known change in the root of HSIC.

    The change is 2/m in both directions, with m = 12 test records.
    """
    return DirectionPair(
        "12 test records: eleven are equal, and the twelfth becomes equal to them",
        "test",
        _equal(-1.0, 11),
        _equal(0.0, training),
        _HIGH,
        _LOW,
    )


def third_different(training: int) -> DirectionPair:
    """A pair with the largest known change in HSIC.

    The change is about 32/(27m) in both directions, with m = 24 test records.
    """
    return DirectionPair(
        "24 test records, eight at one point and sixteen at another; the y of one of the eight "
        "changes to the y of the sixteen",
        "test",
        (*_equal(-1.0, 7), *_equal(1.0, 16)),
        _equal(0.0, training),
        _LOW,
        _CROSS,
    )


def upper_quartile_gap(training: int) -> DirectionPair:
    """A pair that changes the logarithm of each interquartile range by 0.86.

    The logarithm stays within an interval of length 1.
    """
    m = 240
    low, middle, high = m // 2, m // 4 - 1, m // 4
    shared = (*_equal(-0.5, low), *_equal(-0.1, middle), *_equal(0.45, high))
    return DirectionPair(
        f"{m} test records at three points, half of them at the lowest; one record moves from the "
        "middle point to the highest, and the upper quartiles move with this record",
        "test",
        shared,
        _equal(0.0, training),
        (-0.1, -0.1),
        (0.45, 0.45),
    )


def upper_quartile_between(training: int) -> DirectionPair:
    """A pair in which utilities for the upper quartile change by 1.

    The utilities of low candidates fall, and the utilities of high candidates rise.
    """
    m = 1000
    rank = math.ceil(0.75 * m)
    shared = (*_equal(-1.0, rank - 2), (0.8, 0.8), *_equal(1.0, m - rank))
    return DirectionPair(
        f"{m:,} test records at −1 or 1, except for one at the upper quartile, 0.8; one record "
        "moves from −1 to 1",
        "test",
        shared,
        _equal(0.0, training),
        _LOW,
        _HIGH,
    )


def one_trained(training: int, test: int) -> DirectionPair:
    """A pair that changes f(1) − f(−1) by about 4/n, for both regressions f.

    n is the number of training records.
    """
    return DirectionPair(
        f"{training} training records, all (0, 0) except one, which changes from (−1, −1) to "
        "(−1, 1); the test records are (−1, −1) and (1, 1)",
        "training",
        _equal(0.0, training - 1),
        (_LOW, _HIGH) * (test // 2),
        _LOW,
        _CROSS,
    )


def corners() -> DirectionPair:
    """A pair that changes two entries of the noisy table by 1 each, the largest possible change."""
    places = (_LOW, _CROSS, (1.0, -1.0), _HIGH)
    return DirectionPair(
        "21 training records in the corners; (1, 1) becomes (−1, 1)",
        "training",
        places * 5,
        (_LOW, _HIGH) * 5,
        _HIGH,
        _CROSS,
    )
